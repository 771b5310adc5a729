"""The formats of documents, by the words of `--format` and of `report(format)`."""

from __future__ import annotations

from typing import Literal, get_args

TableFormat = Literal["text", "html", "json", "csv", "md"]
"""The formats of every result. `csv` is its main table."""
ReportFormat = Literal["text", "html", "json", "csv", "md", "svg", "png"]
"""The formats of a result with charts. `svg` and `png` are its main chart."""

TextFormat = Literal["text", "html", "json", "csv", "md", "svg"]
"""The formats whose document is text. `png` is bytes."""

TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
PICTURE_FORMATS = ("svg", "png")
