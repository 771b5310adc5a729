"""A report in any format, from one summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from loadgo.report_csv import csv_report
from loadgo.report_json import json_report
from loadgo.report_markdown import markdown_report
from loadgo.report_text import text_report
from loadgo.summary import Summary

if TYPE_CHECKING:
    from loadgo.tables import Tables

FORMATS = ("text", "html", "json", "csv", "md", "svg", "png")

Format = Literal["text", "html", "json", "csv", "md", "svg", "png"]


def render(
    summary: Summary,
    tables: Tables,
    format: Format,
    *,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
) -> str | bytes:
    """The report as `format`: bytes for `png`, else text.

    `width` is in characters and means `text`; `chart` names the picture of `svg` and `png` (`charts.CHARTS`,
    `response` by default). Raises `ValueError` for an unknown format or chart.
    """
    if format == "text":
        return text_report(summary, width=width, color=color)
    if format == "json":
        return json_report(summary)
    if format == "csv":
        return csv_report(summary)
    if format == "md":
        return markdown_report(summary)
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is none of {', '.join(FORMATS)}")
    return _drawn(summary, tables, format, chart or "response")


def _drawn(summary: Summary, tables: Tables, format: Format, chart: str) -> str | bytes:
    """The formats with charts: loaded only here, since charts take a second to load."""
    from loadgo import charts, report_html

    if format == "html":
        return report_html.html_report(summary, tables)
    spec = charts.chart(chart, summary, tables)
    return charts.svg(spec) if format == "svg" else charts.png(spec)
