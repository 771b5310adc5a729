"""Files that commands write: whole or not at all, so that a full disk destroys no earlier file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_NOT_REPLACEABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EINVAL}
"""Errors of a folder in which no file can be replaced by one with its owner. The file may be writable itself."""


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file. Raises `OSError` with its name if that fails, and then leaves the file as it was.

    Pipes and devices are written directly; so is a file that cannot be replaced by another one with its owner.
    """
    content_bytes = content if isinstance(content, bytes) else content.encode()
    try:
        if _is_replaceable(path):
            _replace(Path(os.path.realpath(path)), content_bytes)
        else:
            path.write_bytes(content_bytes)
    except OSError as refusal:
        raise OSError(refusal.errno, refusal.strerror, str(path)) from None


def append_to_file(path: Path, content: str | bytes) -> None:
    """Appends to a file. Raises `OSError` with its name if that fails, and then leaves the file as it was."""
    existed = path.exists()
    size = path.stat().st_size if path.is_file() else None
    try:
        with path.open("ab") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    except OSError as refusal:
        if size is not None:
            os.truncate(path, size)
        elif not existed and path.is_file():
            path.resolve().unlink()
        raise OSError(refusal.errno, refusal.strerror, str(path)) from None


def _is_replaceable(path: Path) -> bool:
    """Whether another file may take the place of the one at `path`: a new one, or a regular one with one name.

    A file to which this process's standard output or error goes stays, since more will be written there.
    """
    if not path.exists():
        return True
    state = path.stat()
    outputs = [os.fstat(number) for number in (1, 2) if _is_open(number)]
    return (
        stat.S_ISREG(state.st_mode)
        and state.st_nlink == 1
        and not any(os.path.samestat(state, output) for output in outputs)
    )


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _replace(path: Path, content_bytes: bytes) -> None:
    """Writes a temporary file beside `path`, and renames it to `path`. The mode and the owner stay."""
    old = path.stat() if path.exists() else None
    temporary = path.with_name(f".loadgo-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            if old is not None:
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            file.write(content_bytes)
        temporary.replace(path)
    except OSError as refusal:
        temporary.unlink(missing_ok=True)
        if old is None or refusal.errno not in _NOT_REPLACEABLE:
            raise
        path.write_bytes(content_bytes)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
