"""A reproduction in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadgo.documents.render import render
from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from loadgo.reproduction.reproduce import Reproduction

FORMATS = ("text", "html", "json", "csv", "md")

Format = Literal["text", "html", "json", "csv", "md"]


def render_reproduction(
    told: Reproduction, format: Format = "text", *, width: int | None = None, color: bool = False
) -> str:
    """The reproduction as `format`; `width` in characters and `color` are for `text`.

    Raises `ValueError` for an unknown format.
    """
    if format not in FORMATS:
        raise BadArgument(f"format {format!r} is none of {', '.join(FORMATS)}")
    if format == "html":
        from loadgo.reproduction.as_html import html_reproduction

        return html_reproduction(told)
    from loadgo.reproduction.as_data import csv_reproduction, json_reproduction

    if format == "csv":
        return csv_reproduction(told)
    from loadgo.reproduction.document import reproduction_document

    return render(
        format, lambda: reproduction_document(told), lambda: json_reproduction(told), width=width, color=color
    )
