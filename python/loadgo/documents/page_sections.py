"""The sections of an HTML page: each has an id, and the charts that belong to it; some are folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from loadgo.documents.absent_words import with_absent_explained
from loadgo.documents.document import Chapter, Charts, Document, Points, Remarks
from loadgo.documents.section import id_of
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

ShownPart = Table | Chapter | Points | Remarks
"""A section that a page shows. Charts are drawn instead of their section, and pictures of characters are left out."""

MOST_ROWS_ABOVE_A_CHART = 12
"""A table with more rows stands below its charts, so that a chart is on the first screen. Chosen by hand."""
NOTES_ID, NOTES_TITLE = "notes", "What to know about these figures"


@dataclass(frozen=True)
class PageSection:
    """A section of a page: a part of the document with its charts, or a chart by itself."""

    id: str
    title: str
    part: ShownPart | None
    """None for a chart by itself."""
    charts: tuple[Chart, ...]
    folded: bool

    @property
    def wide(self) -> bool:
        """Whether the section takes the page's whole width."""
        return bool(self.charts) or self.folded or self.is_chapter

    @property
    def charts_first(self) -> bool:
        """Whether the charts come before the table, since they lead, or since it would push them off the screen."""
        if not isinstance(self.part, Table):
            return False
        return self.part.charts_lead or len(self.part.columns[0].cells) > MOST_ROWS_ABOVE_A_CHART

    @property
    def is_chapter(self) -> bool:
        """Whether the section is the heading of a chapter."""
        return isinstance(self.part, Chapter)


def page_sections(document: Document) -> list[PageSection]:
    """The sections of a page, in the document's order. A chart stands in the section that names it."""
    drawn = {at: part.draw() for at, part in enumerate(document.sections) if isinstance(part, Charts)}
    named = {name for part in document.sections for name in part.charts}
    charts = {chart.name: chart for drawings in drawn.values() for chart in drawings}
    sections: list[PageSection] = []
    for at, part in enumerate(document.sections):
        if isinstance(part, Charts):
            single = [chart for chart in drawn[at] if chart.name not in named]
            sections += [
                PageSection(f"chart-of-{chart.name}", chart.heading, None, (chart,), False) for chart in single
            ]
        elif isinstance(part, ShownPart):
            beside = tuple(charts.pop(name) for name in part.charts if name in charts)
            sections.append(_section(part, beside))
    return _with_unique_ids(sections)


def contents(document: Document, sections: Sequence[PageSection]) -> list[tuple[str, str]]:
    """The id and the title of each section that has a title, and of the notes.

    Of a document with several chapters, only the chapters are listed, and the sections before the first.
    """
    chapters = [at for at, section in enumerate(sections) if section.is_chapter]
    if len(chapters) > 1:
        sections = [*sections[: chapters[0]], *(sections[at] for at in chapters)]
    listed = [(section.id, section.title.partition(" (")[0]) for section in sections if section.title]
    return [*listed, *([(NOTES_ID, NOTES_TITLE)] if document.notes else [])]


def _section(part: ShownPart, charts: tuple[Chart, ...]) -> PageSection:
    title = "" if isinstance(part, Remarks) else part.title
    shown = with_absent_explained(_with_intervals_below(part)) if isinstance(part, Table) else part
    return PageSection(part.id or id_of(title), title, shown, charts, part.folded)


def _with_unique_ids(sections: list[PageSection]) -> list[PageSection]:
    """The sections, with a number behind each id that an earlier section has."""
    used: set[str] = {NOTES_ID}
    unique: list[PageSection] = []
    for section in sections:
        base, number = section.id or "section", 1
        name = base
        while name in used:
            number += 1
            name = f"{base}-{number}"
        used.add(name)
        unique.append(replace(section, id=name))
    return unique


def _with_intervals_below(table: Table) -> Table:
    """The table with the cells of each column `of_previous` below those of the column before it."""
    columns: list[Column] = []
    for column in table.columns:
        if column.of_previous and columns:
            below = tuple("" if cell == NOT_MEASURED else cell for cell in column.cells)
            columns[-1] = replace(columns[-1], heading=f"{columns[-1].heading}\n{column.heading}", below=below)
        else:
            columns.append(column)
    return replace(table, columns=tuple(columns))
