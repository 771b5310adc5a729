"""Tags and a note of a run, in the file `notes.json` in its folder: the only file that a laboratory writes.

Each file has a mark of its content. Who writes names the mark of the content that they have read, so that two
laboratories at once never write over each other's words unseen.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, LoadgoError
from loadgo.laboratory.laboratory_runs import read_small, reason_of
from loadgo.laboratory.run_index import write_whole

NOTES_FILE = "notes.json"
NOTES_FORMAT = 1
MOST_NOTES_BYTES = 65_536
"""Largest file of notes that is read or written."""
MOST_TAGS = 20
MOST_TAG_CHARS = 40
_NOTES_MODE = 0o644
"""Everybody who may read a laboratory may read its notes."""
_NO_FILE = ""
"""The mark of a run without notes."""
_LOCK_PATIENCE_S = 2.0
"""Time in which another writer of the same notes must have ended."""
_LOCK_RETRY_S = 0.005
_WITHOUT_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Errors of file systems that cannot lock a folder, such as NFS."""


class ChangedMeanwhile(LoadgoError):
    """The notes were changed by somebody else since they were read."""


@dataclass(frozen=True)
class RunNotes:
    """The tags and the note of a run."""

    tags: tuple[str, ...] = ()
    text: str = ""
    mark: str = _NO_FILE
    """The mark of the file's content; empty without a file."""
    damage: str = ""
    """The reason why the file is not read; then it is not written either."""


def read_notes(folder: Path) -> RunNotes:
    """The notes of the run in `folder`. A file that is too large or damaged is not read, and the reason is given."""
    path = folder / NOTES_FILE
    try:
        if path.is_symlink():
            return RunNotes(damage=f"{NOTES_FILE} is a link: it is not followed")
        content = read_small(path, MOST_NOTES_BYTES)
        members = json.loads(content)
        tags, text = _checked(members["tags"], members["note"])
    except FileNotFoundError:
        return RunNotes()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return RunNotes(damage=f"{NOTES_FILE} cannot be read: {reason_of(error)}")
    return RunNotes(tags, text, _mark(content))


def write_notes(folder: Path, given: Mapping[str, Any]) -> RunNotes:
    """Writes the tags and the note in `given`, if the notes still have the mark that `given` names.

    No other notes are written from the reading of the old ones to the writing of the new ones.
    Raises `BadArgument` for texts that are too long, `ChangedMeanwhile`, and `OSError` if the file cannot be written.
    """
    tags, text = _checked(given.get("tags"), given.get("note"))
    content = _content(tags, text)
    with _locked(folder):
        _check_unchanged(read_notes(folder), given.get("mark", _NO_FILE))
        try:
            write_whole(folder / NOTES_FILE, content, _NOTES_MODE)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder / NOTES_FILE)) from None
    return RunNotes(tags, text, _mark(content))


def _content(tags: tuple[str, ...], text: str) -> bytes:
    members = {"format": NOTES_FORMAT, "tags": tags, "note": text}
    content = (json.dumps(members, indent=2, ensure_ascii=False) + "\n").encode()
    if len(content) > MOST_NOTES_BYTES:
        raise BadArgument(f"the note is too long: at most {MOST_NOTES_BYTES:,} bytes")
    return content


def _check_unchanged(present: RunNotes, mark: object) -> None:
    if present.damage:
        raise BadArgument(present.damage)
    if present.mark != mark:
        raise ChangedMeanwhile("somebody else changed these notes meanwhile: look at them and write yours again")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Locks a run against other writers of its notes, in this process and in others. The lock leaves no file.

    It is a lock on the folder around the run's own, since a lock on that one means that the run is being written.
    A file system that cannot lock folders is used without a lock. Raises `BadArgument` if the lock is not free in time.
    """
    handle = os.open(folder.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _wait_for_lock(handle)
        yield
    finally:
        os.close(handle)


def _wait_for_lock(handle: int) -> None:
    last = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > last:
                raise BadArgument("another program has locked the folder of runs: try again later") from None
        except OSError as error:
            if error.errno in _WITHOUT_LOCKS:
                return None
            raise
        time.sleep(_LOCK_RETRY_S)


def _checked(tags: object, text: object) -> tuple[tuple[str, ...], str]:
    """The tags without blanks and repetitions, and the text. Raises `BadArgument` for anything else."""
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags) or not isinstance(text, str):
        raise BadArgument("tags are a list of texts, and the note is a text")
    words = tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
    if len(words) > MOST_TAGS or any(len(word) > MOST_TAG_CHARS for word in words):
        raise BadArgument(f"a run has at most {MOST_TAGS} tags, of at most {MOST_TAG_CHARS} characters each")
    try:
        "".join((*words, text)).encode()
    except UnicodeEncodeError:
        raise BadArgument("a tag or the note has a character that is no text") from None
    return words, text


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
