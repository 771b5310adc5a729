"""A command's transfer as a row of a table in CSV, by the names that `loadgo transfer --read` knows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from loadgo.transfers.command import CommandTransfer

COMMAND_CSV_COLUMNS = (
    "method", "direction", "bytes", "message", "messages", "faults",
    "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load",
    "sent", "received", "user_s", "system_s", "interrupts_s", "exit_status",
)  # fmt: skip
"""Columns of the CSV. Those up to `load` are the columns of transfers between two ends.

`method` is the program. `direction` is always `b`, both directions.
"""


def header() -> str:
    """The line of column names."""
    return _line(COMMAND_CSV_COLUMNS)


def row(transfer: CommandTransfer) -> str:
    """The command's line. Unknown figures are empty, and so is `message`, the largest number of bytes in a call."""
    moved, run = transfer.moved, transfer.run
    faults = None if run.faults_minor is None else run.faults_minor + (run.faults_major or 0)
    us_per_bit = None if transfer.cpu_s_per_bit is None else 1e6 * transfer.cpu_s_per_bit
    both = (None, None, None) if moved is None else (moved.sends + moved.receives, moved.sent, moved.received)
    messages, sent, received = both
    counts = [transfer.name, "b", transfer.bytes, None, messages, faults]
    times = [transfer.real_s, transfer.cpu_s, transfer.bits_per_s, us_per_bit, transfer.load_5min]
    return _line(
        [*counts, *times, sent, received, transfer.user_s, transfer.system_s, transfer.interrupts_s, transfer.status]
    )


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        ["" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in cells]
    )
    return out.getvalue()
