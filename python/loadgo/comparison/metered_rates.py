"""Two meterings compared by second and by share: processors' time, system calls, faults, interrupts, the run queue.

With three or more meterings a side, each is one observation, and the interval is Student's of their scatter. With fewer
it comes from stretches within the meterings: of the mean of a rate over stretches, with the doubts of estimates added.
Nothing is better or worse: nobody set the load, so a rate is only higher or lower.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from loadgo.comparison.difference import Difference
from loadgo.comparison.side import Side
from loadgo.measures.metered_rates import (
    BUSY_NAME,
    EVENT_KINDS,
    QUEUE_MEAN,
    MeteredRate,
    MeteredRates,
    RateKind,
    metered_rates_of,
)
from loadgo.measures.sampled_time import SAMPLED_CATEGORIES
from loadgo.stats.resample import Floats, Interval
from loadgo.stats.student import student_reach

FEWEST_METERINGS = 3
"""Fewest meterings a side whose scatter gives the interval, which then holds how much a host differs by itself."""
ALL_NAME = "all"
"""The name of the row of all events of a kind."""


@dataclass(frozen=True)
class RateRow:
    """One rate on both sides."""

    kind: RateKind
    name: str
    difference: Difference
    """The figures are shares of all time from 0 to 1, events a second, or a mean length."""
    estimated: tuple[bool, bool]
    """Whether windows or a clock estimate the figure, of A and of B."""
    errors: tuple[float | None, float | None]
    """Half of the 95 % interval of each figure that is an estimate. None if it is none, or not known."""
    each_ns: tuple[float | None, float | None]
    """Mean processor time of one event."""


@dataclass(frozen=True)
class ComparedRates:
    """The rates of two sides of meterings."""

    sides: tuple[tuple[MeteredRates, ...], tuple[MeteredRates, ...]]
    """The rates of each metering, of A and of B."""
    rows: tuple[RateRow, ...]
    one_sided: Mapping[RateKind, str]
    """Kinds that only one side metered, with the name of that side."""

    def rows_of(self, kind: RateKind) -> tuple[RateRow, ...]:
        """The rows of a kind."""
        return tuple(row for row in self.rows if row.kind == kind)

    def whole(self, kind: RateKind) -> RateRow | None:
        """The row of all that a kind has: busy time, or all events."""
        name = BUSY_NAME if kind == "time" else ALL_NAME
        return next((row for row in self.rows_of(kind) if row.name == name), None)

    @cached_property
    def tiers(self) -> tuple[str, str]:
        """The meters of each side, such as `exact`; several with commas."""
        a, b = (", ".join(dict.fromkeys(rates.tier for rates in side if rates.tier)) for side in self.sides)
        return a, b

    @property
    def windows(self) -> tuple[bool, bool]:
        """Whether random windows estimate the events of a side."""
        a, b = (any(rates.windows is not None for rates in side) for side in self.sides)
        return a, b

    @property
    def divides_alike(self) -> bool:
        """Whether the busy time of both sides is divided in the same way: exactly, or by a clock."""
        return len({bool(rates.clock_hz) for side in self.sides for rates in side}) == 1

    @property
    def has_drift(self) -> bool:
        """Whether the intervals hold how much a host differs from one metering to the next."""
        return all(len(side) >= FEWEST_METERINGS for side in self.sides)

    @property
    def has_intervals(self) -> bool:
        """Whether a row has an interval."""
        return any(row.difference.interval is not None for row in self.rows)


def is_metering(side: Side) -> bool:
    """Whether all runs of a side were metered without a load of users."""
    return bool(side.tables) and all(run.conditions.get("kind") == "meter" for run in side.tables)


def compared_rates(a: Side, b: Side, margin: float) -> ComparedRates | None:
    """The rates of two sides of which one is a metering. None for others, for several hosts, and without meters."""
    sides = (a, b)
    if not any(map(is_metering, sides)) or any(side.kind != "host" or not side.tables for side in sides):
        return None
    found = [
        [metered_rates_of(run, stretch) for run, stretch in zip(side.tables, side.stretches, strict=True)]
        for side in sides
    ]
    known = tuple(tuple(rates for rates in side if rates is not None) for side in found)
    if any(len(rates) < len(side.tables) for rates, side in zip(known, sides, strict=True)):
        return None
    compared = ComparedRates((known[0], known[1]), (), {})
    rows: list[RateRow] = []
    one_sided: dict[RateKind, str] = {}
    for kind in ("time", *EVENT_KINDS, "queue"):
        metered = [all(kind in rates.by_kind for rates in side) for side in known]
        if all(metered):
            rows += _rows(kind, compared, margin)
        elif any(metered):
            one_sided[kind] = sides[metered.index(True)].name
    return ComparedRates(compared.sides, tuple(rows), one_sided)


def _rows(kind: RateKind, compared: ComparedRates, margin: float) -> list[RateRow]:
    """The rows of a kind that both sides metered, in the order of A, then the total."""
    by_name = [[{rate.name: rate for rate in rates.by_kind[kind]} for rates in side] for side in compared.sides]
    names = list(dict.fromkeys(name for side in by_name for rates in side for name in rates))
    rows = [_row(kind, name, by_name, compared, margin) for name in names]
    if kind == "primitives":
        rows.sort(key=lambda row: -_largest_time(row))
    if kind in EVENT_KINDS:
        totals = [[{ALL_NAME: _sum(rates)} for rates in side] for side in by_name]
        rows.append(_row(kind, ALL_NAME, totals, compared, margin))
    return rows


def _largest_time(row: RateRow) -> float:
    """The larger of the two sides' processor time of all events, a second."""
    figures = (row.difference.before or 0.0, row.difference.after or 0.0)
    return max((each or 0.0) * figure for each, figure in zip(row.each_ns, figures, strict=True))


