"""Counts of the sampled meters, whose rows are of short windows, for the stretches of the run for which these stand."""

from __future__ import annotations

import polars as pl

METERED_SUMS = ("count", "errors", "faults", "cpu_ns", "wait_ns", "time_ns")
"""Columns of `faults` and `primitives` that grow with the time that is metered."""


def stretched(rows: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """The rows of `faults` or `primitives`, each for a part of the run; as they are without `windows`.

    `windows` is the table `meter_windows`. The part of a window reaches halfway to its neighbours, so that parts
    neither overlap nor leave gaps. A sum of a part is an estimate: that of its window, times the part over the window.
    """
    if windows.is_empty() or rows.is_empty():
        return rows
    keys = [name for name in ("at_ns", "host") if name in rows.columns and name in windows.columns]
    parts = window_parts(windows).rename({"at_ns": "part_at_ns", "span_ns": "part_ns", "window_at_ns": "at_ns"})
    joined = rows.join(parts, on=keys, how="left", maintain_order="left")
    factor = (pl.col("part_ns") / pl.col("window_ns")).fill_null(1.0)
    sums = [(pl.col(name) * factor).round().cast(rows.schema[name]) for name in METERED_SUMS if name in rows.columns]
    placed = [
        pl.coalesce("part_ns", "span_ns").cast(rows.schema["span_ns"]).alias("span_ns"),
        pl.coalesce("part_at_ns", "at_ns").cast(rows.schema["at_ns"]).alias("at_ns"),
    ]
    return joined.with_columns(*sums, *placed).select(rows.columns)


def window_parts(windows: pl.DataFrame) -> pl.DataFrame:
    """The part of the run for which each window stands, from the half way to its neighbours.

    Columns: window_at_ns and window_ns (the window's end and length), at_ns and span_ns (those of the part), and host.
    """
    over = [name for name in ("host",) if name in windows.columns]
    middle = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64) // 2
    half = pl.col("stretch_ns").cast(pl.Int64) // 2
    ordered = windows.unique([*over, "at_ns"]).sort(*over, "at_ns").with_columns(middle=middle)
    before, after = (pl.col("middle").shift(by).over(over) if over else pl.col("middle").shift(by) for by in (1, -1))
    first, last = pl.max_horizontal(pl.col("middle") - half, 0), pl.col("middle") + half
    bounds = ordered.with_columns(
        begins=((pl.col("middle") + before) // 2).fill_null(first),
        ends=((pl.col("middle") + after) // 2).fill_null(last),
    )
    return bounds.select(
        *over,
        window_at_ns=pl.col("at_ns"),
        window_ns=pl.col("span_ns"),
        at_ns=pl.col("ends").cast(pl.UInt64),
        span_ns=(pl.col("ends") - pl.col("begins")).cast(pl.UInt64),
    )
