"""A reproduction as a document: failures, a summary, and each published document's tables and contradictions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from loadgo.documents.document import Chapter, Charts, Document, Points, Remarks, Section, SignPicture
from loadgo.documents.section import id_of
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.reproduction import words
from loadgo.reproduction.finding_words import findings, findings_title
from loadgo.reproduction.reproduce import BAD_VERDICTS, ReproducedDocument, Reproduction
from loadgo.reproduction.tables import tables

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


def reproduction_document(reproduction: Reproduction) -> Document:
    """The reproduction for a page of text or Markdown."""

    def overview(width: int) -> list[str]:
        notes = [line for text in words.SUMMARY_NOTES for line in textwrap.wrap(text, width, subsequent_indent="  ")]
        return [
            *_summary(reproduction),
            "",
            *notes,
            "",
            *(f"{sign:>4}  {meaning}" for sign, meaning in words.LETTER_LEGEND),
        ]

    chapters = [_chapter(reproduced, failures(reproduced)) for reproduced in reproduction.documents]
    return _document(reproduction, [SignPicture("", overview)], chapters)


def reproduction_page(reproduction: Reproduction) -> Document:
    """The reproduction for an HTML page: the failures of all documents are first, and the summary is a table."""
    overview: list[Section] = [*_all_failures(reproduction), _summary_table(reproduction), _letters_table()]
    return _document(reproduction, overview, [_chapter(reproduced, []) for reproduced in reproduction.documents])


def _document(
    reproduction: Reproduction, overview: Sequence[Section], chapters: Sequence[Sequence[Section]]
) -> Document:
    return Document(
        "The published tables again",
        words.answer(reproduction),
        (*overview, *(section for chapter in chapters for section in chapter)),
        trust=_trust(reproduction),
        about=(words.purpose_text(), words.effort_text(reproduction)),
    )


def _trust(reproduction: Reproduction) -> str:
    """The line on whether to believe the models; empty where nothing is predicted."""
    failed = reproduction.count(*BAD_VERDICTS)
    predictions = reproduction.count(*words.HELD_VERDICTS, "one run") + failed
    if not predictions:
        return ""
    against = [f"{failed} of {predictions} predictions {'fails' if failed == 1 else 'fail'}"] if failed else []
    grounds = "only predictions speak for the models, and figures that were given or fitted cannot"
    untold = reproduction.count("one run")
    open_ones = (
        "" if not untold else "whether one prediction holds" if untold == 1 else f"whether {untold} predictions hold"
    )
    return trust_in_words(Evidence(tuple(against), (grounds,)), is_warned=False, untold=open_ones)


def _summary_table(reproduction: Reproduction) -> Table:
    columns = zip(*words.summary(reproduction), strict=True)
    return Table(
        "Figures by verdict",
        tuple(Column(heading, cells) for heading, cells in zip(words.SUMMARY_COLUMNS, columns, strict=True)),
        foot=f"{'; '.join(words.SUMMARY_NOTES)}.",
    )


def _letters_table() -> Table:
    signs, meanings = zip(*words.LETTER_LEGEND, strict=True)
    columns = (Column("letter", signs), Column("meaning", meanings, kind="words"))
    return Table("What the letters mean", columns)


def _summary(reproduction: Reproduction) -> list[str]:
    rows = words.summary(reproduction)
    names = [heading.split() for heading in words.SUMMARY_COLUMNS]
    widths = [max(max(map(len, name)), *(len(row[i]) for row in rows)) for i, name in enumerate(names)]
    heading_lines = [tuple(name[-2] if len(name) > 1 else "" for name in names), tuple(name[-1] for name in names)]
    return [_line(row, widths) for row in [*heading_lines, *rows]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [
        text.rjust(width) if i else text.ljust(width) for i, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return " ".join(texts).rstrip()


def _chapter(reproduced: ReproducedDocument, first: Sequence[Section]) -> list[Section]:
    """The sections of a document: its heading, then those given in `first`, then charts, tables and lists."""
    printed = reproduced.document
    head = Chapter(
        printed.title,
        f"{printed.by} · {printed.dated}",
        words.document_answer(reproduced),
        reproduced.unexplained > 0,
        id=printed.name,
        charts=(words.ratio_chart_name(printed.name),),
    )
    sources = Points(
        "Where ours come from",
        tuple((f"{names}: {source}",) for names, source in words.sources(reproduced)),
        folded=True,
    )
    further = [*lists(reproduced), *([sources] if sources.items else [])]
    sections: list[Section] = [*first, Charts(partial(_charts, reproduced)), *tables(reproduced), *further]
    return [head, *(_with_id(section, printed.name) for section in sections)]


def _charts(reproduced: ReproducedDocument) -> list[Chart]:
    from loadgo.reproduction.charts import charts

    return charts(reproduced)


def _with_id(section: Section, document_name: str) -> Section:
    """The section with an id that begins with the document's name. A section without a title keeps its own."""
    title = "" if isinstance(section, Charts | Remarks) else section.title
    return replace(section, id=f"{document_name}-{id_of(title)}") if title else section


def failures(reproduced: ReproducedDocument) -> list[Points]:
    """The lists that come before all figures: of those not as they should be, and of those outside for a reason."""
    return _failure_lists([("", reproduced)])


def _all_failures(reproduction: Reproduction) -> list[Points]:
    """The lists of the figures of all documents that are not as they should be, or outside for a reason."""
    if len(reproduction.documents) == 1:
        return failures(reproduction.documents[0])
    return _failure_lists([(f"{reproduced.document.name}: ", reproduced) for reproduced in reproduction.documents])


def _failure_lists(documents: Sequence[tuple[str, ReproducedDocument]]) -> list[Points]:
    """The lists over several documents, each with the text that comes before its lines. Empty lists are left out."""
    failing = [f"{name}{line}" for name, reproduced in documents for line in words.troubles(reproduced)]
    explained = [
        (f"{name}{lines[0]}", *lines[1:]) for name, reproduced in documents for lines in words.explained(reproduced)
    ]
    untold = [f"{name}{line}" for name, reproduced in documents for line in words.untold(reproduced)]
    found_lists: tuple[tuple[str, list[tuple[str, ...]]], ...] = (
        ("Not as it should be", [(line,) for line in failing]),
        ("Outside for a named cause", explained),
        ("Outside the tolerance, but one printed run cannot tell", [(line,) for line in untold]),
    )
    return [Points(title, tuple(items)) for title, items in found_lists if items]


def lists(reproduced: ReproducedDocument) -> list[Points]:
    """Lists of contradictions in the document, and of loose fits."""
    found_lists = [
        Points(findings_title(reproduced), findings(reproduced)),
        Points("Fitted, and still more than 10 % off", tuple((line,) for line in words.loose_fits(reproduced))),
    ]
    return [points for points in found_lists if points.items]
