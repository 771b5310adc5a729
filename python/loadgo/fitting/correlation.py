"""The correlation of a command's processor time and its number of requests, from its processor times and waits.

A wait is the sum of a number N of waits for one request, so that it varies more than N does. But given N and the
processor time C, its mean is N times that of one. So the covariance of C and the wait, over the mean wait, is that of
C and N over the mean of N. The correlation is chosen with which the machine draws this covariance. The sum of
processor time and wait then varies as in the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from loadgo.fitting.dependence import Dependence, WorkAndWait, dependence_words, work_and_wait
from loadgo.fitting.uncertainty import Grouping, ResampledValue, resampled_sums
from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.figures import counted
from loadgo.notation.keys import dotted, parts_of
from loadgo.notation.laws import Law
from loadgo.prediction.fitted import correlation_odds, correlation_of_odds
from loadgo.stats.resample import Floats

_LAW_PARTS = 400
"""Number of equal parts of a law, each with the mean of its values."""
_PART_POINTS = 50
"""Number of values in each part, so that the longest are those of one in 20,000 interactions."""
_TRIED_CORRELATIONS = np.linspace(-1.0, 1.0, 41)


def fit_correlations(values: FittedValues, rows: pl.DataFrame, groupings: Sequence[Grouping]) -> FittedValues:
    """The correlation of processor time and requests of each command in which the runs surely show one.

    `values` have the laws of both. Commands that wait for several stores are left out: no meter says how long for each.
    """
    laws = {value.key: value.law for value in values.values}
    waits = rows["io"].fill_null(0.0).to_numpy()
    fitted, left = [], []
    for name, requests in _requests_by_command(laws).items():
        pair = work_and_wait(rows, waits, name)
        if not pair.is_surely_dependent():
            continue
        slopes = _drawn_slopes(laws[dotted("commands", name, "cpu")], requests)
        scale = float(pair.work.std() * waits[_is(name, rows)].mean())
        reached = 0.0
        if np.ptp(slopes) > 0:
            correlation = _resampled_correlation(rows, groupings, pair, slopes)
            reached = float(np.interp(correlation.value, _TRIED_CORRELATIONS, slopes)) * scale
            fitted.append(_fitted_value(name, correlation, len(pair.work)))
        left.append(pair.dependence(reached))
    told: list[Dependence] = [one for one in left if one is not None]
    return FittedValues(tuple(fitted), dependence_words(told, "disk waits"))


def _requests_by_command(laws: Mapping[str, Law]) -> dict[str, Law]:
    """The law of the number of requests of each command that makes requests to one store alone."""
    found: dict[str, list[Law]] = {}
    for key, law in laws.items():
        match parts_of(key):
            case ["commands", name, "requests", _]:
                found.setdefault(name, []).append(law)
    return {name: each[0] for name, each in found.items() if len(each) == 1}


def _is(command: str, rows: pl.DataFrame) -> NDArray[np.bool_]:
    chosen: NDArray[np.bool_] = (rows["command"] == command).to_numpy()
    return chosen


def _fitted_value(name: str, correlation: ResampledValue, interactions: int) -> FittedValue:
    draws = tuple(np.array([correlation_odds(float(each)) for each in draw]) for draw in correlation.draws)
    odds = ResampledValue(correlation_odds(correlation.value), draws)
    source = f"covariance of processor time and metered waits, in {counted(interactions, 'interaction')}"
    law = Law("fixed", (correlation_of_odds(odds.value),), timed=False)
    return FittedValue(dotted("commands", name, "request_correlation"), law, source, correlation=odds)


def _resampled_correlation(
    rows: pl.DataFrame, groupings: Sequence[Grouping], pair: WorkAndWait, slopes: Floats
) -> ResampledValue:
    """The correlation with which the machine draws the measured covariance, in each resample."""
    chosen = _is(pair.command, rows)
    selected = chosen.astype(np.float64)
    work, wait, whole_wait = np.zeros((3, len(rows)))
    work[chosen], wait[chosen] = pair.work, pair.wait
    whole_wait[chosen] = rows["io"].fill_null(0.0).to_numpy()[chosen]
    draws = []
    for grouping in groupings:
        powers = (selected, work, wait, whole_wait, work * wait, work**2)
        count, *sums = (resampled_sums(grouping, power) for power in powers)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_work, mean_wait, mean_whole, product, square = (total / count for total in sums)
            covariance = product - mean_work * mean_wait
            slope = covariance / (np.sqrt(np.maximum(square - mean_work**2, 0.0)) * mean_whole)
        draws.append(np.interp(np.where(np.isfinite(slope), slope, slope[0]), slopes, _TRIED_CORRELATIONS))
    return ResampledValue(float(draws[0][0]), tuple(draws))


def _drawn_slopes(work: Law, requests: Law) -> Floats:
    """The covariance that the machine draws, over standard deviation of the work and mean of the requests.

    It has a value for each of the tried correlations, and rises with them.
    """
    works, numbers = _part_means(work), _part_means(requests)
    works = works - works.mean()
    scale = float(work.spread * work.mean * numbers.mean())
    if scale <= 0.0 or np.ptp(numbers) == 0.0:
        return np.zeros(len(_TRIED_CORRELATIONS))
    scores = special.ndtri((np.arange(_LAW_PARTS) + 0.5) / _LAW_PARTS)
    edges = special.ndtri(np.arange(_LAW_PARTS + 1) / _LAW_PARTS)
    slopes = [float((works * numbers[::-1]).mean())]
    for correlation in _TRIED_CORRELATIONS[1:-1]:
        own_deviation = np.sqrt(1.0 - correlation**2)
        shares = np.diff(special.ndtr((edges - correlation * scores[:, None]) / own_deviation), axis=1)
        slopes.append(float((works * (shares @ numbers)).mean()))
    slopes.append(float((works * numbers).mean()))
    return np.maximum.accumulate(np.array(slopes)) / scale


def _part_means(law: Law) -> Floats:
    """The means of equal parts of a law, in order; a fixed number with a fraction is one of two."""
    middles = (np.arange(_LAW_PARTS * _PART_POINTS) + 0.5) / (_LAW_PARTS * _PART_POINTS)
    numbers: Floats
    match law.name:
        case "fixed":
            numbers = np.floor(law.mean) + (middles > 1.0 - law.mean % 1.0)
        case "exponential":
            numbers = -law.mean * np.log1p(-middles)
        case "lognormal":
            variance = np.log1p(law.spread**2)
            numbers = law.mean * np.exp(np.sqrt(variance) * special.ndtri(middles) - variance / 2)
        case "geometric":
            numbers = np.maximum(np.ceil(np.log1p(-middles) / np.log1p(-1.0 / law.mean)), 1.0)
        case _:
            ordered = np.sort(np.asarray(law.values))
            numbers = ordered[(middles * len(ordered)).astype(np.int64)]
    means: Floats = numbers.reshape(_LAW_PARTS, _PART_POINTS).mean(axis=1)
    return means
