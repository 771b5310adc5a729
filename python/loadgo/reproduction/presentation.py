"""A reproduction in every format: its document and page with JSON and charts, and its figures as a frame."""

from __future__ import annotations

from loadgo.documents.as_html import html_document, template
from loadgo.documents.document import Document, Points
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.documents.table import Column, Table
from loadgo.published.document import Table as PrintedTable
from loadgo.reproduction import words
from loadgo.reproduction.as_data import CSV_COLUMNS, figure_entries, json_reproduction
from loadgo.reproduction.document import reproduction_document, reproduction_page
from loadgo.reproduction.finding_words import findings, findings_title
from loadgo.reproduction.reproduce import ReproducedDocument, Reproduction


def presentation(reproduction: Reproduction) -> Presentation:
    """The parts of a reproduction."""
    is_own = reproduction.is_own
    return Presentation(
        lambda: own_document(reproduction) if is_own else reproduction_document(reproduction),
        lambda: json_reproduction(reproduction),
        {"figures": lambda: frame_of(figure_entries(reproduction), " ".join(CSV_COLUMNS))},
        answer=lambda: words.answer(reproduction),
        page=None if is_own else lambda: html_reproduction(reproduction),
    )


def html_reproduction(reproduction: Reproduction) -> str:
    """The complete page."""
    return html_document(reproduction_page(reproduction), style=template("reproduce.css", __name__))


def own_document(reproduction: Reproduction) -> Document:
    """The contradictions first, then the figures as the file has them."""
    (reproduced,) = reproduction.documents
    printed = reproduced.document
    contradictions = Points(findings_title(reproduced), findings(reproduced))
    return Document(
        printed.title,
        words.answer(reproduction),
        (*([contradictions] if contradictions.items else []), *_tables(reproduced)),
        about=(f"{printed.path}: {', '.join(filter(None, (printed.title, printed.by, printed.dated)))}",),
    )


def _tables(reproduced: ReproducedDocument) -> list[Table]:
    """The tables of the file, then the figures of its running text, then those that follow from them."""
    printed = reproduced.document
    totals = [(total.total.label, words.significant(total.printed), total.total.unit) for total in reproduced.totals]
    in_text = [(figure.label, figure.text, figure.unit) for passage in printed.passages for figure in passage.figures]
    return [
        *(_table(table) for table in printed.tables),
        *_listed("Running text", in_text),
        *_listed("What follows from the figures", totals),
    ]


def _table(table: PrintedTable) -> Table:
    columns = [
        Column(
            column.label,
            tuple(row.cells[index].text for row in table.rows),
            kind="figure" if any(row.cells[index].figure for row in table.rows) else "words",
            over=column.over,
        )
        for index, column in enumerate(table.columns)
    ]
    labels = Column("", tuple(row.label for row in table.rows), kind="words")
    return Table(table.title, (labels, *columns), name_width=None)


def _listed(title: str, rows: list[tuple[str, str, str]]) -> list[Table]:
    if not rows:
        return []
    labels, values, units = zip(*rows, strict=True)
    return [Table(title, (Column("", labels, kind="words"), Column("", values), Column("unit", units, kind="words")))]
