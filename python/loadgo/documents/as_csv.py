"""The only writer of CSV: full precision, an empty cell for an unknown value, and lines that end with a newline."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters from which a spreadsheet recognizes a formula."""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that act on a terminal or turn its text around; all but the tab and the end of a line."""


def csv_lines(rows: Iterable[Iterable[object]]) -> str:
    """Writes rows of cells as CSV. None is an empty cell, and a float has all its digits."""
    lines = StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def safe_cell(value: object) -> object:
    """A cell with a user's text that no spreadsheet or terminal acts on; `never` for an infinite number."""
    if isinstance(value, float) and math.isinf(value):
        return "never"
    return _safe_text(value) if isinstance(value, str) else value


def _safe_text(text: str) -> str:
    shown = _CONTROLS.sub("�", text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def safe_polars_csv(frame: pl.DataFrame) -> str:
    """A frame as Polars writes it, with safe texts and names. Raises its errors for columns that CSV cannot hold."""
    import polars as pl

    texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical)]
    safe_texts = [pl.col(name).cast(pl.String).map_elements(_safe_text, return_dtype=pl.String) for name in texts]
    return frame.with_columns(safe_texts).rename(_safe_text).write_csv()


def frame_csv(frame: pl.DataFrame) -> str:
    """A frame as CSV. A list is one cell, its items with commas between."""
    return csv_lines([map(safe_cell, frame.columns), *(map(_frame_cell, row) for row in frame.iter_rows())])


def _frame_cell(value: object) -> object:
    return safe_cell(", ".join(map(str, value)) if isinstance(value, list) else value)
