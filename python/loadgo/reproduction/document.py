"""A reproduction as a document: each printed document's tables, its contradictions, and where ours come from."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from loadgo.documents.document import Chapter, Document, Points, Section, SignPicture
from loadgo.reproduction import words
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduction
from loadgo.reproduction.tables import tables


def reproduction_document(told: Reproduction) -> Document:
    """The reproduction for a page of text or Markdown."""

    def overview(width: int) -> list[str]:
        below = [line for text in words.BELOW for line in textwrap.wrap(text, width, subsequent_indent="  ")]
        return [*_summary(told), "", *below, "", *(f"{sign:>4}  {meaning}" for sign, meaning in words.LEGEND)]

    chapters = [section for again in told.documents for section in _chapter(again)]
    return Document(
        "The published tables again",
        words.answer(told),
        (SignPicture("", overview), *chapters),
        about=(words.took(told),),
    )


def _summary(told: Reproduction) -> list[str]:
    rows = words.summary(told)
    names = [heading.split() for heading in words.SUMMARY]
    widths = [max(max(map(len, name)), *(len(row[i]) for row in rows)) for i, name in enumerate(names)]
    heads = [tuple(name[-2] if len(name) > 1 else "" for name in names), tuple(name[-1] for name in names)]
    return [_line(row, widths) for row in [*heads, *rows]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [
        text.rjust(width) if i else text.ljust(width) for i, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return " ".join(texts).rstrip()


def _chapter(again: DocumentAgain) -> list[Section]:
    printed = again.document
    head = Chapter(printed.title, f"{printed.by} · {printed.dated}", words.about(again), again.count(*BAD) > 0)
    sources = Points("Where ours come from", tuple((f"{names}: {way}",) for names, way in words.sources(again)))
    return [head, *tables(again), *lists(again), *([sources] if sources.items else [])]


def lists(again: DocumentAgain) -> list[Points]:
    """What is wrong with the document, or with ours."""
    found = [
        Points("Where the document contradicts itself", words.findings(again)),
        Points("Not as it should be", tuple((line,) for line in words.troubles(again))),
        Points("Fitted, and still more than 10 % off", tuple((line,) for line in words.loose_fits(again))),
    ]
    return [points for points in found if points.items]
