"""The phases of a run and the events that its reader must know, as stretches of time for the chart over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.other_work import OtherWork, other_work_of
from loadgo.measures.summary import Summary
from loadgo.measures.total_time import total_time_of
from loadgo.notation.figures import counted, duration, share
from loadgo.records.interactions import IS_ANSWERED, IS_MEASURED, IS_UNSEEN, LATENESS_NS
from loadgo.records.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

SHOWN_PHASES = ("warm-up", "steady", "ramp-down")
MOST_MARKS = 200
"""Events that are nearer to each other than one part in so many of the run become one."""

_SHORTEST_PART_NS = 5_000_000_000
"""Shortest part of the run that is called busy: in a shorter one the kernel's ticks are too coarse."""
_MOST_PARTS = 60
_MISSED_ANSWERS = 10
"""A stretch is without answers if the run's mean rate would have given this many, and a line waited all the time.

The logarithm of the number of answers is added: chance makes longer gaps in a long run.
"""
_SHORTEST_SILENCE_NS = 1_000_000_000
"""A shorter stretch without answers is no event."""


@dataclass(frozen=True)
class RunEvent:
    """A phase or an event: its kind, its time, and a sentence."""

    kind: str
    from_ns: int
    to_ns: int
    """Equal to `from_ns` for a moment."""
    text: str
    warning: bool = True
    """Whether the event gives a reason to doubt figures. False for a phase."""


def run_events(summary: Summary, tables: Tables, begin_ns: int, end_ns: int) -> list[RunEvent]:
    """The phases in their order, then the events by kind, between `begin_ns` and `end_ns`.

    A metering without users has no phases: its first event is the command that was metered, if any.
    """
    metered = summary.run.kind == "meter"
    under_load = [] if metered else [*_busy_host(summary, tables), *_driver(summary, tables, end_ns)]
    events = [
        *(_metered_command(tables) if metered else _phases(tables, end_ns)),
        *under_load,
        *([] if metered else _sessions(tables, end_ns)),
        *_timeouts(tables, end_ns),
        *_without_answers(summary, tables),
        *_lost(tables, end_ns),
        *_early_end(summary, tables, end_ns),
    ]
    return [
        replace(event, from_ns=max(event.from_ns, begin_ns), to_ns=min(event.to_ns, end_ns))
        for event in events
        if event.to_ns >= begin_ns and event.from_ns <= end_ns
    ]


def _phases(tables: Tables, end_ns: int) -> list[RunEvent]:
    begun = tables.phases.select(pl.col("phase").cast(pl.String), pl.col("at_ns").cast(pl.Int64)).sort("at_ns").rows()
    ends = [*(start for _, start in begun[1:]), end_ns]
    return [
        RunEvent(name, start, end, f"{name}, {duration(end - start)}", warning=False)
        for (name, start), end in zip(begun, ends, strict=False)
        if name in SHOWN_PHASES and end > start
    ]


def _metered_command(tables: Tables) -> list[RunEvent]:
    rows = tables.interactions.filter(IS_ANSWERED).select(pl.col("sent_ns", "ready_ns").cast(pl.Int64)).rows()
    return [
        RunEvent("command", sent, ready, f"the command, {duration(ready - sent)}", warning=False)
        for sent, ready in rows
    ]


def _busy_host(summary: Summary, tables: Tables) -> list[RunEvent]:
    """The parts of the run in which other work took much of the host; all of it where no part stands out."""
    if summary.other_work is None or summary.other_work.level != "busy":
        return []
    parts = [(part, _work_in(tables, part)) for part in _parts(summary.stretch)]
    busy = [(part, work) for part, work in parts if work is not None and work.level == "busy"]
    found = busy or [(summary.stretch, summary.other_work)]
    return [
        RunEvent("busy host", part.start_ns, part.end_ns, f"other work took {work.in_words} of {_whose(work)}")
        for part, work in found
    ]


def _whose(work: OtherWork) -> str:
    """The processors' time that the work is a share of."""
    return f"the time of {work.host}'s processors" if work.host else "the processors' time"


def _work_in(tables: Tables, part: Stretch) -> OtherWork | None:
    """The other work in a part of the run; None where no span of the meters lies in it."""
    spans = spans_in(tables.time, part)
    if len(spans) == len(tables.time) or spans.is_empty():
        return None
    return other_work_of(tables, part, total_time_of(tables, part))


