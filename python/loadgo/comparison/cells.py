"""Sums of one side's interactions by unit of resampling and by row, and the mean of each row in each resample.

Units are users, runs or stretches of time. Users of one machine wait for each other, so the waits of one user depend on
all users of that time. With stretches, a row's mean in a resample is its estimate plus the mean residual of the
stretches in the resample. Every resample then has every row, and differences between commands do not widen the
interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.comparison.side import COMPARED_MEASURES
from loadgo.comparison.two_way import MOST_COUNT_STRETCHES, Spread, spread_of_counts
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.quantiles import samples_needed
from loadgo.stats.resample import Floats, Integers, drawn, grouped, stretch_count


@dataclass(frozen=True)
class Cells:
    """By measure, the sums and the numbers of interactions of each unit in each row, of shape (units, rows)."""

    sums: Mapping[str, Floats]
    counts: Mapping[str, Floats]
    squares: Mapping[str, Floats]
    """By measure, the sum of the squared distances from the mean of the row, of shape (rows,)."""
    units: int
    unit_indices: Integers
    """The index of the unit of each interaction in the frame."""


@dataclass(frozen=True)
class ResampledRows:
    """A side's rows in each resample, the estimate first."""

    means: Mapping[str, Floats]
    """The means by measure, of shape (resamples, rows)."""
    squares: Mapping[str, Floats]
    """By measure, the sum of the squared distances of the interactions from the mean of the row."""
    counts: Mapping[str, Floats]
    """By measure, the number of interactions of each row."""
    weights: Floats
    units: int
    unit_indices: Integers


def with_stretches(frame: pl.DataFrame, waits: float = math.inf) -> pl.DataFrame:
    """Adds the column `stretch`: the stretch of its run in which each line was sent. A run lasts `waits` mean waits."""
    count = stretch_count(len(frame) // max(frame["run"].n_unique(), 1), waits)
    index = (pl.col("moment") * count).floor().clip(0, count - 1).cast(pl.Int64)
    return frame.with_columns(stretch=pl.col("run") * count + index)


def in_counterpart_stretches(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Moves each interaction of `frame` to the stretch of its counterpart in `other`, if it has a counterpart."""
    keys = ["run", "user", "pass", "line"]
    counterparts = other.group_by(keys).agg(pl.col("stretch").first().alias("counterpart"))
    joined = frame.join(counterparts, on=keys, how="left", maintain_order="left")
    return joined.with_columns(stretch=pl.coalesce("counterpart", "stretch")).drop("counterpart")


def count_spreads(
    frames: Sequence[pl.DataFrame], fixed_spans: tuple[bool, bool], waits: float
) -> tuple[Spread | None, Spread | None]:
    """The spread of each side's number of interactions, by counts in stretches. `fixed_spans`: runs of a fixed time."""
    before, after = (
        spread_of_counts(
            frame["moment"].to_numpy(),
            frame["end"].to_numpy(),
            frame["run"].to_numpy(),
            None if is_fixed else frame["user"].to_numpy(),
            stretch_count(len(frame) // max(frame["run"].n_unique(), 1), waits, MOST_COUNT_STRETCHES),
        )
        for frame, is_fixed in zip(frames, fixed_spans, strict=True)
    )
    return before, after


def cells_of(frame: pl.DataFrame, unit: str, rows: int) -> Cells:
    """The cells of a frame with the columns `row` and `unit` (whole numbers, in any order)."""
    units, unit_indices = np.unique(frame[unit].to_numpy(), return_inverse=True)
    row_indices = frame["row"].to_numpy()
    cell_indices = unit_indices * rows + row_indices

    def summed(weights: Floats) -> Floats:
        cells: Floats = np.bincount(cell_indices, weights, len(units) * rows).astype(np.float64)
        return cells.reshape(len(units), rows)

    sums, counts, squares = {}, {}, {}
    for name in COMPARED_MEASURES:
        if frame[name].count():
            values = frame[name].to_numpy()
            is_known = np.isfinite(values)
            sums[name], counts[name] = summed(np.where(is_known, values, 0.0)), summed(is_known.astype(np.float64))
            means = sums[name].sum(axis=0) / np.maximum(counts[name].sum(axis=0), 1.0)
            distances = np.where(is_known, values - means[row_indices], 0.0)
            squares[name] = np.bincount(row_indices, distances**2, rows).astype(np.float64)
    return Cells(sums, counts, squares, len(units), unit_indices)


def paired_cells(a: Cells, b: Cells) -> tuple[Cells, Cells]:
    """Clears the cells of paired units that only one side has."""

    def masked(cells: Cells, other: Cells) -> Cells:
        counts = cells.counts
        on_both = {name: (counts[name] > 0) & (other.counts.get(name, counts[name]) > 0) for name in cells.sums}
        return Cells(
            {name: cells.sums[name] * on_both[name] for name in cells.sums},
            {name: counts[name] * on_both[name] for name in cells.sums},
            cells.squares,
            cells.units,
            cells.unit_indices,
        )

    return masked(a, b), masked(b, a)


def _resampled(cells: Cells, means: Mapping[str, Floats], weights: Floats) -> ResampledRows:
    row_counts = {name: cells.counts[name].sum(axis=0) for name in cells.sums}
    return ResampledRows(means, cells.squares, row_counts, weights, cells.units, cells.unit_indices)


def by_unit(cells: Cells, seed: int) -> ResampledRows:
    """Resamples whole units and computes the rows' means. The same seed draws the same units."""
    weights = drawn(cells.units, seed)
    means = {}
    for name in cells.sums:
        with np.errstate(invalid="ignore", divide="ignore"):
            means[name] = (weights @ grouped(cells.sums[name])) / (weights @ grouped(cells.counts[name]))
    return _resampled(cells, means, weights)


def by_stretch(cells: Cells, estimates: Mapping[str, Floats], strata: Integers, seed: int) -> ResampledRows:
    """Resamples stretches of time and computes the rows' means around `estimates`.

    `strata` are the commands of the rows, numbered from 0. A residual is the difference from the mean of the command
    over all its lines and passes. All users type a line of a pass at about the same time. A difference from that line's
    own mean would therefore hide the load at that time.
    """
    weights = drawn(cells.units, seed)
    means = {}
    for name, estimate in estimates.items():
        if name not in cells.sums:
            continue
        counts = cells.counts[name]
        command_sums = np.bincount(strata, weights=cells.sums[name].sum(axis=0))
        command_counts = np.bincount(strata, weights=counts.sum(axis=0))
        command_means = command_sums / np.maximum(command_counts, 1.0)
        residuals = cells.sums[name] - counts * command_means[strata]
        row_counts = np.maximum(counts.sum(axis=0), 1.0)
        means[name] = estimate + (weights @ grouped(residuals) - residuals.sum(axis=0)) / row_counts
    return _resampled(cells, means, weights)


def quantiles_of(frame: pl.DataFrame, side: ResampledRows, probabilities: Sequence[float]) -> list[Floats | None]:
    """Quantiles of the response time over all rows in each resample. None for a quantile that needs more rows.

    A line that was never answered ranks last.
    """
    has_responses = frame["response"].count() > 0
    possible = [one for one in probabilities if has_responses and len(frame) >= samples_needed(one)]
    if not possible:
        return [None for _ in probabilities]
    values = frame["response"].fill_null(np.inf).to_numpy()
    order = np.argsort(values, kind="stable")
    quantiles = iter(quantile_replicates(values[order], side.unit_indices[order], side.weights, possible))
    return [next(quantiles) if probability in possible else None for probability in probabilities]
