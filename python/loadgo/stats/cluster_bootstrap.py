"""Quantiles of values in every resample of their units, which are users or stretches of time.

A resample gives each unit a weight: the number of times that it was drawn. Values are sorted once; a resample's
quantile is an order statistic of the weighted values. One matrix product sums the weights before each block of values.
Then only the block that holds the rank is searched. There are somewhat more blocks than values in a block, since a
block costs less to sum than a value to search.
A million interactions therefore take a fraction of a second, without an approximation.

Method: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13, with clusters as units.
`resample.py` computes the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.stats.resample import Floats, Integers

_FEWEST_BLOCK_VALUES = 8
_MOST_BLOCKS = 1024
_MOST_STEP_CELLS = 2_000_000
"""Most cells of an array that one step searches: 16 MB of numbers. Chosen by hand."""


def quantile_replicates(
    values: Floats, owners: Integers, weights: Floats, probabilities: Sequence[float]
) -> list[Floats]:
    """Each quantile of ascending `values` in each resample that contains a value, in the order of the resamples.

    `owners` are the units of the values, numbered from 0. `weights` come from `drawn` and have the shape (resamples,
    groups of units). Infinite values rank last. Quantiles interpolate linearly, as those of `numpy.quantile`.
    """
    sample = _WeightedSample.of(values, owners % weights.shape[1], weights)
    return [sample.quantiles(probability) for probability in probabilities]


@dataclass(frozen=True)
class _WeightedSample:
    """Sorted values with their units, and the weights of the units in each resample, or replicate."""

    values: Floats
    owners: Integers
    weights: Floats
    before: Floats
    totals: Floats
    block: int

    @staticmethod
    def of(values: Floats, owners: Integers, weights: Floats) -> _WeightedSample:
        groups = weights.shape[1]
        block = max(_FEWEST_BLOCK_VALUES, math.isqrt(len(values) // 2), -(-len(values) // _MOST_BLOCKS))
        blocks = -(-len(values) // block)
        cells = (np.arange(len(values)) // block) * groups + owners
        counts = np.bincount(cells, minlength=blocks * groups).reshape(blocks, groups).astype(np.float64)
        through = (weights @ counts.T).cumsum(axis=1)
        has_values = through[:, -1] > 0
        before = np.hstack([np.zeros((len(through), 1)), through[:, :-1]])
        return _WeightedSample(values, owners, weights[has_values], before[has_values], through[has_values, -1], block)

    def quantiles(self, probability: float) -> Floats:
        """The quantile in each replicate that contains a value."""
        rank = probability * (self.totals - 1)
        low = np.floor(rank)
        below, above = self._order_statistics(low)
        with np.errstate(invalid="ignore"):
            interpolated = below + (rank - low) * (above - below)
        return np.where(rank == low, below, np.where(np.isinf(above), above, interpolated))

    def _order_statistics(self, ranks: Floats) -> tuple[Floats, Floats]:
        """The values at these ranks and at the next ranks, in each replicate."""
        at_rank, following = np.empty(len(ranks)), np.empty(len(ranks))
        replicates = np.arange(len(ranks))
        rows = max(1, _MOST_STEP_CELLS // self.block)
        for start in range(0, len(ranks), rows):
            step = slice(start, start + rows)
            at_rank[step], following[step] = self._ranked_values(ranks[step], replicates[step])
        missing = replicates[np.isnan(following)]
        if len(missing):
            following[missing], _ = self._ranked_values(self._next_ranks(ranks[missing], missing), missing)
        return at_rank, following

    def _next_ranks(self, ranks: Floats, replicates: Integers) -> Floats:
        following: Floats = np.minimum(ranks + 1, self.totals[replicates] - 1)
        return following

    def _ranked_values(self, ranks: Floats, replicates: Integers) -> tuple[Floats, Floats]:
        """The values at these ranks and at the next ranks in some replicates.

        The method searches only the block that holds the rank. A next rank past the block's end gives NaN.
        """
        before = self.before[replicates]
        blocks = (before <= ranks[:, None]).sum(axis=1) - 1
        length = min(self.block, len(self.values))
        index = blocks[:, None] * self.block + np.arange(length)
        weights = self.weights[replicates[:, None], self.owners[np.minimum(index, len(self.values) - 1)]]
        through = before[np.arange(len(ranks)), blocks][:, None] + weights.cumsum(axis=1)
        position = blocks * self.block + (through <= ranks[:, None]).sum(axis=1)
        assert (position < len(self.values)).all(), "a rank lies past the last value"
        ahead = (through <= self._next_ranks(ranks, replicates)[:, None]).sum(axis=1)
        following = self.values[np.minimum(blocks * self.block + ahead, len(self.values) - 1)]
        return self.values[position], np.where(ahead < length, following, np.nan)
