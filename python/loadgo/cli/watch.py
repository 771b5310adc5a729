"""The command that shows this host, or a run while it goes, or again; and what `loadgo run --watch` begins."""

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
from loadgo.cli.output import GOOD, complain, note, say, told

Telling = Callable[[dict[str, Any]], None]

_MEEK = 10
_FAREWELL_S = 5.0
_PICTURE_EVERY_S, _HEARD_WITHIN_S = 0.5, 0.05

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_OTHER_SCREEN, _FIRST_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


def watch(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run's folder, its id, or last; this host, if none.")
    ] = None,
    terminal: Annotated[bool, typer.Option("--terminal", help="Here, and not in a browser.")] = False,
    window: Annotated[str, typer.Option(help="How much of the past is seen: 60s, 10min.")] = "60s",
    speed: Annotated[
        float | None, typer.Option(min=0.01, max=1e6, help="Play a finished run, so many times as fast as it was.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="Where in the run to begin, or the moment that --once shows.")] = None,
    once: Annotated[bool, typer.Option("--once", help="One picture, and no more: for a pipe, or a script.")] = False,
    target: Annotated[str | None, typer.Option(help="The response time that matters: 2s.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served; 0 is any free one.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(help="What should be seen, beside it: a fitted machine's file, which is run here, or a run."),
    ] = None,
    meters: Annotated[
        Literal["cheap", "exact"] | None,
        typer.Option(help="Of this host without a run: exact has page faults one by one too, and costs more."),
    ] = None,
    leaves: Annotated[bool, typer.Option("--leave", help="Serve no longer than the run goes.")] = False,
) -> None:
    """Shows this host, or a run while it goes, or a finished one again: in a browser, or with --terminal here."""
    with told():
        # Tables are read by one thread: what is watched may be this host.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        size = partial(shutil.get_terminal_size, (80, 24))
        if speed is not None and once:
            raise ValueError("--once is one picture, and --speed plays many: --at says of which moment")
        with loadgo.watch(
            run, window=window, at=at, speed=speed, target=target, model=model, meters=meters
        ) as watching:
            if not (terminal or once):
                watching.serve(note, port, leave=leaves)
                raise typer.Exit(GOOD)
            if once or not sys.stdout.isatty():
                say(watching.picture(*size()) + "\n")
                if not once:
                    complain("the output is no terminal, so this is one picture: --once gives it without this line")
                raise typer.Exit(GOOD)
            with closing(watching.pictures(size)) as pictures:
                _play(pictures)


def _play(pictures: Iterator[list[str]]) -> None:
    """Redraws in place until there is no more or a signal asks for the end; the terminal is as before afterwards.

    The signals are heard between two pictures: an exception that one raised inside a library's own code, such as
    polars', would come out as that library's panic.
    """
    from loadgo.running.stopping import catch_stop_signals

    last: list[str] = []
    with catch_stop_signals() as stop:
        try:
            sys.stdout.write(_OTHER_SCREEN)
            for lines in pictures:
                last = lines
                sys.stdout.write(_HOME + (_CLEAR_LINE + "\r\n").join(lines) + _CLEAR_LINE + _CLEAR_BELOW)
                sys.stdout.flush()
                next_s = time.monotonic() + _PICTURE_EVERY_S
                while not stop.is_set() and time.monotonic() < next_s:
                    time.sleep(_HEARD_WITHIN_S)
                if stop.is_set():
                    break
        finally:
            sys.stdout.write(_FIRST_SCREEN)
            sys.stdout.write("\n".join(last) + "\n")
            sys.stdout.flush()
    if stop.number not in (0, signal.SIGINT):
        raise typer.Exit(128 + stop.number)


@contextmanager
def watched(progress: Telling | None, *, wanted: bool) -> Iterator[Telling | None]:
    """What tells of a run as `progress` does and, where that is wanted, serves its page as soon as there is a folder.

    The page is another process, of lower priority, so that it takes nothing from the driver; it ends with the run.
    """
    if not wanted:
        yield progress
        return
    children: list[subprocess.Popen[bytes]] = []

    def tell(what: dict[str, Any]) -> None:
        if not children and (Path(what["folder"]) / "run.toml").exists():
            command = [sys.executable, "-m", "loadgo", "watch", what["folder"], "--leave"]
            children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True))
            os.setpriority(os.PRIO_PROCESS, children[0].pid, _MEEK)
        if progress is not None:
            progress(what)

    try:
        yield tell
    finally:
        for child in children:
            _let_go(child)


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """Ends the watcher: it leaves by itself when its viewers have all of the run."""
    try:
        child.wait(_FAREWELL_S)
    except subprocess.TimeoutExpired:
        child.terminate()
        child.wait()
