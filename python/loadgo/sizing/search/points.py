"""Points of the curve: all trials with one number of users together, with figures, intervals and verdicts.

The interval of a ratio comes from the batches of all trials, by Student's t. The interval of a quantile comes from
the share of slower interactions, since batches show the dispersion of a share but not of a quantile.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loadgo.sizing.curve import (
    ENDED_EARLY,
    ClassFigures,
    LoadPoint,
    MeasuredFigure,
    Target,
    TargetStanding,
    TargetVerdict,
)
from loadgo.sizing.search.crossing import TargetScale, dispersion_of, excess_of, scale_of
from loadgo.sizing.search.host_line import trial_effect
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.steady_state import steadiness
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.stats.quantiles import REPORTED_QUANTILES, samples_needed, sorted_quantile
from loadgo.stats.resample import Floats, Interval
from loadgo.stats.student import student_reach

_LOGIT_SCALE, _LOG_SCALE = TargetScale("logit", 0.0, 1.0), TargetScale("log", 0.0, 1.0)


def points_of(trials: Sequence[CapacityTrial], goal: SearchGoal) -> tuple[LoadPoint, ...]:
    """A point for each number of users, in ascending order."""
    return tuple(
        point_of([trial for trial in trials if trial.users == users], goal.targets, live=goal.live)
        for users in sorted({trial.users for trial in trials})
    )


def point_of(trials: Sequence[CapacityTrial], targets: Sequence[Target], *, live: bool = False) -> LoadPoint:
    """The point of trials with the same number of users. On a host, each trial has an effect of its own in verdicts."""
    counted, seconds = sum(trial.counted for trial in trials), sum(trial.seconds for trial in trials)
    responses = _response_figures(trials)
    steady, reason = _steadiness(trials)
    resources = trials[0].utilisation
    return LoadPoint(
        users=trials[0].users,
        seconds=seconds,
        interactions=counted,
        trials=len(trials),
        throughput=_ratio_figure([_throughput_tally(trial) for trial in trials], _LOG_SCALE) or MeasuredFigure(0.0),
        response_s=responses,
        think_s=_weighted_mean([(trial.think_s, trial.counted) for trial in trials]) or 0.0,
        verdicts=tuple(_target_verdict(target, index, trials, live) for index, target in enumerate(targets)),
        utilisation={
            name: _weighted_mean([(trial.utilisation.get(name), trial.seconds) for trial in trials]) or 0.0
            for name in resources
        },
        cost_user_hour=_weighted_mean([(trial.cost_user_hour, trial.seconds) for trial in trials]),
        faults_a_command=_weighted_mean([(trial.faults_a_command, trial.counted) for trial in trials]),
        steady=steady,
        steady_why=reason,
        lost=sum(trial.lost for trial in trials),
        valid=all(trial.valid for trial in trials),
        runs=tuple(trial.name for trial in trials),
        classes=_class_figures(trials),
        users_cpu_s=_mean_users_cpu_s(trials),
        others=_weighted_mean([(trial.others, trial.seconds) for trial in trials]),
        loading=_weighted_mean([(trial.loading, trial.seconds) for trial in trials]) or 0.0,
        unanswered=sum(int(np.isinf(trial.responses_s).sum()) for trial in trials),
    )


def _mean_users_cpu_s(trials: Sequence[CapacityTrial]) -> float | None:
    """The users' own processor time per interaction, from the trials that measured it; None without such a trial."""
    measured = [
        (trial.processors.users_processors * trial.seconds, trial.counted)
        for trial in trials
        if trial.processors is not None
    ]
    counted = sum(count for _, count in measured)
    return sum(seconds for seconds, _ in measured) / counted if counted else None


def _steadiness(trials: Sequence[CapacityTrial]) -> tuple[bool, str]:
    """Whether the longest trial was steady, and the reason in words."""
    longest = max(trials, key=lambda trial: trial.counted)
    if longest.cut_short:
        return False, ENDED_EARLY
    result = steadiness(longest)
    return result.steady, result.why


def _response_figures(trials: Sequence[CapacityTrial]) -> dict[str, MeasuredFigure]:
    """The mean and the quantiles of the response time that have enough samples, by name."""
    figures: dict[str, MeasuredFigure] = {}
    mean = _ratio_figure([_response_tally(trial) for trial in trials], _LOG_SCALE)
    if mean is not None:
        figures["mean"] = mean
    values = np.sort(np.concatenate([trial.responses_s for trial in trials]))
    for probability in REPORTED_QUANTILES:
        figure = _quantile_figure(values, probability, trials)
        if figure is not None:
            figures[f"p{probability * 100:g}"] = figure
    return figures


