"""The rank correlation of two figures of the same units, with resamples (Spearman, American Journal of Psychology 15).

In each resample the ranks are those of the drawn values. Equal values share the mean of their ranks.
"""

from __future__ import annotations

import numpy as np

from loadgo.stats.resample import Floats, Integers, drawn

_REPLICATES = 200
_MOST_CELLS = 500_000
"""Most weights of values in one step, so that memory is bounded."""


def rank_correlations(first: Floats, second: Floats, owners: Integers, units: int, seed: int) -> Floats:
    """The correlation in the sample, and behind it in each resample of the units that own the values.

    Units are numbered from 0. NaN where one of the figures is constant.
    """
    weights = drawn(units, seed, _REPLICATES)
    owned = owners % weights.shape[1]
    step = max(1, _MOST_CELLS // max(len(first), 1))
    parts = []
    for start in range(0, len(weights), step):
        drawn_weights = weights[start : start + step][:, owned]
        ranks = [_ranks(values, drawn_weights) for values in (first, second)]
        parts.append(_correlation(ranks[0], ranks[1], drawn_weights))
    return np.concatenate(parts)


def rank_correlation(first: Floats, second: Floats) -> float:
    """The correlation in the sample alone; NaN where one of the figures is constant."""
    weights = np.ones((1, len(first)))
    ranks = [_ranks(values, weights) for values in (first, second)]
    return float(_correlation(ranks[0], ranks[1], weights)[0])


def _ranks(values: Floats, weights: Floats) -> Floats:
    """The rank of each value in each row of weights, as a mean rank of equal ones."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(places, kind="stable")
    through = weights[:, order].cumsum(axis=1)
    ends = counts.cumsum() - 1
    last = through[:, ends]
    before = np.concatenate([np.zeros((len(weights), 1)), last[:, :-1]], axis=1)
    ranks: Floats = ((before + last) / 2)[:, places]
    return ranks


def _correlation(first: Floats, second: Floats, weights: Floats) -> Floats:
    """The weighted correlation of each row."""
    totals = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        offsets = [ranks - (ranks * weights).sum(axis=1, keepdims=True) / totals for ranks in (first, second)]
        products = (weights * offsets[0] * offsets[1]).sum(axis=1)
        squares = [(weights * offset**2).sum(axis=1) for offset in offsets]
        correlations: Floats = np.where(
            (squares[0] > 1e-9) & (squares[1] > 1e-9), products / np.sqrt(squares[0] * squares[1]), np.nan
        )
    return correlations
