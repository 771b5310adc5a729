"""The public call that watches a run or this host: as text for a terminal, or as a page for a browser."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal

from loadgo.errors import BadArgument
from loadgo.hosts.address import HERE_NAME, parse_host
from loadgo.hosts.fleet import is_fleet
from loadgo.notation.quantities import span_s
from loadgo.records.following import Following, follow
from loadgo.watching.expected import Expected, Model, in_background
from loadgo.watching.play import USUAL_WINDOW_NS, Clock, screens
from loadgo.watching.this_host import metered

Size = Callable[[], os.terminal_size]
"""Returns the terminal's size, which may change between two pictures."""

_SHORTEST_WINDOW_NS = 1_000_000
_FIRST_SPANS_S = 2.5
"""Time for which a host is metered before its first screen, so that there are spans to show."""
_LONGEST_FIRST_WAIT_S = 60.0
"""Largest further time to wait for the first span, which comes late from a busy host and over a slow network."""
_LOOK_PERIOD_S = 0.1


@dataclass(frozen=True)
class Watching:
    """A run, or this host, that is being watched; `watch` makes it and ends it."""

    following: Following
    window_ns: int | None
    """The length of the past that is shown; None for a minute, and for the whole of a finished run."""
    begin_ns: int | None
    """The moment of the run that is shown first; None for the newest."""
    speed: float | None
    """Factor by which a recorded run is played faster than it was. None if it is not played."""
    target_ns: float | None
    model: Model | None
    live: bool
    """Whether a host is watched, not a run."""

    def picture(self, width: int = 80, height: int = 24, *, color: bool = False) -> str:
        """Returns one picture as text; waits until there is something to show, and for the model's answer.

        With `color`, the text has escape sequences of a terminal.
        """
        if self.live:
            self._await_first_spans()
        with self._expected(waits=True) as expected:
            lines = next(self._screens(lambda: os.terminal_size((width, height)), expected, color=color))
        return "\n".join(lines)

    def _await_first_spans(self) -> None:
        """Waits until there are spans of the host to show; for a while longer where the first one comes late."""
        time.sleep(_FIRST_SPANS_S)
        until_s = time.monotonic() + _LONGEST_FIRST_WAIT_S
        while self.following.all_tables().time.is_empty() and not self.following.ended:
            if time.monotonic() > until_s:
                return
            time.sleep(_LOOK_PERIOD_S)

    def pictures(self, size: Size, *, color: bool = False) -> Generator[list[str], None, None]:
        """Yields picture after picture as lines of text; the last one shows the run's end."""
        with self._expected(waits=False) as expected:
            yield from self._screens(size, expected, color=color)

    def serve(self, announce: Callable[[str], None], port: int = 0, *, leave: bool = False) -> None:
        """Serves the page on loopback until a signal comes; calls `announce` with a sentence that has its address.

        `port` 0 takes any free port. With `leave` the page is served no longer than the run goes.
        """
        from loadgo.watching.server import PageMessages, serve

        settings = {
            "width_ns": self.window_ns or USUAL_WINDOW_NS,
            "target_ns": self.target_ns,
            "begin_ns": self.begin_ns,
            "speed": self.speed,
        }
        serve(PageMessages(self.following, settings, self.model), port, announce, leaves=leave)

    def _screens(self, size: Size, expected: Callable[[], Expected] | None, *, color: bool) -> Iterator[list[str]]:
        clock = Clock(self.begin_ns, self.speed, time.monotonic_ns)
        return screens(self.following, clock, self.window_ns, self.target_ns, size, expected, color=color)

    @contextmanager
    def _expected(self, *, waits: bool) -> Iterator[Callable[[], Expected] | None]:
        """Yields a function that returns the expected figures so far, or None without a model."""
        if self.model is None:
            yield None
            return
        with in_background(self.model, waits=waits) as expected:
            yield expected


@contextmanager
def watch(
    run: str | os.PathLike[str] | None = None,
    *,
    window: float | str | None = None,
    at: float | str | None = None,
    speed: float | None = None,
    target: float | str | None = None,
    model: str | os.PathLike[str] | None = None,
    meters: Literal["cheap", "cheap,locks", "cheap,profile", "sampled", "exact"] | None = None,
    on: str = HERE_NAME,
    sudo: bool = False,
) -> Iterator[Watching]:
    """Watches a run while it goes, a recorded run again, or a host: as text, or as a page in a browser.

        with loadgo.watch("last", at="30s") as watching:
            print(watching.picture())

    Args:
        run: A run's folder, its id or `last`. None watches a host.
        window: The length of the past that is shown, in seconds or as a text such as `60s`. None is a minute, and the
            whole of a finished run.
        at: The time in a recorded run at which the display begins.
        speed: How many times as fast as it was a recorded run is played.
        target: The response time that matters, in seconds or as a text.
        model: The source of expected figures, shown beside: a fitted machine's file, which is run for them, or a run.
        meters: The meters of the host, `cheap` (the default), `cheap,locks`, `cheap,profile`, `sampled` or `exact`.
        on: The host: `here`, or `ssh://USER@HOST:PORT`, to which an agent is brought (see docs/hosts-agent.md). Or the
            path of a list of hosts, all of which are shown. The log-in must need no password.
        sudo: Whether agents on other hosts run by `sudo`.

    Returns:
        A context manager that gives a `Watching`. Its `picture()` is one picture as text, `pictures(size)` are pictures
        one after the other, and `serve(announce)` serves the page on loopback.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.BadRun: There is no such run.
        loadgo.errors.Refused: The host cannot be metered.
    """
    window_ns = None if window is None else round(span_s(window, "window") * 1e9)
    if window_ns is not None and window_ns < _SHORTEST_WINDOW_NS:
        raise BadArgument(f"`window={window}`: at least 1ms").about("window")
    begin_ns = None if at is None else round(span_s(at, "at") * 1e9)
    target_ns = None if target is None else span_s(target, "target") * 1e9
    if run is None and (begin_ns is not None or speed is not None):
        raise BadArgument("`at` and `speed` need a recorded run: name one, or last").about("at", "speed")
    if model is not None and run is None:
        raise BadArgument("`model` needs a run to compare with: name one, or last").about("model")
    if run is not None and meters is not None:
        raise BadArgument("`meters` is for a host alone: those of a run were chosen when it began").about("meters")
    elsewhere = is_fleet(on) or parse_host(on) is not None
    if run is not None and elsewhere:
        raise BadArgument("`on` is for a host without a run: leave out the run or `on`").about("on")
    if sudo and not elsewhere:
        raise BadArgument("`sudo` is for another host: name one with `on`").about("sudo", "on")
    with ExitStack() as ends:
        following = follow(ends.enter_context(metered(meters or "cheap", on=on, sudo=sudo)) if run is None else run)
        expected_by = None if model is None else Model(os.fspath(model), following.folder)
        if expected_by is not None:
            expected_by.check()
        yield Watching(following, window_ns, begin_ns, speed, target_ns, expected_by, live=run is None)
