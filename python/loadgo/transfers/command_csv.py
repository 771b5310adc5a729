"""A command's transfer as a row of a table in CSV, by the names that `loadgo transfer --read` knows."""

from __future__ import annotations

from loadgo.documents.as_csv import csv_lines
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
    return csv_lines([COMMAND_CSV_COLUMNS])


def row(transfer: CommandTransfer) -> str:
    """The command's line. Unknown figures are empty."""
    return csv_lines([command_row(transfer).values()])


def command_row(transfer: CommandTransfer) -> dict[str, object]:
    """The command's figures by column. `message`, the largest number of bytes in a call, is never known."""
    moved, run = transfer.moved, transfer.run
    faults = None if run.faults_minor is None else run.faults_minor + (run.faults_major or 0)
    us_per_bit = None if transfer.cpu_s_per_bit is None else 1e6 * transfer.cpu_s_per_bit
    both = (None, None, None) if moved is None else (moved.sends + moved.receives, moved.sent, moved.received)
    messages, sent, received = both
    counts = [transfer.name, "b", transfer.bytes, None, messages, faults]
    times = [transfer.real_s, transfer.cpu_s, transfer.bits_per_s, us_per_bit, transfer.load_5min]
    own_times = [transfer.user_s, transfer.system_s, transfer.interrupts_s]
    cells = [*counts, *times, sent, received, *own_times, transfer.status]
    return dict(zip(COMMAND_CSV_COLUMNS, cells, strict=True))
