"""Which moment of a run is shown: as far as its records reach while it goes, or what a clock says of one played."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from loadgo.notation.figures import digits
from loadgo.records.following import Following, reach_of
from loadgo.watching.expected import Expected
from loadgo.watching.frame import frame_of
from loadgo.watching.terminal import Shown, columns_of, screen


@dataclass
class Clock:
    """A moment that moves on at `speed` from `begin_ns`, both of the run; None is as far as the records reach."""

    begin_ns: int | None
    speed: float | None
    now_ns: Callable[[], int]
    _started_ns: int | None = None

    def moment(self, reach_ns: int) -> int:
        """Where the clock is now, never beyond what the records reach."""
        if self.speed is None:
            return reach_ns if self.begin_ns is None else min(self.begin_ns, reach_ns)
        if self._started_ns is None:
            self._started_ns = self.now_ns()
        return min((self.begin_ns or 0) + round((self.now_ns() - self._started_ns) * self.speed), reach_ns)

    def mode(self, how: str) -> str:
        """In a word or two, for the head of the picture."""
        if self.speed is not None:
            return f"× {digits(self.speed)}"
        return "held" if how == "live" and self.begin_ns is not None else how


def screens(
    following: Following,
    clock: Clock,
    width_ns: int,
    target_ns: float | None,
    size: Callable[[], os.terminal_size],
    expected: Callable[[], Expected] | None = None,
) -> Iterator[list[str]]:
    """Picture after picture; the last one is of the end. Raises `BadRun` when the run cannot be read.

    `expected` gives what a model has told so far.
    """
    while True:
        seen = following.look()
        reach = reach_of(seen)
        moment = clock.moment(reach)
        room = size()
        frame = frame_of(seen, moment, width_ns, columns_of(room.columns))
        title = title_of(seen.conditions)
        beside = None if expected is None else expected()
        shown = Shown(title, clock.mode(following.how), target_ns, beside)
        yield screen(frame, shown, room.columns, room.lines - 1)
        if following.ended and (moment >= reach or clock.speed is None):
            return


def title_of(conditions: dict[str, object]) -> str:
    """What is watched, and where."""
    system = conditions.get("system", {})
    told = system if isinstance(system, dict) else {}
    name = str((told.get("name") if told.get("kind") == "machine" else told.get("hostname")) or "this host")
    return name if conditions.get("kind") == "meter" else f"{conditions.get('name') or 'a run'} on {name}"
