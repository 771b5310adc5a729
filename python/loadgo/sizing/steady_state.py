"""Whether a trial was steady: its first half tells the same as its second, beyond what chance makes of batches.

Welch's test (1947) of the mean responses and of the interactions a second, batch by batch, at 1 % each: of a hundred
steady trials two are called unsteady, and are done again for nothing. A trial whose queues still grow is found out
since its batches rise one after the other, not since it is long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from loadgo.sizing.trials import Trial
from loadgo.stats.resample import Floats

LEVEL = 0.01
_MATTERS = 0.05
"""Halves that differ by less than this part are alike enough, however surely they differ."""


@dataclass(frozen=True)
class Steadiness:
    """What the proof came to."""

    steady: bool
    why: str
    drifts: bool = False
    """It was not steady, beyond chance; else, there is too little to prove it."""


def steadiness_of(trial: Trial) -> Steadiness:
    """The proof for one trial; one with too few interactions proves nothing and is not steady."""
    counts = np.bincount(trial.batch, minlength=trial.batches).astype(np.float64)
    answered = np.isfinite(trial.responses_s)
    sums = np.bincount(trial.batch[answered], weights=trial.responses_s[answered], minlength=trial.batches)
    if counts.sum() < 2 * trial.batches or (counts == 0).sum() > trial.batches // 4:
        return Steadiness(False, f"{int(counts.sum())} interactions are too few to prove a steady state")
    means = sums[counts > 0] / counts[counts > 0]
    for name, values in (("response times", means), ("interactions a second", counts)):
        chance, change = _halves(values)
        if chance < LEVEL and abs(change) > _MATTERS:
            way = "rose" if change > 0 else "fell"
            told = f"{name} {way} by {abs(change):.0%} from the first half to the second"
            return Steadiness(False, told, drifts=True)
    return Steadiness(True, f"the halves of {trial.batches} batches agree")


def _halves(values: Floats) -> tuple[float, float]:
    """The chance that halves of a steady trial differ as much, and by which part the second is above the first."""
    from scipy.special import stdtr

    first, second = values[: len(values) // 2], values[len(values) // 2 :]
    parts = [float(half.var(ddof=1)) / len(half) for half in (first, second)]
    base, difference = float(first.mean()), float(second.mean() - first.mean())
    spread = math.sqrt(sum(parts))
    if spread == 0 or base == 0:
        return 1.0, 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) // 2 - 1) for part in parts)
    return 2 * float(stdtr(freedom, -abs(difference) / spread)), difference / base
