"""The interactions of one side, laid out by what is drawn again and by row, and the means of each row in every draw.

Drawn are users (or whole runs), and stretches of time: users of one machine wait for each other, so that what one of
them met tells of all who were there then. A row's mean in a draw of stretches is its estimate and the drawn stretches'
residuals over the row's interactions: no draw is without a row, and what differs between commands is no spread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.comparison.side import MEASURES
from loadgo.stats.cluster_bootstrap import quantile_replicates
from loadgo.stats.resample import Floats, Integers, drawn, grouped, stretch_count


@dataclass(frozen=True)
class Cells:
    """What each unit took in each row: by measure sums and numbers of interactions, of shape (units, rows)."""

    sums: Mapping[str, Floats]
    counts: Mapping[str, Floats]
    units: int
    numbers: Integers
    """The unit of each interaction of the frame, numbered from 0."""


@dataclass(frozen=True)
class Drawn:
    """A side's rows in every draw: the estimate first."""

    means: Mapping[str, Floats]
    """By measure, of shape (draws, rows)."""
    weights: Floats
    units: int
    numbers: Integers


def with_stretches(frame: pl.DataFrame, waits: float = math.inf) -> pl.DataFrame:
    """`frame` with the column `stretch`: in which stretch of its run, of `waits` mean waits, each line was sent."""
    count = stretch_count(len(frame) // max(frame["run"].n_unique(), 1), waits)
    place = (pl.col("moment") * count).floor().clip(0, count - 1).cast(pl.Int64)
    return frame.with_columns(stretch=pl.col("run") * count + place)


def mirrored(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """`frame` with each interaction in the stretch of its counterpart in `other`; its own where it has none."""
    places = ["run", "user", "pass", "line"]
    theirs = other.group_by(places).agg(pl.col("stretch").first().alias("theirs"))
    joined = frame.join(theirs, on=places, how="left", maintain_order="left")
    return joined.with_columns(stretch=pl.coalesce("theirs", "stretch")).drop("theirs")


def cells_of(frame: pl.DataFrame, unit: str, rows: int) -> Cells:
    """The cells of a frame with the columns `row` and `unit` (whole numbers, in any order)."""
    units, numbers = np.unique(frame[unit].to_numpy(), return_inverse=True)
    at = numbers * rows + frame["row"].to_numpy()

    def laid(weights: Floats) -> Floats:
        cells: Floats = np.bincount(at, weights, len(units) * rows).astype(np.float64)
        return cells.reshape(len(units), rows)

    sums, counts = {}, {}
    for name in MEASURES:
        if frame[name].count():
            values = frame[name].to_numpy()
            there = np.isfinite(values)
            sums[name], counts[name] = laid(np.where(there, values, 0.0)), laid(there.astype(np.float64))
    return Cells(sums, counts, len(units), numbers)


def both_there(a: Cells, b: Cells) -> tuple[Cells, Cells]:
    """Paired units: one counts in a row only where both sides have it there."""

    def masked(own: Cells, other: Cells) -> Cells:
        there = {name: (own.counts[name] > 0) & (other.counts.get(name, own.counts[name]) > 0) for name in own.sums}
        return Cells(
            {name: own.sums[name] * there[name] for name in own.sums},
            {name: own.counts[name] * there[name] for name in own.sums},
            own.units,
            own.numbers,
        )

    return masked(a, b), masked(b, a)


def by_unit(cells: Cells, seed: int) -> Drawn:
    """The rows' means with whole units drawn again; the same seed draws the same units."""
    weights = drawn(cells.units, seed)
    means = {}
    for name in cells.sums:
        with np.errstate(invalid="ignore", divide="ignore"):
            means[name] = (weights @ grouped(cells.sums[name])) / (weights @ grouped(cells.counts[name]))
    return Drawn(means, weights, cells.units, cells.numbers)


def by_stretch(cells: Cells, estimates: Mapping[str, Floats], strata: Integers, seed: int) -> Drawn:
    """The rows' means with stretches of time drawn again, about the `estimates` of each row; `strata` are the rows'
    commands, numbered from 0.

    Residuals are from the mean of the command, wherever in the script it is: a line of one pass is typed by all users
    at about the same time, and its own mean would hide what that time was like.
    """
    weights = drawn(cells.units, seed)
    means = {}
    for name, estimate in estimates.items():
        if name not in cells.sums:
            continue
        counts = cells.counts[name]
        took, there = (np.bincount(strata, weights=part.sum(axis=0)) for part in (cells.sums[name], counts))
        residuals = cells.sums[name] - counts * (took / np.maximum(there, 1.0))[strata]
        each = np.maximum(counts.sum(axis=0), 1.0)
        means[name] = estimate + (weights @ grouped(residuals) - residuals.sum(axis=0)) / each
    return Drawn(means, weights, cells.units, cells.numbers)


def quantiles_of(frame: pl.DataFrame, side: Drawn, probabilities: Sequence[float]) -> list[Floats | None]:
    """Quantiles of response over all rows in every draw, a line that was never answered ranking last; None of too few
    rows.
    """
    asked = [at for at in probabilities if frame["response"].count() and len(frame) * (1 - at) >= 1]
    if not asked:
        return [None for _ in probabilities]
    values = frame["response"].fill_null(np.inf).to_numpy()
    order = np.argsort(values, kind="stable")
    found = iter(quantile_replicates(values[order], side.numbers[order], side.weights, asked))
    return [next(found) if at in asked else None for at in probabilities]
