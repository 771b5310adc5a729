"""Transfers over a grid of sizes and messages, in shuffled order: what is needed to take their processor time apart."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from loadgo.errors import BadArgument, NotPossible
from loadgo.transfers.csv_table import THIS_HOST, Observed, Table
from loadgo.transfers.rounds import together
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred, methods, transfer

MESSAGES = (64, 512, 4096, 65536)
SMALLEST = 4096
_MOST_CALLS = 200_000
_STEP = 8
_COLUMNS = (
    "method", "direction", "bytes", "message", "messages", "faults",
    "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load",
    "user_s", "system_s", "interrupts_s", "interrupts_by",
)  # fmt: skip
"""Up to `load` those that are read again; the last four are what `cpu_s` consists of, as `Row` has it."""


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

    Of `all` methods, those that are not possible between the two hosts are left out and named. Raises what
    `transfer.transfer` raises. `progress` hears how many are made, of how many.
    """
    if times < 1 or largest < SMALLEST:
        raise BadArgument(f"a grid needs one time or more, and sizes up to {SMALLEST} bytes or more")
    names = list(methods()) if method == "all" else method.split(",")
    unknown = [name for name in names if name not in methods()]
    if unknown:
        raise BadArgument(f"there is no method {', '.join(unknown)!r}: all, or some of {', '.join(methods())}")
    every = [(name, *cell) for name in names for cell in grid_of(name, largest)] * times
    random.Random(1972).shuffle(every)
    made: list[Transferred] = []
    left_out: dict[str, str] = {}
    for at, (name, size, message) in enumerate(every):
        if name in left_out:
            continue
        try:
            made.append(transfer(to, size=size, method=name, message=message, receive=receive, token=token))
        except NotPossible as why:
            if method != "all":
                raise
            left_out[name] = str(why)
            continue
        if progress is not None:
            progress(at + 1, len(every))
        if made[-1].stopped:
            break
    return replace(together(made), left_out=tuple(left_out[name] for name in names if name in left_out))


def table_of_grid(made: Transferred, loads: Sequence[float] | None = None) -> Table:
    """The table of a grid; it names the methods that were left out, and what is not known and why."""
    table = table_of(made.rows, loads=loads)
    return replace(table, left_out=(*made.left_out, *table.left_out), remarks=made.notes)


def table_of(rows: Iterable[Row], name: str = THIS_HOST, loads: Sequence[float] | None = None) -> Table:
    """The rows that came to their end as a table to be taken apart; the others are named.

    `loads` is the load of each row, where it is another than the load average of five minutes.
    """
    kept, left_out = [], []
    for at, row in enumerate(rows):
        if row.broke_off:
            left_out.append(f"row {at + 1}: broke off: {row.broke_off}")
        else:
            kept.append(_observed(at + 1, row, row.load_5min if loads is None else loads[at]))
    return Table(name, tuple(kept), (), tuple(left_out))


def as_csv(rows: Sequence[Row], loads: Sequence[float] | None = None) -> str:
    """The rows as CSV, by the names that `csv_table` reads; `loads` as `table_of` takes them."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for at, row in enumerate(rows):
        if row.broke_off:
            continue
        faults = row.faults_minor + row.faults_major
        derived = (row.bits_per_s, None if row.cpu_s_per_bit is None else 1e6 * row.cpu_s_per_bit)
        writer.writerow(
            [row.method, row.direction, row.bytes, row.message_bytes, row.messages, faults]
            + [repr(row.real_s), repr(row.cpu_s)]
            + ["" if value is None else repr(value) for value in derived]
            + [row.load_5min if loads is None else repr(loads[at]), repr(row.user_s), repr(row.system_s)]
            + ["" if row.interrupt_work_s is None else repr(row.interrupt_work_s), row.interrupts_by]
        )
    return out.getvalue()


def _observed(at: int, row: Row, load: float) -> Observed:
    return Observed(
        place=f"row {at}",
        direction=row.direction,
        method=row.method,
        bytes=row.bytes,
        cpu_s=row.cpu_s,
        real_s=row.real_s,
        messages=row.messages,
        faults=row.faults_minor + row.faults_major,
        load=load,
        message=row.message_bytes,
    )
