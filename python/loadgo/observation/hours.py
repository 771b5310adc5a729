"""Sessions by hour of the day: how many began, and how many were open at once.

Each hour of the records counts for its hour of the day, in the time zone of this host. The records last from the first
beginning to the last end of a session; hours of which they have a part count by this part.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from loadgo.observation.results import HourOfDay
from loadgo.observation.sessions import ObservedSession

_HOUR_S = 3600
_MOST_HOURS = 10 * 366 * 24
"""Ten years. Records over a longer time have wrong dates."""
FIRST_DATE_S = 86400 * 366
"""Sessions that begin before 1971 have no date."""
FEWEST_HOURS = 2
"""Records over a shorter time say nothing about the day."""


@dataclass(frozen=True)
class ClockHours:
    """The hours of the clock from the first to the last of the records, each with what was seen in it."""

    hour: NDArray[np.int64]
    """The hour of the day, in the time zone of this host."""
    day: NDArray[np.int64]
    """The number of the day since the first day of the year 1, which was a Monday and has the number 1."""
    observed_s: NDArray[np.float64]
    begun: NDArray[np.int64]
    open_s: NDArray[np.float64]
    """Time of open sessions, summed over the sessions."""


def clock_hours(sessions: Sequence[ObservedSession]) -> ClockHours | None:
    """The hours of the clock; None without dates, and of less than two hours."""
    dated = [session for session in sessions if session.began_s >= FIRST_DATE_S]
    if not dated:
        return None
    began_s = np.sort(np.array([session.began_s for session in dated], np.float64))
    ended_s = np.sort(np.array([max(session.ended_s, session.began_s) for session in dated], np.float64))
    first_hour, last_hour = int(began_s[0] // _HOUR_S), int(ended_s[-1] // _HOUR_S)
    if ended_s[-1] - began_s[0] < FEWEST_HOURS * _HOUR_S or last_hour - first_hour > _MOST_HOURS:
        return None
    edges_s = np.arange(first_hour, last_hour + 2, dtype=np.float64) * _HOUR_S
    clocks = [time.localtime(edge_s) for edge_s in edges_s[:-1]]
    return ClockHours(
        hour=np.array([clock.tm_hour for clock in clocks]),
        day=np.array([date(clock.tm_year, clock.tm_mon, clock.tm_mday).toordinal() for clock in clocks]),
        observed_s=np.minimum(edges_s[1:], ended_s[-1]) - np.maximum(edges_s[:-1], began_s[0]),
        begun=np.diff(np.searchsorted(began_s, edges_s)),
        open_s=np.diff(_time_since(began_s, edges_s) - _time_since(ended_s, edges_s)),
    )


def hours_of_day(hours: ClockHours | None, chosen: NDArray[np.bool_] | None = None) -> tuple[HourOfDay, ...]:
    """The hours of the day of which the records have a part; none without dates. `chosen` hours count, or all."""
    if hours is None:
        return ()
    kept = np.ones(len(hours.hour), np.bool_) if chosen is None else chosen
    totals = [
        np.bincount(hours.hour[kept], weights[kept], minlength=24)
        for weights in (hours.observed_s, hours.begun, hours.open_s)
    ]
    return tuple(
        HourOfDay(
            hour=number,
            observed_hours=float(observed / _HOUR_S),
            begun_per_hour=float(begun * _HOUR_S / observed),
            open_at_once=float(open_time / observed),
        )
        for number, (observed, begun, open_time) in enumerate(zip(*totals, strict=True))
        if observed > 0
    )


def _time_since(ordered_s: NDArray[np.float64], edges_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each edge, the sum of the times since all instants before it."""
    before = np.searchsorted(ordered_s, edges_s)
    sums = np.concatenate([[0.0], np.cumsum(ordered_s - ordered_s[0])])
    since: NDArray[np.float64] = before * (edges_s - ordered_s[0]) - sums[before]
    return since
