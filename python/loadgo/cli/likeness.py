"""The command `likeness`, which compares a run of an observed script with what was observed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.completed_values import run_completions
from loadgo.cli.options import FullOption
from loadgo.cli.output import STATUS_BAD_FINDING, STATUS_GOOD, errors_as_messages
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat


def likeness(
    observed: Annotated[
        Path,
        typer.Argument(
            metavar="SCRIPT",
            help="A script that `loadgo observe` made, with NAME.figures.parquet beside it; or that file.",
        ),
    ],
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            autocompletion=run_completions,
            help="A run of the script: its folder or id, or last (the newest of `loadgo runs`).",
        ),
    ] = "last",
    margin: Annotated[
        str, typer.Option(metavar="PERCENT", help="The relative difference that counts as like.")
    ] = "10%",
    format: Annotated[
        ReportFormat, format_option("each figure on both sides", "think times or processor times on both sides")
    ] = "text",
    full: FullOption = False,
    output: FileOption = None,
) -> None:
    """Says how like what was observed a run of an observed script is. Exits with 1 if it is not, or cannot be told."""
    with errors_as_messages():
        from loadgo.observation.likeness.likeness import likeness as compare_with_observation

        page = page_output(format, output, "likeness.html")
        found = compare_with_observation(observed, run, margin=margin)
        page.show(found, full=full)
        page.print_warnings(found.warnings)
        raise typer.Exit(STATUS_BAD_FINDING if found.is_unlike or not found.judged("script") else STATUS_GOOD)