def _parts(stretch: Stretch) -> list[Stretch]:
    count = int(np.clip(stretch.span_ns // _SHORTEST_PART_NS, 1, _MOST_PARTS))
    edges = np.linspace(stretch.start_ns, stretch.end_ns, count + 1).astype(np.int64).tolist()
    return [replace(stretch, start_ns=start, end_ns=end) for start, end in pairwise(edges)]


def _driver(summary: Summary, tables: Tables, end_ns: int) -> list[RunEvent]:
    """The late lines of a driver that was late, and the whole stretch of a driver that took too much."""
    driver, events = summary.driver, []
    if driver.late:
        late = tables.interactions.filter(IS_MEASURED & LATENESS_NS.gt(driver.lateness_limit_ns))
        limit = duration(driver.lateness_limit_ns)
        events += _marks("driver late", late["sent_ns"], end_ns, "line", f"sent more than {limit} late")
    if driver.takes_too_much:
        text = f"the driver took {share(driver.host_share)} of the host"
        events.append(RunEvent("driver busy", summary.stretch.start_ns, summary.stretch.end_ns, text))
    return events


def _sessions(tables: Tables, end_ns: int) -> list[RunEvent]:
    sessions = tables.sessions.with_columns(pl.col("outcome").cast(pl.String))
    died, refused = (sessions.filter(pl.col("outcome") == outcome) for outcome in ("died", "refused"))
    return [
        *_marks("user died", died["ended_ns"], end_ns, "session", "died", died["user"].to_list()),
        *_marks("refused", refused["started_ns"], end_ns, "log-in", "refused", refused["user"].to_list()),
    ]


def _timeouts(tables: Tables, end_ns: int) -> list[RunEvent]:
    rows = tables.interactions.filter(pl.col("outcome").cast(pl.String) == "timeout")
    return _marks("timed out", rows["sent_ns"], end_ns, "line", "sent that timed out")


def _without_answers(summary: Summary, tables: Tables) -> list[RunEvent]:
    """The stretches between two answers in which a line waited, and the run's mean rate would have given many."""
    stretch, measured = summary.stretch, tables.interactions.filter(IS_MEASURED)
    answered = measured.filter(IS_ANSWERED)
    ready = np.sort(answered["ready_ns"].cast(pl.Int64).to_numpy())
    inside = ready[(ready > stretch.start_ns) & (ready < stretch.end_ns)]
    if len(inside) < _MISSED_ANSWERS or summary.run.kind == "meter":
        return []
    missed = _MISSED_ANSWERS + math.log(len(inside))
    longest_ns = max(missed * stretch.span_ns / len(inside), _SHORTEST_SILENCE_NS)
    moments = np.concatenate([[stretch.start_ns], inside, [stretch.end_ns]])
    gaps = np.flatnonzero(np.diff(moments) > longest_ns)
    begins, ends = moments[gaps], moments[gaps + 1]
    sent = np.sort(answered["sent_ns"].cast(pl.Int64).to_numpy())
    never = np.sort(measured.filter(~IS_ANSWERED & ~IS_UNSEEN)["sent_ns"].cast(pl.Int64).to_numpy())
    middles = (begins + ends) // 2
    # Lines that were sent before the middle of a gap, without those that were answered before it.
    waiting = np.searchsorted(sent, middles, side="right") - np.searchsorted(ready, begins, side="right")
    waiting += np.searchsorted(never, middles, side="right") - np.searchsorted(never, begins, side="left")
    return [
        RunEvent("no answers", begin, end, f"no answer for {duration(end - begin)}, though lines waited")
        for begin, end, lines in zip(begins.tolist(), ends.tolist(), waiting.tolist(), strict=True)
        if lines > 0
    ]


def _lost(tables: Tables, end_ns: int) -> list[RunEvent]:
    rows = tables.lost.filter(pl.col("what").cast(pl.String) == "record")
    return _marks("records lost", rows["at_ns"], end_ns, "gap", "in the records")


def _early_end(summary: Summary, tables: Tables, end_ns: int) -> list[RunEvent]:
    outcome = summary.run.outcome
    if outcome in ("", "done") or tables.part_ns is not None:
        return []
    if outcome == "running":
        return [RunEvent("ended early", end_ns, end_ns, "the run goes on: its records are read up to here")]
    how = outcome if summary.run.finished else "cut off"
    return [RunEvent("ended early", end_ns, end_ns, f"the run did not come to its end: {how}")]


def _marks(
    kind: str, moments: pl.Series, end_ns: int, what: str, did: str, users: Sequence[int] = ()
) -> list[RunEvent]:
    """Moments as events. Those near to each other are one, with their number."""
    known = [(int(at), users[place] if users else None) for place, at in enumerate(moments) if at is not None]
    return [
        RunEvent(kind, group[0][0], group[-1][0], f"{counted(len(group), what)} {did}{_of_users(group)}")
        for group in _near(sorted(known, key=lambda one: one[0]), max(end_ns // MOST_MARKS, 1))
    ]


def _near(moments: Iterable[tuple[int, int | None]], distance_ns: int) -> list[list[tuple[int, int | None]]]:
    """Groups of moments, of which each is at most `distance_ns` after the one before."""
    groups: list[list[tuple[int, int | None]]] = []
    for moment in moments:
        if groups and moment[0] - groups[-1][-1][0] <= distance_ns:
            groups[-1].append(moment)
        else:
            groups.append([moment])
    return groups


_NAMED_USERS = 3


def _of_users(group: Sequence[tuple[int, int | None]]) -> str:
    users = [str(user) for _, user in group if user is not None]
    if not users:
        return ""
    more = f" and {len(users) - _NAMED_USERS} more" if len(users) > _NAMED_USERS else ""
    return f" (user{'s' if len(users) > 1 else ''} {', '.join(users[:_NAMED_USERS])}{more})"
