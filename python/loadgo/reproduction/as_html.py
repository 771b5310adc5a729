"""A reproduction as one HTML file that needs no network: every table in its layout with ours in it, and the charts."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from loadgo.documents.as_html import drawing_scripts, json_in_html, policy, template
from loadgo.notation.figures import plain
from loadgo.reproduction import words
from loadgo.reproduction.charts import charts
from loadgo.reproduction.layout import blocks
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduction


def html_reproduction(told: Reproduction) -> str:
    """The whole page."""
    parts = [_part(again) for again in told.documents]
    drawn = [chart for part in parts for chart in part["charts"]]
    scripts = drawing_scripts() if drawn else []
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["plain"] = plain
    return page.from_string(template("reproduce.html", __name__)).render(
        answer=words.answer(told),
        bad=told.bad,
        legend=words.LEGEND,
        headings=words.SUMMARY,
        summary=words.summary(told),
        took=f"{told.experiments} runs of simulated machines in {told.wall_s:.0f} s",
        parts=parts,
        style=Markup(template("page.css") + template("reproduce.css", __name__)),
        policy=policy(scripts),
        specs=Markup(json_in_html({chart.name: chart.spec for chart in drawn})),
        scripts=[Markup(script) for script in scripts],
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
