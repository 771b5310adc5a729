"""A reproduction as one HTML file that needs no network: every table in its layout with ours in it, and charts."""

from __future__ import annotations

from typing import Any

from loadgo.documents.as_html import html_page, template
from loadgo.reproduction import words
from loadgo.reproduction.charts import charts
from loadgo.reproduction.document import failures, lists
from loadgo.reproduction.reproduce import BAD_VERDICTS, ReproducedDocument, Reproduction
from loadgo.reproduction.tables import tables


def html_reproduction(reproduction: Reproduction) -> str:
    """The complete page."""
    parts = [_part(reproduced) for reproduced in reproduction.documents]
    all_charts = [chart for part in parts for chart in part["charts"]]
    return html_page(
        template("reproduce.html", __name__),
        all_charts,
        template("reproduce.css", __name__),
        title="The published tables again",
        answer=words.answer(reproduction),
        legend=words.LETTER_LEGEND,
        headings=words.SUMMARY_COLUMNS,
        summary=words.summary(reproduction),
        took=words.effort_text(reproduction),
        parts=parts,
    )


def _part(reproduced: ReproducedDocument) -> dict[str, Any]:
    return {
        "document": reproduced.document,
        "about": words.document_answer(reproduced),
        "bad": reproduced.count(*BAD_VERDICTS) > 0,
        "tables": tables(reproduced),
        "charts": charts(reproduced),
        "failures": failures(reproduced),
        "lists": lists(reproduced),
        "sources": words.sources(reproduced),
    }
