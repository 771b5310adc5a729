"""A result for a notebook: the answer, warnings, the main table and the main chart, in HTML without scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from loadgo.documents.absent_words import with_absent_explained
from loadgo.documents.as_html import template
from loadgo.documents.document import Document, Points
from loadgo.documents.prose import prose
from loadgo.documents.table import Table
from loadgo.errors import LoadgoError
from loadgo.notation.figures import cut, plain

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

MOST_HTML_BYTES = 200_000
"""The largest cell of a notebook that a result makes. Notebooks with many larger cells open slowly."""
_MOST_PICTURE_BYTES = 120_000
_MOST_ROWS = 25
_MOST_CELL_CHARS = 60
_MOST_SENTENCE_CHARS = 600
_MOST_WARNINGS = 12


def notebook_html(document: Document, titles: Sequence[str], chart: Chart | None) -> str:
    """The document's answer, its main table and the chart, in less than `MOST_HTML_BYTES` of HTML.

    The table's title begins with the first of `titles` that any table has; else it is the first table.
    All texts are escaped, and the chart is a picture. A chart that cannot be drawn is a warning instead.
    """
    table = _main_table(document, titles)
    hidden = 0 if table is None else max(0, len(table.columns[0].cells) - _MOST_ROWS)
    table = None if table is None else with_absent_explained(_shortened(table))
    try:
        picture = None if chart is None else _picture(chart)
    except LoadgoError as error:
        # The answer and the table do not need the chart.
        document, picture = replace(document, warnings=(*document.warnings, f"{error}.")), None
    html = _html(document, table, hidden, picture)
    if len(html.encode()) >= MOST_HTML_BYTES:
        html = _html(document, None, 0, None)
    return html


def _html(document: Document, table: Table | None, hidden: int, picture: tuple[str, str] | None) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": plain, "prose": prose}
    return environment.from_string(template("notebook.html")).render(
        warnings=[cut(warning, _MOST_SENTENCE_CHARS) for warning in document.warnings[:_MOST_WARNINGS]],
        more_warnings=max(0, len(document.warnings) - _MOST_WARNINGS),
        answers=[cut(line, _MOST_SENTENCE_CHARS) for line in (document.answer, *document.further_answers)],
        trust=cut(document.trust, _MOST_SENTENCE_CHARS),
        table=table,
        hidden=hidden,
        points=() if table else _points(document),
        picture=picture,
    )


def _main_table(document: Document, titles: Sequence[str]) -> Table | None:
    """The table with the first of these titles, else the first table; None without tables."""
    tables = [section for section in document.sections if isinstance(section, Table)]
    titled = (table for title in titles for table in tables if table.title.startswith(title))
    return next(titled, tables[0] if tables else None)


def _points(document: Document) -> list[list[str]]:
    """The first list of the document with its lines cut, for a document without tables; empty without lists."""
    lists = [section for section in document.sections if isinstance(section, Points)]
    items = lists[0].items[:_MOST_ROWS] if lists else ()
    return [[cut(line, _MOST_SENTENCE_CHARS) for line in item] for item in items]


def _shortened(table: Table) -> Table:
    """The first rows of the table, with long cells cut."""

    def first(cells: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(cut(cell, _MOST_CELL_CHARS) for cell in cells[:_MOST_ROWS])

    columns = tuple(
        replace(column, heading=cut(column.heading, _MOST_CELL_CHARS), cells=first(column.cells), below=(), hints=())
        for column in table.columns
    )
    return replace(table, columns=columns)


def _picture(chart: Chart) -> tuple[str, str] | None:
    """The chart as a `data:` address with its description; None if it is too large.

    A chart with many marks is a PNG, since its SVG would be large.
    """
    from loadgo.documents.chart import png, svg

    address = _address("image/svg+xml", svg(chart, ground="any").encode())
    if len(address) > _MOST_PICTURE_BYTES:
        address = _address("image/png", png(chart, ground="any"))
    return (address, f"{chart.heading}. {chart.caption}") if len(address) <= _MOST_PICTURE_BYTES else None


def _address(kind: str, picture: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(picture).decode()}"
