"""A document: a command's result in words, tables and pictures, without a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo.documents.table import Table

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


@dataclass(frozen=True)
class SignPicture:
    """A picture of characters, for text and Markdown. An HTML page has charts instead."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Function from the page's width in characters to the lines of the picture."""


@dataclass(frozen=True)
class Charts:
    """Charts for an HTML page. They are made with the page, since the chart library takes a second to load."""

    draw: Callable[[], Sequence[Chart]]


@dataclass(frozen=True)
class Chapter:
    """The heading of a part of the document. All sections up to the next chapter belong to the part."""

    title: str
    source: str
    """The origin of the chapter's figures."""
    answer: str
    bad: bool = False
    """Whether the answer is a warning."""


@dataclass(frozen=True)
class Points:
    """A list of items."""

    title: str
    items: tuple[tuple[str, ...], ...]
    """Each item has a first line, and further lines that stand below it."""


@dataclass(frozen=True)
class Remarks:
    """Running text, with a paragraph for each remark."""

    paragraphs: tuple[str, ...]


Section = Table | SignPicture | Charts | Chapter | Points | Remarks


@dataclass(frozen=True)
class Document:
    """A title, the answer with warnings, lines about the measured systems, sections, and notes."""

    title: str
    answer: str
    sections: tuple[Section, ...]
    further_answers: tuple[str, ...] = ()
    """Further lines of the answer."""
    warnings: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Lines about the systems and runs that the figures belong to."""
    notes: tuple[tuple[str, str], ...] = ()
    """Notes as label and line. Of successive lines with the same label only the first shows it."""
    beside: bool = False
    """Whether a wide HTML page places the tables below the charts side by side."""