def _sum(rates: Mapping[str, MeteredRate]) -> MeteredRate:
    """All events of a metering. The errors of estimates are added, since one window may be wrong in all of them."""
    parts = list(rates.values())
    errors = [part.error for part in parts if part.is_estimate]
    known = [error for error in errors if error is not None]
    lengths = {len(part.by_stretch) for part in parts}
    return MeteredRate(
        ALL_NAME,
        sum(part.value for part in parts),
        is_estimate=bool(errors),
        error=sum(known) if errors and len(known) == len(errors) else None,
        by_stretch=tuple(map(sum, zip(*(part.by_stretch for part in parts), strict=True))) if len(lengths) == 1 else (),
    )


def _row(
    kind: RateKind,
    name: str,
    by_name: Sequence[Sequence[Mapping[str, MeteredRate]]],
    compared: ComparedRates,
    margin: float,
) -> RateRow:
    sides = [
        [own.get(name) or _unseen(kind, rates, compared) for own, rates in zip(of_runs, runs, strict=True)]
        for of_runs, runs in zip(by_name, compared.sides, strict=True)
    ]
    weights = [np.array([float(rates.span_ns) for rates in runs]) for runs in compared.sides]
    weights = [each / each.sum() for each in weights]
    a, b = ([rate for rate in side if rate is not None] for side in sides)
    is_known = len(a) == len(sides[0]), len(b) == len(sides[1])
    measure = "share" if kind == "time" else "mean length" if name == QUEUE_MEAN else "a second"
    difference = (
        _difference(measure, (a, b), weights, margin) if all(is_known) else _one_sided(measure, (a, b), is_known)
    )
    if kind == "time" and name in SAMPLED_CATEGORIES and not compared.divides_alike:
        difference = replace(difference, estimate_doubt=math.inf, interval=None)
    return RateRow(
        kind=kind,
        name=name,
        difference=difference,
        estimated=(any(rate.is_estimate for rate in a), any(rate.is_estimate for rate in b)),
        errors=(_error(a, weights[0]), _error(b, weights[1])) if all(is_known) else (None, None),
        each_ns=(_each_ns(a), _each_ns(b)),
    )


def _unseen(kind: RateKind, rates: MeteredRates, compared: ComparedRates) -> MeteredRate | None:
    """The rate of a name that a metering does not have: none, or not known.

    Meters that divide time otherwise have other categories. Windows may have missed what is rare.
    """
    if kind == "time" and not compared.divides_alike:
        return None
    lengths = {len(rate.by_stretch) for rate in rates.by_kind[kind]}
    is_estimate = kind in EVENT_KINDS and rates.windows is not None
    zeros = (0.0,) * (lengths.pop() if len(lengths) == 1 and not is_estimate else 0)
    return MeteredRate("", 0.0, is_estimate=is_estimate, by_stretch=zeros)


