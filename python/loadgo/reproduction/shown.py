"""Tables of printed figures with ours and the ratio, below each printed figure or in columns beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.documents.table import Column, Table

OURS_AND_RATIO = ("ours", "ratio")
"""Names of the two values below or beside a printed figure."""


@dataclass(frozen=True)
class ShownCell:
    """The texts of a cell: the printed figure, ours, their ratio, and the verdict letter. Texts may be empty."""

    printed: str
    ours: str = ""
    ratio: str = ""
    mark: str = ""
    how: str = ""
    is_figure: bool = True
    """Whether the printed text is a figure."""


@dataclass(frozen=True)
class ShownRow:
    """A row with its label."""

    label: str
    cells: tuple[ShownCell, ...]


def stacked_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[ShownRow],
    *,
    lead: str = "",
    over: Sequence[str] = (),
    under: tuple[str, str] = OURS_AND_RATIO,
) -> Table:
    """A table in its printed layout, with ours and the ratio below each printed figure."""
    columns = [
        _stacked_column(heading, [row.cells[i] for row in rows], over[i] if over else "")
        for i, heading in enumerate(headings)
    ]
    return Table(title, (_label_column(rows), *columns), lead=lead, as_printed=True, below_names=under)


def _stacked_column(heading: str, cells: Sequence[ShownCell], over: str) -> Column:
    return Column(
        heading,
        tuple(cell.printed for cell in cells),
        kind="figure" if any(cell.is_figure for cell in cells) else "words",
        below=tuple("\n".join(text for text in (cell.ours, cell.ratio) if text) for cell in cells),
        over=over,
        marks=tuple(cell.mark for cell in cells),
        hints=tuple(cell.how for cell in cells),
    )


def listed_table(
    title: str, heading: str, rows: Sequence[ShownRow], *, lead: str = "", under: tuple[str, str] = OURS_AND_RATIO
) -> Table:
    """A table with one figure a row: printed, ours, ratio and verdict letter in columns of their own."""
    cells = [row.cells[0] for row in rows]
    columns = (
        _label_column(rows),
        Column(heading, tuple(cell.printed for cell in cells)),
        Column(under[0], tuple(cell.ours for cell in cells), hints=tuple(cell.how for cell in cells)),
        Column(under[1], tuple(cell.ratio for cell in cells)),
        Column("", tuple(cell.mark for cell in cells), kind="mark"),
    )
    return Table(title, columns, lead=lead, as_printed=True)


def _label_column(rows: Sequence[ShownRow]) -> Column:
    return Column("", tuple(row.label for row in rows), kind="words")
