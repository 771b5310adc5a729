"""A reproduction as one HTML file that needs no network: every table in its layout with ours in it, and the charts."""

from __future__ import annotations

from typing import Any

from loadgo.documents.as_html import html_page, template
from loadgo.reproduction import words
from loadgo.reproduction.charts import charts
from loadgo.reproduction.document import lists
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduction
from loadgo.reproduction.tables import tables


def html_reproduction(told: Reproduction) -> str:
    """The whole page."""
    parts = [_part(again) for again in told.documents]
    drawn = [chart for part in parts for chart in part["charts"]]
    return html_page(
        template("reproduce.html", __name__),
        drawn,
        template("reproduce.css", __name__),
        title="The published tables again",
        answer=words.answer(told),
        legend=words.LEGEND,
        headings=words.SUMMARY,
        summary=words.summary(told),
        took=words.took(told),
        parts=parts,
    )


def _part(again: DocumentAgain) -> dict[str, Any]:
    return {
        "document": again.document,
        "about": words.about(again),
        "bad": again.count(*BAD) > 0,
        "tables": tables(again),
        "charts": charts(again),
        "lists": lists(again),
        "sources": words.sources(again),
    }
