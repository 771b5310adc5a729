"""Finds a script: one of those that come with loadgo by its name, or a file by its path."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "scripts"
LARGEST_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Source:
    """A script as it was asked for, where it is, and its text."""

    asked: str
    path: Path
    text: str


def names() -> list[str]:
    """The names of the bundled scripts."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(script: str | Path) -> Source:
    """The script called `script`: a bundled name, else a path.

    Raises `ValueError` for an unknown name, with the nearest and all others, and for a file that is no text; `OSError`
    for one that cannot be read.
    """
    path = _place(script)
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ValueError(f"{path} is no script: it is larger than {LARGEST_BYTES // 2**20} MB")
    try:
        return Source(asked=str(script), path=path, text=content.decode())
    except UnicodeDecodeError as mistake:
        line = content.count(b"\n", 0, mistake.start) + 1
        raise ValueError(f"{path}:{line}: byte {mistake.start + 1} of the file is not UTF-8") from mistake


def _place(script: str | Path) -> Path:
    if isinstance(script, str) and script in names():
        return FOLDER / f"{script}.toml"
    path = Path(script)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a script is a TOML file")
    if not path.exists() and isinstance(script, str) and "/" not in script and not script.endswith(".toml"):
        near = difflib.get_close_matches(script, names(), n=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        known = ", ".join(names())
        raise ValueError(
            f"there is no script called {script!r}{meant} Bundled are {known}; a file is named by its path."
        )
    return path
