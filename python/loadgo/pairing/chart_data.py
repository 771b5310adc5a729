"""Data for the chart and the picture of an experiment: each measure's change, and that of each pair, as ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadgo.comparison.chart_data import ChangeRatio, ratio_range
from loadgo.pairing.results import Change, Experiment
from loadgo.pairing.words import change_name, interval_text, relative, relative_of_pair

PAIRS_TITLE = "How much each pair changed from A to B"


@dataclass(frozen=True)
class PairChange:
    """The change of one pair."""

    number: int
    """The pair's number, from 1."""
    first: str
    """The variant that ran first."""
    ratio: float
    text: str


@dataclass(frozen=True)
class MeasureChanges:
    """The change of a measure over all pairs, and that of each pair that has it."""

    name: str
    ratio: ChangeRatio
    text: str
    interval: str
    verdict: str
    pairs: tuple[PairChange, ...]


def measures_changes(experiment: Experiment) -> list[MeasureChanges]:
    """The changes of all measures that are known on both sides, the decisive ones first."""
    changes = sorted(experiment.changes, key=lambda change: change.measure not in experiment.decisive)
    return [_measure_changes(experiment, change) for change in changes]


def range_of(measures: list[MeasureChanges], margin: float) -> tuple[float, float]:
    """The ends of a logarithmic axis that holds all changes and the margin; at most ×100 either way."""
    pairs = [ChangeRatio(pair.ratio, None, None) for measure in measures for pair in measure.pairs]
    ends = [ChangeRatio(ratio, None, None) for ratio in margin_ratios(margin)]
    return ratio_range([*(measure.ratio for measure in measures), *pairs, *ends])


def margin_ratios(margin: float) -> tuple[float, float]:
    """The ratios of B to A at the margin's ends."""
    return 1 / (1 + margin), 1 + margin


def _measure_changes(experiment: Experiment, change: Change) -> MeasureChanges:
    pairs = [
        PairChange(number, experiment.pairs[number - 1].first, math.exp(log), relative_of_pair(log))
        for number, log in zip(change.pairs, change.pair_logs, strict=True)
    ]
    interval = change.interval
    ends = (None, None) if interval is None else (1 + interval.low, 1 + interval.high)
    ratio = ChangeRatio(1 + change.relative, *ends)
    name, text = change_name(change), relative(change)
    return MeasureChanges(name, ratio, text, interval_text(change), change.verdict, tuple(pairs))
