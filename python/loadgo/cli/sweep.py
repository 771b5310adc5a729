"""The commands `sweep` and `merge`: many simulated points, computed by workers, in parts or as a whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from loadgo.cli.output import (
    STATUS_BAD_FINDING,
    STATUS_GOOD,
    STATUS_INTERRUPTED,
    error_console,
    errors_as_messages,
    print_fit_warnings,
    print_note,
)
from loadgo.cli.page_output import FileOption, format_option, page_output
from loadgo.cli.progress import LINE_PERIOD_S, ChangingLine, changing_line
from loadgo.cli.progress_words import sweep_line
from loadgo.documents.formats import ReportFormat

PointsFormat = Annotated[ReportFormat, format_option("a row for each point", "the measure over the users")]


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
        typer.Option(help="The folder of the points; by default GRID.sweep. If it exists, the sweep goes on in it."),
    ] = None,
    format: PointsFormat = "text",
    output: FileOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Simulates all points of GRID on processes of this host or on a cluster: one Parquet data set, one answer."""
    with errors_as_messages():
        from loadgo.sweeping.sweep import sweep as run_sweep

        page = page_output(format, output, "sweep.html")
        with _progress(shown=not quiet) as show:
            result = run_sweep(grid, workers=workers, part=part, out=out, progress=show)
        page.show(result)
        print_fit_warnings(result.fit_warnings)
        if format == "text" and not quiet:
            print_note(f"the points are in {result.folder}")
        if result.stopped:
            raise typer.Exit(STATUS_INTERRUPTED)
        raise typer.Exit(STATUS_BAD_FINDING if result.bad else STATUS_GOOD)


def merge(
    parts: Annotated[list[str], typer.Argument(metavar="PART…", help="The folders of all parts of a sweep.")],
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
        if format == "text":
            print_note(f"the points are in {result.folder}")
        raise typer.Exit(STATUS_BAD_FINDING if result.bad else STATUS_GOOD)


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields a function that shows the progress of a sweep; None if nothing is to be `shown`."""
    if not shown:
        yield None
        return
    with changing_line(error_console()) as line:
        yield _SweepProgress(line).show


class _SweepProgress:
    """The progress of one sweep."""

    def __init__(self, line: ChangingLine) -> None:
        self._line = line
        self._began_s = time.monotonic()
        self._next_s = self._began_s if line.is_terminal else self._began_s + LINE_PERIOD_S

    def show(self, state: dict[str, Any]) -> None:
        """Writes the state as a line, if it is time for one."""
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._line.write(sweep_line(state, now_s - self._began_s, self._line.width() - 1))
            self._next_s = now_s + (_TERMINAL_PERIOD_S if self._line.is_terminal else LINE_PERIOD_S)


_TERMINAL_PERIOD_S = 0.1
