"""The report as one HTML file that needs no network: tables, charts and the code that draws them, in light and dark."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import vl_convert
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from loadgo import report_words as words
from loadgo.charts import Chart, charts
from loadgo.report_figures import plain
from loadgo.report_tables import grids
from loadgo.report_view import View
from loadgo.summary import Summary

if TYPE_CHECKING:
    from loadgo.tables import Tables

_ADDRESSES = (
    "https://vega.github.io/editor/",
    "https://vega.github.io/schema/vega/v6.json",
    "https://github.com/vega/vega-lite/issues/2415",
)
"""What the drawing code mentions and never loads; taken out, so that the file holds no address at all."""


def html_report(summary: Summary, tables: Tables, view: View | None = None) -> str:
    """The whole page. What users control is escaped, and the page's own policy lets nothing run but its two scripts."""
    told = grids(summary, view)
    drawn = charts(summary, tables) if told else []
    scripts = drawing_scripts() if drawn else []
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters["plain"] = plain
    return page.from_string(template("report.html")).render(
        words=words,
        summary=summary,
        grids=told,
        fine_print=words.fine_print(summary, view),
        charts=drawn,
        style=Markup(template("report.css")),
        policy=policy(scripts),
        specs=Markup(json_in_html(_specs(drawn))),
        scripts=[Markup(script) for script in scripts],
    )


def _specs(drawn: list[Chart]) -> dict[str, Any]:
    return {chart.name: chart.spec for chart in drawn}


def policy(scripts: list[str]) -> str:
    """A content security policy: nothing may be loaded, and only these scripts run (Vega compiles its expressions)."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    allowed = f"script-src {hashes} 'unsafe-eval'; " if scripts else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"


def json_in_html(value: object) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawing_scripts() -> list[str]:
    """What a page with charts runs: the drawing code, and what draws each chart in the page's colours."""
    return [_drawing_code(), template("report.js")]


@cache
def _drawing_code() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    for address in _ADDRESSES:
        code = code.replace(address, "")
    assert "</script" not in code, "the drawing code would end its own script element"
    return code


def template(name: str) -> str:
    """The text of a file in `templates/`."""
    return resources.files("loadgo").joinpath("templates", name).read_text(encoding="utf-8")
