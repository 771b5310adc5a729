"""The code of this process, by which workers are compared with the process that gives them tasks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

from loadgo.errors import Refused

_PACKAGE = Path(__file__).parents[1]
_READ_BYTES = 1 << 18
"""Size of the pieces in which a file is read: the extension module has many megabytes."""


@dataclass(frozen=True)
class CodeIdentity:
    """All code that computes figures. Two processes with the same identity compute the same figures."""

    version: str
    """The version of loadgo."""
    code_hash: str
    """A hash of loadgo's files, and of the versions of Polars and NumPy."""
    file_state: str = field(default="", compare=False)
    """A hash of what this host's kernel tells of these files. With the same state their contents are the same."""


@cache
def own_code() -> CodeIdentity:
    """The code of this process."""
    # Before the contents are read: a file that changes in between has another state afterwards.
    file_state = _file_state()
    content = hashlib.sha256(_library_versions().encode())
    for path in sorted(Path(file.path) for file in _code_files(_PACKAGE)):
        content.update(f"\0{path.relative_to(_PACKAGE)}\0".encode())
        with path.open("rb", buffering=0) as file:
            while piece := file.read(_READ_BYTES):
                content.update(piece)
    return CodeIdentity(version("loadgo"), content.hexdigest(), file_state)


def check_code(expected: CodeIdentity) -> None:
    """Raises `Refused` in a worker whose code is not that of the process that gave the task.

    A worker that sees the very files of that process does not read them: that takes longer than hundreds of points.
    """
    if expected.file_state and expected.file_state == _file_state():
        return
    own = own_code()
    if own.version != expected.version:
        raise Refused(
            f"a worker has loadgo {own.version}, and the task is of loadgo {expected.version}: install the same version"
        )
    if own != expected:
        raise Refused(
            f"a worker's loadgo {own.version} has other code than this one, or another version of Polars or NumPy: "
            "install the same on all hosts, and start workers again after a change"
        )


@cache
def _file_state() -> str:
    """A hash of the places, sizes and times of change of loadgo's files, of this boot of this host, and of versions.

    Empty where the host has no identity of its boot.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return ""
    state = hashlib.sha256(f"{boot}{_library_versions()}".encode())
    for file in sorted(_code_files(_PACKAGE), key=lambda file: file.path):
        status = file.stat()
        numbers = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        state.update(f"\0{file.path}\0{numbers}".encode())
    return state.hexdigest()


def _library_versions() -> str:
    return f"{version('polars')} {version('numpy')}"


def _code_files(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """The files of code in a folder and in its folders, in any order."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _code_files(entry.path)
            elif entry.name.endswith((".py", ".so")):
                yield entry
