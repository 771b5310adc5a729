"""The line through the trials of a host near the crossing, with an effect of each trial and of other work.

A host changes by itself from trial to trial, so the batches of one trial show too little of the uncertainty. Each trial
has a random effect, as in a meta-analysis (DerSimonian and Laird 1986). Its standard deviation is estimated from the
distances of trials from the line, together with a prior value that counts as some trials. The share of other work in
the processors' time is a covariate. Its slope has a normal prior around 0, so it stays small if the share hardly
changed, and it never speeds users up. The crossing is that at the mean share, or at another given share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.sizing.curve import Target
from loadgo.sizing.search.crossing import (
    LimitCrossing,
    LinkFunction,
    TargetScale,
    dispersion_of,
    fieller_interval,
    inner_ratios,
    is_near_trials,
    scale_of,
)
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.stats.resample import Floats
from loadgo.stats.student import student_reach

TRIAL_EFFECT: dict[LinkFunction, float] = {"logit": 0.6, "log": 0.2}
"""Prior standard deviation between trials of a host, on the scale of the target: odds double in 1 of 8 trials."""
_PRIOR_TRIALS = 4.0
"""The prior standard deviation counts as this many trials."""
_LEAST_EFFECT_RATIO = 0.3
"""The estimated standard deviation is at least this part of the prior one."""
_OTHER_WORK_PRIOR: dict[LinkFunction, float] = {"logit": 4.0, "log": 1.5}
"""Prior standard deviation of the effect of other work that takes all processors, on the scale of the target."""
_MOST_ROUNDS = 60
_MOST_LOGITS = 30.0


@dataclass(frozen=True)
class _Fit:
    """Intercept, slope over users and slope over other work, with their covariance and the degrees of freedom."""

    line: Floats
    covariance: Floats
    freedom: int


def host_crossing(
    target: Target, index: int, trials: Sequence[CapacityTrial], at_others: float | None = None
) -> LimitCrossing | None:
    """The crossing of the target with this index; None if it is not significant.

    It is the crossing at the mean share of other work, or at the share `at_others`. For `at_others` it is also None if
    other work has no effect. The same holds if `at_others` is too far from the shares of the trials (`is_near_trials`).
    """
    usable = [trial for trial in trials if trial.tallies[index].weight > 0]
    if len({trial.users for trial in usable}) < 2 or not any(trial.tallies[index].numerators.any() for trial in usable):
        return None
    scale, weights = scale_of(target), np.array([trial.tallies[index].weight for trial in usable])
    users = np.array([trial.users for trial in usable], dtype=np.float64)
    centre, others = float(np.average(users, weights=weights)), _other_work_shares(usable)
    mean_others = float(np.average(others, weights=[trial.seconds for trial in usable]))
    design = np.column_stack([np.ones_like(users), users - centre, others - mean_others])
    fit = _fit(scale, design, index, usable)
    if fit is not None and scale.sign * fit.line[2] < 0:
        if at_others is not None:
            return None
        design[:, 2] = 0.0
        fit = _fit(scale, design, index, usable)
    if fit is None:
        return None
    if at_others is not None:
        if not is_near_trials(at_others, others):
            return None
        fit = _moved(fit, at_others - mean_others)
    interval = fieller_interval(fit.line, fit.covariance, scale, student_reach(fit.freedom))
    if interval is None or not is_near_trials(interval[0], users - centre):
        return None
    crossing, low, high = (centre + end for end in interval)
    return LimitCrossing(crossing, low, high, scale.sign * float(fit.line[1]), float(weights.sum()))


def _moved(fit: _Fit, others: float) -> _Fit:
    """The fit with its origin at a share of other work that is larger by `others`."""
    move = np.eye(3)
    move[0, 2] = others
    return _Fit(move @ fit.line, move @ fit.covariance @ move.T, fit.freedom)


def trial_effect(target: Target) -> float:
    """The prior standard deviation between trials of a host, on the scale of the target."""
    return TRIAL_EFFECT[scale_of(target).link]


def _other_work_shares(trials: Sequence[CapacityTrial]) -> Floats:
    """The share of other work in each trial; 0 for all if some trial did not measure it."""
    shares = [trial.others for trial in trials]
    return np.array([0.0 if None in shares else share or 0.0 for share in shares])


def _fit(scale: TargetScale, design: Floats, index: int, trials: Sequence[CapacityTrial]) -> _Fit | None:
    """Fits the line and the standard deviation between trials, by iterated weighted least squares."""
    tallies = [trial.tallies[index] for trial in trials]
    weights = np.array([tally.weight for tally in tallies])
    ratios = inner_ratios(scale, np.array([tally.ratio for tally in tallies]), weights)
    dispersion, _ = dispersion_of(scale, tallies)
    prior = TRIAL_EFFECT[scale.link] ** 2
    penalty = np.diag([0.0, 0.0, _OTHER_WORK_PRIOR[scale.link] ** -2])
    effect, fitted = prior, scale.forward(ratios)
    line: Floats = np.zeros(3)
    freedom = len(trials) - 2
    for _ in range(_MOST_ROUNDS):
        mean = scale.backward(fitted)
        slope = scale.slope(mean)
        within = dispersion * scale.variance(mean) / (weights * slope**2)
        working = 1 / (within + effect)
        information = design.T @ (design * working[:, None]) + penalty
        if not np.isfinite(information).all() or np.linalg.cond(information) > 1e14:
            return None
        response = fitted + (ratios - mean) / slope
        next_line = np.linalg.solve(information, design.T @ (working * response))
        excess = float(((response - design @ next_line) ** 2 - within * max(freedom, 0) / len(trials)).sum())
        effect = (_PRIOR_TRIALS * prior + excess) / (_PRIOR_TRIALS + max(freedom, 0))
        effect = max(effect, _LEAST_EFFECT_RATIO**2 * prior)
        fitted = np.clip(design @ next_line, -_MOST_LOGITS, _MOST_LOGITS)
        if np.allclose(next_line, line, rtol=1e-8, atol=1e-10):
            break
        line = np.asarray(next_line, dtype=np.float64)
    covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return _Fit(np.asarray(next_line, dtype=np.float64), covariance, round(_PRIOR_TRIALS) + max(freedom, 0))
