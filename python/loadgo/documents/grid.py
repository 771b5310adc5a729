"""A table of a report as columns of text: a page that is too narrow leaves out the columns that are needed least."""

from __future__ import annotations

from dataclasses import dataclass, replace

GAP = 3
"""Signs between two columns of a page of text."""

NAME_WIDTH = 24
"""How much of a row's name a page of text shows: users name commands as they like."""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its cells from top to bottom."""

    heading: str
    cells: tuple[str, ...]
    spare: int = 0
    """The greater, the sooner it is left out; a column with 0 stays."""

    @property
    def width(self) -> int:
        """The signs of its widest cell."""
        return max(len(cell) for cell in (self.heading, *self.cells))


@dataclass(frozen=True)
class Grid:
    """A table: the first column names the rows; `total_rows` at the end are set apart."""

    title: str
    columns: tuple[Column, ...]
    total_rows: int = 0
    name_width: int = NAME_WIDTH
    """How much of the names of its rows a page of text shows."""

    @property
    def width(self) -> int:
        """The signs of a line."""
        names, *others = self.columns
        return min(names.width, self.name_width) + sum(GAP + column.width for column in others)

    def fitting(self, width: int) -> Grid:
        """The table with as many columns as a page of `width` signs has room for."""
        grid = self
        while grid.width > width and any(column.spare for column in grid.columns):
            least = max(column.spare for column in grid.columns)
            grid = replace(grid, columns=tuple(column for column in grid.columns if column.spare != least))
        return grid

    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))
