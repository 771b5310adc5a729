"""A table of a document: columns of text, of which a narrow page leaves out the least important."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from loadgo.documents.section import SectionPlace, Shown
from loadgo.documents.short_names import short_name

COLUMN_GAP_CHARS = 3
"""Number of characters between two columns of a text."""

MOST_NAME_CHARS = 24
"""Most characters of a row's name in a text, since users' names for commands have any length."""

Kind = Literal["figure", "words", "name", "mark"]
"""How a column's cells are aligned and shortened.

Figures are aligned to the right, and words, names and marks to the left. Without enough room, words are wrapped, and
names are cut. A mark is a sign for the row's result.
"""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its cells from top to bottom."""

    heading: str
    cells: tuple[str, ...]
    spare: int = 0
    """How dispensable the column is: a narrow page leaves out the largest numbers first. A column with 0 stays."""
    kind: Kind = "figure"
    """The kind of the cells. The first column has names, unless its kind is `words`."""
    below: tuple[str, ...] = ()
    """Lines below each cell, such as half of its interval. Empty if no cell has any."""
    over: str = ""
    """A heading above this column's own. Neighbours with the same text share it."""
    marks: tuple[str, ...] = ()
    """A sign beside each cell. Empty if no cell has a sign."""
    chars: int = 0
    """Width in characters, with the gap before the column, in a table `as_printed`. With 0, the cells decide."""
    of_previous: bool = False
    """Whether the column belongs to the one before it, as an interval does. An HTML page then shows them as one."""
    kept: bool = False
    """Whether a narrow HTML page keeps the column in view, at the right edge, as it does the verdict."""
    hints: tuple[str, ...] = ()
    """Text that an HTML page shows when the pointer is on a cell."""
    verbatim: bool = False
    """Whether the cells are others' text, in which a backtick is a sign like any other."""
    folded: bool = False
    """Whether a narrow text has the cells below the rows' names, in place of leaving the column out."""

    @property
    def width(self) -> int:
        """The characters of its widest cell."""
        return max(len(line) for cell in (self.heading, *self.cells, *self.below) for line in cell.split("\n"))

    def name_after(self, previous: Column) -> str:
        """The heading for a sentence, with that above it, or with that of the `previous` column that it belongs to."""
        if self.of_previous and "'s " not in self.heading:
            return f"{previous.heading}'s {self.heading}"
        return ": ".join(filter(None, (self.over, self.heading)))

    def lines_below(self, row: int) -> list[str]:
        """The lines below the cell of a row."""
        return self.below[row].split("\n") if self.below and self.below[row] else []

    def with_rows(self, rows: Iterable[int]) -> Column:
        """The column with the cells of these rows."""
        kept = tuple(rows)

        def of(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(texts[row] for row in kept) if texts else ()

        return replace(self, cells=of(self.cells), below=of(self.below), marks=of(self.marks), hints=of(self.hints))


@dataclass(frozen=True)
class Table(SectionPlace):
    """A table. The first column has the rows' names, and the last `total_rows` rows are set apart."""

    title: str
    columns: tuple[Column, ...]
    total_rows: int = 0
    name_width: int | None = MOST_NAME_CHARS
    """Most characters of a row's name in a text. With None, names get all the room that there is."""
    lead: str = ""
    """Running text above the table. In a table without a title, it is a quotation that contains the figures."""
    as_printed: bool = False
    """Whether a text shows the table in the compact layout of a printed document (`printed_table`)."""
    below_names: tuple[str, ...] = ()
    """Names of the lines below the cells, for a table `as_printed`."""
    in_halves: bool = False
    """Whether a table `as_printed` without headings shows the second half of its rows beside the first."""
    foot: str = ""
    """A sentence below the table, such as the number of rows that it leaves out. Each line is a paragraph."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """The meaning in this table of a word that stands in place of a figure, where it is not the usual one."""
    left_out: tuple[str, ...] = ()
    """Headings of the columns that a narrow page has no room for."""

    @property
    def width(self) -> int:
        """Number of characters of a line."""
        names, *others = self.columns
        return min(names.width, self.name_width or names.width) + sum(
            COLUMN_GAP_CHARS + column.width for column in others
        )

    def fitting(self, width: int) -> Table:
        """The table for a page of `width` characters. It folds and leaves out columns, which it names, and cuts names.

        A column that is `folded` stands below the rows' names, where nothing else does.
        """
        table, folded = self, set()
        while table.width > width and any(column.spare for column in table.columns):
            largest = max(column.spare for column in table.columns)
            spared = [column for column in table.columns if column.spare == largest]
            table = replace(table, columns=tuple(column for column in table.columns if column.spare != largest))
            if len(spared) == 1 and spared[0].folded and not table.columns[0].below:
                table = table._with_folded(spared[0])
                folded.add(id(spared[0]))
        kept = {id(self.columns[0]), *folded, *map(id, table.columns)}
        pairs = zip((self.columns[0], *self.columns), self.columns, strict=False)
        names = dict.fromkeys(column.name_after(before) for before, column in pairs if id(column) not in kept)
        table = replace(table, left_out=tuple(names))
        return table if table.name_width else table._with_names_cut(width)

    def _with_folded(self, column: Column) -> Table:
        """The table with the cells of `column` below the rows' names."""
        names, *others = self.columns
        heading = ", ".join(filter(None, (names.heading, column.heading)))
        return replace(
            self,
            columns=(
                replace(names, heading=heading, below=tuple(f"  {cell}" if cell else "" for cell in column.cells)),
                *others,
            ),
        )

    def rows(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def placed(self, shown: Shown) -> Table:
        """The table in other reports."""
        return replace(self, shown=shown)

    def with_rows(self, rows: Iterable[int], foot: str) -> Table:
        """The table with some of its rows and the total rows, in their order, and `foot` below them."""
        count = len(self.columns[0].cells)
        kept = sorted({*rows, *range(count - self.total_rows, count)})
        return replace(self, columns=tuple(column.with_rows(kept) for column in self.columns), foot=foot)

    @property
    def has_over(self) -> bool:
        """Whether any column has a heading above its own."""
        return any(column.over for column in self.columns)

    def _with_names_cut(self, width: int) -> Table:
        """The table with names cut so that its lines fit `width`. The first column gets the largest part."""
        named = [i for i, column in enumerate(self.columns) if i == 0 or column.kind == "name"]
        room = width - sum(COLUMN_GAP_CHARS + column.width for i, column in enumerate(self.columns) if i not in named)
        room -= COLUMN_GAP_CHARS * (len(named) - 1)
        columns = list(self.columns)
        for i in reversed(named):
            most = min(columns[i].width, room if i == 0 else room * 2 // 5)
            columns[i] = replace(columns[i], cells=tuple(short_name(cell, most) for cell in columns[i].cells))
            room -= columns[i].width
        return replace(self, columns=tuple(columns))
