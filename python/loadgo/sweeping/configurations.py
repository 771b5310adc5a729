"""The figures of each configuration, from the points of a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from loadgo.stats.resample import Interval
from loadgo.stats.student import student_reach
from loadgo.sweeping.columns import INTERVAL_FIGURES, interval_columns
from loadgo.sweeping.grid import Grid
from loadgo.sweeping.results import Configuration, SweepFigure

_SHOWN_PROBLEMS = 5
"""Largest number of different reasons that a result lists."""


def configurations_of(points: pl.LazyFrame, grid: Grid) -> tuple[Configuration, ...]:
    """The configurations of the points that are done, in the grid's order."""
    if "machine" not in points.collect_schema():
        return ()
    keys = ["machine", *(f"set {key}" for key in grid.settings), "users"]
    figures = (*INTERVAL_FIGURES, "errors")
    aggregates = [pl.col("point").min(), pl.len().alias("points"), pl.col("problem").count().alias("problems")]
    for name in figures:
        aggregates += [
            pl.col(name).mean(),
            pl.col(name).std().alias(f"{name} spread"),
            pl.col(name).count().alias(f"{name} count"),
        ]
    aggregates += [pl.col(column).mean() for name in INTERVAL_FIGURES for column in interval_columns(name)]
    rows = points.group_by(keys).agg(aggregates).sort("point").collect(engine="streaming")
    return tuple(_configuration(row, grid, figures) for row in rows.iter_rows(named=True))


def problems_of(points: pl.LazyFrame) -> tuple[str, ...]:
    """The first reasons why points could not be computed, each once."""
    if "problem" not in points.collect_schema():
        return ()
    reasons = points.filter(pl.col("problem").is_not_null()).select(pl.col("problem")).unique(maintain_order=True)
    return tuple(reasons.head(_SHOWN_PROBLEMS).collect().to_series())


def _configuration(row: dict[str, Any], grid: Grid, figures: Sequence[str]) -> Configuration:
    known = {name.removesuffix("_s"): figure for name in figures if (figure := _figure(row, name)) is not None}
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
    value, count = row[name], row[f"{name} count"]
    if value is None or not count:
        return None
    if count == 1:
        low, high = (row.get(column) for column in interval_columns(name))
        return SweepFigure(value, None if low is None or high is None else Interval(low, high))
    half = student_reach(count - 1) * row[f"{name} spread"] / math.sqrt(count)
    return SweepFigure(value, Interval(max(value - half, 0.0), value + half) if math.isfinite(half) else None)
