"""A document: what a command found, in words, tables and pictures, in no format yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo.documents.table import Table

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


@dataclass(frozen=True)
class SignPicture:
    """A picture made of characters, for text and Markdown; an HTML page has charts instead."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Its lines, of at most so many characters each."""


@dataclass(frozen=True)
class Charts:
    """Charts for an HTML page. They are drawn when the page is made: the drawing library takes a second to load."""

    draw: Callable[[], Sequence[Chart]]


@dataclass(frozen=True)
class Chapter:
    """The beginning of a part of the document: the sections up to the next chapter belong to it."""

    title: str
    source: str
    """Where its figures are from."""
    answer: str
    bad: bool = False
    """Whether the answer is a warning."""


@dataclass(frozen=True)
class Points:
    """A list: of each item its first line, and what is to be said below that."""

    title: str
    items: tuple[tuple[str, ...], ...]


Section = Table | SignPicture | Charts | Chapter | Points


@dataclass(frozen=True)
class Document:
    """The answer first, then what it is about, the sections, and the fine print."""

    title: str
    answer: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """What the figures are of, a line each."""
    notes: tuple[tuple[str, str], ...] = ()
    """The fine print: label and line; of lines with the same label the first shows it."""
    beside: bool = False
    """Whether tables below the charts stand side by side where an HTML page has room."""
