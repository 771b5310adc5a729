"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import loadgo
from loadgo.cli.ci import CheckFiles, JunitOption, SummaryOption, condition_checks, print_failed_conditions
from loadgo.cli.completed_values import run_completions
from loadgo.cli.options import (
    ByOption,
    FailIfOption,
    FullOption,
    ReportFileOption,
    ReportFormatOption,
    TariffOption,
    TopOption,
    VocabularyOption,
)
from loadgo.cli.output import STATUS_BAD_FINDING, errors_as_messages, try_each, wants_color, write_report
from loadgo.cli.page_output import page_output

if TYPE_CHECKING:
    from loadgo.documents.formats import ReportFormat


def report(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            autocompletion=run_completions,
            help="A run's folder, its id, or last: the newest of `loadgo runs`.",
        ),
    ] = "last",
    format: ReportFormatOption = "text",
    full: FullOption = False,
    output: ReportFileOption = None,
    tariff: TariffOption = "default",
    phases: Annotated[
        Literal["steady", "all"], typer.Option(help="The steady part of the run, or all of it.")
    ] = "steady",
    target: Annotated[
        str | None, typer.Option(help="The response time that matters: the driver's lateness must be small beside it.")
    ] = None,
    chart: Annotated[
        str | None, typer.Option(help="The chart for svg and png; for csv, the chart whose data are written.")
    ] = None,
    vocabulary: VocabularyOption = "today",
    by: ByOption = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For a run on several hosts: the report of this one alone, with its meters."),
    ] = None,
    top: TopOption = None,
    fail_if: FailIfOption = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Print the lines that failed, timed out or died instead, with their last screens."
        ),
    ] = False,
) -> None:
    """Prints the report of a recorded run. With --fail-if, exits with 1 if a condition holds or cannot be decided."""
    with errors_as_messages():
        from loadgo.documents.formats import check_drawable
        from loadgo.errors import BadArgument
        from loadgo.notation.quantities import span_s
        from loadgo.records.runs import find_run
        from loadgo.reporting.report import asked_notes, render, reported_summary
        from loadgo.reporting.view import View

        check_drawable(format)
        files = CheckFiles(junit, summary)
        if _shown_experiment(run, format, output, judged=bool(fail_if or files.wanted or failed)):
            return
        folder = find_run(run)
        files.check_writable({"-o": output})
        if failed and (fail_if or files.wanted):
            raise BadArgument("--failed prints lines and judges nothing: leave out --failed or --fail-if")
        if files.wanted and not fail_if:
            raise BadArgument("--junit and --summary write the results of conditions: name some with --fail-if")
        if failed:
            write_report(loadgo.report(folder, format=format, top=top, failed=True, host=host), format, folder, output)
            return
        target_s = None if target is None else span_s(target)
        reported, measured = reported_summary(
            folder, tariff=tariff, phases=phases, target=target_s, by=by, fail_if=fail_if, host=host
        )
        asked = asked_notes(tariff, target_s)
        view = View(vocabulary=vocabulary, by=by, top=top, full=full, asked_notes=asked)
        content = render(reported, measured, format, view=view, chart=chart, color=wants_color(), run=str(folder))
        # Without conditions of its own, a report shows those that the run was judged by, and judges nothing.
        results = reported.fail_if if fail_if else ()
        try_each(
            lambda: files.write_run(reported, lambda: condition_checks(reported)),
            lambda: write_report(content, format, folder, output),
            lambda: print_failed_conditions(results, shown=format == "text" and output is None),
        )
        if any(result.failed for result in results):
            raise typer.Exit(STATUS_BAD_FINDING)


def _shown_experiment(name: str, format: ReportFormat, output: Path | None, *, judged: bool) -> bool:
    """Shows the result of `loadgo ab`, `capacity` or `sweep` in the folder `name`. False if there is none."""
    from loadgo.errors import BadArgument
    from loadgo.records.runs import result_file

    file = result_file(name)
    if file is None:
        return False
    if judged:
        raise BadArgument(f"{name} is no single run: --fail-if, --junit, --summary and --failed take one of its runs")
    from loadgo.laboratory.stored_experiments import stored_result

    page_output(format, output, "report.html").show(stored_result(file))
    return True
