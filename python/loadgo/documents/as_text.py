"""A document for a terminal: warnings and the answer first, then tables and pictures, then notes."""

from __future__ import annotations

import shutil
from io import StringIO

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as PrintedTable
from rich.text import Text

from loadgo.documents.document import Charts, Document, Section, SignPicture
from loadgo.documents.table import Table
from loadgo.notation.figures import plain

FEWEST_PAGE_CHARS = 60
"""The smallest width of a document. On a narrower terminal its lines wrap."""


def text_document(document: Document, *, width: int | None = None, color: bool = False) -> str:
    """The document as text for `width` characters, by default the width of the present terminal."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(FEWEST_PAGE_CHARS, width or shutil.get_terminal_size((100, 24)).columns),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for warning in document.warnings:
        console.print(_text(warning, "bold red"))
    if document.answer:
        console.print(_text(document.answer, "bold"))
    if document.about:
        console.print()
    for line in document.about:
        console.print(_text(line, "dim"))
    for section in document.sections:
        if not isinstance(section, Charts):
            console.print()
            if section.title:
                console.print(_text(section.title, "bold"))
            console.print(_section(section, console.width))
    if document.notes:
        console.print()
        console.print(_notes(document.notes))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"


def _section(section: Section, width: int) -> RenderableType:
    if isinstance(section, SignPicture):
        return Text("\n".join(map(plain, section.lines(width))), no_wrap=True)
    assert isinstance(section, Table), "charts are not for a terminal"
    return _table(section.fitting(width))


def _table(table: Table) -> PrintedTable:
    printed = PrintedTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for i, column in enumerate(table.columns):
        if column.kind == "words":
            printed.add_column(column.heading, overflow="fold")
        elif i == 0:
            printed.add_column(column.heading, max_width=table.name_width, no_wrap=True, overflow="ellipsis")
        else:
            printed.add_column(column.heading, justify="left" if column.kind == "name" else "right", no_wrap=True)
    rows = table.rows()
    for i, (row, below) in enumerate(zip(rows, table.rows_below(), strict=True)):
        is_total = i >= len(rows) - table.total_rows
        cells = (_text(cell, "bold" if is_total else "") for cell in row)
        printed.add_row(*cells, end_section=bool(table.total_rows) and i == len(rows) - table.total_rows - 1)
        if any(below):
            printed.add_row(*(_text(line, "dim") for line in below))
    return printed


def _notes(notes: tuple[tuple[str, str], ...]) -> PrintedTable:
    printed = PrintedTable.grid(padding=(0, 2))
    printed.add_column(no_wrap=True, style="bold")
    printed.add_column(overflow="fold")
    last_label = ""
    for label, line in notes:
        printed.add_row("" if label == last_label else label, _text(line))
        last_label = label
    return printed


def _text(line: str, style: str = "") -> Text:
    return Text(plain(line), style=style)
