"""A document for a terminal: warnings, the answer and its trust first, then tables and pictures, then notes."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from io import StringIO

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as PrintedTable
from rich.text import Text

from loadgo.documents.document import Chapter, Charts, Document, Points, Remarks, Section, SignPicture
from loadgo.documents.fitted_tables import with_fitted_tables
from loadgo.documents.plain_table import plain_table
from loadgo.documents.printed_table import printed_lines
from loadgo.documents.prose import with_whole_figures
from loadgo.documents.table import Table
from loadgo.notation.figures import plain

FEWEST_PAGE_CHARS = 60
"""The smallest width of a document. A narrower terminal wraps its lines."""

MOST_REMARK_CHARS = 80
"""The largest width of running text, since longer lines are hard to read."""


def text_document(document: Document, *, width: int | None = None, color: bool = False, short: bool = False) -> str:
    """The full report as text, or the `short` one.

    Lines have at most `width` characters, by default the width of the present terminal.
    """
    document, out = document.short() if short else document.full(), StringIO()
    console = Console(
        file=out,
        width=max(FEWEST_PAGE_CHARS, width or shutil.get_terminal_size((100, 24)).columns),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
        legacy_windows=False,
    )
    for warning in document.warnings:
        console.print(_text(warning, "bold red"))
    for line in filter(None, (document.answer, *document.further_answers)):
        console.print(_text(line, "bold"))
    if document.trust:
        console.print(_text(document.trust))
    if document.about:
        console.print()
    for line in document.about:
        console.print(_text(line, "dim"))
    for section in with_fitted_tables(document.sections, console.width, has_columns=True):
        if not isinstance(section, Charts):
            console.print()
            for part in _section(section, console.width, color=color):
                out.write(f"{part}\n") if isinstance(part, str) else console.print(part, crop=False)
    if document.all_notes:
        console.print()
        console.print(_notes(document.all_notes))
    text = out.getvalue().replace(_JOINT, " ")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def _section(section: Section, width: int, *, color: bool) -> Iterator[RenderableType]:
    """The parts of a section, its title first. A part without style may be lines of text as they are."""
    if isinstance(section, Chapter):
        yield _text("═" * width, "dim")
    if not isinstance(section, Charts | Remarks) and section.title:
        yield _text(section.title, "bold")
    if isinstance(section, Chapter):
        yield _text(section.source, "dim")
        yield _text(section.answer, "bold red" if section.bad else "")
    elif isinstance(section, SignPicture):
        yield Text("\n".join(map(plain, section.lines(width))), no_wrap=True)
    elif isinstance(section, Points):
        for item in section.items:
            yield _item(item, width)
    elif isinstance(section, Remarks):
        yield _remarks(section, width)
    elif isinstance(section, Table):
        if section.lead:
            yield _text(section.lead, "dim") if section.title else _text(f"“{section.lead}”", "italic")
        yield _printed_layout(section, width) if section.as_printed else _table(section, width, color)
        for line in filter(None, section.foot.split("\n")):
            yield _text(line, "dim")


def _item(item: tuple[str, ...], width: int) -> Text:
    first, *below = item
    lines = textwrap.wrap(f"· {first}", width, subsequent_indent="  ")
    for line in below:
        lines += textwrap.wrap(f"    {line}", width, subsequent_indent="      ")
    return Text("\n".join(map(plain, lines)))


def _remarks(remarks: Remarks, width: int) -> Text:
    chars = min(width, MOST_REMARK_CHARS)
    lines = [textwrap.wrap(plain(text), chars, subsequent_indent="  ") for text in remarks.paragraphs]
    return Text("\n".join(line for paragraph in lines for line in paragraph))


def _printed_layout(table: Table, width: int) -> Text:
    lines = [_text(line.rstrip(), style) for line, style in printed_lines(table, width)]
    shown = Text("\n").join(lines)
    shown.no_wrap, shown.overflow = True, "ignore"
    return shown


def _table(table: Table, width: int, color: bool) -> RenderableType:
    """The table, by Rich if it has colours or cells that are wrapped."""
    return (None if color else plain_table(table, width)) or rich_table(table)


def rich_table(table: Table) -> PrintedTable:
    """The table for Rich, which wraps its words and colours it."""
    printed = PrintedTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for i, column in enumerate(table.columns):
        if column.kind == "words":
            printed.add_column(column.heading, overflow="fold")
        elif i == 0:
            printed.add_column(column.heading, max_width=table.name_width, no_wrap=True, overflow="ellipsis")
        else:
            printed.add_column(column.heading, justify="left" if column.kind == "name" else "right", no_wrap=True)
    rows = table.rows()
    for i, row in enumerate(rows):
        total = i >= len(rows) - table.total_rows
        cells = (_text(cell, "bold" if total else "") for cell in row)
        is_last = bool(table.total_rows) and i == len(rows) - table.total_rows - 1
        below = [column.lines_below(i) for column in table.columns]
        printed.add_row(*cells, end_section=is_last and not any(below))
        if any(below):
            printed.add_row(*(Text("\n".join(map(plain, lines)), style="dim") for lines in below), end_section=is_last)
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
    """The line, in which no figure is parted from its unit where the line is broken."""
    return Text(with_whole_figures(plain(line), _JOINT), style=style)


_JOINT = "\ue000"
"""A sign that no text has. It stands for a space at which no line is broken."""
