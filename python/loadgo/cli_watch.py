"""The command that shows a run while it goes, or a finished one again."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Annotated

import typer

from loadgo.cli_output import GOOD, complain, note, told

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_OTHER_SCREEN, _FIRST_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


def watch(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its id, or last.")] = "last",
    terminal: Annotated[bool, typer.Option("--terminal", help="Here, and not in a browser.")] = False,
    window: Annotated[str, typer.Option(help="How much of the past is seen: 60s, 10min.")] = "60s",
    speed: Annotated[
        float | None, typer.Option(min=0.01, max=1e6, help="Play a finished run, so many times as fast as it was.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="Where in the run to begin, or the moment that --once shows.")] = None,
    once: Annotated[bool, typer.Option("--once", help="One picture, and no more: for a pipe, or a script.")] = False,
    target: Annotated[str | None, typer.Option(help="The response time that matters: 2s.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served; 0 is any free one.")] = 0,
) -> None:
    """Shows a run while it goes, or a finished one again: in a browser, or with --terminal here."""
    with told():
        from loadgo.asked import span_s
        from loadgo.watch_follow import follow

        width_ns = round(span_s(window) * 1e9)
        if width_ns < 1_000_000:
            raise ValueError(f"--window {window}: at least 1ms")
        begin_ns = None if at is None else round(span_s(at) * 1e9)
        target_ns = None if target is None else span_s(target) * 1e9
        following = follow(run)
        if not (terminal or once):
            from loadgo.watch_server import serve

            serve(following, width_ns, target_ns, port, note)
            raise typer.Exit(GOOD)
        from loadgo.watch_play import Clock, screens

        size = shutil.get_terminal_size((80, 24))
        clock = Clock(begin_ns, speed, time.monotonic_ns)
        pictures = screens(following, clock, width_ns, target_ns, lambda: shutil.get_terminal_size((80, 24)))
        if once or not sys.stdout.isatty():
            typer.echo("\n".join(next(pictures)))
            if not once:
                complain(
                    "the output is no terminal, so that this is one picture: --once says the same without this line"
                )
            raise typer.Exit(GOOD)
        _play(pictures, size)


def _play(pictures: object, size: os.terminal_size) -> None:
    """Redraws in place until there is no more; the terminal is as before afterwards."""
    sys.stdout.write(_OTHER_SCREEN)
    last: list[str] = []
    try:
        for lines in pictures:  # type: ignore[attr-defined]
            last = lines
            sys.stdout.write(_HOME + (_CLEAR_LINE + "\r\n").join(lines) + _CLEAR_LINE + _CLEAR_BELOW)
            sys.stdout.flush()
            time.sleep(0.5)
    except KeyboardInterrupt:
        pass
    finally:
        sys.stdout.write(_FIRST_SCREEN)
        sys.stdout.write("\n".join(last) + "\n")
        sys.stdout.flush()
