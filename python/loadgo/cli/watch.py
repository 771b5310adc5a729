"""The command `watch`, and the watcher that `loadgo run --watch` starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import loadgo
from loadgo.cli.completed_values import run_completions
from loadgo.cli.options import HostsOption, SudoOption
from loadgo.cli.output import STATUS_GOOD, errors_as_messages, print_error, print_note, print_output, wants_color

ReportProgress = Callable[[dict[str, Any]], None]

_WATCHER_NICENESS = 10
_WATCHER_END_S = 5.0
_PICTURE_PERIOD_S, _SIGNAL_CHECK_S = 0.5, 0.05

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_OTHER_SCREEN, _FIRST_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


def watch(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            autocompletion=run_completions,
            help="A run's folder, its id, or last (the newest of `loadgo runs`); a host, if none.",
        ),
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Show it in this terminal, not in a browser.")] = False,
    window: Annotated[
        str | None,
        typer.Option(help="The length of the past that is shown: 10min. Default: 60s, and all of a finished run."),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(min=0.01, max=1e6, help="Play a finished run, this many times as fast as it was.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="The time in the run at which to begin, or that --once shows.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Print one picture, for a pipe or a script.")] = False,
    target: Annotated[str | None, typer.Option(help="The response time that matters: 2s.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the page; 0 is any free port.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            help="Show expected figures beside: from a fitted machine's file, which is run here, or from a run."
        ),
    ] = None,
    meters: Annotated[
        Literal["cheap", "cheap,locks", "cheap,profile", "sampled", "exact"] | None,
        typer.Option(help="The meters of a host without a run: exact has each page fault too, and costs more."),
    ] = None,
    on: HostsOption = "here",
    sudo: SudoOption = False,
    leaves: Annotated[bool, typer.Option("--leave", help="Serve only while the run goes.")] = False,
) -> None:
    """Shows a host, a run while it goes, or a finished run again: in a browser, or with --terminal here."""
    with errors_as_messages():
        # One thread reads the tables, since the watched system may be this host.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        size = partial(shutil.get_terminal_size, (80, 24))
        if speed is not None and once:
            raise ValueError("--once is one picture, and --speed plays many: name its moment with --at")
        with loadgo.watch(
            run, window=window, at=at, speed=speed, target=target, model=model, meters=meters, on=on, sudo=sudo
        ) as watching:
            if not (terminal or once):
                watching.serve(print_note, port, leave=leaves)
                raise typer.Exit(STATUS_GOOD)
            if once or not sys.stdout.isatty():
                print_output(watching.picture(*size(), color=wants_color()) + "\n")
                if not once:
                    print_error("the output is no terminal, so this is one picture: --once gives it without this line")
                raise typer.Exit(STATUS_GOOD)
            with closing(watching.pictures(size, color=wants_color())) as pictures:
                _show_pictures(pictures)


def _show_pictures(pictures: Iterator[list[str]]) -> None:
    """Redraws in place until the last picture or a signal, and then restores the terminal.

    Signals are checked between two pictures: a signal handler that raised inside polars would make polars panic.
    """
    from loadgo.running.stopping import catch_stop_signals

    shown_lines: list[str] = []
    with catch_stop_signals() as stop:
        try:
            sys.stdout.write(_OTHER_SCREEN)
            for lines in pictures:
                shown_lines = lines
                sys.stdout.write(_HOME + (_CLEAR_LINE + "\r\n").join(lines) + _CLEAR_LINE + _CLEAR_BELOW)
                sys.stdout.flush()
                next_s = time.monotonic() + _PICTURE_PERIOD_S
                while not stop.is_set() and time.monotonic() < next_s:
                    time.sleep(_SIGNAL_CHECK_S)
                if stop.is_set():
                    break
        finally:
            sys.stdout.write(_FIRST_SCREEN)
            sys.stdout.write("\n".join(shown_lines) + "\n")
            sys.stdout.flush()
    if stop.number not in (0, signal.SIGINT):
        raise typer.Exit(128 + stop.number)


@contextmanager
def with_watcher(progress: ReportProgress | None, *, wanted: bool) -> Iterator[ReportProgress | None]:
    """Yields a progress function that starts the watcher as soon as the run has a folder, if it is `wanted`.

    The watcher is a process that serves the run's page and ends with the run. Its priority is low, so that the driver
    does not wait for it.
    """
    if not wanted:
        yield progress
        return
    children: list[subprocess.Popen[bytes]] = []

    def report(state: dict[str, Any]) -> None:
        if not children and (Path(state["folder"]) / "run.toml").exists():
            command = [sys.executable, "-m", "loadgo", "watch", state["folder"], "--leave"]
            children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True))
            os.setpriority(os.PRIO_PROCESS, children[0].pid, _WATCHER_NICENESS)
        if progress is not None:
            progress(state)

    try:
        yield report
    finally:
        for child in children:
            _end_watcher(child)


def _end_watcher(child: subprocess.Popen[bytes]) -> None:
    """Waits for the watcher, which ends when its viewers have the entire run. Terminates it after `_WATCHER_END_S`."""
    try:
        child.wait(_WATCHER_END_S)
    except subprocess.TimeoutExpired:
        child.terminate()
        child.wait()
