"""A reproduction as one HTML file that needs no network: every table in its layout with ours in it, and the charts."""

from __future__ import annotations

from typing import Any

from loadgo.documents.as_html import html_page, template
from loadgo.reproduction import words
from loadgo.reproduction.charts import charts
from loadgo.reproduction.layout import blocks
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduction


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
        took=f"{told.experiments} runs of simulated machines in {told.wall_s:.0f} s",
        parts=parts,
    )


def _part(again: DocumentAgain) -> dict[str, Any]:
    return {
        "document": again.document,
        "about": words.about(again),
        "bad": again.count(*BAD) > 0,
        "blocks": blocks(again),
        "charts": charts(again),
        "findings": [words.finding(found, again.document) for found in again.findings],
        "troubles": words.troubles(again),
        "fits": words.loose_fits(again),
        "sources": words.sources(again),
    }
