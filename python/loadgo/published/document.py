"""The printed documents as data: tables with their labels, figures in running text, and what is said of them.

A figure is one printed number, or a range of two; its
id is `DOCUMENT/TABLE/ROW/COLUMN`, or `DOCUMENT/text/NAME` in running text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from loadgo.published.number import Number

if TYPE_CHECKING:
    from loadgo.published.claims import Claim, Expression


@dataclass(frozen=True)
class Figure:
    """One printed number."""

    id: str
    text: str
    """As it is printed."""
    number: Number
    unit: str
    line: int
    """Its line in the document, from 1; 0 in a table that is a file of its own."""
    label: str
    """In words, where it stands."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    label: str
    over: str = ""
    """The heading over this column and its neighbours."""


@dataclass(frozen=True)
class Cell:
    """A cell as it is printed, with its number, if it is one."""

    text: str
    figure: Figure | None = None


@dataclass(frozen=True)
class Row:
    """A row: its label, and a cell for each column."""

    name: str
    label: str
    group: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table as it is printed."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Passage:
    """A passage of running text with figures in it."""

    line: int
    text: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Relation:
    """What the document says, or implies, about its numbers; one claim for each row or column that it is said of."""

    name: str
    says: str
    claims: tuple[Claim, ...]
    derives: bool
    """Whether the left side is a figure that our own is computed for from our right side."""


@dataclass(frozen=True)
class Total:
    """A figure that is not printed but follows from printed ones, and is of use in a comparison."""

    id: str
    label: str
    unit: str
    expression: Expression
    text: str
    """The expression as it is written."""
    cells: tuple[str, ...]
    """The ids of the figures in it."""


@dataclass(frozen=True)
class Tolerance:
    """How far ours may be from what is printed, besides the rounding of the printed digits."""

    text: str
    relative: float = 0.0
    factor: float = 1.0
    absolute: float = 0.0


@dataclass(frozen=True)
class Rule:
    """What is to become of the figures that match `cells`, and why."""

    cells: str
    mark: str
    why: str
    within: Tolerance | None


@dataclass(frozen=True, eq=False)
class Document:
    """A printed document; two are the same only if they were read at once, so that what is found out can be kept."""

    name: str
    title: str
    by: str
    dated: str
    about: str
    tables: tuple[Table, ...]
    passages: tuple[Passage, ...]
    parts: tuple[str, ...]
    """Names of the tables and lines of the passages in the order of the document: `table NAME` and `passage LINE`."""
    relations: tuple[Relation, ...]
    derivations: tuple[Relation, ...]
    """How figures of ours follow from others by what the document does not say, such as a processor's speed."""
    totals: tuple[Total, ...]
    rules: tuple[Rule, ...]
    not_figures: Mapping[str, int]
    """How often numbers stand in the document that are names, dates of letters or the numbering of remarks."""

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """All figures by their ids, in the order of the tables, then of the passages."""
        return {figure.id: figure for figure in figures_of(self.tables, self.passages)}


def figures_of(tables: tuple[Table, ...], passages: tuple[Passage, ...]) -> list[Figure]:
    """All figures, those of the tables first."""
    found = [cell.figure for table in tables for row in table.rows for cell in row.cells if cell.figure is not None]
    return [*found, *(figure for passage in passages for figure in passage.figures)]
