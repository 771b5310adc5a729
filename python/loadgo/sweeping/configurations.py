"""The figures of each configuration, from the points of a sweep.

Sums are rounded once, at their end (`math.fsum`). So a figure does not depend on the order in which points are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import polars as pl

from loadgo.stats.interval import Interval
from loadgo.stats.student import student_reach
from loadgo.sweeping.columns import INTERVAL_FIGURES, interval_columns
from loadgo.sweeping.grid import Grid
from loadgo.sweeping.results import Configuration, SweepFigure, point_files

_SHOWN_PROBLEMS = 5
"""Largest number of different reasons that a result lists."""
POINTS_IN_MEMORY = 25_000
"""Largest number of points whose figures are in memory together, unless one configuration has more."""
_FIGURES = (*INTERVAL_FIGURES, "errors")


def configurations_of(portions: Iterable[pl.LazyFrame], grid: Grid) -> tuple[Configuration, ...]:
    """The configurations of points, in the grid's order. No configuration is in two portions."""
    keys = ["machine", *(f"set {key}" for key in grid.settings), "users"]
    aggregates = [pl.col("point").min(), pl.len().alias("points"), pl.col("problem").count().alias("problems")]
    aggregates += [pl.col(name).drop_nulls() for name in _FIGURES]
    # The ends of an interval are used for one point alone.
    aggregates += [pl.col(column).max() for name in INTERVAL_FIGURES for column in interval_columns(name)]
    return tuple(
        _configuration(row, grid)
        for some_points in portions
        for row in some_points.group_by(keys).agg(aggregates).sort("point").collect().iter_rows(named=True)
    )


def portions_of(folder: Path, grid: Grid) -> Iterator[pl.LazyFrame]:
    """The points of a folder that are done, in their order, in portions of whole configurations.

    A portion reads the files of its own batches alone: to open all for each takes longer than to read them.
    """
    files = {int(path.stem): path for path in point_files(folder)}
    seeds, count, batch_points = len(grid.seeds), grid.point_count, grid.batch_points
    portion = seeds * max(POINTS_IN_MEMORY // seeds, 1)
    for first in range(0, count, portion):
        end = min(first + portion, count)
        batches = range(first // batch_points, ceil(end / batch_points))
        own_files = [files[batch] for batch in batches if batch in files]
        if own_files:
            yield pl.scan_parquet(own_files, glob=False).filter(pl.col("point").is_between(first, end, closed="left"))


def problems_of(points: pl.LazyFrame) -> tuple[str, ...]:
    """The first reasons why points could not be computed, each once."""
    reasons = points.filter(pl.col("problem").is_not_null()).select(pl.col("problem")).unique(maintain_order=True)
    return tuple(reasons.head(_SHOWN_PROBLEMS).collect().to_series())


def _configuration(row: dict[str, Any], grid: Grid) -> Configuration:
    known = {name.removesuffix("_s"): figure for name in _FIGURES if (figure := _figure(row, name)) is not None}
    return Configuration(
        machine=row["machine"],
        settings={key: row[f"set {key}"] for key in grid.settings},
        users=row["users"],
        points=row["points"],
        problems=row["problems"],
        figures=known,
    )


def _figure(row: dict[str, Any], name: str) -> SweepFigure | None:
    """The mean over the seeds, with an interval from their scatter; one seed has the interval of its point."""
    values = row[name]
    count = len(values)
    if count <= 1:
        ends = tuple(row.get(column) for column in interval_columns(name))
        interval = None if ends[0] is None or ends[1] is None else Interval(ends[0], ends[1])
        return SweepFigure(values[0], interval, 1, int(math.isinf(values[0]))) if values else None
    mean = math.fsum(values) / count
    never = sum(math.isinf(value) for value in values)
    half = student_reach(count - 1) * _deviation(values, mean) / math.sqrt(count)
    interval = Interval(max(mean - half, 0.0), mean + half) if math.isfinite(half) else None
    return SweepFigure(mean, interval, count, never)


def _deviation(values: Sequence[float], mean: float) -> float:
    """The standard deviation of values around their mean; not finite where a value is infinite."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
