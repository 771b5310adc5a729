"""A table of a document: columns of text, of which a narrow page leaves out the least important."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

COLUMN_GAP_CHARS = 3
"""Number of characters between two columns of a text."""

MOST_NAME_CHARS = 24
"""Most characters of a row's name in a text, since users' names for commands have any length."""

Kind = Literal["figure", "words", "name", "mark"]
"""Figures stand to the right. Words stand to the left, and are folded; names are cut where there is no room.
Marks stand to the left and say of each row what came of it.
"""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its cells from top to bottom."""

    heading: str
    cells: tuple[str, ...]
    spare: int = 0
    """A narrow page leaves out columns with the largest number first. A column with 0 stays."""
    kind: Kind = "figure"
    """How the cells are aligned. The first column has names, unless its kind is `words`."""
    below: tuple[str, ...] = ()
    """Lines below each cell, such as half of its interval. Empty if no cell has any."""
    over: str = ""
    """A heading over this column and its neighbours, which have the same."""
    marks: tuple[str, ...] = ()
    """A sign beside each cell; empty where no cell has one."""
    chars: int = 0
    """Characters of a printed table's column, with the gap before it. 0 is as many as its cells need."""
    hints: tuple[str, ...] = ()
    """Text that an HTML page shows when the pointer is on a cell."""

    @property
    def width(self) -> int:
        """The characters of its widest cell."""
        return max(len(line) for cell in (self.heading, *self.cells, *self.below) for line in cell.split("\n"))

    def lines_below(self, row: int) -> list[str]:
        """The lines below the cell of a row."""
        return self.below[row].split("\n") if self.below and self.below[row] else []


@dataclass(frozen=True)
class Table:
    """A table. The first column has the rows' names, and the last `total_rows` rows are set apart."""

    title: str
    columns: tuple[Column, ...]
    total_rows: int = 0
    name_width: int | None = MOST_NAME_CHARS
    """How many characters of its rows' names a page of text shows; None is as many as there is room for."""
    lead: str = ""
    """Running text above it; without a title, a quotation that its figures are of."""
    as_printed: bool = False
    """Whether a page of text shows it in the layout of a printed document, as close as that."""
    below_names: tuple[str, ...] = ()
    """Names of the lines below the cells, of a table as printed."""
    in_halves: bool = False
    """Whether a printed table without headings shows the second half of its rows beside the first."""

    @property
    def width(self) -> int:
        """Number of characters of a line."""
        names, *others = self.columns
        return min(names.width, self.name_width or names.width) + sum(
            COLUMN_GAP_CHARS + column.width for column in others
        )

    def fitting(self, width: int) -> Table:
        """The table for a page of `width` characters, with columns left out and names cut as necessary."""
        table = self
        while table.width > width and any(column.spare for column in table.columns):
            largest = max(column.spare for column in table.columns)
            table = replace(table, columns=tuple(column for column in table.columns if column.spare != largest))
        return table if table.name_width else table._with_names_cut(width)

    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def has_over(self) -> bool:
        """Whether a line of headings stands over those of the columns."""
        return any(column.over for column in self.columns)

    def _with_names_cut(self, width: int) -> Table:
        """The table with names cut so that its lines fit `width`. The first column gets the largest part."""
        named = [i for i, column in enumerate(self.columns) if i == 0 or column.kind == "name"]
        room = width - sum(COLUMN_GAP_CHARS + column.width for i, column in enumerate(self.columns) if i not in named)
        room -= COLUMN_GAP_CHARS * (len(named) - 1)
        columns = list(self.columns)
        for i in reversed(named):
            most = min(columns[i].width, room if i == 0 else room * 2 // 5)
            columns[i] = replace(columns[i], cells=tuple(_cut(cell, most) for cell in columns[i].cells))
            room -= columns[i].width
        return replace(self, columns=tuple(columns))


def _cut(name: str, width: int) -> str:
    """The name in at most `width` characters: a path keeps its end, any other name its beginning."""
    if len(name) <= width:
        return name
    return f"…{name[1 - width :]}" if name.startswith("/") else f"{name[: width - 1]}…"
