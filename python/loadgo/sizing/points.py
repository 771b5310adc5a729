"""Trials with the same number of users, together as one point of the curve: figures with intervals, verdicts, proof.

The interval of a ratio is from batches, all trials' together, by Student's t. That of a quantile is where the share of
slower interactions may lie: a share's batches tell how alike its interactions are, where those of a quantile do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loadgo.sizing.crossing import Scale, dispersion_of, excess_of, scale_of, student
from loadgo.sizing.curve import ClassPoint, Figure, Point, Standing, Target, Verdict
from loadgo.sizing.steady_state import steadiness_of
from loadgo.sizing.trials import Tally, Trial
from loadgo.stats.quantiles import REPORTED_QUANTILES, samples_needed, sorted_quantile
from loadgo.stats.resample import Floats, Interval

_LOGIT, _LOG = Scale("logit", 0.0, 1.0), Scale("log", 0.0, 1.0)


def points_of(trials: Sequence[Trial], targets: Sequence[Target]) -> tuple[Point, ...]:
    """A point for each number of users, ascending."""
    return tuple(
        point_of([trial for trial in trials if trial.users == users], targets)
        for users in sorted({trial.users for trial in trials})
    )


def point_of(trials: Sequence[Trial], targets: Sequence[Target]) -> Point:
    """The point of trials that all have the same number of users."""
    counted, seconds = sum(one.counted for one in trials), sum(one.seconds for one in trials)
    responses = _responses(trials)
    steady, why = _steady(trials)
    resources = trials[0].utilisation
    return Point(
        users=trials[0].users,
        seconds=seconds,
        interactions=counted,
        trials=len(trials),
        throughput=_ratio([_rate(one) for one in trials], _LOG) or Figure(0.0),
        response_s=responses,
        think_s=_weighed([(one.think_s, one.counted) for one in trials]) or 0.0,
        verdicts=tuple(_verdict(target, place, trials) for place, target in enumerate(targets)),
        utilisation={
            name: _weighed([(one.utilisation.get(name), one.seconds) for one in trials]) or 0.0 for name in resources
        },
        cost_user_hour=_weighed([(one.cost_user_hour, one.seconds) for one in trials]),
        faults_a_command=_weighed([(one.faults_a_command, one.counted) for one in trials]),
        steady=steady,
        steady_why=why,
        lost=sum(one.lost for one in trials),
        valid=all(one.valid for one in trials),
        runs=tuple(one.name for one in trials),
        classes=_classes(trials),
        users_cpu_s=_users_cpu_s(trials),
        others=_weighed([(None if one.whose is None else one.whose.others, one.seconds) for one in trials]),
    )


def _users_cpu_s(trials: Sequence[Trial]) -> float | None:
    """The users' own processor time over the interactions, of the trials that tell it apart."""
    told = [(one.whose.users_processors * one.seconds, one.counted) for one in trials if one.whose is not None]
    counted = sum(count for _, count in told)
    return sum(seconds for seconds, _ in told) / counted if counted else None


def _steady(trials: Sequence[Trial]) -> tuple[bool, str]:
    """Of the longest trial, which tells most."""
    longest = max(trials, key=lambda one: one.counted)
    if longest.cut_short:
        return False, "it was ended early: a target was missed widely"
    found = steadiness_of(longest)
    return found.steady, found.why


def _responses(trials: Sequence[Trial]) -> dict[str, Figure]:
    """The mean and the quantiles that there are samples for."""
    found: dict[str, Figure] = {}
    mean = _ratio([_answered(one) for one in trials], _LOG)
    if mean is not None:
        found["mean"] = mean
    values = np.sort(np.concatenate([one.responses_s for one in trials]))
    for probability in REPORTED_QUANTILES:
        figure = _quantile(values, probability, trials)
        if figure is not None:
            found[f"p{probability * 100:g}"] = figure
    return found


