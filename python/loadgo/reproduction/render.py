"""A reproduction in any format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

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
    if format == "text":
        from loadgo.reproduction.as_text import text_reproduction

        return text_reproduction(told, width=width, color=color)
    if format == "html":
        from loadgo.reproduction.as_html import html_reproduction

        return html_reproduction(told)
    if format not in FORMATS:
        raise BadArgument(f"format {format!r} is none of {', '.join(FORMATS)}")
    from loadgo.reproduction import as_data as data

    written = {"json": data.json_reproduction, "csv": data.csv_reproduction, "md": data.markdown_reproduction}
    return written[format](told)
