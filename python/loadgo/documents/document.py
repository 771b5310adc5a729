"""A document: a command's result in words, tables and pictures, without a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loadgo.documents.section import SectionPlace
from loadgo.documents.table import Table

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


@dataclass(frozen=True)
class SignPicture(SectionPlace):
    """A picture of characters, for text and Markdown. An HTML page has charts instead."""

    title: str
    lines: Callable[[int], Sequence[str]]
    """Function from the page's width in characters to the lines of the picture."""


@dataclass(frozen=True)
class Charts(SectionPlace):
    """Charts for an HTML page. They are made with the page, since the chart library takes a second to load."""

    draw: Callable[[], Sequence[Chart]]


@dataclass(frozen=True)
class Chapter(SectionPlace):
    """The heading of a part of the document. All sections up to the next chapter belong to the part."""

    title: str
    source: str
    """The origin of the chapter's figures."""
    answer: str
    bad: bool = False
    """Whether the answer is a warning."""


@dataclass(frozen=True)
class Points(SectionPlace):
    """A list of items."""

    title: str
    items: tuple[tuple[str, ...], ...]
    """Each item has a first line, and further lines that stand below it."""
    verbatim: bool = False
    """Whether the items are quoted, as a terminal's output is. A backtick in them is a sign like any other."""


@dataclass(frozen=True)
class Remarks(SectionPlace):
    """Running text, with a paragraph for each remark."""

    paragraphs: tuple[str, ...]


Section = Table | SignPicture | Charts | Chapter | Points | Remarks


@dataclass(frozen=True)
class Document:
    """A title, the answer with warnings and trust, lines about the measured systems, sections, and notes.

    A document holds a full report and a short one. They have the same warnings and the same answer.
    """

    title: str
    answer: str
    sections: tuple[Section, ...]
    further_answers: tuple[str, ...] = ()
    """Further lines of the answer."""
    trust: str = ""
    """Whether to believe the answer, and why: a line below it. Empty where the document has no such judgement."""
    warnings: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Lines about the systems and runs that the figures belong to."""
    notes: tuple[tuple[str, str], ...] = ()
    """Notes as label and line. Of successive lines with the same label only the first shows it."""
    short_notes: tuple[tuple[str, str], ...] | None = None
    """The notes of the short report. With None, it has all notes."""
    word_notes: tuple[tuple[str, str], ...] = ()
    """Notes on the meanings of words, after the others. An HTML page has a list of its words instead."""
    beside: bool = False
    """Whether a wide HTML page places the tables below the charts side by side."""

    def full(self) -> Document:
        """The document with the sections of the full report."""
        shown = tuple(section for section in self.sections if section.shown != "short")
        return replace(self, sections=shown)

    @property
    def all_notes(self) -> tuple[tuple[str, str], ...]:
        """The notes of a format that has no list of words."""
        return (*self.notes, *self.word_notes)

    def short(self) -> Document:
        """The document with the sections and the notes of the short report."""
        notes = self.notes if self.short_notes is None else self.short_notes
        shown = tuple(section for section in self.sections if section.shown != "full")
        return replace(self, sections=shown, notes=notes, word_notes=())
