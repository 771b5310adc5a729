"""A block of a reproduced document, to be printed: a table or a passage, with ours under or beside each figure."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.reproduction.reproduce import Verdict


@dataclass(frozen=True)
class Shown:
    """A cell: what is printed, ours, their ratio, and the mark; texts that may be empty."""

    printed: str
    ours: str = ""
    ratio: str = ""
    mark: str = ""
    verdict: Verdict | None = None
    how: str = ""


@dataclass(frozen=True)
class ShownRow:
    """A row with its label."""

    label: str
    cells: tuple[Shown, ...]


@dataclass(frozen=True)
class Block:
    """A table to be printed; `lead` is running text above it."""

    title: str
    lead: str
    over: tuple[str, ...]
    """Headings over the columns, each as often as it spans; empty when there are none."""
    columns: tuple[str, ...]
    rows: tuple[ShownRow, ...]
    stacked: bool
    """Whether ours and the ratio stand below the printed figure, as in a table; else they are columns of their own."""
    under: tuple[str, str] = ("ours", "ratio")
    """What stands below, or beside, the printed figure."""
