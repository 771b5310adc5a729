"""Compares single figures of both sides: means, p90, rates, mixes and correlations, with intervals over sessions.

Sessions are drawn again, since commands of one session are not independent (Efron and Tibshirani, An Introduction to
the Bootstrap, 1993, chapter 8). Those that were observed and those of the run are drawn by themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.notation.margin import is_within_margin
from loadgo.observation.likeness.results import (
    ComparedCorrelation,
    ComparedDistribution,
    ComparedFigure,
    ComparedMix,
    FiguresOf,
    Measure,
    Statistic,
    Verdict,
)
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.distances import DISTANCE_REPLICATES, Clustered, distance_of_shares, distance_of_values
from loadgo.stats.rank_correlation import rank_correlations
from loadgo.stats.resample import (
    FEWEST_UNITS,
    MOST_GROUPS,
    Floats,
    Interval,
    difference_interval,
    drawn,
    grouped,
    interval_of,
)

FEWEST_VALUES = 10
"""Fewest values on each side of a figure that is judged. A p90 of fewer would be their maximum."""
_SEEDS = (17, 74)
"""The sessions of both sides are drawn by themselves."""
_P90_SHARE = 0.9
_WIDE_RANGE_RATIO = 1.2
"""A figure of which rounding hides so much is no figure to differ from."""
_MOST_CORRELATED_RUNS = 5_000
"""Most runs of a command of which a correlation is computed: those of evenly spaced sessions."""


@dataclass(frozen=True)
class Place:
    """The place of a figure: what it depends on, whose it is, and of which command."""

    depends_on: FiguresOf
    user_class: str
    command: str
    measure: Measure


def values_of(rows: pl.DataFrame, column: str) -> Clustered:
    """The known values of a column, with their sessions."""
    known = rows.select(pl.col(column).fill_null(float("nan")), "session")
    return Clustered.of(known[column].to_numpy(), known["session"].to_numpy())


def compared_values(
    place: Place, observed: Clustered, run: Clustered, margin: float, most: Clustered | None = None
) -> list[ComparedFigure]:
    """The mean and the p90 of values. `most` are the observed ones with all that rounding may hide."""
    sides = _statistics(observed, _SEEDS[0]), _statistics(run, _SEEDS[1])
    tops = sides[0] if most is None else _statistics(most, _SEEDS[0])
    units, counts = (observed.units, run.units), (len(observed.values), len(run.values))
    return [
        compared_figure(
            place, statistic, counts, (sides[0][statistic], tops[statistic], sides[1][statistic]), units, margin
        )
        for statistic in sides[0]
        if statistic in sides[1]
    ]


def compared_figure(
    place: Place,
    statistic: Statistic,
    counts: tuple[int, int],
    resamples: tuple[Floats, Floats, Floats],
    units: tuple[int, int],
    margin: float,
) -> ComparedFigure:
    """A figure from its resamples: observed, observed at most, and in the run, each behind its estimate."""
    before, most, after = resamples
    low, high, run_figure = float(before[0]), float(most[0]), float(after[0])
    relative = _relative(low, high, run_figure)
    interval = _relative_interval(before, most, after, units) if relative is not None else None
    return ComparedFigure(
        depends_on=place.depends_on,
        user_class=place.user_class,
        command=place.command,
        measure=place.measure,
        statistic=statistic,
        counts=counts,
        observed=low,
        observed_most=high,
        run=run_figure if np.isfinite(run_figure) else None,
        relative=relative,
        interval=interval,
        verdict="few" if min(counts) < FEWEST_VALUES or min(units) < FEWEST_UNITS else _verdict(interval, margin),
    )


def _relative(low: float, high: float, value: float) -> float | None:
    """The difference from an observed figure; from a range of rounding that from its nearest end.

    Within a narrow range it is 0. Within a wide one it cannot be told.
    """
    if high <= 0 or not np.isfinite(value) or (low <= value <= high and high > _WIDE_RANGE_RATIO * low):
        return None
    nearest = min(max(value, low), high)
    return value / nearest - 1 if nearest > 0 else 0.0


def _relative_interval(before: Floats, most: Floats, after: Floats, units: tuple[int, int]) -> Interval | None:
    """The interval of the relative difference: from that against the largest possible figure to the smallest.

    It has no end above where the smallest possible figure is 0.
    """
    if min(units) < FEWEST_UNITS or not len(before) == len(most) == len(after) or most[0] <= 0:
        return None
    ends = [difference_interval(each, after, units, paired=False) for each in (before, most)]
    if ends[0] is None or ends[1] is None:
        return None
    low = ends[1].low / float(most[0])
    return Interval(low, ends[0].high / float(before[0]) if before[0] > 0 else math.inf)


def _verdict(interval: Interval | None, margin: float) -> Verdict:
    if interval is None:
        return "unclear"
    if is_within_margin(interval.low, interval.high, margin):
        return "alike"
    is_beyond = interval.low > margin or interval.high < 1 / (1 + margin) - 1
    return "differs" if is_beyond else "unclear"


def mean_replicates(side: Clustered, seed: int) -> Floats:
    """The mean in the sample, and behind it in the resamples of its sessions."""
    weights = drawn(side.units, seed, DISTANCE_REPLICATES)
    sums, counts = (
        grouped(np.bincount(side.owners, part, side.units).astype(np.float64))
        for part in (side.values, np.ones(len(side.values)))
    )
    means: Floats = (weights @ sums) / (weights @ counts)
    return means


def _statistics(side: Clustered, seed: int) -> dict[Statistic, Floats]:
    """The mean, and the p90 of enough values, each in the sample and in the resamples of its sessions."""
    statistics: dict[Statistic, Floats] = {"mean": mean_replicates(side, seed)}
    if len(side.values) >= FEWEST_VALUES:
        weights = drawn(side.units, seed, DISTANCE_REPLICATES)
        order = np.argsort(side.values, kind="stable")
        ordered = quantile_replicates(side.values[order], side.owners[order], weights, [_P90_SHARE])
        statistics["p90"] = ordered[0]
    return statistics


def compared_distribution(
    place: Place, observed: Clustered, run: Clustered, most: Clustered | None = None
) -> ComparedDistribution | None:
    """The mean distance of the quantiles, as a share of the observed mean; None where that is 0.

    The interval holds what rounding may hide: `most` are the observed values with all of that.
    """
    mean = float(observed.values.mean())
    if mean <= 0:
        return None
    distance = distance_of_values(observed, run)
    ends, hidden = distance.interval, 0.0 if most is None else float(most.values.mean()) - mean
    return ComparedDistribution(
        place.user_class,
        place.command,
        place.measure,
        (len(observed.values), len(run.values)),
        distance.value / mean,
        None if ends is None else Interval(max(ends.low - hidden, 0.0) / mean, (ends.high + hidden) / mean),
    )


def compared_correlation(
    place: Place, second_column: str, observed: pl.DataFrame, run: pl.DataFrame
) -> ComparedCorrelation | None:
    """The rank correlation of processor time and another figure; None with too few runs where both are known."""
    sides = [
        rows.filter(pl.col("cpu_ns").is_not_null() & pl.col(second_column).is_not_null()) for rows in (observed, run)
    ]
    if min(map(len, sides)) < 2 * FEWEST_VALUES:
        return None
    estimates = [_correlation(rows, second_column, seed) for rows, seed in zip(sides, _SEEDS, strict=True)]
    return ComparedCorrelation(
        place.user_class,
        place.command,
        "page faults" if second_column == "faults" else "waiting",
        (len(sides[0]), len(sides[1])),
        *estimates[0],
        *estimates[1],
    )


def _correlation(rows: pl.DataFrame, second_column: str, seed: int) -> tuple[float | None, Interval | None]:
    step = -(-len(rows) // _MOST_CORRELATED_RUNS)
    rows = rows.filter(pl.col("session").rank("dense") % step == 0)
    first = values_of(rows, "cpu_ns")
    replicates = rank_correlations(first.values, rows[second_column].to_numpy(), first.owners, first.units, seed)
    if not np.isfinite(replicates[0]):
        return None, None
    ends = interval_of(replicates, first.units)
    interval = None if ends is None else Interval(max(ends.low, -1.0), min(ends.high, 1.0))
    return float(replicates[0]), interval


def compared_mix(
    user_class: str, what: str, observed: pl.DataFrame, run: pl.DataFrame, margin: float
) -> ComparedMix | None:
    """The share of commands that differ, or of pairs: rows with the columns `session`, `command`, and `before`."""
    is_pairs = what == "pairs of commands"
    if observed.is_empty() or run.is_empty():
        return None
    keys = ["before", "command"] if is_pairs else ["command"]
    names = pl.concat([observed.select(keys), run.select(keys)]).unique(maintain_order=True).with_row_index("cell")
    counts = [_counts(rows.join(names, on=keys), len(names)) for rows in (observed, run)]
    distance = distance_of_shares(counts[0], counts[1])
    sizes = (len(observed), len(run))
    is_few = distance.interval is None or min(sizes) < FEWEST_VALUES
    return ComparedMix(
        user_class,
        "pairs of commands" if is_pairs else "commands",
        sizes,
        distance.value,
        distance.interval,
        "few" if is_few else _mix_verdict(distance.interval, margin),
    )


def _mix_verdict(interval: Interval | None, margin: float) -> Verdict:
    if interval is None:
        return "few"
    return "alike" if interval.high <= margin else "differs" if interval.low > margin else "unclear"


def _counts(rows: pl.DataFrame, cells: int) -> Floats:
    """The numbers of each cell in columns, with a row for each session, or group of sessions if there are many."""
    _, numbers = np.unique(rows["session"].to_numpy(), return_inverse=True)
    sessions = numbers % MOST_GROUPS
    count = int(sessions.max()) + 1
    flat = np.bincount(sessions * cells + rows["cell"].to_numpy().astype(np.int64), minlength=count * cells)
    return flat.reshape(count, cells).astype(np.float64)
