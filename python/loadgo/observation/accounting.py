"""Reads process accounting of version 3: a record of 64 bytes for each process that ended, in the order of their ends.

The layout is `struct acct_v3` of the kernel's `linux/acct.h`. Processor times are in hundredths of a second, rounded
down. Counts are floating numbers of 16 bits, with a fraction of 13 bits and an exponent to the base 8. The kernel
leaves the fields of input and output at 0.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import Refused
from loadgo.observation.source_files import SourceFile

RECORD_BYTES = 64
TICK_NS = 10_000_000
"""The unit of times in a record."""
MOST_RECORDS = 1_000_000
"""The largest number of processes that are kept at once. They take 0.9 to 1.5 GB with their sessions."""
_SYSTEM_ACCOUNTS = 1000
"""Accounts with numbers below this run services, unless they have a terminal."""
_CHUNK_RECORDS = 65536
_RECORD_FIELDS = (
    ("flag", "u1"), ("version", "u1"), ("tty", "u2"), ("exit_code", "u4"), ("uid", "u4"), ("gid", "u4"), ("pid", "u4"),
    ("ppid", "u4"), ("began_s", "u4"), ("elapsed", "f4"), ("user", "u2"), ("system", "u2"), ("memory", "u2"),
    ("io", "u2"), ("blocks", "u2"), ("minor", "u2"), ("major", "u2"), ("swaps", "u2"), ("command", "S16"),
)  # fmt: skip
_MOST_ELAPSED_TICKS = 10 * 365 * 86400 * 100
"""No process lives for ten years."""
_LITTLE_ENDIAN_FORMAT, _BIG_ENDIAN_FORMAT = 0x03, 0x83
"""The version byte of version 3 in each order of bytes."""

Records = NDArray[Any]
"""A structured array with the fields of `struct acct_v3`."""


@dataclass(frozen=True)
class AccountingRead:
    """The records of a file that may be of people, and what of the file is damaged."""

    records: Records
    """Processes with a terminal."""
    without_terminal: Records
    """Processes of people without a terminal; none if there are too many."""
    processes: int
    """Number of records in the file."""
    damaged: int
    """Number of records that are of no version, or whose values cannot be."""
    first_damage_byte: int | None
    cut_bytes: int
    """Size of the last record, if only a part of it is there."""
    growth_bytes: int
    is_without_jobs: bool
    """Whether there were too many processes without a terminal to look for batch jobs among them."""


def read_accounting(source: SourceFile, wanted: Collection[int] = ()) -> AccountingRead:
    """Reads a file in parts, and keeps the processes of people. Raises `Refused` for too many with a terminal.

    Without a terminal they are those of ordinary accounts, and of the accounts in `wanted`.
    """
    chosen = np.fromiter(wanted, np.uint32, len(wanted))
    layout = _layout(source)
    parts: list[Records] = []
    jobs: list[Records] | None = []
    kept_count, job_count, processes, damaged, first_damage, place = 0, 0, 0, 0, None, 0
    while place + RECORD_BYTES <= source.bytes:
        part = source.file.read(
            min(_CHUNK_RECORDS * RECORD_BYTES, (source.bytes - place) // RECORD_BYTES * RECORD_BYTES)
        )
        records = np.frombuffer(part, layout, count=len(part) // RECORD_BYTES)
        if not len(records):
            break
        good = _plausible(records, layout)
        if first_damage is None and not good.all():
            first_damage = place + RECORD_BYTES * int(np.argmin(good))
        processes, damaged = processes + len(records), damaged + int((~good).sum())
        parts.append(records[good & (records["tty"] != 0)])
        kept_count += len(parts[-1])
        if kept_count > MOST_RECORDS:
            raise Refused(_too_many(source, place))
        if jobs is not None:
            is_person = (records["uid"] >= _SYSTEM_ACCOUNTS) | np.isin(records["uid"], chosen)
            jobs.append(records[good & (records["tty"] == 0) & is_person])
            job_count += len(jobs[-1])
            jobs = jobs if kept_count + job_count <= MOST_RECORDS else None
        place += len(records) * RECORD_BYTES
    if damaged * 2 > processes:
        raise Refused(
            f"{source.name}, byte {first_damage}: {damaged} of {processes} records are damaged: the file is no process "
            "accounting, or begins within a record"
        )
    return AccountingRead(
        records=np.concatenate(parts) if parts else np.empty(0, layout),
        without_terminal=np.concatenate(jobs) if jobs else np.empty(0, layout),
        processes=processes,
        damaged=damaged,
        first_damage_byte=first_damage,
        cut_bytes=source.bytes - place,
        growth_bytes=source.growth_bytes(),
        is_without_jobs=jobs is None,
    )


def counts(encoded: NDArray[Any]) -> NDArray[np.int64]:
    """The counts in fields of 16 bits."""
    wide = encoded.astype(np.int64)
    decoded: NDArray[np.int64] = (wide & 0x1FFF) << (3 * (wide >> 13))
    return decoded


def _layout(source: SourceFile) -> np.dtype[Any]:
    """The layout of the file's records, in the order of bytes that the first record names."""
    head = source.file.read(2)
    source.file.seek(0)
    order = ">" if head[1] == _BIG_ENDIAN_FORMAT else "<"
    return np.dtype([(name, order + kind) for name, kind in _RECORD_FIELDS])


def _plausible(records: Records, layout: np.dtype[Any]) -> NDArray[np.bool_]:
    """Whether each record is of version 3, and its process has a number, a beginning and a length."""
    version = _BIG_ENDIAN_FORMAT if layout["pid"].byteorder == ">" else _LITTLE_ENDIAN_FORMAT
    with np.errstate(invalid="ignore"):
        has_length = (records["elapsed"] >= 0) & (records["elapsed"] < _MOST_ELAPSED_TICKS)
    good: NDArray[np.bool_] = (
        (records["version"] == version) & (records["pid"] > 0) & (records["began_s"] > 0) & has_length
    )
    return good


def _too_many(source: SourceFile, place: int) -> str:
    return (
        f"{source.name}, byte {place}: more than {MOST_RECORDS:,} processes with a terminal are too many at once: give "
        f"a part of the file (`head -c {place // 2 // RECORD_BYTES * RECORD_BYTES} FILE > PART`), or fewer files"
    )
