"""The report on a terminal: the answer first, then the tables, then the fine print."""

from __future__ import annotations

import shutil
from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadgo.documents.grid import Grid
from loadgo.measures.summary import Summary
from loadgo.notation.figures import plain
from loadgo.reporting import words
from loadgo.reporting.pictures import NOTHING, drawn_of
from loadgo.reporting.tables import grids
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

NARROWEST = 60


def text_report(
    summary: Summary,
    tables: Tables | None = None,
    *,
    view: View | None = None,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The report for a terminal of `width` characters (the present one's by default); with colour on request.

    With `tables` it has pictures made of signs.
    """
    page = max(NARROWEST, width or shutil.get_terminal_size((100, 24)).columns)
    out = StringIO()
    console = Console(
        file=out,
        width=page,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    drawn = NOTHING if tables is None else drawn_of(summary, tables)
    _print(console, summary, grids(summary, view, drawn), words.fine_print(summary, view))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"


def _print(console: Console, summary: Summary, shown: list[Grid], fine_print: list[tuple[str, str]]) -> None:
    for warning in words.warnings(summary):
        console.print(_text(warning, "bold red"))
    console.print(_text(words.answer(summary), "bold"))
    console.print()
    for line in (words.title(summary), words.system(summary), words.scope(summary)):
        console.print(_text(line, "dim"))
    for grid in shown:
        console.print()
        console.print(_text(grid.title, "bold"))
        console.print(_table(grid.fitting(console.width)))
    console.print()
    console.print(_fine_print(fine_print))


def _fine_print(lines: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    last = ""
    for label, line in lines:
        table.add_row("" if label == last else label, _text(line))
        last = label
    return table


def _table(grid: Grid) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for i, column in enumerate(grid.columns):
        if i == 0:
            table.add_column(column.heading, max_width=grid.name_width, no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(column.heading, justify="right", no_wrap=True)
    rows = grid.rows()
    for i, row in enumerate(rows):
        total = i >= len(rows) - grid.total_rows
        table.add_row(
            *(_text(cell, "bold" if total else "") for cell in row), end_section=i == len(rows) - grid.total_rows - 1
        )
    return table


def _text(line: str, style: str = "") -> Text:
    return Text(plain(line), style=style)
