"""A reproduction as a document: each published document's tables, its contradictions, and the sources of ours."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from loadgo.documents.document import Chapter, Document, Points, Section, SignPicture
from loadgo.reproduction import words
from loadgo.reproduction.reproduce import BAD_VERDICTS, ReproducedDocument, Reproduction
from loadgo.reproduction.tables import tables


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

    chapters = [section for reproduced in reproduction.documents for section in _chapter(reproduced)]
    return Document(
        "The published tables again",
        words.answer(reproduction),
        (SignPicture("", overview), *chapters),
        about=(words.effort_text(reproduction),),
    )


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


def _chapter(reproduced: ReproducedDocument) -> list[Section]:
    printed = reproduced.document
    head = Chapter(
        printed.title,
        f"{printed.by} · {printed.dated}",
        words.document_answer(reproduced),
        reproduced.count(*BAD_VERDICTS) > 0,
    )
    sources = Points(
        "Where ours come from", tuple((f"{names}: {source}",) for names, source in words.sources(reproduced))
    )
    further = [*lists(reproduced), *([sources] if sources.items else [])]
    return [head, *failures(reproduced), *tables(reproduced), *further]


def failures(reproduced: ReproducedDocument) -> list[Points]:
    """The list of our figures with a bad verdict, which comes before all figures. Empty without one."""
    troubles = words.troubles(reproduced)
    return [Points("Not as it should be", tuple((line,) for line in troubles))] if troubles else []


def lists(reproduced: ReproducedDocument) -> list[Points]:
    """Lists of contradictions in the document, and of loose fits."""
    found_lists = [
        Points("Where the document contradicts itself", words.findings(reproduced)),
        Points("Fitted, and still more than 10 % off", tuple((line,) for line in words.loose_fits(reproduced))),
    ]
    return [points for points in found_lists if points.items]
