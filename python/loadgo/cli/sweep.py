"""The commands `sweep` and `merge`: many simulated points, computed by workers, in parts or as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadgo.cli.options import ShareOption
from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    error_console,
    errors_as_messages,
    print_note,
)
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.documents.formats import ReportFormat

PointsFormat = Annotated[ReportFormat, format_option("a row for each simulation", "the measure over the users")]


def sweep(
    grid: Annotated[
        str, typer.Argument(metavar="GRID", help="A grid file (TOML): machines, settings, numbers of users, seeds.")
    ],
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="N|dask|ADDRESS",
            help="Number of processes here; dask for a Dask cluster here; or a Dask scheduler's address, such as "
            "tls://head:8786. By default a process for each processor.",
        ),
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="I/N", help="Compute one of N equal parts only, for loadgo merge.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the results; by default GRID.sweep. If it exists, the sweep goes on in it."),
    ] = None,
    share: ShareOption = False,
    format: PointsFormat = "text",
    output: FileOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Runs all simulations of GRID on processes of this host or on a cluster: one Parquet data set, one answer."""
    with errors_as_messages():
        from loadgo.cli.progress import sweep_progress
        from loadgo.sweeping.sweep import sweep as run_sweep

        page = page_output(format, output, "sweep.html")
        with sweep_progress(error_console(), shown=not quiet) as show:
            result = run_sweep(grid, workers=workers, part=part, out=out, progress=show)
        page.show(result)
        page.print_warnings(result.fit_warnings)
        if format == "text" and not quiet:
            print_note(f"the figures of each simulation are in {result.folder}")
        if result.stopped:
            raise typer.Exit(STATUS_INTERRUPTED)
        raise typer.Exit(STATUS_BAD_FINDING if result.bad else STATUS_GOOD)


def merge(
    parts: Annotated[list[str], typer.Argument(metavar="PART", help="The folders of all parts of a sweep.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder of the whole; by default merged.sweep in the current folder.")
    ] = None,
    format: PointsFormat = "text",
    output: FileOption = None,
) -> None:
    """Makes one sweep of all its PARTs, the same bytes as if it had been computed as a whole."""
    with errors_as_messages():
        from loadgo.sweeping.merge import merge as merge_parts

        page = page_output(format, output, "sweep.html")
        result = merge_parts(*parts, out=out)
        page.show(result)
        page.print_warnings(result.fit_warnings)
        if format == "text":
            print_note(f"the figures of each simulation are in {result.folder}")
        raise typer.Exit(STATUS_BAD_FINDING if result.bad else STATUS_GOOD)
