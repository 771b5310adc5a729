"""Quantiles of values in every draw of their units: users, or stretches of time, whose values are drawn as wholes.

A draw is a weight for every unit (how often it was drawn). Values are sorted once; a draw's quantile is an order
statistic of the weighted values. Sums of weights before every 512th value (of many, a thousand of them) come from one
matrix product, and only the block that holds the rank is looked at, so that a million interactions take a fraction of a
second, without an approximation. Method: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13,
drawn by cluster; `resample.py` makes intervals of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 512
_MOST_BLOCKS = 1024
_CELLS_AT_ONCE = 2_000_000


def quantile_replicates(
    values: Floats, owners: Integers, weights: Floats, probabilities: Sequence[float]
) -> list[Floats]:
    """Each quantile of ascending `values` in each draw in which any was drawn, in the order of the draws.

    `owners` are the units of the values, numbered from 0; `weights`, of shape (draws, groups of units), come from
    `drawn`. Infinite values rank last. Quantiles interpolate linearly, as those of `numpy.quantile`.
    """
    sample = _Sample.of(values, owners % weights.shape[1], weights)
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
    def of(values: Floats, users: Integers, weights: Floats) -> _Sample:
        groups = weights.shape[1]
        block = max(_BLOCK, -(-len(values) // _MOST_BLOCKS))
        blocks = -(-len(values) // block)
        cells = (np.arange(len(values)) // block) * groups + users
        counts = np.bincount(cells, minlength=blocks * groups).reshape(blocks, groups).astype(np.float64)
        through = (weights @ counts.T).cumsum(axis=1)
        drawn = through[:, -1] > 0
        before = np.hstack([np.zeros((len(through), 1)), through[:, :-1]])
        return _Sample(values, users, weights[drawn], before[drawn], through[drawn, -1], block)

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
