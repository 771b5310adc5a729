"""The code of this process, by which workers are compared with the process that gives them tasks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from loadgo.errors import Refused


@dataclass(frozen=True)
class CodeIdentity:
    """All code that computes figures. Two processes with the same identity compute the same figures."""

    version: str
    """The version of loadgo."""
    code_hash: str
    """A hash of loadgo's files, and of the versions of Polars and NumPy."""


@cache
def own_code() -> CodeIdentity:
    """The code of this process."""
    package = Path(__file__).parents[1]
    content = hashlib.sha256(f"{version('polars')} {version('numpy')}".encode())
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".so"):
            content.update(f"\0{path.relative_to(package)}\0".encode() + path.read_bytes())
    return CodeIdentity(version("loadgo"), content.hexdigest())


def check_code(expected: CodeIdentity) -> None:
    """Raises `Refused` in a worker whose code is not that of the process that gave the task."""
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
