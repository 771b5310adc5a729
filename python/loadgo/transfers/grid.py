"""Transfers over a grid of sizes and messages, in shuffled order: data to divide their processor time into parts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from loadgo.documents.as_csv import csv_lines
from loadgo.errors import BadArgument, NotPossible
from loadgo.transfers.csv_table import THIS_HOST, Observed, Table
from loadgo.transfers.rounds import together
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred, methods, transfer

GRID_MESSAGE_BYTES = (64, 512, 4096, 65536)
SMALLEST_GRID_BYTES = 4096
_MOST_CALLS = 200_000
_SIZE_RATIO = 8
GRID_COLUMNS = (
    "method", "direction", "bytes", "message", "messages", "faults",
    "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load",
    "user_s", "system_s", "interrupts_s", "interrupts_by",
)  # fmt: skip
"""Columns of the CSV. Those up to `load` are read again. The last four are the parts of `cpu_s`, as in `Row`."""


def grid_of(method: str, largest: int) -> list[tuple[int, int]]:
    """(size, message) of the transfers by a method: sizes from 4 KiB, each eight times the one before, to `largest`.

    A method that chooses its own messages has only one. Transfers of more than 200,000 calls are left out.
    """
    sizes = [size for power in range(12) if (size := SMALLEST_GRID_BYTES * _SIZE_RATIO**power) < largest] + [largest]
    usual = methods()[method]
    messages = (1,) if usual == 1 else GRID_MESSAGE_BYTES
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
    """Makes each transfer of the grid a number of `times`, in a shuffled order that is always the same.

    With `all` methods, those that are not possible between the two hosts are left out and named. `progress` is called
    with the number of finished transfers and of all. Raises the errors of `transfer.transfer`.
    """
    if times < 1 or largest < SMALLEST_GRID_BYTES:
        raise BadArgument(f"a grid needs one time or more, and sizes up to {SMALLEST_GRID_BYTES} bytes or more")
    names = list(methods()) if method == "all" else method.split(",")
    unknown = [name for name in names if name not in methods()]
    if unknown:
        raise BadArgument(f"there is no method {', '.join(unknown)!r}: all, or some of {', '.join(methods())}")
    planned = [(name, *cell) for name in names for cell in grid_of(name, largest)] * times
    random.Random(1972).shuffle(planned)
    transfers: list[Transferred] = []
    left_out: dict[str, str] = {}
    for index, (name, size, message) in enumerate(planned):
        if name in left_out:
            continue
        try:
            transfers.append(transfer(to, size=size, method=name, message=message, receive=receive, token=token))
        except NotPossible as error:
            if method != "all":
                raise
            left_out[name] = str(error)
            continue
        if progress is not None:
            progress(index + 1, len(planned))
        if transfers[-1].stopped:
            break
    return replace(together(transfers), left_out=tuple(left_out[name] for name in names if name in left_out))


def table_of_grid(transferred: Transferred, loads: Sequence[float] | None = None) -> Table:
    """The table of a grid, with the methods that were left out and the notes of the transfers."""
    table = table_of(transferred.rows, loads=loads)
    return replace(table, left_out=(*transferred.left_out, *table.left_out), remarks=transferred.notes)


def table_of(rows: Iterable[Row], loads: Sequence[float] | None = None) -> Table:
    """The complete rows as a table for analysis. Rows that broke off are named.

    `loads` is the load of each row if it is not the load average of five minutes.
    """
    observed, left_out = [], []
    for index, row in enumerate(rows):
        if row.broke_off:
            left_out.append(f"row {index + 1}: broke off: {row.broke_off}")
        else:
            observed.append(_observed(index + 1, row, row.load_5min if loads is None else loads[index]))
    return Table(THIS_HOST, tuple(observed), (), tuple(left_out))


def grid_csv(rows: Sequence[Row], loads: Sequence[float] | None = None) -> str:
    """The rows as CSV with the column names that `csv_table` reads. `loads` is as in `table_of`."""
    return csv_lines([GRID_COLUMNS, *(row.values() for row in grid_rows(rows, loads))])


def grid_rows(rows: Sequence[Row], loads: Sequence[float] | None = None) -> list[dict[str, object]]:
    """The complete transfers by the columns of the CSV, `GRID_COLUMNS`. `loads` is as in `table_of`."""
    moved = [(row, row.load_5min if loads is None else loads[i]) for i, row in enumerate(rows) if not row.broke_off]
    return [dict(zip(GRID_COLUMNS, _cells(row, load), strict=True)) for row, load in moved]


def _cells(row: Row, load: float | None) -> list[object]:
    counts = [
        row.method,
        row.direction,
        row.bytes,
        row.message_bytes,
        row.messages,
        row.faults_minor + row.faults_major,
    ]
    us_per_bit = None if row.cpu_s_per_bit is None else 1e6 * row.cpu_s_per_bit
    rates = [row.real_s, row.cpu_s, row.bits_per_s, us_per_bit, load]
    return [*counts, *rates, row.user_s, row.system_s, row.interrupt_work_s, row.interrupts_by]


def _observed(row_number: int, row: Row, load: float) -> Observed:
    return Observed(
        place=f"row {row_number}",
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
