"""Quantiles of response times from raw values, each with its interval, or with the reason why there is no quantile.

A line that was never answered (it timed out, or its session died) counts as longer than all others. It ranks last, as
*never*. A quantile p needs 1/(1 - p) samples: p50 needs 2, p90 needs 10, p99 needs 100. With fewer it would be the
maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from loadgo.errors import UnknownName
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.resample import FEWEST_UNITS, Floats, Integers, Interval, drawn, quantile_interval, wider

REPORTED_QUANTILES = (0.5, 0.9, 0.95, 0.99)

QuantileState = Literal["measured", "too few samples", "never"]


@dataclass(frozen=True)
class Quantile:
    """One quantile of response time."""

    probability: float
    state: QuantileState
    value_ns: float | None
    """The quantile. None unless it was measured."""
    low_ns: float | None
    """The lower end of the 95 % interval. None without an interval."""
    high_ns: float | None
    """The upper end of the 95 % interval. Infinite if it depends on lines that were never answered."""

    @property
    def name(self) -> str:
        """The quantile's name, as `p90` for 0.9."""
        return f"p{self.probability * 100:g}"


@dataclass(frozen=True)
class Response:
    """Figures of the response times of one command, or of all commands."""

    count: int
    answered: int
    users: int
    mean_ns: float | None
    """The mean of the answered lines. None if no line was answered."""
    max_ns: float | None
    """The longest response time of the answered lines. None if no line was answered."""
    quantiles: tuple[Quantile, ...]
    """p50, p90, p95 and p99 of all lines."""

    def quantile(self, name: str) -> Quantile:
        """The quantile called `name`, as `p90`. Raises `UnknownName` for any other than the four."""
        for quantile in self.quantiles:
            if quantile.name == name:
                return quantile
        raise UnknownName(f"there is no quantile {name!r}: the quantiles are p50, p90, p95 and p99")


def samples_needed(probability: float) -> int:
    """Number of samples that a quantile needs."""
    return math.ceil(round(1 / (1 - probability), 9))


QUANTILE_REPLICATES = 400
"""Number of resamples for a report's quantiles. A row of a report has eight intervals, of up to a million values."""


@dataclass(frozen=True)
class Sample:
    """Response times, with the user and the stretch of each, and the resamples of users and stretches."""

    values_ns: Floats
    """Response times. Infinite for a line that was never answered."""
    users: Integers
    """The user of each value, numbered from 0."""
    stretches: Integers
    """The stretch of the run that each value belongs to, numbered from 0."""
    user_draws: Floats
    """Weights from `drawn`, of shape (draws, groups of users)."""
    stretch_draws: Floats
    """Weights from `drawn`, of shape (draws, groups of stretches)."""
    judged: bool = True
    """Whether the run is long enough for intervals."""

    @staticmethod
    def resampled(values_ns: Floats, users: Integers, stretches: Integers, *, judged: bool = True) -> Sample:
        """The sample with resamples of its users and of its stretches of time, which are drawn for intervals alone."""
        counts = [int(units.max()) + 1 if len(units) else 0 for units in (users, stretches)]
        draws = [drawn(count if judged else 0, replicates=QUANTILE_REPLICATES) for count in counts]
        return Sample(values_ns, users, stretches, draws[0], draws[1], judged)

    def of(self, rows: Integers) -> Sample:
        """The sample of these rows alone."""
        return replace(self, values_ns=self.values_ns[rows], users=self.users[rows], stretches=self.stretches[rows])


def responses(sample: Sample) -> Response:
    """Computes the figures of the response times of `sample`.

    Lines of one user are not independent, nor are lines of all users while a queue is long. The interval is therefore
    the wider of two: one from resampling users, one from resampling stretches of the run. A comparison does the same.
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
        quantiles=tuple(
            _quantile(values, probability, interval)
            for probability, interval in zip(REPORTED_QUANTILES, intervals, strict=True)
        ),
    )


def _intervals(sample: Sample) -> list[Interval | None]:
    """The interval of each quantile of a sample in ascending order. None with too few users and stretches."""
    intervals_by_unit = []
    for owners, weights in ((sample.users, sample.user_draws), (sample.stretches, sample.stretch_draws)):
        units = _count(owners)
        if sample.judged and units >= FEWEST_UNITS and len(weights) > 1:
            replicates = quantile_replicates(sample.values_ns, owners, weights, REPORTED_QUANTILES)
            intervals_by_unit.append([quantile_interval(values, units) for values in replicates])
    if not intervals_by_unit:
        return [None] * len(REPORTED_QUANTILES)
    return [wider(intervals) for intervals in zip(*intervals_by_unit, strict=True)]


def _count(owners: Integers) -> int:
    """Number of different owners."""
    return int(np.count_nonzero(np.bincount(owners)))


def _quantile(values: Floats, probability: float, interval: Interval | None) -> Quantile:
    if len(values) < samples_needed(probability):
        return Quantile(probability, "too few samples", None, None, None)
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    value = sorted_quantile(values, probability)
    if math.isinf(value):
        return Quantile(probability, "never", None, low, high)
    return Quantile(probability, "measured", value, low, high)


def response_quantile(values: Floats, probability: float) -> Quantile:
    """The quantile of ascending response times, without an interval."""
    return _quantile(values, probability, None)


def sorted_quantile(values: Floats, probability: float) -> float:
    """The quantile of ascending `values`, by linear interpolation. Infinite if one of the two values is infinite."""
    rank = probability * (len(values) - 1)
    low = math.floor(rank)
    below, above = float(values[low]), float(values[min(low + 1, len(values) - 1)])
    if rank == low or below == above:
        return below
    return above if math.isinf(above) else below + (rank - low) * (above - below)
