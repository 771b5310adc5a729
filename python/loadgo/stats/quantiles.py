"""Response times: quantiles of raw values, each with its interval, or the reason why there is none.

A line that was never answered (timed out, or its session died) took longer than any that was: it ranks last, as
*never*. A quantile p is given from 1/(1 - p) samples on, p50 from 2, p90 from 10, p99 from 100: below that it would be
the maximum by another name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from loadgo.stats.cluster_bootstrap import Integers, quantile_replicates
from loadgo.stats.resample import FEWEST, Floats, Interval, drawn, quantile_interval, wider

PROBABILITIES = (0.5, 0.9, 0.95, 0.99)

State = Literal["measured", "too few samples", "never"]


@dataclass(frozen=True)
class Quantile:
    """One quantile of response time."""

    probability: float
    state: State
    value_ns: float | None
    """None unless measured."""
    low_ns: float | None
    """The 95 % interval's lower end; None without an interval."""
    high_ns: float | None
    """Its upper end, infinite when lines that were never answered reach into it."""

    @property
    def name(self) -> str:
        """`p90` for 0.9."""
        return f"p{self.probability * 100:g}"


@dataclass(frozen=True)
class Response:
    """The response times of one command, or of all."""

    count: int
    answered: int
    users: int
    mean_ns: float | None
    """Of the answered lines; None when there is none."""
    max_ns: float | None
    """Of the answered lines."""
    quantiles: tuple[Quantile, ...]
    """p50, p90, p95, p99, of all lines."""

    def quantile(self, name: str) -> Quantile:
        """The quantile called `name` (`p90`); `KeyError` for one that is not kept."""
        for quantile in self.quantiles:
            if quantile.name == name:
                return quantile
        raise KeyError(name)


def samples_needed(probability: float) -> int:
    """The fewest samples from which a quantile is given."""
    return math.ceil(round(1 / (1 - probability), 9))


REPLICATES = 400
"""Draws of a report's quantiles: each row of the report has eight intervals, of up to a million values."""


@dataclass(frozen=True)
class Sample:
    """Response times, and the units that are drawn again; all aligned."""

    values_ns: Floats
    """Infinite: never answered."""
    users: Integers
    """Whose, numbered from 0."""
    stretches: Integers
    """In which stretch of the run, numbered from 0."""
    user_draws: Floats
    """As from `drawn`: shape (draws, users)."""
    stretch_draws: Floats
    judged: bool = True
    """Whether the run is long enough for intervals."""

    @staticmethod
    def drawn(values_ns: Floats, users: Integers, stretches: Integers, *, judged: bool = True) -> Sample:
        """The sample with its users and its stretches of time drawn again."""
        counts = [int(units.max()) + 1 if len(units) else 0 for units in (users, stretches)]
        draws = [drawn(count, replicates=REPLICATES) for count in counts]
        return Sample(values_ns, users, stretches, draws[0], draws[1], judged)

    def of(self, rows: Integers) -> Sample:
        """The sample of these rows alone."""
        return replace(self, values_ns=self.values_ns[rows], users=self.users[rows], stretches=self.stretches[rows])


def responses(sample: Sample) -> Response:
    """The response times of `sample`.

    A user's lines are alike, and so are those of all users while a queue is long: the interval is the wider of two, by
    drawing whole users again, and by drawing whole stretches of the run again. A comparison does the same.
    """
    order = np.argsort(sample.values_ns, kind="stable")
    sorted_sample = sample.of(order)
    values = sorted_sample.values_ns
    answered = values[np.isfinite(values)]
    intervals = _intervals(sorted_sample)
    return Response(
        count=len(values),
        answered=len(answered),
        users=_count(sorted_sample.users),
        mean_ns=float(answered.mean()) if len(answered) else None,
        max_ns=float(answered[-1]) if len(answered) else None,
        quantiles=tuple(map(_quantile, [values] * len(PROBABILITIES), PROBABILITIES, intervals)),
    )


def _intervals(sample: Sample) -> list[Interval | None]:
    """The interval of each quantile of a sample in ascending order; None where too little can be drawn."""
    ways = []
    for owners, weights in ((sample.users, sample.user_draws), (sample.stretches, sample.stretch_draws)):
        units = _count(owners)
        if sample.judged and units >= FEWEST and len(weights) > 1:
            replicates = quantile_replicates(sample.values_ns, owners, weights, PROBABILITIES)
            ways.append([quantile_interval(each, units) for each in replicates])
    return [wider(found) for found in zip(*ways, strict=True)] if ways else [None] * len(PROBABILITIES)


def _count(owners: Integers) -> int:
    """The number of different owners."""
    return int(np.count_nonzero(np.bincount(owners)))


def _quantile(values: Floats, probability: float, interval: Interval | None) -> Quantile:
    if len(values) < samples_needed(probability):
        return Quantile(probability, "too few samples", None, None, None)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    value = sorted_quantile(values, probability)
    if math.isinf(value):
        return Quantile(probability, "never", None, low, high)
    return Quantile(probability, "measured", value, low, high)


def sorted_quantile(values: Floats, probability: float) -> float:
    """The quantile of ascending `values`, linear between order statistics; infinite as soon as an infinite value
    takes part.
    """
    rank = probability * (len(values) - 1)
    low = math.floor(rank)
    below, above = float(values[low]), float(values[min(low + 1, len(values) - 1)])
    if rank == low or below == above:
        return below
    return above if math.isinf(above) else below + (rank - low) * (above - below)
