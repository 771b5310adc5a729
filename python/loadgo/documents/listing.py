"""A list of things as a table: fitted to a terminal, as wide as it needs elsewhere, or as wide as asked."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from loadgo.notation.figures import plain


def listing(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> str:
    """The table of `rows` under `heads`, fitted to the terminal; columns in `numbers` (from 0) to the right."""
    table = _table(heads, rows, numbers)
    console = Console(markup=False, highlight=False, emoji=False)
    narrowest = max((len(row[0]) for row in rows), default=0) + sum(len(head) + 3 for head in heads[1:]) + 2
    fits = console.is_terminal and console.width >= narrowest
    return _printed(table, console) if fits else wide_listing(heads, rows, numbers)


def prose_listing(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """The same `width` columns wide, to be read and not copied."""
    console = Console(markup=False, highlight=False, emoji=False, width=width)
    return _printed(_table(heads, rows, set()), console)


def wide_listing(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> str:
    """The same as wide as it needs, so that no name and no number is cut in two: what is listed is copied."""
    table = _table(heads, rows, numbers)
    width = max(80, Console().measure(table).maximum, *(sum(map(len, row)) + 4 * len(row) for row in rows or [[""]]))
    return _printed(table, Console(markup=False, highlight=False, emoji=False, width=width))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        # The first names what is listed, and is copied: the others make room for it.
        name = max((len(row[0]) for row in rows), default=0) if place == 0 else None
        table.add_column(head, justify="right" if place in numbers else "left", overflow="fold", min_width=name)
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def _printed(table: Table, console: Console) -> str:
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines() if line.strip())
