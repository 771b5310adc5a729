"""The only writer of CSV: full precision, an empty cell for an unknown value, and lines that end with a newline."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters from which a spreadsheet recognizes a formula."""


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Writes rows of cells as CSV. None is an empty cell, and a float has all its digits."""
    lines = StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def safe_cell(value: object) -> object:
    """A cell with a user's text that no spreadsheet takes for a formula; `never` for an infinite number."""
    if isinstance(value, float) and math.isinf(value):
        return "never"
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def frame_csv(frame: pl.DataFrame) -> str:
    """A frame as CSV. A list is one cell, its items with commas between."""
    return csv_lines([frame.columns, *(map(_frame_cell, row) for row in frame.iter_rows())])


def _frame_cell(value: object) -> object:
    return safe_cell(", ".join(map(str, value)) if isinstance(value, list) else value)
