"""The report as one HTML file that needs no network: tables, charts and the code that draws them, in light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from loadgo.documents.chart import Chart
from loadgo.documents.html import drawing_scripts, json_in_html, policy, template
from loadgo.measures.summary import Summary
from loadgo.notation.figures import plain
from loadgo.reporting import words
from loadgo.reporting.charts import charts
from loadgo.reporting.tables import grids
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


def html_report(summary: Summary, tables: Tables, view: View | None = None) -> str:
    """The whole page. What users control is escaped, and the page's own policy lets nothing run but its two scripts."""
    told = grids(summary, view)
    drawn = charts(summary, tables) if told else []
    scripts = drawing_scripts() if drawn else []
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["plain"] = plain
    return page.from_string(template("report.html", __name__)).render(
        words=words,
        summary=summary,
        grids=told,
        fine_print=words.fine_print(summary, view),
        charts=drawn,
        style=Markup(template("page.css")),
        policy=policy(scripts),
        specs=Markup(json_in_html(_specs(drawn))),
        scripts=[Markup(script) for script in scripts],
    )


def _specs(drawn: list[Chart]) -> dict[str, Any]:
    return {chart.name: chart.spec for chart in drawn}
