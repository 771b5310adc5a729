"""Workdays and weekends: whether sessions begin at other rates, and the sessions of one kind of days alone.

They differ if no more than one of 199 shuffles of the days shows as much difference, a level of 1 %. The difference is
that between the rates by hour of both kinds (log-likelihood ratio). Days are shuffled within their week, so that weeks
that differ, such as holidays, make no difference of days. This is a permutation test (Good, Permutation, Parametric
and Bootstrap Tests of Hypotheses, 3rd edition, 2005, chapter 3).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import Refused
from loadgo.observation.hours import FIRST_DATE_S, ClockHours, hours_of_day
from loadgo.observation.results import DayKind, Days, DaysOfWeek, KindOfDays
from loadgo.observation.sessions import ObservedSession

DAY_WORDS: dict[KindOfDays, str] = {"workdays": "Monday to Friday", "weekend": "Saturday and Sunday"}
_WORK_DAYS = 5
"""Number of days of a week before its weekend: days are numbered from Monday, which is 0."""
_WEEK_DAYS = 7
_HOUR_S, _DAY_S = 3600, 86400
_SHUFFLES = 199
"""Number of shuffles: at most one of them may show as much, which is a level of 1 %."""
_FEWEST_ARRANGEMENTS = 100
"""With fewer ways to place the weekends in their weeks, chance alone shows as much in over 1 % of them."""
_SEED = 19741

_Counts = NDArray[np.float64]
"""A row for each day, with a column for each hour of the day."""


def days_of_week(hours: ClockHours | None) -> DaysOfWeek | None:
    """The sessions of workdays and of weekends; None unless the records have both, with dates."""
    if hours is None:
        return None
    is_weekend = _is_weekend(hours)
    kinds = (_kind(hours, "workdays", ~is_weekend), _kind(hours, "weekend", is_weekend))
    if not all(kind.observed_days for kind in kinds):
        return None
    return DaysOfWeek(p_value=_p_value(hours), kinds=kinds)


def chosen_hours(hours: ClockHours | None, days: Days) -> NDArray[np.bool_] | None:
    """The hours of the clock on these days; None for all. Raises `Refused` where the records have no dates."""
    if days == "all":
        return None
    if hours is None:
        raise Refused(
            f"`days={days}` needs records with dates, over two hours or more: nobody knows on which days these were"
        ).about("days")
    return ~_is_weekend(hours) if days == "workdays" else _is_weekend(hours)


def sessions_of_days(sessions: Sequence[ObservedSession], days: Days) -> tuple[ObservedSession, ...]:
    """The sessions that are known to have begun on these days. Raises `Refused` if none did."""
    if days == "all":
        return tuple(sessions)
    kept = tuple(
        each
        for each in sessions
        if each.began_s >= FIRST_DATE_S and (time.localtime(each.began_s).tm_wday >= _WORK_DAYS) == (days == "weekend")
    )
    if not kept:
        which = DAY_WORDS[days].replace("and", "or")
        raise Refused(f"no session began on {which}: leave `days` out, or take records of such days").about("days")
    return kept


def span_of_hours(hours: ClockHours | None, chosen: NDArray[np.bool_]) -> float:
    """The length of the chosen hours, in seconds."""
    return 0.0 if hours is None else float(hours.observed_s[chosen].sum())


def _is_weekend(hours: ClockHours) -> NDArray[np.bool_]:
    weekend: NDArray[np.bool_] = (hours.day - 1) % _WEEK_DAYS >= _WORK_DAYS
    return weekend


def _kind(hours: ClockHours, kind: KindOfDays, chosen: NDArray[np.bool_]) -> DayKind:
    by_hour = hours_of_day(hours, chosen)
    return DayKind(
        kind=kind,
        observed_days=span_of_hours(hours, chosen) / _DAY_S,
        sessions=int(hours.begun[chosen].sum()),
        sessions_per_day=sum(hour.begun_per_hour for hour in by_hour),
        hours=by_hour,
    )


def _p_value(hours: ClockHours) -> float | None:
    """The share of shuffles, and of the days themselves, that differ as much; None with too few days to tell."""
    days, places = np.unique(hours.day, return_inverse=True)
    cells = places * 24 + hours.hour
    begun, observed_h = (
        np.bincount(cells, weights, minlength=24 * len(days)).reshape(-1, 24).astype(np.float64)
        for weights in (hours.begun, hours.observed_s / _HOUR_S)
    )
    week, is_weekend = (days - 1) // _WEEK_DAYS, (days - 1) % _WEEK_DAYS >= _WORK_DAYS
    if _arrangements(week, is_weekend) < _FEWEST_ARRANGEMENTS:
        return None
    random = np.random.default_rng(_SEED)
    seen = _difference(begun, observed_h, is_weekend)
    as_much = 0
    for _ in range(_SHUFFLES):
        order = np.lexsort((random.random(len(days)), week))
        # Equal sums differ by rounding.
        as_much += _difference(begun, observed_h, is_weekend[order]) >= seen * (1 - 1e-9)
    return (1 + as_much) / (1 + _SHUFFLES)


def _arrangements(week: NDArray[np.int64], is_weekend: NDArray[np.bool_]) -> int:
    """The number of ways to place the days of weekends among the days of their weeks."""
    _, places = np.unique(week, return_inverse=True)
    sizes, weekends = np.bincount(places), np.bincount(places, is_weekend).astype(int)
    return prod(comb(int(size), int(count)) for size, count in zip(sizes, weekends, strict=True))


def _difference(begun: _Counts, observed_h: _Counts, is_weekend: NDArray[np.bool_]) -> float:
    """The log-likelihood ratio of rates by hour that differ by the kind of day, against equal ones (G)."""
    total, total_h = begun.sum(axis=0), observed_h.sum(axis=0)
    difference = 0.0
    for chosen in (is_weekend, ~is_weekend):
        seen, length_h = begun[chosen].sum(axis=0), observed_h[chosen].sum(axis=0)
        some = seen > 0
        expected = total[some] * length_h[some] / total_h[some]
        difference += 2 * float((seen[some] * np.log(seen[some] / expected)).sum())
    return difference
