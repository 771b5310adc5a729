"""The progress of a run in a line: what is done, the time left, the p90 and the errors so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgo.documents.signs import bar
from loadgo.notation.figures import counted, cut, duration, people
from loadgo.notation.quantities import span_s

if TYPE_CHECKING:
    from loadgo.measures.steady_responses import Headline
    from loadgo.observation.live import WatchState

State = dict[str, Any]
"""The state of a run, as `loadgo.run` reports it."""
FEWEST_RATED_INTERACTIONS = 10
"""With fewer interactions, their rate does not tell the time that is left."""
SHORTEST_RATED_S = 3.0
BAR_CHARS = 12


@dataclass
class RunClock:
    """The times at which a run came to its phases, for the time that is left."""

    began_s: float
    steady_at_s: float | None = None
    """The time of the system at the start of the steady phase."""
    first_line_s: float | None = None
    """The present time when the first interaction was seen."""

    def left(self, state: State, now_s: float) -> TimeLeft:
        """The time that is left at `now_s`, in seconds of the present clock."""
        phase, at_s = state["phase"], float(state.get("at_s", 0.0))
        if phase == "steady" and self.steady_at_s is None:
            self.steady_at_s = at_s
        if state.get("interactions") and self.first_line_s is None:
            self.first_line_s = now_s
        if phase == "drawing":
            return _left_by_rate(state["runs"], state["runs_expected"], now_s - self.began_s)
        if phase == "ramp-down":
            return TimeLeft(None, "until each user is done")
        if state.get("duration_s") is not None:
            return self._left_of_duration(state, now_s)
        if state.get("interactions_expected") is not None and self.first_line_s is not None:
            return _left_by_rate(state["interactions"], state["interactions_expected"], now_s - self.first_line_s)
        if state.get("until"):
            return self._left_until(state, now_s)
        return TimeLeft(None, "")

    def _left_of_duration(self, state: State, now_s: float) -> TimeLeft:
        """The rest of a load with a length. The length counts from the start of the steady phase."""
        at_s = float(state["at_s"])
        pace = (now_s - self.began_s) / at_s if state.get("computed_s") and at_s > 0 else 1.0
        if self.steady_at_s is None:
            least_s = pace * float(state["duration_s"])
            return TimeLeft(None, f"over {clock(least_s)} left") if not state.get("computed_s") else TimeLeft(None, "")
        left_s = pace * max(self.steady_at_s + float(state["duration_s"]) - at_s, 0.0)
        share = 1 - (self.steady_at_s + state["duration_s"] - at_s) / state["duration_s"]
        early = f" (or {state['until']})" if state.get("until") else ""
        return TimeLeft(min(max(share, 0.0), 1.0), f"{clock(left_s)} left{early}")

    def _left_until(self, state: State, now_s: float) -> TimeLeft:
        """The rest until the time in the rule that ends the load. Other conditions of the rule may end it sooner."""
        conditions = [condition.strip() for condition in str(state["until"]).split(",")]
        others = [condition for condition in conditions if not condition.startswith(_TIME_CONDITION)]
        if len(others) == len(conditions):
            return TimeLeft(None, f"until {state['until']}")
        end_s = span_s(next(c for c in conditions if c.startswith(_TIME_CONDITION)).removeprefix(_TIME_CONDITION))
        at_s = float(state.get("at_s", 0.0))
        pace = (now_s - self.began_s) / at_s if state.get("computed_s") and at_s > 0 else 1.0
        early = f" (or {', '.join(others)})" if others else ""
        return TimeLeft(min(at_s / end_s, 1.0), f"{clock(pace * max(end_s - at_s, 0.0))} left{early}")


_TIME_CONDITION = "time="


@dataclass(frozen=True)
class TimeLeft:
    """The part of a run that is done, if it is known, and the time that is left in words."""

    done: float | None
    words: str
    """Empty if nothing is known about the end."""


def _left_by_rate(done: float, expected: float, elapsed_s: float) -> TimeLeft:
    """The time left if the rest goes at the mean rate so far."""
    share = min(done / expected, 1.0) if expected else None
    if not expected or done < min(FEWEST_RATED_INTERACTIONS, expected / 2) or elapsed_s < SHORTEST_RATED_S:
        return TimeLeft(share, "")
    return TimeLeft(share, f"about {clock(max(expected - done, 0) * elapsed_s / done)} left")


def progress_line(state: State, left: TimeLeft, headline: Headline | None, elapsed_s: float, width: int) -> str:
    """The state in at most `width` characters. A narrow terminal leaves out what matters least."""
    parts = [part for part in _parts(state, left, headline, elapsed_s) if part[1]]
    if left.done is not None:
        parts.insert(1, (5, _bar(left.done)))
    return _fitting(parts, width)


def _fitting(parts: list[tuple[int, str]], width: int) -> str:
    """The parts in a line of at most `width` characters: those with the largest numbers are left out first."""
    while len(parts) > 1 and len(_joined(parts)) > width:
        parts.remove(max(parts, key=lambda part: part[0]))
    return cut(_joined(parts), max(width, 1))


def _bar(share: float) -> str:
    return f"[{bar(share, BAR_CHARS):<{BAR_CHARS}}]"


def _joined(parts: list[tuple[int, str]]) -> str:
    return "  ".join(text for _, text in parts)


def _parts(state: State, left: TimeLeft, headline: Headline | None, elapsed_s: float) -> list[tuple[int, str]]:
    """The parts of the line in their order, each with a number: the largest is left out first."""
    step = state.get("step", "")
    if state["phase"] == "log-in":
        logged_in = f"{state['users_logged_in']:,} of {people(state['users'])} logged in"
        return [(0, step), (1, logged_in), (2, f"at {clock(elapsed_s)}")]
    if state["phase"] == "drawing":
        runs = f"{state['runs']:,} of {state['runs_expected']:,} runs, as fitted and with parameters drawn anew"
        return [(0, "predicting"), (3, runs), (1, left.words), (2, f"at {clock(elapsed_s)}")]
    p90 = "" if headline is None or headline.p90.state != "measured" else f"p90 {duration(headline.p90.value_ns)}"
    errors = "" if headline is None else counted(headline.errors, "error") if headline.errors else "no errors"
    return [
        (2, step),
        (3, str(state["phase"])),
        (6, people(state["users_logged_in"])),
        (4, counted(state["interactions"], "line")),
        (1, p90),
        (2, errors),
        (7, _virtual_time(state)),
        (8, f"at {clock(elapsed_s)}"),
        (0, left.words),
    ]


def _virtual_time(state: State) -> str:
    """A simulated machine's time, and its speed relative to real time; empty on a host."""
    computed_s = state.get("computed_s")
    if not computed_s:
        return ""
    return f"{state['at_s'] / 60:,.0f} min of virtual time, {state['at_s'] / computed_s:,.0f} times as fast"


