"""The command `history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import loadgo
from loadgo.cli.output import STATUS_BAD_FINDING, STATUS_GOOD, error_console, errors_as_messages
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat

_REPORTED_READINGS = 50
"""A note on the standard error says how many runs were read, after each so many."""


def history(
    figure: Annotated[
        str,
        typer.Argument(
            metavar="FIGURE", help="A figure as in --fail-if, without a limit: 'p90(compile)', errors, throughput."
        ),
    ],
    runs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder of runs; by default $LOADGO_RUNS or runs/.")
    ] = None,
    by: Annotated[
        Literal["date", "version", "host", "kernel"],
        typer.Option(help="Also sum the runs up by loadgo's version, by host, or by kernel."),
    ] = "date",
    like: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="The run that the others must be like: script, users, system, host. By default the newest.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE|RUN", help="Exit with 1 for any change for the worse since then, not only for the newest."
        ),
    ] = None,
    format: Annotated[ReportFormat, format_option("the figure of each run", "the figure run by run")] = "text",
    output: FileOption = None,
) -> None:
    """Shows a figure over many runs, with the runs between which it changed. Exits with 1 if it changed for worse."""
    with errors_as_messages():
        page = page_output(format, output, "history.html")
        past = loadgo.history(figure, runs=runs, by=by, like=like, since=since, progress=_report_reading)
        page.show(past)
        raise typer.Exit(STATUS_BAD_FINDING if past.bad else STATUS_GOOD)


def _report_reading(read: int, all_runs: int) -> None:
    console = error_console()
    if all_runs > _REPORTED_READINGS and console.is_terminal and read % _REPORTED_READINGS == 0:
        console.print(f"read {read:,} of {all_runs:,} runs", style="dim", soft_wrap=True)