def _one_sided(measure: str, sides: tuple[Sequence[MeteredRate], ...], is_known: tuple[bool, bool]) -> Difference:
    """A figure that one side does not have."""
    figures = [
        float(np.mean([rate.value for rate in side])) if known and side else None
        for side, known in zip(sides, is_known, strict=True)
    ]
    return Difference(measure, figures[0], figures[1], None, has_merit=False)


def _difference(
    measure: str, sides: tuple[Sequence[MeteredRate], ...], weights: Sequence[Floats], margin: float
) -> Difference:
    before, after = (float(weight @ [rate.value for rate in side]) for side, weight in zip(sides, weights, strict=True))
    doubt = math.hypot(*(_doubt(side, weight) for side, weight in zip(sides, weights, strict=True)))
    doubt = 0.0 if _is_by_meterings(sides) else doubt  # the scatter of estimates has their doubt
    half = _half_width(sides, weights, doubt, is_by_clock=measure == "share")
    change = after - before
    interval = None if half is None else Interval(max(change - half, -before), change + half)
    return Difference(
        measure=measure,
        before=before,
        after=after,
        interval=interval,
        margin=margin,
        has_merit=False,
        estimate_doubt=doubt,
    )


def _half_width(
    sides: tuple[Sequence[MeteredRate], ...], weights: Sequence[Floats], doubt: float, *, is_by_clock: bool
) -> float | None:
    """Half of the 95 % interval of the change: from the meterings, or from their stretches and the doubts of estimates.

    None where a counted figure has no stretches, and where an estimate has no interval.
    """
    if _is_by_meterings(sides):
        variance = sum(float(np.var([rate.value for rate in side], ddof=1)) / len(side) for side in sides)
        return student_reach(min(map(len, sides)) - 1) * math.sqrt(variance)
    if not math.isfinite(doubt):
        return None
    variance, degrees = 0.0, []
    for side, weight in zip(sides, weights, strict=True):
        for rate, part in zip(side, weight, strict=True):
            if rate.by_stretch:
                variance += part**2 * float(np.var(rate.by_stretch, ddof=1)) / len(rate.by_stretch)
                degrees.append(len(rate.by_stretch) - 1)
            elif not rate.is_estimate or rate.error is None or is_by_clock:
                return None  # a clock's doubt is not that of how a share varies, as that of windows is
    by_scatter = student_reach(min(degrees)) * math.sqrt(variance) if degrees else 0.0
    without_stretches = [
        [rate if not rate.by_stretch else replace(rate, is_estimate=False) for rate in side] for side in sides
    ]
    further = math.hypot(*(_doubt(side, weight) for side, weight in zip(without_stretches, weights, strict=True)))
    return max(math.hypot(by_scatter, further), doubt)


def _is_by_meterings(sides: tuple[Sequence[MeteredRate], ...]) -> bool:
    return min(map(len, sides)) >= FEWEST_METERINGS


def _doubt(side: Sequence[MeteredRate], weight: Floats) -> float:
    """Half of the 95 % interval that a side's estimates give its figure. Infinite where one is not known."""
    errors = [rate.error if rate.is_estimate else 0.0 for rate in side]
    if any(error is None for error in errors):
        return math.inf
    return math.hypot(*(part * (error or 0.0) for part, error in zip(weight, errors, strict=True)))


def _error(side: Sequence[MeteredRate], weight: Floats) -> float | None:
    doubt = _doubt(side, weight)
    return doubt if math.isfinite(doubt) and any(rate.is_estimate for rate in side) else None


def _each_ns(side: Sequence[MeteredRate]) -> float | None:
    """The mean processor time of an event of all meterings."""
    timed = [(rate.value, rate.each_ns) for rate in side if rate.each_ns is not None]
    count = sum(value for value, _ in timed)
    return sum(value * each for value, each in timed) / count if count else None