def _quantile(values: Floats, probability: float, trials: Sequence[Trial]) -> Figure | None:
    """None with too few samples, or where so many lines were never answered."""
    if len(values) < samples_needed(probability):
        return None
    value = sorted_quantile(values, probability)
    if not np.isfinite(value):
        return None
    slower = [_tally(one, (one.responses_s > value).astype(np.float64)) for one in trials]
    dispersion, freedom = dispersion_of(_LOGIT, slower)
    half = student(freedom) * np.sqrt(dispersion * probability * (1 - probability) / len(values))
    low, high = (sorted_quantile(values, float(np.clip(probability + way * half, 0, 1))) for way in (-1, 1))
    return Figure(value, Interval(low, high) if np.isfinite(high) and half < 1 - probability else None)


def _verdict(target: Target, place: int, trials: Sequence[Trial]) -> Verdict:
    tallies = [one.tallies[place] for one in trials]
    excess = excess_of(target, tallies)
    standing: Standing = "open"
    if excess is not None and (excess.met or excess.missed):
        standing = "met" if excess.met else "missed"
    judged = _ratio(tallies, scale_of(target))
    if target.share is None:
        return Verdict(target, standing, judged, None)
    if target.command is not None:
        return Verdict(target, standing, None, judged)
    values = np.sort(np.concatenate([one.responses_s for one in trials]))
    return Verdict(target, standing, _quantile(values, 1 - target.share, trials), judged)


def _rate(trial: Trial) -> Tally:
    counts = np.bincount(trial.batch, minlength=trial.batches).astype(np.float64)
    return Tally(counts, np.full(trial.batches, trial.seconds / trial.batches))


def _answered(trial: Trial) -> Tally:
    there = np.isfinite(trial.responses_s)
    return Tally(
        np.bincount(trial.batch[there], weights=trial.responses_s[there], minlength=trial.batches).astype(np.float64),
        np.bincount(trial.batch[there], minlength=trial.batches).astype(np.float64),
    )


def _tally(trial: Trial, values: Floats) -> Tally:
    return Tally(
        np.bincount(trial.batch, weights=values, minlength=trial.batches).astype(np.float64),
        np.bincount(trial.batch, minlength=trial.batches).astype(np.float64),
    )


def _ratio(tallies: Sequence[Tally], scale: Scale) -> Figure | None:
    """A ratio of sums with its interval, made on the scale so that it stays where ratios can be."""
    weight = sum(one.weight for one in tallies)
    if weight <= 0:
        return None
    value = sum(float(one.numerators.sum()) for one in tallies) / weight
    inside = 0 < value < 1 if scale.link == "logit" else value > 0
    if not inside:
        return Figure(value)
    dispersion, freedom = dispersion_of(scale, tallies)
    at = np.asarray(value)
    half = student(freedom) * float(np.sqrt(dispersion * scale.variance(at) / weight) / scale.slope(at))
    ends = scale.backward(scale.forward(value) + np.array([-half, half]))
    return Figure(value, Interval(float(ends[0]), float(ends[1])))


def _weighed(values: Sequence[tuple[float | None, float]]) -> float | None:
    """The weighted mean of what was measured."""
    known = [(value, weight) for value, weight in values if value is not None and weight > 0]
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known) if known else None


def _classes(trials: Sequence[Trial]) -> tuple[ClassPoint, ...]:
    """Each class of a mix, its trials weighed by their length."""
    found = []
    for place, first in enumerate(trials[0].classes):
        mine = [(one.classes[place], one.seconds) for one in trials]
        found.append(
            ClassPoint(
                name=first.name,
                users=round(_weighed([(one.users, seconds) for one, seconds in mine]) or 0.0),
                throughput=_weighed([(one.throughput, seconds) for one, seconds in mine]) or 0.0,
                response_s=_weighed([(one.response_s, seconds) for one, seconds in mine]),
                think_s=_weighed([(one.think_s, seconds) for one, seconds in mine]) or 0.0,
                cpu_s=_weighed([(one.cpu_s, seconds) for one, seconds in mine]),
            )
        )
    return tuple(found)
