"""Counts of the sampled meters, whose rows are of short windows, for the stretches of the run for which these stand."""

from __future__ import annotations

import polars as pl

_SUMS = ("count", "errors", "faults", "cpu_ns", "wait_ns", "time_ns")
"""Columns of `faults` and `primitives` that grow with the time that is metered."""


def stretched(rows: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """The rows of `faults` or `primitives`, each for the stretch of its window; as they are without `windows`.

    `windows` is the table `meter_windows`. A sum of a stretch is that of its window, times the stretch over the window.
    It is an estimate.
    """
    if windows.is_empty() or rows.is_empty():
        return rows
    keys = [name for name in ("at_ns", "host") if name in rows.columns and name in windows.columns]
    factor = pl.col("stretch_ns") / pl.col("span_ns")
    factors = windows.select(*keys, "stretch_ns", factor=factor).unique(keys, maintain_order=True)
    joined = rows.join(factors, on=keys, how="left", maintain_order="left")
    sums = [
        (pl.col(name) * pl.col("factor").fill_null(1.0)).round().cast(rows.schema[name])
        for name in _SUMS
        if name in rows.columns
    ]
    span = pl.col("stretch_ns").fill_null(pl.col("span_ns")).cast(rows.schema["span_ns"]).alias("span_ns")
    return joined.with_columns(*sums, span).drop("factor", "stretch_ns")
