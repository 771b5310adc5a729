"""The report of a run as a document: the answer, tables with pictures made of characters, charts, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.document import Charts, Document
from loadgo.measures.summary import Summary
from loadgo.reporting import run_words, words
from loadgo.reporting.pictures import NO_PICTURES, SignPictures
from loadgo.reporting.processor_time_words import word_lines
from loadgo.reporting.short_report import short_notes, short_tables
from loadgo.reporting.tables import report_tables
from loadgo.reporting.trust import run_trust
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart
    from loadgo.records.tables import Tables

_TABLES_ABOVE_CHARTS = 2


def report_document(
    summary: Summary,
    view: View | None = None,
    *,
    measured: Tables | None = None,
    pictures: SignPictures = NO_PICTURES,
    run: str = "",
) -> Document:
    """The document of a run, with charts of the tables `measured`, and for a terminal with `pictures` in its tables.

    The short report names `run`, the run's folder, in the command that prints the full report.
    """
    choices, warnings = view or View(), tuple(words.warnings(summary))
    tables = short_tables(summary, choices, report_tables(summary, choices, pictures), len(warnings))

    def charts() -> list[Chart]:
        from loadgo.reporting.charts import charts

        return charts.charts(summary, measured) if measured is not None and tables else []

    return Document(
        title=summary.run.name or "a run",
        answer=words.answer(summary),
        further_answers=tuple(filter(None, [words.checks_sentence(summary)])),
        sections=(*tables[:_TABLES_ABOVE_CHARTS], Charts(charts), *tables[_TABLES_ABOVE_CHARTS:]),
        trust=run_trust(summary, is_warned=words.is_doubted(summary)),
        warnings=warnings,
        about=(run_words.title(summary), run_words.system(summary), words.scope(summary)),
        notes=tuple(words.fine_print(summary, choices)),
        short_notes=tuple(short_notes(summary, choices, run)),
        word_notes=tuple(word_lines(summary)),
        beside=True,
    )
