"""A table of a document: columns of text, of which a narrow page leaves out those that are needed least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

GAP = 3
"""Characters between two columns of a page of text."""

NAME_WIDTH = 24
"""How many characters of a row's name a page of text shows: users name commands as they like."""

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
    """The greater, the sooner it is left out; a column with 0 stays."""
    kind: Kind = "figure"
    """Of the first column it says nothing but that its words are folded: names stand there."""
    below: tuple[str, ...] = ()
    """What stands below each cell, such as half of its interval, in one line or more; empty where no cell has any."""
    over: str = ""
    """A heading over this column and its neighbours, which have the same."""
    marks: tuple[str, ...] = ()
    """A sign beside each cell; empty where no cell has one."""
    hints: tuple[str, ...] = ()
    """What an HTML page tells of each cell when asked."""

    @property
    def width(self) -> int:
        """The characters of its widest cell."""
        return max(len(line) for cell in (self.heading, *self.cells, *self.below) for line in cell.split("\n"))

    def lines_below(self, row: int) -> list[str]:
        """What stands below the cell of a row, line by line."""
        return self.below[row].split("\n") if self.below and self.below[row] else []


@dataclass(frozen=True)
class Table:
    """A table: the first column names the rows; `total_rows` at the end are set apart."""

    title: str
    columns: tuple[Column, ...]
    total_rows: int = 0
    name_width: int | None = NAME_WIDTH
    """How many characters of its rows' names a page of text shows; None is as many as there is room for."""
    lead: str = ""
    """Running text above it; without a title, a quotation that its figures are of."""
    as_printed: bool = False
    """Whether a page of text shows it in the layout of a printed document, as close as that."""
    below_names: tuple[str, ...] = ()
    """Of such a table: what the lines below the cells are."""

    @property
    def width(self) -> int:
        """The characters of a line."""
        names, *others = self.columns
        return min(names.width, self.name_width or names.width) + sum(GAP + column.width for column in others)

    def fitting(self, width: int) -> Table:
        """The table with as many columns as a page of `width` characters has room for, and names cut to their share."""
        table = self
        while table.width > width and any(column.spare for column in table.columns):
            least = max(column.spare for column in table.columns)
            table = replace(table, columns=tuple(column for column in table.columns if column.spare != least))
        return table if table.name_width else table._with_names_cut(width)

    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def has_over(self) -> bool:
        """Whether a line of headings stands over those of the columns."""
        return any(column.over for column in self.columns)

    def _with_names_cut(self, width: int) -> Table:
        """The names share what the other columns leave; the first column has the most."""
        named = [i for i, column in enumerate(self.columns) if i == 0 or column.kind == "name"]
        room = width - sum(GAP + column.width for i, column in enumerate(self.columns) if i not in named)
        room -= GAP * (len(named) - 1)
        columns = list(self.columns)
        for i in reversed(named):
            most = min(columns[i].width, room if i == 0 else room * 2 // 5)
            columns[i] = replace(columns[i], cells=tuple(_cut(cell, most) for cell in columns[i].cells))
            room -= columns[i].width
        return replace(self, columns=tuple(columns))


def _cut(name: str, width: int) -> str:
    """A long path keeps its end, which tells most; another long name its beginning."""
    if len(name) <= width:
        return name
    return f"…{name[1 - width :]}" if name.startswith("/") else f"{name[: width - 1]}…"
