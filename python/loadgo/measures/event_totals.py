"""Totals of the events of one name: their number, their times, and quantiles from a histogram.

A quantile is the lower end of the histogram's bucket in which it lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

_QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99}


@dataclass(frozen=True)
class EventTotals:
    """Totals of the faults of one kind, the system calls of one name, or the interrupts of one device.

    None means not measured.
    """

    name: str
    count: int
    errors: int | None
    """Number of failed events."""
    faults: int | None
    """Number of page faults within the events."""
    cpu_ns: int | None
    """Processor time of all events."""
    wait_ns: int | None
    """Wait of all events, in which they used no processor."""
    time_ns: int | None
    """Time from beginning to end, of all events."""
    mean_ns: float | None
    """Mean time from beginning to end."""
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    count_error: int | None = None
    """Half of the 95 % interval of `count`, where windows estimate it; None where all events were counted."""
    cpu_error_ns: int | None = None
    """Half of the 95 % interval of `cpu_ns`, likewise."""


def event_totals(rows: pl.DataFrame) -> tuple[EventTotals, ...]:
    """Sums and quantiles by `name`, in the order of the rows, which have the columns of `_timed_faults`."""
    if rows.is_empty():  # a list of a thousand runs without meters must not pay for queries on nothing
        return ()
    sums = (
        rows.filter(pl.col("bucket_ns").is_null())
        .group_by("name", maintain_order=True)
        .agg(
            pl.col("count").sum(),
            *(measured_sum(column) for column in ("errors", "faults", "cpu_ns", "wait_ns", "time_ns")),
        )
    )
    quantiles = _quantiles(rows.filter(pl.col("bucket_ns").is_not_null()))
    return tuple(_event_row(row, quantiles.get(row["name"], {})) for row in sums.iter_rows(named=True))


def _event_row(row: Mapping[str, Any], quantiles: Mapping[str, int]) -> EventTotals:
    count, time_ns = int(row["count"]), row["time_ns"]
    return EventTotals(
        name=str(row["name"]),
        count=count,
        errors=row["errors"],
        faults=row["faults"],
        cpu_ns=row["cpu_ns"],
        wait_ns=row["wait_ns"],
        time_ns=time_ns,
        mean_ns=time_ns / count if count and time_ns is not None else None,
        p50_ns=quantiles.get("p50_ns"),
        p90_ns=quantiles.get("p90_ns"),
        p99_ns=quantiles.get("p99_ns"),
    )


def most_time_first(rows: Sequence[EventTotals]) -> tuple[EventTotals, ...]:
    """Sorts by processor time, the largest first; where that was not measured, by time from beginning to end."""
    return tuple(sorted(rows, key=lambda row: (-(row.cpu_ns or 0), -(row.time_ns or 0), -row.count)))


def measured_sum(column: str | pl.Expr) -> pl.Expr:
    """The sum of the values that were measured; null without such a value."""
    values = pl.col(column) if isinstance(column, str) else column
    return pl.when(values.count() > 0).then(values.sum())


def _quantiles(buckets: pl.DataFrame) -> dict[str, dict[str, int]]:
    """The bucket in which each quantile lies, by name and by column of the quantile."""
    counts = buckets.group_by("name", "bucket_ns").agg(pl.col("count").sum()).sort("name", "bucket_ns")
    below = pl.col("count").cum_sum().over("name", order_by="bucket_ns")
    counted = counts.with_columns(below=below, all=pl.col("count").sum().over("name"))
    quantiles = [
        pl.col("bucket_ns").filter(pl.col("below") >= q * pl.col("all")).first().alias(column)
        for column, q in _QUANTILES.items()
    ]
    rows = counted.filter(pl.col("all") > 0).group_by("name").agg(quantiles)
    return {str(row.pop("name")): row for row in rows.iter_rows(named=True)}
