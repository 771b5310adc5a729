"""A table of a document: columns of text, of which a narrow page leaves out those that are needed least."""

from __future__ import annotations

from dataclasses import dataclass, replace

GAP = 3
"""Characters between two columns of a page of text."""

NAME_WIDTH = 24
"""How many characters of a row's name a page of text shows: users name commands as they like."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its cells from top to bottom."""

    heading: str
    cells: tuple[str, ...]
    spare: int = 0
    """The greater, the sooner it is left out; a column with 0 stays."""

    @property
    def width(self) -> int:
        """The characters of its widest cell."""
        return max(len(cell) for cell in (self.heading, *self.cells))


@dataclass(frozen=True)
class Table:
    """A table: the first column names the rows; `total_rows` at the end are set apart."""

    title: str
    columns: tuple[Column, ...]
    total_rows: int = 0
    name_width: int = NAME_WIDTH
    """How many characters of its rows' names a page of text shows."""

    @property
    def width(self) -> int:
        """The characters of a line."""
        names, *others = self.columns
        return min(names.width, self.name_width) + sum(GAP + column.width for column in others)

    def fitting(self, width: int) -> Table:
        """The table with as many columns as a page of `width` characters has room for."""
        table = self
        while table.width > width and any(column.spare for column in table.columns):
            least = max(column.spare for column in table.columns)
            table = replace(table, columns=tuple(column for column in table.columns if column.spare != least))
        return table

    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))
