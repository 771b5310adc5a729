"""Series of a window: a value for each column, from rows that cover a span each."""

from __future__ import annotations

import numpy as np
import polars as pl

from loadgo.measures.total_time import is_busy
from loadgo.stats.resample import Floats


def rows_in_window(frame: pl.DataFrame, edges: Floats) -> pl.DataFrame:
    """The rows whose span overlaps the window. A window shorter than a span has the figures of the span."""
    begun = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    return frame.filter((pl.col("at_ns") > edges[0]) & (begun < edges[-1]))


def column_of(edges: Floats) -> pl.Expr:
    """The column in which a row's span begins, or the first one."""
    begun = pl.col("at_ns").cast(pl.Float64) - pl.col("span_ns").cast(pl.Float64)
    position: pl.Expr = (begun - edges[0]) / (edges[1] - edges[0])
    return position.floor().clip(0, len(edges) - 2).cast(pl.Int64).alias("column")


def filled_series(frame: pl.DataFrame, name: str, edges: Floats, rows: pl.DataFrame) -> Floats:
    """A value for each column. Where spans are longer than columns, a value fills the columns up to the next value."""
    values = np.full(len(edges) - 1, np.nan)
    for column, value in frame.select("column", name).rows():
        values[column] = value
    filled = np.flatnonzero(~np.isnan(values))
    if len(filled):
        last_ns = float(rows["at_ns"].max() or 0)  # type: ignore[arg-type]
        end_column = max(round((last_ns - edges[0]) / (edges[1] - edges[0])), int(filled[-1]) + 1)
        for begin, next_begin in zip(filled, [*filled[1:], end_column], strict=True):
            values[begin:next_begin] = values[begin]
    return values


def mean_series(frame: pl.DataFrame, value: str, edges: Floats) -> Floats:
    """The mean of the column `value` in each column of the window."""
    rows = rows_in_window(frame, edges)
    means = rows.group_by(column_of(edges)).agg(pl.col(value).mean().alias("mean")).sort("column")
    return filled_series(means, "mean", edges, rows)


def busy_series(time: pl.DataFrame, edges: Floats) -> Floats:
    """The busy share of the processors' time in each column of the window."""
    category = pl.col("category").cast(pl.String)
    busy_categories = [name for name in time.select(category.unique()).to_series() if is_busy(name)]
    busy = pl.when(category.is_in(busy_categories)).then(pl.col("time_ns")).otherwise(0).sum()
    sums = time.group_by(column_of(edges)).agg(busy.alias("busy"), pl.col("time_ns").sum()).sort("column")
    return filled_series(sums.with_columns(share=pl.col("busy") / pl.col("time_ns")), "share", edges, time)
