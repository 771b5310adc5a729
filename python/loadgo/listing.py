"""A list of things as a table: fitted to a terminal, as wide as it needs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table


def listing(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> str:
    """The table of `rows` under `heads`; the columns in `numbers` (from 0) stand to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, width=max(80, console.measure(table).maximum))
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines() if line.strip())
