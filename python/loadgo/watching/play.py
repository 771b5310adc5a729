"""Screen after screen of a run: of its newest moment, or of the moment of a clock that plays a recorded run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from loadgo.measures.other_work import OtherWork, judged_after
from loadgo.notation.figures import counted, digits, duration
from loadgo.records.following import Following, latest_ns
from loadgo.records.host_places import WIDEST_BOUND_NS
from loadgo.watching.expected import Expected
from loadgo.watching.terminal import ScreenContext, columns_of, screen
from loadgo.watching.window import WatchWindow, window_of

USUAL_WINDOW_NS = 60_000_000_000
"""The length of the past that is shown while a run goes, or from a chosen moment of a finished one."""


@dataclass
class Clock:
    """The shown moment of a run. It starts at `begin_ns` and moves at `speed`; None means the end of the records."""

    begin_ns: int | None
    speed: float | None
    now_ns: Callable[[], int]
    _started_ns: int | None = None

    def moment(self, reach_ns: int) -> int:
        """The current moment of the clock, at most the end of the records."""
        if self.speed is None:
            return reach_ns if self.begin_ns is None else min(self.begin_ns, reach_ns)
        if self._started_ns is None:
            self._started_ns = self.now_ns()
        return min((self.begin_ns or 0) + round((self.now_ns() - self._started_ns) * self.speed), reach_ns)

    def mode(self, run_state: str) -> str:
        """The mode in a word or two, for the first line of the screen. `run_state` is `live` or `ended`."""
        if self.speed is not None:
            return f"× {digits(self.speed)}"
        return "held" if run_state == "live" and self.begin_ns is not None else run_state


def screens(
    following: Following,
    clock: Clock,
    width_ns: int | None,
    target_ns: float | None,
    size: Callable[[], os.terminal_size],
    expected: Callable[[], Expected] | None = None,
    *,
    color: bool = False,
) -> Iterator[list[str]]:
    """Yields one screen after another. The last screen shows the end. Raises `BadRun` if the run cannot be read.

    `width_ns` is the length of the window. None is `USUAL_WINDOW_NS`, and the whole run where that has ended and no
    moment of it was chosen. `expected` returns the figures of a model so far. With `color` the lines have escape
    sequences.
    """
    other_work: OtherWork | None = None
    while True:
        records = following.all_tables()
        reach = latest_ns(records)
        moment = clock.moment(reach)
        terminal = size()
        is_over = following.ended and clock.speed is None
        usual_ns = reach if is_over and clock.begin_ns is None else USUAL_WINDOW_NS
        window = window_of(records, moment, width_ns or usual_ns, columns_of(terminal.columns))
        other_work = judged_after(window.other_work, other_work)
        window = replace(window, other_work=other_work)
        title = title_of(records.conditions)
        context = ScreenContext(
            title, clock.mode(following.state_word), target_ns, None if expected is None else expected()
        )
        if is_over and window.width_ns < reach:
            whole = window_of(records, reach, reach, 1)
            context = replace(context, part=_part_in_words(window, reach), whole_p90_ns=whole.response_ns.get(0.9))
        yield screen(window, context, terminal.columns, terminal.lines - 1, color=color)
        if following.ended and (moment >= reach or clock.speed is None):
            return


def _part_in_words(window: WatchWindow, reach_ns: int) -> str:
    """The part of a finished run that a window is."""
    if window.end_ns >= reach_ns:
        return f"Only the last {duration(window.width_ns)} of {duration(reach_ns)} are shown"
    return f"Only {window.start_ns / 1e9:.1f} s to {window.end_ns / 1e9:.1f} s of {duration(reach_ns)} are shown"


def title_of(conditions: dict[str, object]) -> str:
    """Title of the screen: the run and its system, and whether the clock of that is known badly."""
    system = conditions.get("system", {})
    facts = system if isinstance(system, dict) else {}
    if hosts := facts.get("hosts"):
        own = f"{counted(len(hosts), 'host')} of {facts.get('name')}"
        return own if conditions.get("kind") == "meter" else f"{conditions.get('name') or 'a run'} on {own}"
    name = str((facts.get("name") if facts.get("kind") == "machine" else facts.get("hostname")) or "this host")
    own = name if conditions.get("kind") == "meter" else f"{conditions.get('name') or 'a run'} on {name}"
    return own + _doubt(conditions.get("clock"))


def _doubt(clock: object) -> str:
    """The remark that the meters of another host may be of other moments than the answers; empty for a good clock."""
    bound_ns = clock.get("bound_ns") if isinstance(clock, dict) else None
    is_rough = isinstance(bound_ns, int) and bound_ns > WIDEST_BOUND_NS
    return f" (its clock is known within {duration(bound_ns)} only)" if is_rough else ""
