"""A reproduction in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadgo.documents.render import render
from loadgo.errors import BadArgument

if TYPE_CHECKING:
    from loadgo.reproduction.reproduce import Reproduction

REPRODUCTION_FORMATS = ("text", "html", "json", "csv", "md")

ReproductionFormat = Literal["text", "html", "json", "csv", "md"]


def render_reproduction(
    reproduction: Reproduction, format: ReproductionFormat = "text", *, width: int | None = None, color: bool = False
) -> str:
    """The reproduction as `format`; `width` in characters and `color` are for `text`.

    Raises `ValueError` for an unknown format.
    """
    if format not in REPRODUCTION_FORMATS:
        raise BadArgument(f"format {format!r} is none of {', '.join(REPRODUCTION_FORMATS)}")
    if format == "html":
        from loadgo.reproduction.as_html import html_reproduction

        return html_reproduction(reproduction)
    from loadgo.reproduction.as_data import csv_reproduction, json_reproduction

    if format == "csv":
        return csv_reproduction(reproduction)
    from loadgo.reproduction.document import reproduction_document

    return render(
        format,
        lambda: reproduction_document(reproduction),
        lambda: json_reproduction(reproduction),
        width=width,
        color=color,
    )
