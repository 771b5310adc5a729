"""The report of a run, from its folder to text, HTML, JSON, CSV, Markdown, SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from loadgo.documents.document import Document
from loadgo.documents.formats import REPORT_FORMATS, ReportFormat
from loadgo.documents.render import render as render_document
from loadgo.errors import BadArgument
from loadgo.measures.fail_if import conditions_in, with_conditions
from loadgo.measures.fail_if_figures import check_conditions
from loadgo.measures.summary import Summary, summarize
from loadgo.records.conditions import script_lines
from loadgo.records.fleet_tables import tables_of_host, tables_of_load
from loadgo.records.runs import find_run
from loadgo.records.tables import Tables, tables
from loadgo.reporting import words
from loadgo.reporting.document import report_document
from loadgo.reporting.pictures import NO_PICTURES, sign_pictures
from loadgo.reporting.trust import run_trust
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.measures.meters import BreakdownColumn
    from loadgo.measures.vocabulary import VocabularyName


def report(
    run: str | PathLike[str],
    *,
    format: ReportFormat = "text",
    tariff: str = "default",
    phases: str = "steady",
    target: float | None = None,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
    vocabulary: VocabularyName = "today",
    by: BreakdownColumn | None = None,
    top: int | None = None,
    fail_if: Sequence[str] | None = None,
    failed: bool = False,
    full: bool = False,
    host: str | None = None,
) -> str | bytes:
    """Renders the report of a run: response times, usage, where the time went, the driver's verdict, and costs.

        loadgo.report("last", format="md")

    Args:
        run: A run's folder or id, `last`, or the result of `loadgo.run` or `loadgo.meter`.
        format: `text`, `html`, `json`, `csv`, `md`, `svg` or `png`.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, the path of a TOML file, or `machine`.
        phases: `steady` is the part of the run with all users, `all` the entire run.
        target: The response time that matters, in seconds. The driver's lateness must be small beside it.
        width: Width of `text` in characters. By default the terminal's.
        chart: The chart of `svg` and `png`, such as `response`. For `csv`, the chart whose data are written.
        color: Whether `text` has colours.
        vocabulary: The words for the processors' time: `today`, or those of the documents of `1969` or `1973`.
        by: Adds tables of page faults and system calls by `command` or by `user`.
        top: The largest number of rows of a long table.
        fail_if: Conditions that fail the run, such as `p90(edit) > 1s`. By default those that it was run with.
        failed: Instead of the report, the lines that failed, timed out or died, with the last screen of each. It has no
            pictures. `top` is then the number of lines in a text, and no other argument but `format` has an effect.
        full: Whether `text` has all tables and notes. By default it is short, with the details that the other arguments
            ask for. The other formats have everything.
        host: For a run on several hosts, the name of one, which the report is then about.

    Returns:
        The report; bytes for `png`, else text.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.BadRun: The run is missing or cannot be read.
    """
    asked = asked_notes(tariff, target)
    view = View(vocabulary=vocabulary, by=by, top=top, full=full, asked_notes=asked)
    if failed:
        from loadgo.reporting.failed_lines import failed_report

        return failed_report(recorded_tables(run, host), format, top)
    folder = find_run(run)
    summary, measured = reported_summary(
        folder, tariff=tariff, phases=phases, target=target, by=by, fail_if=fail_if, host=host
    )
    return render(summary, measured, format, view=view, width=width, chart=chart, color=color, run=str(folder))


def asked_notes(tariff: str, target: float | None) -> frozenset[str]:
    """The labels of the notes on a tariff and a target, if they are not the default ones."""
    return frozenset((["Cost"] if tariff != "default" else []) + (["Driver"] if target is not None else []))


def reported_summary(
    run: str | PathLike[str],
    *,
    tariff: str = "default",
    phases: str = "steady",
    target: float | None = None,
    by: BreakdownColumn | None = None,
    fail_if: Sequence[str] | None = None,
    host: str | None = None,
) -> tuple[Summary, Tables]:
    """The summary that a report shows, with the results of its conditions, and the run's tables.

    The arguments are those of `report`. A mistake in a condition raises `ConditionError` with its column.
    """
    folder = find_run(run)
    recorded = recorded_tables(folder, host)
    summary = summarize(recorded, tariff=tariff, phases=phases, target=target, by=by)
    if fail_if:
        commands = [name for _, name in script_lines(folder)]
        check_conditions(fail_if, commands or [row.name for row in summary.commands])
    judged = with_conditions(summary, conditions_in(recorded.conditions) if fail_if is None else fail_if)
    return judged, tables_of_load(recorded)


def recorded_tables(run: str | PathLike[str], host: str | None) -> Tables:
    """The tables of a run, or of one of its hosts."""
    recorded = tables(run)
    return recorded if host is None else tables_of_host(recorded, host)


def render(
    summary: Summary,
    measured: Tables,
    format: ReportFormat,
    *,
    view: View | None = None,
    width: int | None = None,
    chart: str | None = None,
    color: bool = False,
    run: str = "",
) -> str | bytes:
    """Renders the report as `format`: bytes for `png`, else text.

    `width`, in characters, is for `text`, and so is the folder `run`, which a short report names. `chart` is the chart
    of `svg` and `png`, `response` by default. For `csv` it is the chart whose data are written. Raises `ValueError` for
    an unknown format or chart.
    """
    choices = view or View()
    if format == "csv":
        from loadgo.reporting.as_csv import chart_csv, csv_report

        return csv_report(summary) if chart is None else chart_csv(chart, summary, measured)
    if format in ("svg", "png"):
        return _picture(summary, measured, format, chart)
    if format not in REPORT_FORMATS:
        raise BadArgument(f"format {format!r} is none of {', '.join(REPORT_FORMATS)}")

    def document() -> Document:
        pictures = sign_pictures(summary, measured) if format == "text" else NO_PICTURES
        return report_document(summary, choices, measured=measured, pictures=pictures, run=run)

    def json() -> str:
        from loadgo.reporting.as_json import json_report

        return json_report(summary, measured, choices)

    return render_document(format, document, json, width=width, color=color, short=not choices.full)


def _picture(summary: Summary, measured: Tables, format: str, name: str | None) -> str | bytes:
    """A chart by itself, under its run's warnings. The drawing library is imported here only: that takes a second."""
    from loadgo.documents.chart import png, svg
    from loadgo.reporting.charts.charts import chart

    named_chart = chart(name, summary, measured)
    warnings = words.warnings(summary)
    trust = run_trust(summary, is_warned=bool(warnings))
    return svg(named_chart, warnings, trust) if format == "svg" else png(named_chart, warnings, trust)
