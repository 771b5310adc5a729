"""Finds what comes with loadgo by its name, or a file by its path: scripts here, machines in `machines`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from loadgo.errors import BadArgument

FOLDER = Path(__file__).parent.parent / "data" / "scripts"
LARGEST_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Source:
    """A file as it was asked for, where it is, and its text."""

    asked: str
    path: Path
    text: str


def names() -> list[str]:
    """The names of the bundled scripts."""
    return _names(FOLDER)


def find(script: str | Path) -> Source:
    """The script called `script`: a bundled name, else a path.

    Raises `ValueError` for an unknown name, with the nearest and all others, and for a file that is no text; `OSError`
    for one that cannot be read.
    """
    return read_text(script, FOLDER, "script")


def read_text(asked: str | Path, folder: Path, kind: str) -> Source:
    """The file called `asked`: a TOML file of `folder` by its name, else a path; `kind` says what it is in messages.

    Raises what `find` raises.
    """
    path = _place(asked, folder, kind)
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise BadArgument(f"{path} is no {kind}: it is larger than {LARGEST_BYTES // 2**20} MB")
    try:
        return Source(asked=str(asked), path=path, text=content.decode())
    except UnicodeDecodeError as mistake:
        line = content.count(b"\n", 0, mistake.start) + 1
        raise BadArgument(f"{path}:{line}: byte {mistake.start + 1} of the file is not UTF-8") from mistake


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.toml"))


def _place(asked: str | Path, folder: Path, kind: str) -> Path:
    known = _names(folder)
    if isinstance(asked, str) and asked in known:
        return folder / f"{asked}.toml"
    path = Path(asked)
    if path.is_dir():
        raise BadArgument(f"{path} is a folder; a {kind} is a TOML file")
    if not path.exists() and isinstance(asked, str) and "/" not in asked and not asked.endswith(".toml"):
        near = difflib.get_close_matches(asked, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else "."
        raise BadArgument(
            f"there is no {kind} called {asked!r}{meant} Bundled are {', '.join(known)}; a file is named by its path."
        )
    return path
