"""The formats of documents, by the words of `--format` and of `report(format)`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, get_args

from loadgo.errors import Refused

TableFormat = Literal["text", "html", "json", "csv", "md"]
"""The formats of every result. `csv` is its main table."""
ReportFormat = Literal["text", "html", "json", "csv", "md", "svg", "png"]
"""The formats of a result with charts. `svg` and `png` are its main chart."""

TextFormat = Literal["text", "html", "json", "csv", "md", "svg"]
"""The formats whose document is text. `png` is bytes."""

TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
PICTURE_FORMATS = ("svg", "png")


def check_drawable(format: str) -> None:
    """Raises `Refused` with the remedy if the format is a picture and vl-convert, which draws it, is not installed.

    Commands call it before their work, which may be long.
    """
    if format in PICTURE_FORMATS and not _is_installed("vl_convert"):
        raise Refused(
            f"vl-convert, which draws {format} pictures, is not installed: pip install 'loadgo[charts]', "
            "or take the format html, whose page has the charts"
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # somebody has said that this process must not import it
        return False
