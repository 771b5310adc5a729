"""Totals of the events that the sampled meters clocked in windows, estimated for the whole stretch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from loadgo.measures.event_totals import EventTotals, event_totals
from loadgo.measures.window_sample import WindowSample


def sampled_totals(rows: pl.DataFrame, sample: WindowSample) -> tuple[EventTotals, ...]:
    """The totals by `name`, as `event_totals` has them of rows of the whole stretch, with the errors of the counts.

    A duration of an event is known where the event began and ended in one window. An event of that duration does so the
    more rarely the longer it is, which is made up for. Longer ones than a window are those that remain of the count.
    """
    within = rows.join(sample.factor_frame(), on="at_ns", how="inner", maintain_order="left")
    totals = event_totals(_weighted(within))
    sums = within.filter(pl.col("bucket_ns").is_null())
    counts, times = (_by_window(sums, column) for column in ("count", "cpu_ns"))
    return tuple(_with_errors(row, sample, counts.get(row.name, {}), times.get(row.name, {})) for row in totals)


def _with_errors(
    row: EventTotals, sample: WindowSample, counts: Mapping[int, float], times: Mapping[int, float]
) -> EventTotals:
    count, cpu = sample.estimate(counts), sample.estimate(times)
    return replace(
        row,
        count_error=None if count.error is None else round(count.error),
        cpu_error_ns=None if row.cpu_ns is None or cpu.error is None else round(cpu.error),
    )


def _by_window(sums: pl.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """The sums of a column by name and by window."""
    by_name: dict[str, dict[int, float]] = {}
    grouped = sums.group_by("name", "at_ns").agg(pl.col(column).sum())
    for name, at, value in grouped.iter_rows():
        by_name.setdefault(str(name), {})[int(at)] = float(value or 0)
    return by_name


def _weighted(within: pl.DataFrame) -> pl.DataFrame:
    """Rows for the whole stretch: sums, buckets of known durations, and one bucket of events longer than a window."""
    longer = pl.col("window_ns") / (pl.col("window_ns") - pl.col("bucket_ns").fill_null(0)).clip(lower_bound=1.0)
    weight = pl.col("factor") * pl.when(pl.col("bucket_ns").is_null()).then(1.0).otherwise(longer)
    sums = ("count", "errors", "faults", "cpu_ns", "wait_ns", "time_ns")
    grouped = (
        within.with_columns(weight=weight)
        .group_by("name", "bucket_ns", maintain_order=True)
        .agg(
            *(
                pl.when(pl.col(name).count() > 0).then((pl.col(name) * pl.col("weight")).sum()).alias(name)
                for name in sums
            )
        )
    )
    rounded = grouped.with_columns(pl.col(name).round().cast(pl.UInt64) for name in sums)
    return pl.concat([rounded, _unseen_durations(rounded, int(within["window_ns"].cast(pl.Int64).min() or 0))])  # type: ignore[arg-type]


def _unseen_durations(rows: pl.DataFrame, window_ns: int) -> pl.DataFrame:
    """A bucket for the events of each name whose durations no window shows: they took longer than one."""
    known = rows.filter(pl.col("bucket_ns").is_not_null()).group_by("name").agg(seen=pl.col("count").sum())
    counted = rows.filter(pl.col("bucket_ns").is_null()).join(known, on="name", how="inner")
    rest = counted.filter(pl.col("count") > pl.col("seen"))
    empty = [pl.lit(None, pl.UInt64).alias(name) for name in ("errors", "faults", "cpu_ns", "wait_ns", "time_ns")]
    return rest.with_columns(
        *empty, count=pl.col("count") - pl.col("seen"), bucket_ns=pl.lit(window_ns, pl.UInt64)
    ).select(rows.columns)
