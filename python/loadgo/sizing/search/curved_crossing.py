"""The position at which a curve crosses its limit, by a parabola through trials on both sides of it.

A line through trials about a bend of the curve crosses the limit beside it, always on the same side. A parabola follows
the bend. Each trial counts once, with what its draws made of it. The interval has all positions at which the parabola
does not differ significantly from the limit. Student's t judges it, from the distances of the trials.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loadgo.sizing.curve import Target
from loadgo.sizing.search.crossing import LimitCrossing, TargetScale, scale_of
from loadgo.sizing.search.trials import BatchSums
from loadgo.stats.resample import Floats
from loadgo.stats.student import student_reach

FEWEST_CURVED_TRIALS = 12
"""A parabola has three figures of its own; nine more trials say how far trials lie from it."""
_FEWEST_CURVED_POSITIONS = 4
_GRID_POINTS = 4001


def curved_crossing(target: Target, positions: Sequence[int], tallies: Sequence[BatchSums]) -> LimitCrossing | None:
    """The crossing from below to above the limit, of trials at these positions.

    None if there are too few trials, if the parabola does not cross the limit between them, or if the interval reaches
    beyond them.
    """
    at, excess, weights = _measured(target, positions, tallies)
    if len(at) < FEWEST_CURVED_TRIALS or len(np.unique(at)) < _FEWEST_CURVED_POSITIONS:
        return None
    centre, spread = float(at.mean()), float(np.ptp(at)) / 2
    terms = _terms((at - centre) / spread)
    parabola = np.linalg.lstsq(terms, excess, rcond=None)[0]
    freedom = len(at) - terms.shape[1]
    variance = float(((excess - terms @ parabola) ** 2).sum()) / freedom
    covariance = variance * np.linalg.inv(terms.T @ terms)
    x = np.linspace((at.min() - centre) / spread, (at.max() - centre) / spread, _GRID_POINTS)
    grid = _terms(x)
    height = grid @ parabola
    reach = student_reach(freedom) * np.sqrt(np.einsum("ij,jk,ik->i", grid, covariance, grid))
    root = _rising_root(height)
    if root is None:
        return None
    ends = _ends_around(root, np.abs(height) <= reach)
    if ends is None:
        return None
    value, low, high = (float(centre + spread * x[place]) for place in (root, *ends))
    slope = float(parabola[1] + 2 * parabola[2] * x[root]) / spread
    return LimitCrossing(value, low, high, slope, float(weights.sum()))


def rough_crossing(target: Target, positions: Sequence[int], tallies: Sequence[BatchSums]) -> float | None:
    """The position at which rising steps through all trials pass the limit; None if they do not.

    The steps are those that rise with the position and are nearest to the trials (isotonic regression). They need no
    form of the curve, which may be flat far away from the limit.
    """
    from scipy.optimize import isotonic_regression

    at, excess, weights = _measured(target, positions, tallies)
    if not len(at):
        return None
    order = np.argsort(at, kind="stable")
    at, steps = at[order], isotonic_regression(excess[order], weights=weights[order]).x
    above = int(np.searchsorted(steps, 0.0, side="right"))
    if above in (0, len(at)):
        return None
    below, part = above - 1, -steps[above - 1] / (steps[above] - steps[above - 1])
    return float(at[below] + part * (at[above] - at[below]))


def _measured(target: Target, positions: Sequence[int], tallies: Sequence[BatchSums]) -> tuple[Floats, Floats, Floats]:
    """The positions of the trials with a measured figure, their distances from the limit, and their weights."""
    scale = scale_of(target)
    rows = [
        (position, _excess(scale, tally), tally.weight)
        for position, tally in zip(positions, tallies, strict=True)
        if tally.weight > 0 and (scale.link == "logit" or tally.ratio > 0)
    ]
    at, excess, weights = np.array(rows, np.float64).reshape(-1, 3).T
    return at, excess, weights


def _excess(scale: TargetScale, tally: BatchSums) -> float:
    """The distance of a trial from the limit, which is positive where the target is missed."""
    total = float(tally.numerators.sum())
    # Half a slow interaction in one more interaction: no share is 0 or 1.
    ratio = (total + 0.5) / (tally.weight + 1) if scale.link == "logit" else tally.ratio
    return scale.sign * (float(scale.forward(ratio)) - scale.limit)


def _terms(x: Floats) -> Floats:
    return np.stack([np.ones_like(x), x, x**2], axis=1)


def _rising_root(height: Floats) -> int | None:
    """The place at which the heights rise through 0, the nearest to the middle; None if they do not."""
    roots = np.flatnonzero((height[:-1] < 0) & (height[1:] >= 0))
    return int(roots[np.argmin(np.abs(roots - len(height) / 2))]) if len(roots) else None


def _ends_around(root: int, undecided: np.ndarray) -> tuple[int, int] | None:
    """The places at the ends of the undecided part around the root; None if it reaches an end of all."""
    below, above = np.flatnonzero(~undecided[:root]), np.flatnonzero(~undecided[root:])
    if not len(below) or not len(above):
        return None
    return int(below[-1]), root + int(above[0])