def _quantile_figure(values: Floats, probability: float, trials: Sequence[CapacityTrial]) -> MeasuredFigure | None:
    """A quantile with its interval; None with too few samples, or if it is the time of an unanswered line."""
    if len(values) < samples_needed(probability):
        return None
    value = sorted_quantile(values, probability)
    if not np.isfinite(value):
        return None
    slower = [_interaction_tally(trial, (trial.responses_s > value).astype(np.float64)) for trial in trials]
    dispersion, freedom = dispersion_of(_LOGIT_SCALE, slower)
    half_width = student_reach(freedom) * np.sqrt(dispersion * probability * (1 - probability) / len(values))
    low, high = (sorted_quantile(values, float(np.clip(probability + sign * half_width, 0, 1))) for sign in (-1, 1))
    return MeasuredFigure(value, Interval(low, high) if np.isfinite(high) and half_width < 1 - probability else None)


def _target_verdict(target: Target, index: int, trials: Sequence[CapacityTrial], live: bool) -> TargetVerdict:
    tallies = [trial.tallies[index] for trial in trials]
    excess = excess_of(target, tallies, trial_effect(target) if live else 0.0)
    standing: TargetStanding = "open"
    if excess is not None and (excess.met or excess.missed):
        standing = "met" if excess.met else "missed"
    judged = _ratio_figure(tallies, scale_of(target))
    if target.share is None:
        return TargetVerdict(target, standing, judged, None)
    if target.command is not None:
        return TargetVerdict(target, standing, None, judged)
    values = np.sort(np.concatenate([trial.responses_s for trial in trials]))
    return TargetVerdict(target, standing, _quantile_figure(values, 1 - target.share, trials), judged)


def _throughput_tally(trial: CapacityTrial) -> BatchSums:
    counts = np.bincount(trial.batch, minlength=trial.batches).astype(np.float64)
    return BatchSums(counts, np.full(trial.batches, trial.seconds / trial.batches))


def _response_tally(trial: CapacityTrial) -> BatchSums:
    is_answered = np.isfinite(trial.responses_s)
    batch, responses_s = trial.batch[is_answered], trial.responses_s[is_answered]
    return BatchSums(
        np.bincount(batch, weights=responses_s, minlength=trial.batches).astype(np.float64),
        np.bincount(batch, minlength=trial.batches).astype(np.float64),
    )


def _interaction_tally(trial: CapacityTrial, values: Floats) -> BatchSums:
    return BatchSums(
        np.bincount(trial.batch, weights=values, minlength=trial.batches).astype(np.float64),
        np.bincount(trial.batch, minlength=trial.batches).astype(np.float64),
    )


def _ratio_figure(tallies: Sequence[BatchSums], scale: TargetScale) -> MeasuredFigure | None:
    """A ratio of sums with its interval. The interval is symmetric on `scale`, so it contains possible ratios only."""
    weight = sum(tally.weight for tally in tallies)
    if weight <= 0:
        return None
    ratio = sum(float(tally.numerators.sum()) for tally in tallies) / weight
    inside = 0 < ratio < 1 if scale.link == "logit" else ratio > 0
    if not inside:
        return MeasuredFigure(ratio)
    dispersion, freedom = dispersion_of(scale, tallies)
    mean = np.asarray(ratio)
    error = float(np.sqrt(dispersion * scale.variance(mean) / weight) / scale.slope(mean))
    half_width = student_reach(freedom) * error
    ends = scale.backward(scale.forward(ratio) + np.array([-half_width, half_width]))
    return MeasuredFigure(ratio, Interval(float(ends[0]), float(ends[1])))


def _weighted_mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    """The weighted mean of the values that were measured; None without such a value."""
    measured = [(value, weight) for value, weight in values if value is not None and weight > 0]
    if not measured:
        return None
    return sum(value * weight for value, weight in measured) / sum(weight for _, weight in measured)


def _class_figures(trials: Sequence[CapacityTrial]) -> tuple[ClassFigures, ...]:
    """The figures of each class of a mix: means over trials, weighted by their length."""
    figures = []
    for index, first in enumerate(trials[0].classes):
        weighted = [(trial.classes[index], trial.seconds) for trial in trials]
        figures.append(
            ClassFigures(
                name=first.name,
                users=round(_weighted_mean([(trial.users, seconds) for trial, seconds in weighted]) or 0.0),
                throughput=_weighted_mean([(trial.throughput, seconds) for trial, seconds in weighted]) or 0.0,
                response_s=_weighted_mean([(trial.response_s, seconds) for trial, seconds in weighted]),
                think_s=_weighted_mean([(trial.think_s, seconds) for trial, seconds in weighted]) or 0.0,
                cpu_s=_weighted_mean([(trial.cpu_s, seconds) for trial, seconds in weighted]),
            )
        )
    return tuple(figures)
