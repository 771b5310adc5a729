"""The report on a terminal: the answer first, then the tables, then the fine print."""

from __future__ import annotations

import shutil
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadgo import report_words as words
from loadgo.report_figures import plain
from loadgo.report_grid import NAME_WIDTH, Grid
from loadgo.report_tables import grids
from loadgo.summary import Summary

NARROWEST = 60


def text_report(summary: Summary, *, width: int | None = None, color: bool = False) -> str:
    """The report for a terminal of `width` characters (the present one's by default); with colour on request."""
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
    _print(console, summary, page)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"


def _print(console: Console, summary: Summary, page: int) -> None:
    for warning in words.warnings(summary):
        console.print(_text(warning, "bold red"))
    console.print(_text(words.answer(summary), "bold"))
    console.print()
    for line in (words.title(summary), words.system(summary), words.scope(summary)):
        console.print(_text(line, "dim"))
    for grid in grids(summary):
        console.print()
        console.print(_text(grid.title, "bold"))
        console.print(_table(grid.fitting(page)))
    console.print()
    console.print(_fine_print(summary))


def _fine_print(summary: Summary) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    last = ""
    for label, line in words.fine_print(summary):
        table.add_row("" if label == last else label, _text(line))
        last = label
    return table


def _table(grid: Grid) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1))
    for i, column in enumerate(grid.columns):
        if i == 0:
            table.add_column(column.heading, max_width=NAME_WIDTH, no_wrap=True, overflow="ellipsis")
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
