"""The report of a run, from its folder to text, HTML, JSON, CSV, Markdown, SVG or PNG."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Literal, get_args

from loadgo.documents.document import Document
from loadgo.documents.render import render as rendered
from loadgo.errors import BadArgument
from loadgo.measures.summary import Summary, summarize
from loadgo.records.tables import Tables, tables
from loadgo.reporting.as_csv import chart_csv, csv_report
from loadgo.reporting.as_json import json_report
from loadgo.reporting.document import report_document
from loadgo.reporting.pictures import NOTHING, drawn_of
from loadgo.reporting.view import View, check_view

if TYPE_CHECKING:
    from loadgo.measures.meters import BreakdownColumn
    from loadgo.measures.vocabulary import VocabularyName

Format = Literal["text", "html", "json", "csv", "md", "svg", "png"]
FORMATS = get_args(Format)


def report(
    run: str | PathLike[str],
    *,
    format: Format = "text",
    tariff: str = "default",
    phases: str = "steady",
    target: float | None = None,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
    vocabulary: VocabularyName = "today",
    by: BreakdownColumn | None = None,
    top: int | None = None,
) -> str | bytes:
    """The report of `run` (its folder, or what `loadgo.run` returned); bytes for `png`, else text.

    `phases` is `steady` or `all`; `target` a response time in seconds that lateness must be small beside; `width` in
    characters and `color` are for `text`; `chart` names the picture of `svg` and `png`, and the one whose data `csv`
    holds. `vocabulary` is the year in whose words total time is told: `1969`, `1973` or `today`; `by` is `command` or
    `user`, for faults and primitives of each; `top` is how many rows a long table has.

    Raises `ValueError` for a choice that there is not, `errors.BadRun` without a run.
    """
    view = View(vocabulary=vocabulary, by=by, top=top)
    check_view(view)
    measured = tables(run)
    summary = summarize(measured, tariff=tariff, phases=phases, target=target, by=by)
    return render(summary, measured, format, view=view, width=width, chart=chart, color=color)


def render(
    summary: Summary,
    measured: Tables,
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
    if format == "csv":
        return csv_report(summary) if chart is None else chart_csv(chart, summary, measured)
    if format in ("svg", "png"):
        return _picture(summary, measured, format, chart or ("time" if summary.run.kind == "meter" else "response"))
    if format not in FORMATS:
        raise BadArgument(f"format {format!r} is none of {', '.join(FORMATS)}")

    def document() -> Document:
        pictures = drawn_of(summary, measured) if format == "text" else NOTHING
        return report_document(summary, shown, measured=measured, pictures=pictures)

    return rendered(format, document, lambda: json_report(summary, measured, shown), width=width, color=color)


def _picture(summary: Summary, measured: Tables, format: str, name: str) -> str | bytes:
    """One chart by itself: the drawing library is loaded only here, since that takes a second."""
    from loadgo.documents.chart import png, svg
    from loadgo.reporting.charts import chart

    drawn = chart(name, summary, measured)
    return svg(drawn) if format == "svg" else png(drawn)
