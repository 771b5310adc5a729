"""The progress of a command, on the standard error: a line that changes in a terminal, else a line each minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo.cli.progress_words import RunClock, fit_line, metering_line, progress_line, sweep_line

if TYPE_CHECKING:
    from rich.console import Console

    from loadgo.measures.steady_responses import Headline
    from loadgo.records.growing_table import GrowingTable

ReportState = Callable[[dict[str, Any]], None]
WriteLine = Callable[[str], None]

LINE_PERIOD_S = 60.0
"""Time between two lines where the standard error is no terminal."""
SWEEP_PERIOD_S = 0.1
"""Time between two states of a sweep in a terminal."""
READING_PERIOD_S = 3.0
"""Time between two readings of a run's records in a terminal."""
MOST_READING_SHARE = 0.02
"""Largest share of a processor that the readings take: the host is being measured."""
FAR_CHARS = 200
"""Width of a line that goes to no terminal."""


@dataclass(frozen=True)
class ChangingLine:
    """The last line of a terminal. Elsewhere, a line each `LINE_PERIOD_S`."""

    write: WriteLine
    """Replaces the line. Where there is no terminal, writes it below the others."""
    note: WriteLine
    """Writes a line that stays, above the changing one."""
    width: Callable[[], int]
    is_terminal: bool


@contextmanager
def changing_line(console: Console) -> Iterator[ChangingLine]:
    """Yields the line of `console` that changes; it is removed at the end.

    A full disk there, or a terminal that was closed, ends no command.
    """

    def note(text: str) -> None:
        with suppress(OSError):
            console.print(text, style="dim", soft_wrap=True)

    if not console.is_terminal:
        yield ChangingLine(note, note, lambda: FAR_CHARS, is_terminal=False)
        return
    from rich.live import Live
    from rich.text import Text

    live, is_writable = Live(console=console, transient=True, auto_refresh=False), False
    with suppress(OSError):
        live.start()
        is_writable = True

    def write(line: str) -> None:
        nonlocal is_writable
        # A terminal that refused a line gets no more: rich keeps what was refused, and would write it all each time.
        if is_writable:
            is_writable = False
            with suppress(OSError):
                live.update(Text(line, no_wrap=True, overflow="crop"), refresh=True)
                is_writable = True

    try:
        yield ChangingLine(write, note, lambda: console.width, is_terminal=True)
    finally:
        if is_writable:
            with suppress(OSError):
                live.stop()


@contextmanager
def progress_bar(console: Console) -> Iterator[ReportState | None]:
    """Yields a function that shows the states which `loadgo.run` reports."""
    with progress_and_notes(console) as (show, _):
        yield show


@contextmanager
def progress_and_notes(
    console: Console, *, shown: bool = True
) -> Iterator[tuple[ReportState | None, WriteLine | None]]:
    """Yields the function of `progress_bar`, and one that writes a line which stays."""
    if not shown:
        yield None, None
        return
    with changing_line(console) as line:
        progress = _Progress(line)
        yield progress.show, line.note


@contextmanager
def metering_progress(console: Console, duration: str | None, *, shown: bool) -> Iterator[ReportState | None]:
    """Yields a function that shows the states which `loadgo.meter` reports; None if nothing is to be `shown`."""
    if not shown:
        yield None
        return
    from loadgo.notation.quantities import span_s

    duration_s = None if duration is None else span_s(duration, "duration")
    with changing_line(console) as line:
        period_s = 0.0 if line.is_terminal else LINE_PERIOD_S
        began_s, next_line_s = None, period_s  # the meters' clock runs before they are ready

        def show(state: dict[str, Any]) -> None:
            nonlocal began_s, next_line_s
            if "serving" in state:
                line.note(f"the meters can be read at {state['serving']}")
                return
            began_s = state["at_s"] if began_s is None else began_s
            if state["at_s"] - began_s >= next_line_s:
                line.write(metering_line(state["at_s"] - began_s, duration_s, line.width() - 1))
                next_line_s += period_s

        yield show


class _Progress:
    """The progress of one run after the other."""

    def __init__(self, line: ChangingLine) -> None:
        # Imported before a run begins, so that the import is no load on the host during the run.
        from loadgo.records.growing_table import GrowingTable

        self._line, self._table_of = line, GrowingTable
        self._began_s = self._written_s = time.monotonic()
        self._clock = RunClock(self._began_s)
        self._folder = ""
        self._table: GrowingTable | None = None
        self._headline: Headline | None = None
        self._next_reading_s = 0.0

    def show(self, state: dict[str, Any]) -> None:
        """Writes the state as a line, if it is time for one."""
        now_s = time.monotonic()
        self._begin_run(str(state.get("folder", "")), now_s)
        left = self._clock.left(state, now_s)
        if not self._line.is_terminal and now_s - self._written_s < LINE_PERIOD_S:
            return
        self._written_s = now_s
        if now_s >= self._next_reading_s and state["phase"] not in ("log-in", "drawing"):
            self._read(now_s)
        self._line.write(progress_line(state, left, self._headline, now_s - self._began_s, self._line.width() - 1))

    def _begin_run(self, folder: str, now_s: float) -> None:
        """Begins anew if the state is of another run."""
        if folder != self._folder:
            self._folder, self._clock = folder, RunClock(now_s)
            self._table, self._headline = None, None
            self._next_reading_s = now_s + READING_PERIOD_S

    def _read(self, now_s: float) -> None:
        """Reads the responses so far. A run whose records cannot be read goes on without them."""
        from loadgo.errors import LoadgoError
        from loadgo.measures.steady_responses import headline_of

        if self._table is None:
            self._table = self._table_of(Path(self._folder), "interactions")
        try:
            self._headline = headline_of(self._table.rows())
        except (LoadgoError, OSError):
            self._headline = None
        took_s = time.monotonic() - now_s
        self._next_reading_s = now_s + max(READING_PERIOD_S, took_s / MOST_READING_SHARE)


@contextmanager
def sweep_progress(console: Console, *, shown: bool) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields a function that shows the progress of a sweep; None if nothing is to be `shown`."""
    if not shown:
        yield None
        return
    with changing_line(console) as line:
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
            self._next_s = now_s + (SWEEP_PERIOD_S if self._line.is_terminal else LINE_PERIOD_S)


@contextmanager
def fit_progress(console: Console, *, shown: bool) -> Iterator[ReportState | None]:
    """Yields a function that shows the states which `loadgo.fit` reports; None if nothing is to be `shown`."""
    if not shown:
        yield None
        return
    with changing_line(console) as line:
        began_s, first_trial_s, written_s = time.monotonic(), None, time.monotonic()
        if line.is_terminal:
            line.write("fitting: reading the runs")

        def show(state: dict[str, Any]) -> None:
            nonlocal first_trial_s, written_s
            now_s = time.monotonic()
            first_trial_s = now_s if first_trial_s is None else first_trial_s
            if line.is_terminal or now_s - written_s >= LINE_PERIOD_S:
                line.write(fit_line(state, now_s - began_s, now_s - first_trial_s, line.width() - 1))
                written_s = now_s

        yield show
