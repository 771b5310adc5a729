"""Finds a bundled script by its name, or a script by its path. `machines` finds machines."""

from __future__ import annotations

import difflib
import errno
import os
from dataclasses import dataclass
from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.running.folders import check_utf8

SCRIPTS_FOLDER = Path(__file__).parent.parent / "data" / "scripts"
MOST_FILE_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Source:
    """The text of a script or machine file, its path, and the name or path that the caller gave."""

    requested: str
    path: Path
    text: str


def script_names() -> list[str]:
    """The names of the bundled scripts."""
    return _toml_names(SCRIPTS_FOLDER)


def find_script(script: str | Path) -> Source:
    """Reads `script`: the name of a bundled script, or a path.

    Raises `ValueError` for an unknown name, with the known names, and for a file that is not text. Raises `OSError` for
    a file that cannot be read.
    """
    return read_source(script, SCRIPTS_FOLDER, "script")


def read_source(requested: str | Path, folder: Path, kind: str) -> Source:
    """Reads a TOML file of `folder` by its name, or any file by its path. `kind` is its noun in messages.

    Raises what `find_script` raises.
    """
    check_utf8(f"the name of the {kind}", requested)
    path = _source_path(requested, folder, kind)
    with path.open("rb") as file:
        content = file.read(MOST_FILE_BYTES + 1)
    if len(content) > MOST_FILE_BYTES:
        raise BadArgument(f"{path} is not a {kind}: it is larger than {MOST_FILE_BYTES // 2**20} MB")
    try:
        return Source(requested=str(requested), path=path, text=content.decode())
    except UnicodeDecodeError as mistake:
        line = content.count(b"\n", 0, mistake.start) + 1
        raise BadArgument(f"{path}:{line}: byte {mistake.start + 1} of the file is not UTF-8") from mistake


def _toml_names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.toml"))


def _source_path(requested: str | Path, folder: Path, kind: str) -> Path:
    names = _toml_names(folder)
    if isinstance(requested, str) and requested in names:
        return folder / f"{requested}.toml"
    path = Path(requested)
    if kind == "machine" and str(requested).casefold().startswith("ssh:"):
        raise BadArgument(
            f"{requested} is no simulated machine. Another host is written ssh://USER@HOST:PORT, of which only HOST is "
            "needed; `run`, `capacity`, `ab`, `meter`, `profile`, `watch` and `doctor` take one."
        )
    if path.is_dir():
        raise BadArgument(f"{path} is a folder; a {kind} is a TOML file")
    if not path.exists() and isinstance(requested, str) and "/" not in requested and not requested.endswith(".toml"):
        nearest = difflib.get_close_matches(requested, names, n=1)
        suggestion = f"; did you mean {nearest[0]}?" if nearest else "."
        raise BadArgument(
            f"there is no {kind} called {requested!r}{suggestion} Bundled are {', '.join(names)}; "
            f"a file is named by its path{f', and another host as ssh://{requested}' if kind == 'machine' else ''}."
        )
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}{_instead_of(path, kind)}", str(path))
    return path


def _instead_of(path: Path, kind: str) -> str:
    """A clause on what to name in place of a missing file: the nearest name beside it, or how one is made."""
    beside = [other.name for other in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    nearest = difflib.get_close_matches(path.name, beside, n=1)
    if nearest:
        return f"; did you mean {path.parent / nearest[0]}?"
    command = "scripts typical-user" if kind == "script" else "machines ctss"
    return f"; `loadgo {command}` prints one to begin with"
