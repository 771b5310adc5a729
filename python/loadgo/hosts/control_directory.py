"""The private directory of a control socket of ssh, which a killed loadgo leaves to the next one."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

PARENT_DIRECTORY = Path("/tmp")
"""Not TMPDIR: the path of a socket has at most some 100 characters."""
_PREFIX = "loadgo-ssh-"
_LOCKED_AFTER_S = 60.0
"""Age from which a directory without a lock has lost its loadgo. A loadgo locks its directory when it has made it."""


@contextmanager
def control_directory() -> Iterator[Path]:
    """Makes a directory that only this user can enter, and removes it with the context.

    An interrupt may come while it is removed: then it is removed when this process ends.
    """
    remove_dead_directories()
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=PARENT_DIRECTORY))
    remove = partial(shutil.rmtree, path, ignore_errors=True)
    atexit.register(remove)
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield path
    finally:
        shutil.rmtree(path)
        os.close(lock)
        atexit.unregister(remove)


def remove_dead_directories() -> None:
    """Removes the directories of this user whose loadgo was killed: nobody holds their locks."""
    for path in PARENT_DIRECTORY.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove_if_dead(path)


def _remove_if_dead(path: Path) -> None:
    """Raises `OSError` if the directory is locked, or is another user's."""
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        made = os.fstat(lock)
        is_own = stat.S_ISDIR(made.st_mode) and made.st_uid == os.geteuid()
        if is_own and time.time() - made.st_mtime > _LOCKED_AFTER_S:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
    finally:
        os.close(lock)