def metering_line(at_s: float, duration_s: float | None, width: int) -> str:
    """The state of metering in at most `width` characters."""
    if duration_s is None:
        parts = [(0, f"metering  {clock(at_s)}"), (1, "until an interrupt (Ctrl-C)")]
    else:
        share = min(at_s / duration_s, 1.0)
        parts = [(1, "metering"), (2, _bar(share)), (0, f"{clock(max(duration_s - at_s, 0.0))} left")]
    return _fitting(parts, width)


def observing_line(state: WatchState, length_s: float, width: int) -> str:
    """The state of an observation in at most `width` characters."""
    parts = [
        (1, "observing"),
        (3, _bar(min(state.elapsed_s / length_s, 1.0))),
        (0, f"{counted(state.lines, 'line')} in {counted(state.sessions, 'session')}"),
        (2, f"{state.open_sessions:,} open"),
        (0, f"{clock(max(length_s - state.elapsed_s, 0.0))} left, Ctrl-C ends it"),
    ]
    return _fitting(parts, width)


def sweep_line(state: State, elapsed_s: float, width: int) -> str:
    """The state of a sweep in at most `width` characters. Points that were done before do not count for its rate."""
    points, expected = state["points"], state["points_expected"]
    left = _left_by_rate(points - state["points_before"], expected - state["points_before"], elapsed_s)
    parts = [
        (2, "sweeping"),
        (1, _bar(points / expected if expected else 1.0)),
        (0, f"{points:,} of {expected:,} simulations"),
        (1, left.words),
        (3, f"at {clock(elapsed_s)}"),
    ]
    return _fitting([part for part in parts if part[1]], width)


def fit_line(state: State, elapsed_s: float, trying_s: float, width: int) -> str:
    """The state of a fit in at most `width` characters. Its trials have taken `trying_s`."""
    done, expected = state["interactions"], state["interactions_expected"]
    parts = [
        (2, "fitting"),
        (3, _bar(done / expected)),
        (1, f"trial {state['trial']} of {state['trials']}"),
        (0, _left_by_rate(done, expected, trying_s).words),
        (4, counted(done, "line")),
        (5, f"at {clock(elapsed_s)}"),
    ]
    parts = [part for part in parts if part[1]]
    return _fitting(parts, width)


def clock(seconds: float) -> str:
    """A time as a clock shows it: `0:34`, `12:05`, `1:02:03`."""
    whole = round(seconds)
    minutes, second = divmod(whole, 60)
    return f"{minutes}:{second:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{second:02}"
