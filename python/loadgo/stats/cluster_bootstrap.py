"""Intervals for quantiles by the bootstrap over users, or stretches of time: what is alike is drawn again as a whole.

A replicate is a weight for every user (how often it was drawn). Values are sorted once; a replicate's quantile is an
order statistic of the weighted values. Sums of weights before every 512th value (of many, a thousand of them) come from
one matrix product, and only the block that holds the rank is looked at, so that a million interactions take a fraction
of a second, without an approximation. Method: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, percentile
intervals (chapter 13), drawn by cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REPLICATES = 400
CONFIDENCE = 0.95
FEWEST_USERS = 5
"""From fewer users no interval is given: drawing three users again says little about a fourth."""
STRETCHES = 30
"""Stretches of a run that are drawn again whole: as many as there are batches where a run ends by its precision."""

_SEED = 19680513
_MOST_GROUPS = 4096
_BLOCK = 512
_MOST_BLOCKS = 1024
_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Draws:
    """How often each user, or group of users, was drawn in each replicate: shape (replicates, groups)."""

    weights: Floats

    @property
    def groups(self) -> int:
        """Users, or groups of users when there are more than 4096."""
        return int(self.weights.shape[1])


def draw_users(users: int, replicates: int = REPLICATES, seed: int = _SEED) -> Draws:
    """Draws `users` (> 0) with replacement, `replicates` times; the same seed draws the same."""
    groups = min(users, _MOST_GROUPS)
    random = np.random.default_rng(seed)
    weights = np.empty((replicates, groups))
    for row in weights:
        row[:] = np.bincount(random.integers(0, groups, groups), minlength=groups)
    return Draws(weights)


def quantile_intervals(
    values: Floats, users: Integers, draws: Draws, probabilities: tuple[float, ...]
) -> list[tuple[float, float]]:
    """The 95 % interval of each quantile of ascending `values`, which belong to `users` (numbered from 0, aligned).

    Infinite values are allowed and rank last. Quantiles interpolate linearly between order statistics, as
    `numpy.quantile` does.
    """
    sample = _Sample.of(values, users % draws.groups, draws)
    tail = (1 - CONFIDENCE) / 2
    found = []
    for probability in probabilities:
        replicates = sample.quantiles(probability)
        low, high = np.quantile(replicates, [tail, 1 - tail], method="inverted_cdf")
        found.append((float(low), float(high)))
    return found


def quantile_replicates(values: Floats, users: Integers, draws: Draws, probabilities: Sequence[float]) -> list[Floats]:
    """Each quantile of ascending `values` in each replicate in which anybody was drawn, in their order."""
    sample = _Sample.of(values, users % draws.groups, draws)
    return [sample.quantiles(probability) for probability in probabilities]


@dataclass(frozen=True)
class _Sample:
    """Sorted values with the weight that lies before each block of them, in every replicate."""

    values: Floats
    users: Integers
    weights: Floats
    before: Floats
    totals: Floats
    block: int

    @staticmethod
    def of(values: Floats, users: Integers, draws: Draws) -> _Sample:
        block = max(_BLOCK, -(-len(values) // _MOST_BLOCKS))
        blocks = -(-len(values) // block)
        cells = (np.arange(len(values)) // block) * draws.groups + users
        counts = np.bincount(cells, minlength=blocks * draws.groups).reshape(blocks, draws.groups).astype(np.float64)
        through = (draws.weights @ counts.T).cumsum(axis=1)
        drawn = through[:, -1] > 0
        before = np.hstack([np.zeros((len(through), 1)), through[:, :-1]])
        return _Sample(values, users, draws.weights[drawn], before[drawn], through[drawn, -1], block)

    def quantiles(self, probability: float) -> Floats:
        """The quantile in each replicate in which anybody with a value was drawn."""
        rank = probability * (self.totals - 1)
        low = np.floor(rank)
        below, above = self._order_statistics(low)
        with np.errstate(invalid="ignore"):
            between = below + (rank - low) * (above - below)
        return np.where(rank == low, below, np.where(np.isinf(above), above, between))

    def _order_statistics(self, ranks: Floats) -> tuple[Floats, Floats]:
        """The values of these ranks, and of the next ones, in each replicate."""
        own, following = np.empty(len(ranks)), np.empty(len(ranks))
        every = np.arange(len(ranks))
        rows = max(1, _CELLS_AT_ONCE // self.block)
        for start in range(0, len(ranks), rows):
            part = slice(start, start + rows)
            own[part], following[part] = self._ranked_values(ranks[part], every[part])
        beyond = every[np.isnan(following)]
        if len(beyond):
            following[beyond], _ = self._ranked_values(self._next(ranks[beyond], beyond), beyond)
        return own, following

    def _next(self, ranks: Floats, replicates: Integers) -> Floats:
        following: Floats = np.minimum(ranks + 1, self.totals[replicates] - 1)
        return following

    def _ranked_values(self, ranks: Floats, replicates: Integers) -> tuple[Floats, Floats]:
        """The same, of some replicates: only the block that holds the rank is looked at; a next rank that is beyond it
        has no number.
        """
        before = self.before[replicates]
        which = (before <= ranks[:, None]).sum(axis=1) - 1
        length = min(self.block, len(self.values))
        index = which[:, None] * self.block + np.arange(length)
        here = self.weights[replicates[:, None], self.users[np.minimum(index, len(self.values) - 1)]]
        through = before[np.arange(len(ranks)), which][:, None] + here.cumsum(axis=1)
        position = which * self.block + (through <= ranks[:, None]).sum(axis=1)
        assert (position < len(self.values)).all(), "a rank lies past the last value"
        ahead = (through <= self._next(ranks, replicates)[:, None]).sum(axis=1)
        following = self.values[np.minimum(which * self.block + ahead, len(self.values) - 1)]
        return self.values[position], np.where(ahead < length, following, np.nan)
