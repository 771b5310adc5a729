"""The tables of a reproduced document: ours and the ratio below each printed figure, or in columns beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.documents.table import Column, Table

UNDER = ("ours", "ratio")
"""What stands below, or beside, the printed figure."""


@dataclass(frozen=True)
class Shown:
    """A cell: what is printed, ours, their ratio, and the mark; texts that may be empty."""

    printed: str
    ours: str = ""
    ratio: str = ""
    mark: str = ""
    how: str = ""
    is_figure: bool = True
    """Whether what is printed is a figure; else it is text."""


@dataclass(frozen=True)
class ShownRow:
    """A row with its label."""

    label: str
    cells: tuple[Shown, ...]


def stacked(
    title: str,
    headings: Sequence[str],
    rows: Sequence[ShownRow],
    *,
    lead: str = "",
    over: Sequence[str] = (),
    under: tuple[str, str] = UNDER,
) -> Table:
    """A table in its own layout: ours and the ratio below each printed figure."""
    columns = [
        _stacked(heading, [row.cells[i] for row in rows], over[i] if over else "") for i, heading in enumerate(headings)
    ]
    return Table(title, (_labels(rows), *columns), lead=lead, as_printed=True, below_names=under)


def _stacked(heading: str, cells: Sequence[Shown], over: str) -> Column:
    return Column(
        heading,
        tuple(cell.printed for cell in cells),
        kind="figure" if any(cell.is_figure for cell in cells) else "words",
        below=tuple("\n".join(text for text in (cell.ours, cell.ratio) if text) for cell in cells),
        over=over,
        marks=tuple(cell.mark for cell in cells),
        hints=tuple(cell.how for cell in cells),
    )


def listed(
    title: str, heading: str, rows: Sequence[ShownRow], *, lead: str = "", under: tuple[str, str] = UNDER
) -> Table:
    """Figures one under the other, each with ours, the ratio and the mark in columns of their own."""
    cells = [row.cells[0] for row in rows]
    columns = (
        _labels(rows),
        Column(heading, tuple(cell.printed for cell in cells)),
        Column(under[0], tuple(cell.ours for cell in cells), hints=tuple(cell.how for cell in cells)),
        Column(under[1], tuple(cell.ratio for cell in cells)),
        Column("", tuple(cell.mark for cell in cells), kind="mark"),
    )
    return Table(title, columns, lead=lead, as_printed=True)


def _labels(rows: Sequence[ShownRow]) -> Column:
    return Column("", tuple(row.label for row in rows), kind="words")
