"""Renders a document in any format of documents. `presentation.py` chooses CSV, pictures, and what a result shows."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.documents.document import Document
from loadgo.documents.formats import TextFormat
from loadgo.errors import BadArgument

DOCUMENT_FORMATS: tuple[TextFormat, ...] = ("text", "html", "json", "md")


def render(
    format: str,
    document: Callable[[], Document],
    json: Callable[[], str] | None,
    *,
    width: int | None = None,
    color: bool = False,
    short: bool = False,
) -> str:
    """Renders the document as `format`. The format `json` calls `json`, all others call `document`.

    `width`, in characters, `color`, and `short` for the short report are for `text`. Raises `ValueError` for another
    format.
    """
    if format == "json" and json is not None:
        return json()
    if format == "text":
        from loadgo.documents.as_text import text_document

        return text_document(document(), width=width, color=color, short=short)
    if format == "md":
        from loadgo.documents.as_markdown import markdown_document

        return markdown_document(document())
    if format == "html":
        from loadgo.documents.as_html import html_document

        return html_document(document())
    raise BadArgument(f"format {format!r} is none of {', '.join(DOCUMENT_FORMATS)}")
