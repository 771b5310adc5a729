"""A report in any format, from one summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadgo.measures.summary import Summary
from loadgo.reporting.as_csv import chart_csv, csv_report
from loadgo.reporting.as_json import json_report
from loadgo.reporting.as_markdown import markdown_report
from loadgo.reporting.as_text import text_report
from loadgo.reporting.view import View, check_view

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

FORMATS = ("text", "html", "json", "csv", "md", "svg", "png")

Format = Literal["text", "html", "json", "csv", "md", "svg", "png"]


def render(
    summary: Summary,
    tables: Tables,
    format: Format,
    *,
    view: View | None = None,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
) -> str | bytes:
    """The report as `format`: bytes for `png`, else text.

    `width` is in characters and means `text`; `chart` names the picture of `svg` and `png` (`charts.CHARTS`,
    `response` by default), and for `csv` the picture whose data are written. Raises `ValueError` for an unknown format,
    chart or choice of the view.
    """
    shown = view or View()
    check_view(shown)
    if format == "text":
        return text_report(summary, tables, view=shown, width=width, color=color)
    if format == "json":
        return json_report(summary, tables, shown)
    if format == "csv":
        return csv_report(summary) if chart is None else chart_csv(chart, summary, tables)
    if format == "md":
        return markdown_report(summary, shown)
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is none of {', '.join(FORMATS)}")
    return _drawn(summary, tables, format, shown, chart or ("time" if summary.run.kind == "meter" else "response"))


def _drawn(summary: Summary, tables: Tables, format: Format, view: View, chart: str) -> str | bytes:
    """The formats with charts: loaded only here, since charts take a second to load."""
    from loadgo.documents.chart import png, svg
    from loadgo.reporting import as_html, charts

    if format == "html":
        return as_html.html_report(summary, tables, view)
    drawn = charts.chart(chart, summary, tables)
    return svg(drawn) if format == "svg" else png(drawn)
