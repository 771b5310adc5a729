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


def mean_series(frame: pl.DataFrame, edges: Floats) -> Floats:
    """The mean of the column `value` in each column of the window."""
    rows = rows_in_window(frame, edges)
    means = rows.group_by(column_of(edges)).agg(pl.col("value").mean().alias("mean")).sort("column")
    return filled_series(means, "mean", edges, rows)


SHORTEST_BIN_NS = 1_000_000_000
BIN_ANSWERS = 10
"""Mean number of answers in a bin of a count of answers. With fewer, the series shows the scatter of think times."""
FEWEST_BINS = 6
"""Bins of a window with few answers, if each is then as long as `SHORTEST_BIN_NS`."""


def bins_of(answers_a_ns: float, width_ns: float, columns: int) -> int:
    """Number of bins for counts of answers in a window, as page/figures.js has it; never more than `columns`."""
    most = width_ns / SHORTEST_BIN_NS
    bins = max(min(most, answers_a_ns * width_ns / BIN_ANSWERS), min(most, FEWEST_BINS))
    return max(1, min(columns, int(bins)))


def binned_rates(moments_ns: Floats, weights: Floats, edges: Floats, bins: int) -> Floats:
    """The sum of `weights` a second for each column of the window, counted in `bins` bins of equal length."""
    bin_edges = np.linspace(edges[0], edges[-1], bins + 1)
    places = np.clip(np.searchsorted(bin_edges, moments_ns, side="left") - 1, 0, bins - 1)
    sums = np.append(0.0, np.cumsum(np.bincount(places, weights, bins)))
    rates: Floats = np.diff(np.interp(edges, bin_edges, sums)) / np.diff(edges) * 1e9
    return rates


def busy_series(time: pl.DataFrame, edges: Floats) -> Floats:
    """The busy share of the processors' time in each column of the window."""
    category = pl.col("category").cast(pl.String)
    busy_categories = [name for name in time.select(category.unique()).to_series() if is_busy(name)]
    busy = pl.when(category.is_in(busy_categories)).then(pl.col("time_ns")).otherwise(0).sum()
    sums = time.group_by(column_of(edges)).agg(busy.alias("busy"), pl.col("time_ns").sum()).sort("column")
    return filled_series(sums.with_columns(share=pl.col("busy") / pl.col("time_ns")), "share", edges, time)
