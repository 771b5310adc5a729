"""The command `lab`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import loadgo
from loadgo.cli.output import errors_as_messages, print_note


def lab(
    runs: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The folder of runs; by default $LOADGO_RUNS or runs/.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the page; 0 is any free port.")] = 0,
) -> None:
    """Serves a page over a folder of runs: a list, reports, comparisons, experiments, histories, tags and notes."""
    with errors_as_messages():
        loadgo.lab(runs).serve(print_note, port)
