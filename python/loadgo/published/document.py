"""The printed documents as data: tables with their labels, figures in running text, and claims about them.

A figure is one printed number, or a range of two. Its id is `DOCUMENT/TABLE/ROW/COLUMN`, or `DOCUMENT/text/NAME` in
running text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from loadgo.published.number import Number

if TYPE_CHECKING:
    from loadgo.published.claims import Claim, Expression


@dataclass(frozen=True)
class Figure:
    """One printed number."""

    id: str
    text: str
    """The text as printed."""
    number: Number
    unit: str
    line: int
    """Line of the document, from 1. 0 in a table that has a file of its own."""
    label: str
    """Row and column, in words."""

    @property
    def percent_sign(self) -> str:
        """The sign for percent if it is printed with the figure; else empty."""
        return "%" if self.text.endswith("%") else ""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    label: str
    over: str = ""
    """The heading over this column and its neighbours."""


@dataclass(frozen=True)
class Cell:
    """A cell as printed, with its figure if it holds a number."""

    text: str
    figure: Figure | None = None


@dataclass(frozen=True)
class Row:
    """A row: its label, and one cell for each column."""

    name: str
    label: str
    group: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table as printed."""

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
    """A relation between numbers that the document states or implies, with one claim for each row or column."""

    name: str
    says: str
    claims: tuple[Claim, ...]
    derives: bool
    """Whether our figure for the left side is computed from our figures of the right side."""


@dataclass(frozen=True)
class Total:
    """A figure for comparisons that is not printed but follows from printed ones."""

    id: str
    label: str
    unit: str
    expression: Expression
    text: str
    """The expression as written in the file."""
    cells: tuple[str, ...]
    """The ids of the figures in the expression."""


@dataclass(frozen=True)
class Tolerance:
    """Largest distance of our figure from the printed one, besides the rounding of the printed digits."""

    text: str
    relative: float = 0.0
    factor: float = 1.0
    absolute: float = 0.0


@dataclass(frozen=True)
class Rule:
    """How the figures that match `cells` are reproduced, and why."""

    cells: str
    mark: str
    why: str
    within: Tolerance | None


CauseKind = Literal["data", "missing mechanism"]
"""`data`: the document's own figures speak against each other. `missing mechanism`: the machines lack one."""


@dataclass(frozen=True)
class Cause:
    """A reason why our figures for some cells lie outside their tolerance. It counts only while its evidence holds."""

    kind: CauseKind
    says: str
    cells: tuple[str, ...]
    """The ids of the figures."""
    evidence: Claim
    """An inequality between printed figures and ours that must hold for all values that round to what is printed."""


@dataclass(frozen=True, eq=False)
class Document:
    """A printed document. Documents compare by identity, so that results about one can be cached."""

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
    """Relations that the document does not state, such as a processor's speed, from which our figures are computed."""
    totals: tuple[Total, ...]
    rules: tuple[Rule, ...]
    causes: tuple[Cause, ...]
    not_figures: Mapping[str, int]
    """Occurrences of numbers in the document that are names, dates of letters or the numbering of remarks."""
    sides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The columns that can be compared, by name, as `[sides.NAME]` in the file has them."""
    path: str = ""
    """The path of a user's own file. Empty for a bundled document."""

    @property
    def spec(self) -> str:
        """The argument that names the document on the command line: its name, or the path of a user's own file."""
        return self.path or self.name

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """All figures by their ids, in the order of the tables, then of the passages."""
        return {figure.id: figure for figure in figures_of(self.tables, self.passages)}


def figures_of(tables: tuple[Table, ...], passages: tuple[Passage, ...]) -> list[Figure]:
    """All figures, those of the tables first."""
    in_tables = [cell.figure for table in tables for row in table.rows for cell in row.cells if cell.figure is not None]
    return [*in_tables, *(figure for passage in passages for figure in passage.figures)]
