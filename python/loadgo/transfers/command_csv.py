"""A command's transfer as a row of a table in CSV, by the names that `loadgo transfer --read` knows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from loadgo.transfers.command import CommandTransfer

COLUMNS = (
    "method", "direction", "bytes", "message", "messages", "faults",
    "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load",
    "sent", "received", "user_s", "system_s", "interrupts_s", "exit_status",
)  # fmt: skip
"""Up to `load` those of transfers between two ends. `method` is the program, `direction` always `b`, both ways."""


def header() -> str:
    """The line of names."""
    return _line(COLUMNS)


def row(made: CommandTransfer) -> str:
    """The command's line; a figure that is not known is empty, and so is `message`, the most bytes of a call."""
    moved, run = made.moved, made.run
    faults = None if run.faults_minor is None else run.faults_minor + (run.faults_major or 0)
    us_per_bit = None if made.cpu_s_per_bit is None else 1e6 * made.cpu_s_per_bit
    both = (None, None, None) if moved is None else (moved.sends + moved.receives, moved.sent, moved.received)
    messages, sent, received = both
    counts = [made.name, "b", made.bytes, None, messages, faults]
    times = [made.real_s, made.cpu_s, made.bits_per_s, us_per_bit, made.load_5min]
    return _line([*counts, *times, sent, received, made.user_s, made.system_s, made.interrupts_s, made.status])


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        ["" if cell is None else repr(cell) if isinstance(cell, float) else cell for cell in cells]
    )
    return out.getvalue()
