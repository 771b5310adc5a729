"""The test for a steady state: the two halves of a trial differ by no more than chance.

Welch's test (1947) compares the batches of both halves, at the 1 % level each: their mean responses, and their
interactions a second. So about two of a hundred steady trials are repeated without need. A trial whose queues still
grow fails, whatever its length, since its batches rise one after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loadgo.notation.figures import share
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.stats.resample import Floats

WELCH_TEST_LEVEL_SHARE = 0.01
"""Significance level of each of the two tests."""
_RELEVANT_CHANGE_SHARE = 0.05
"""A smaller change than this share is ignored, even if it is significant."""


@dataclass(frozen=True)
class Steadiness:
    """The result of the test for a steady state."""

    steady: bool
    why: str
    drifts: bool = False
    """Whether the halves differ significantly; an unsteady trial without drift has too few interactions."""


def steadiness(trial: CapacityTrial) -> Steadiness:
    """Tests one trial. A trial with too few interactions is not steady."""
    counts = np.bincount(trial.batch, minlength=trial.batches).astype(np.float64)
    answered = np.isfinite(trial.responses_s)
    sums = np.bincount(trial.batch[answered], weights=trial.responses_s[answered], minlength=trial.batches)
    if counts.sum() < 2 * trial.batches or (counts == 0).sum() > trial.batches // 4:
        return Steadiness(False, f"{int(counts.sum())} interactions are too few to prove a steady state")
    means = sums[counts > 0] / counts[counts > 0]
    for name, values in (("response times", means), ("interactions a second", counts)):
        chance, change = _compare_halves(values)
        if chance < WELCH_TEST_LEVEL_SHARE and abs(change) > _RELEVANT_CHANGE_SHARE:
            direction = "rose" if change > 0 else "fell"
            reason = f"{name} {direction} by {share(abs(change))} from the first half to the second"
            return Steadiness(False, reason, drifts=True)
    return Steadiness(True, f"the halves of {trial.batches} batches agree")


def _compare_halves(values: Floats) -> tuple[float, float]:
    """The probability of such a difference in a steady trial, and the relative change from first to second half."""
    from scipy.special import stdtr

    first, second = values[: len(values) // 2], values[len(values) // 2 :]
    parts = [float(half.var(ddof=1)) / len(half) for half in (first, second)]
    base, difference = float(first.mean()), float(second.mean() - first.mean())
    spread = math.sqrt(sum(parts))
    if spread == 0 or base == 0:
        return 1.0, 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) // 2 - 1) for part in parts)
    return 2 * float(stdtr(freedom, -abs(difference) / spread)), difference / base
