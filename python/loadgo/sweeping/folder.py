"""The folder of a sweep: what the sweep is, and a Parquet file for each batch that is done.

    sweep.toml            the grid, and hashes of its script and machines
    part.toml             which part of the sweep this is; only in the folder of a part
    points/00000.parquet  the points of the first batch, a row for each
    lock                  empty; the process that computes the sweep has it locked

A batch's file is complete from the moment when it has its name. Neither its bytes nor those of `sweep.toml` depend on
the workers, on their order, or on parts. The folder is thus the same after any way to compute the sweep.
"""

from __future__ import annotations

import fcntl
import os
import socket
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from loadgo.errors import BadArgument, BadRun
from loadgo.notation.toml_text import toml_table
from loadgo.records.run_file import make_folder
from loadgo.records.runs import SWEEP_FILE
from loadgo.sweeping.plan import SWEEP_FORMAT, differing_keys

PART_FILE, POINTS_FOLDER, LOCK_FILE = "part.toml", "points", "lock"
_HALF_ENDING = ".part"
"""The end of the name of a file that is being written."""


@dataclass(frozen=True)
class SweepPart:
    """A part of a sweep: the batches from `begin` to before `end`."""

    number: int
    """From 1."""
    count: int
    """Number of parts."""

    def batches(self, batch_count: int) -> range:
        """The batches of this part, of `batch_count` batches."""
        ends = [batch_count * number // self.count for number in (self.number - 1, self.number)]
        return range(*ends)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE_SWEEP = SweepPart(1, 1)


def parse_part(text: str | None) -> SweepPart:
    """The part that `3/40` names; None is the whole sweep. Raises `BadArgument`."""
    if text is None:
        return WHOLE_SWEEP
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise BadArgument(f"`part={text}`: write it as 3/40, from 1/40 to 40/40").about("part")
    return SweepPart(int(number), int(count))


def open_folder(folder: Path, identity: Mapping[str, Any], part: SweepPart) -> None:
    """Begins the sweep in a locked folder, or checks that the folder is of the same sweep and part.

    Raises `BadArgument` for a folder of something else.
    """
    _check_kind(folder)
    if (folder / SWEEP_FILE).exists():
        _check_same(folder, identity, part)
    (folder / POINTS_FOLDER).mkdir(exist_ok=True)
    if part.count > 1:
        _write(folder / PART_FILE, tomlkit.dumps({"part": part.number, "of": part.count}).encode())
    else:
        (folder / PART_FILE).unlink(missing_ok=True)
    _write(folder / SWEEP_FILE, tomlkit.dumps(dict(identity)).encode())


@contextmanager
def work_in(folder: Path) -> Iterator[None]:
    """Locks the folder of a sweep for this process. Raises `BadArgument` if another one computes the same sweep.

    The folder is made if need be. The kernel drops the lock when the process ends. A file system without locks is
    reported by a warning. Raises `BadArgument` too for a folder that is no sweep's, and leaves it as it is.
    """
    _check_kind(folder)
    make_folder(folder)
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BadArgument(
            f"another loadgo computes the sweep in {folder} now: wait for it, or name another folder with `out`"
        ).about("out") from None
    except OSError as error:
        warnings.warn(
            f"{folder} cannot be locked ({error.strerror}): let no other loadgo compute the same sweep in it",
            stacklevel=3,
        )
    try:
        yield
    finally:
        os.close(descriptor)


def _check_kind(folder: Path) -> None:
    """Raises `BadArgument` unless a folder is new, or of a sweep, or has only what a sweep begins with."""
    if not folder.exists() or (folder / SWEEP_FILE).exists():
        return
    if not folder.is_dir() or not _is_half_begun(folder):
        raise BadArgument(f"{folder} exists and is no sweep's folder: name another one with `out`").about("out")


def _is_half_begun(folder: Path) -> bool:
    """Whether a folder has nothing but the first files of a sweep that was killed, and no points."""
    first = (LOCK_FILE, PART_FILE, POINTS_FOLDER)
    others = [path for path in folder.iterdir() if path.name not in first]
    points = folder / POINTS_FOLDER
    others += points.iterdir() if points.is_dir() else []
    return all(path.name.endswith(_HALF_ENDING) for path in others)


def _check_same(folder: Path, identity: Mapping[str, Any], part: SweepPart) -> None:
    known = read_identity(folder)
    differing = differing_keys(identity, known)
    if differing:
        names = ", ".join(key.replace("_hashes", "s' texts").replace("_hash", "'s text") for key in differing)
        raise BadArgument(
            f"{folder} is of another sweep, which differs in: {names}. Name another folder with `out`, or remove it"
        ).about("out")
    known_part = read_part(folder)
    if known_part != part:
        raise BadArgument(
            f"{folder} is of {_part_in_words(known_part)} of this sweep, not of {_part_in_words(part)}: name another "
            "folder with `out`"
        ).about("out")


def _part_in_words(part: SweepPart) -> str:
    return "the whole" if part.count == 1 else f"part {part}"


def read_identity(folder: Path) -> dict[str, Any]:
    """The content of `sweep.toml`. Raises `BadRun` for a folder without one, and for a damaged one."""
    try:
        identity = toml_table((folder / SWEEP_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BadRun(f"{folder} is no sweep's folder: there is no {SWEEP_FILE} in it") from None
    except (OSError, ValueError) as error:
        raise BadRun(f"cannot read {folder / SWEEP_FILE}: {error}") from error
    if identity.get("format") != SWEEP_FORMAT:
        raise BadRun(f"{folder} has format {identity.get('format')}, and this version of loadgo reads {SWEEP_FORMAT}")
    return identity


def read_part(folder: Path) -> SweepPart:
    """The part of a sweep that a folder is of. Raises `BadRun` for a damaged file."""
    try:
        table = toml_table((folder / PART_FILE).read_text(encoding="utf-8"))
        return SweepPart(int(table["part"]), int(table["of"]))
    except FileNotFoundError:
        return WHOLE_SWEEP
    except (OSError, ValueError, KeyError) as error:
        raise BadRun(f"cannot read {folder / PART_FILE}: {error}") from error


def batch_path(folder: Path, batch: int) -> Path:
    """The file of a batch."""
    return folder / POINTS_FOLDER / f"{batch:05}.parquet"


def done_batches(folder: Path, batches: Iterable[int]) -> set[int]:
    """The batches that are done, of `batches`."""
    try:
        names = set(os.listdir(folder / POINTS_FOLDER))
    except FileNotFoundError:
        return set()
    return {batch for batch in batches if batch_path(folder, batch).name in names}


def remove_half_files(folder: Path) -> None:
    """Removes files that a killed process had begun to write. Only the process that works in the folder may do this."""
    for place in (folder, folder / POINTS_FOLDER):
        for leftover in place.glob(f"*{_HALF_ENDING}"):
            leftover.unlink(missing_ok=True)


def keep_batch(folder: Path, batch: int, content: bytes) -> None:
    """Writes the file of a batch, whole or not at all."""
    _write(batch_path(folder, batch), content)


def _write(path: Path, content: bytes) -> None:
    """Writes a file to the disk under another name, and renames it."""
    temporary = path.with_name(f"{path.name}.{socket.gethostname()}-{os.getpid()}{_HALF_ENDING}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
