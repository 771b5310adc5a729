"""Response times: quantiles of raw values, each with its interval, or the reason why there is none.

A line that was never answered (timed out, or its session died) took longer than any that was: it ranks last, as
*never*. A quantile p is given from 1/(1 - p) samples on, p50 from 2, p90 from 10, p99 from 100: below that it would be
the maximum by another name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from loadgo.bootstrap import FEWEST_USERS, Draws, Floats, Integers, quantile_intervals

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


def responses(values_ns: Floats, users: Integers, draws: Draws | None) -> Response:
    """Response times `values_ns` (infinite: never answered) of `users` (numbered from 0, aligned); intervals where
    `draws` is given.
    """
    order = np.argsort(values_ns, kind="stable")
    values, owners = values_ns[order], users[order]
    answered = values[np.isfinite(values)]
    owner_count = len(np.unique(owners))
    intervals: list[tuple[float, float]] = []
    if draws is not None and owner_count >= FEWEST_USERS:
        intervals = quantile_intervals(values, owners, draws, PROBABILITIES)
    return Response(
        count=len(values),
        answered=len(answered),
        users=owner_count,
        mean_ns=float(answered.mean()) if len(answered) else None,
        max_ns=float(answered[-1]) if len(answered) else None,
        quantiles=tuple(_quantile(values, p, intervals[i] if intervals else None) for i, p in enumerate(PROBABILITIES)),
    )


def _quantile(values: Floats, probability: float, interval: tuple[float, float] | None) -> Quantile:
    if len(values) < samples_needed(probability):
        return Quantile(probability, "too few samples", None, None, None)
    low, high = interval or (None, None)
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
