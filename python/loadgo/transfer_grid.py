"""Transfers over a grid of sizes and messages, in shuffled order: what is needed to take their processor time apart."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable, Sequence

from loadgo.transfer import Transferred, methods, transfer
from loadgo.transfer_row import Row
from loadgo.transfer_table import Observed, Table

MESSAGES = (64, 512, 4096, 65536)
SMALLEST = 4096
_MOST_CALLS = 200_000
_STEP = 8
_COLUMNS = ("method", "direction", "bytes", "messages", "faults", "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load")


def grid_of(method: str, largest: int) -> list[tuple[int, int]]:
    """(size, message) of the transfers by a method: sizes of 4 KiB and eight times that up to `largest`.

    A method whose messages are its own matter has one; transfers of more than 200,000 calls are left out.
    """
    sizes = [size for at in range(12) if (size := SMALLEST * _STEP**at) < largest] + [largest]
    usual = methods()[method]
    messages = (1,) if usual == 1 else MESSAGES
    return [(size, message) for size in sizes for message in messages if size <= message * _MOST_CALLS]


def run_grid(
    to: str,
    *,
    largest: int = 64 << 20,
    method: str = "blocks",
    times: int = 3,
    receive: bool = False,
    token: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Transferred:
    """Makes each transfer of the grid so many `times`, in an order that is shuffled and the same each time.

    Raises what `transfer.transfer` raises. `progress` hears how many are made, of how many.
    """
    if times < 1 or largest < SMALLEST:
        raise ValueError(f"a grid needs one time or more, and sizes up to {SMALLEST} bytes or more")
    every = [(name, *cell) for name in method.split(",") for cell in grid_of(name, largest)] * times
    random.Random(1972).shuffle(every)
    made: list[Transferred] = []
    for at, (name, size, message) in enumerate(every):
        made.append(transfer(to, size=size, method=name, message=message, receive=receive, token=token))
        if progress is not None:
            progress(at + 1, len(every))
        if made[-1].stopped:
            break
    return Transferred(
        tuple(row for one in made for row in one.rows),
        tuple(dict.fromkeys(note for one in made for note in one.notes)),
        any(one.stopped for one in made),
    )


def table_of(rows: Iterable[Row], name: str = "this host") -> Table:
    """The rows that came to their end as a table to be taken apart; the others are named."""
    kept, left_out = [], []
    for at, row in enumerate(rows, start=1):
        if row.broke_off:
            left_out.append(f"row {at}: broke off: {row.broke_off}")
        else:
            kept.append(_observed(at, row))
    return Table(name, tuple(kept), (), tuple(left_out))


def as_csv(rows: Sequence[Row]) -> str:
    """The rows as CSV, by the names that `transfer_table` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        if row.broke_off:
            continue
        faults = row.faults_minor + row.faults_major
        derived = (row.bits_per_s, None if row.cpu_s_per_bit is None else 1e6 * row.cpu_s_per_bit)
        writer.writerow(
            [row.method, row.direction, row.bytes, row.messages, faults, repr(row.real_s), repr(row.cpu_s)]
            + ["" if value is None else repr(value) for value in derived]
            + [row.load_5min]
        )
    return out.getvalue()


def _observed(at: int, row: Row) -> Observed:
    return Observed(
        place=f"row {at}",
        direction=row.direction,
        method=row.method,
        bytes=row.bytes,
        cpu_s=row.cpu_s,
        real_s=row.real_s,
        messages=row.messages,
        faults=row.faults_minor + row.faults_major,
        load=row.load_5min,
    )
