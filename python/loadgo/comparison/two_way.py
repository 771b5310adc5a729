"""The variance of a figure from users and stretches of time together, and the reach of its interval.

An interaction belongs to a user and to a stretch. With independent interactions, resamples of users, of stretches and
of interactions have the same variance. Users who differ from each other make that of users larger, and a shared queue
makes that of stretches larger. Both together: V = V(users) + V(stretches) - V(interactions). A. C. Cameron,
J. B. Gelbach and D. L. Miller, Journal of Business & Economic Statistics 29 (2011), page 238.

The wider of the intervals from users and from stretches is too wide where neither matters: of two uncertain variances
it takes the larger. Here V(interactions), which is known best, is the least variance. Each of the two adds what it has
more, at its own Student's t.

Throughput is judged by counts. N interactions have the variance of their counts in stretches of time, times the number
of stretches. Independent times from prompt to prompt would give the same (W. Feller, An Introduction to Probability
Theory 2, 1971, section XI.5). But users who wait for one processor make each other's times depend on each other: a long
think time shortens the queue of the others. Counts contain that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loadgo.stats.resample import Floats, Integers, welch_degrees
from loadgo.stats.student import student_reach

MOST_COUNT_STRETCHES = 12
"""Most stretches of a run whose interactions are counted. Shorter ones would cut too many interactions."""
MOST_DEGREES = 1000
"""Degrees of freedom beyond which Student's t no longer changes."""


@dataclass(frozen=True)
class Spread:
    """A variance of the logarithm of a figure, with its degrees of freedom."""

    variance: float
    degrees: int

    @property
    def reach(self) -> float:
        """Student's t for these degrees of freedom."""
        return student_reach(min(self.degrees, MOST_DEGREES))


def spread_of_both(a: Spread, b: Spread) -> Spread:
    """The spread of the difference of two independent logarithms."""
    variances, degrees = (a.variance, b.variance), (a.degrees, b.degrees)
    return Spread(sum(variances), welch_degrees(variances, degrees))


def spread_of_resamples(values: Floats, units: int) -> Spread | None:
    """The spread of a positive figure from its resamples of `units` units. None without enough of them."""
    known = values[1:][np.isfinite(values[1:])]
    if units < 2 or 2 * len(known) < len(values) or not (known > 0).all():
        return None
    return Spread(float(np.log(known).var()) * units / (units - 1), units - 1)


def spread_of_rows(means: Floats, variances: Floats, degrees: Floats, weights: Floats) -> Spread | None:
    """The spread of a weighted sum of row means whose interactions are independent.

    `variances` are those of the means, with their `degrees` of freedom. None if a row has a single interaction.
    """
    total = float(means @ weights)
    parts = variances * weights**2
    if not (degrees > 0).all() or not total > 0 or not np.isfinite(parts).all():
        return None
    squares = float((parts**2 / degrees).sum())
    return Spread(float(parts.sum()) / total**2, int(parts.sum() ** 2 / squares) if squares > 0 else MOST_DEGREES)


def spread_of_counts(
    sent: Floats, ends: Floats, runs: Integers, users: Integers | None, stretches: int
) -> Spread | None:
    """The spread of the number of interactions that were `sent` and ended at these times, from 0 to 1 of their `runs`.

    Ends are counted, not beginnings: the think times between blur the steady pace of a processor that is always busy.
    Counted are ends from twice the mean response on, when lines of before the beginning have ended, to the last
    sending. Where `users` is given, it is to the end of the first user who has nothing more to type. The variance of
    these counts stands for that of all. None with fewer than two stretches, or if they are less than half of all.
    """
    known = np.isfinite(ends)
    times, (names, run_indices) = ends[known], np.unique(runs[known], return_inverse=True)
    if not len(times):
        return None
    first, last = 2 * float((times - sent[known]).mean()), np.ones(len(names))
    if users is not None:
        owners, owner_indices = np.unique(np.stack([run_indices, users[known]]), axis=1, return_inverse=True)
        owner_ends, last = np.zeros(owners.shape[1]), np.full(len(names), np.inf)
        np.maximum.at(owner_ends, owner_indices.ravel(), times)
        np.minimum.at(last, owners[0], owner_ends)
        last, first = np.minimum(last, 1.0), 0.0
    parts = (times - first) / np.maximum(last - first, 1e-9)[run_indices]
    counted = (parts >= 0) & (parts <= 1)
    cells = run_indices * stretches + np.clip((parts * stretches).astype(np.int64), 0, stretches - 1)
    counts = np.bincount(cells[counted], minlength=len(names) * stretches).astype(np.float64)
    total, number = float(counts.sum()), len(counts)
    if number < 2 or 2 * total < len(times):
        return None
    return Spread(number * float(counts.var(ddof=1)) / total / len(times), number - 1)


def reach_of_counts(counts: Spread, interactions: Spread, users: Spread) -> float:
    """How far the 95 % interval of the logarithm of a throughput reaches to either side."""
    excess = users.reach**2 * max(users.variance - interactions.variance, 0.0)
    return math.sqrt(counts.reach**2 * counts.variance + excess)


def reach_of(interactions: Spread, users: Spread, stretches: Spread) -> float:
    """How far the 95 % interval of a logarithm reaches to either side."""
    squares = [spread.reach**2 * max(spread.variance - interactions.variance, 0.0) for spread in (users, stretches)]
    return math.sqrt(interactions.reach**2 * interactions.variance + sum(squares))
