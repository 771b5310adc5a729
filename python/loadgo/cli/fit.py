"""The command `fit`, which fits a machine to runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.completed_values import run_completions
from loadgo.cli.options import WorkersOption
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    error_console,
    errors_as_messages,
    print_error,
    print_note,
    print_output,
)
from loadgo.cli.page_output import format_option, made_file_and_page
from loadgo.documents.formats import TableFormat

RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN",
        autocompletion=run_completions,
        help="Runs of one script on one system: folders or ids; the last when none is named.",
    ),
]


def fit(
    runs: RunsArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The machine file to write; - is the standard output, without the report."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The machine's title.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For runs on several hosts: fit the machine to this one, with its users."),
    ] = None,
    equal_speed: Annotated[
        bool,
        typer.Option(
            "--equal-speed/--as-measured",
            help="Bring processor times of several runs to equal speed of the host, as far as the reference work "
            "beside them shows it; or leave them as they were measured.",
        ),
    ] = True,
    workers: WorkersOption = None,
    format: Annotated[TableFormat, format_option("the fitted parameters")] = "text",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file for the report on the fit; HTML goes into fit.html by default."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the progress.")] = False,
) -> None:
    """Fits a machine to runs: a machine file that predicts other numbers of users, processors, devices."""
    with errors_as_messages():
        from loadgo.cli.progress import fit_progress
        from loadgo.fitting.fit import fit as fit_runs

        machine_file, page = made_file_and_page(output, "machine.toml", format, report, "fit.html")
        with fit_progress(error_console(), shown=not quiet) as show:
            machine = fit_runs(
                *(runs or ("last",)),
                output=machine_file,
                name=name,
                force=force,
                host=host,
                equal_speed=equal_speed,
                workers=workers,
                progress=show,
            )
        if page is not None:
            page.show(machine)
        if machine_file is None:
            print_output(machine.text)
        else:
            print_note(f"the machine is in {machine.path}")
        for warning in () if page is not None and page.is_read_beside_errors else machine.warnings:
            print_error(warning)
        raise typer.Exit(STATUS_BAD_FINDING if machine.warnings else STATUS_GOOD)
