"""Waits for locks by kind and place: their number, their times, and their share of the users' response time.

A user's processes may wait for several locks at once, so the shares of all rows can add up to more than 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from loadgo.records.interactions import IS_ANSWERED, IS_MEASURED


@dataclass(frozen=True)
class LockWaits:
    """Waits for the locks of one kind that one function of the kernel wanted, or for the lock of one file."""

    kind: str
    place: str | None
    """The kernel's function, or the file; None for waits that only spun, or if not known."""
    count: int
    a_second: float | None
    """Number of waits a second; None where the metered time is not known."""
    wait_ns: int
    """Time of all waits."""
    mean_ns: float
    longest_ns: int
    users_wait_ns: int
    """The part of `wait_ns` in which processes of users waited who had typed a command."""
    response_share: float | None
    """`users_wait_ns` over the response time of all interactions; None without interactions."""


def lock_waits_of(rows: pl.DataFrame, interactions: pl.DataFrame, span_ns: int) -> tuple[LockWaits, ...]:
    """The waits in rows of the table `lock_waits`, the longest time in all first.

    `interactions` are those beside the rows, and `span_ns` is the time that was metered, also without waits.
    """
    if rows.is_empty():
        return ()
    sums = (
        rows.group_by(pl.col("kind").cast(pl.String), pl.col("place").cast(pl.String))
        .agg(
            pl.col("count").sum(),
            pl.col("wait_ns").sum(),
            pl.col("longest_ns").max(),
            users_wait_ns=pl.col("wait_ns").filter(pl.col("command").is_not_null()).sum(),
        )
        .filter(pl.col("count") > 0)
        .sort("wait_ns", "kind", "place", descending=[True, False, False], nulls_last=True)
    )
    response_ns = _response_ns(interactions)
    return tuple(
        LockWaits(
            kind=row["kind"],
            place=row["place"],
            count=row["count"],
            a_second=row["count"] * 1e9 / span_ns if span_ns else None,
            wait_ns=row["wait_ns"],
            mean_ns=row["wait_ns"] / row["count"],
            longest_ns=row["longest_ns"],
            users_wait_ns=row["users_wait_ns"],
            response_share=row["users_wait_ns"] / response_ns if response_ns else None,
        )
        for row in sums.iter_rows(named=True)
    )


def interactions_beside(rows: pl.DataFrame, interactions: pl.DataFrame) -> pl.DataFrame:
    """The interactions that overlap the spans of `rows`, cut to these spans' beginning and end."""
    if rows.is_empty() or interactions.is_empty():
        return interactions.clear()
    end = pl.col("at_ns").cast(pl.Int64)
    begins, ends = rows.select(begins=(end - pl.col("span_ns").cast(pl.Int64)).min(), ends=end.max()).row(0)
    cut = [pl.col(name).cast(pl.Int64).clip(begins, ends) for name in ("sent_ns", "ready_ns")]
    return interactions.with_columns(cut).filter(pl.col("ready_ns") > pl.col("sent_ns"))


def _response_ns(interactions: pl.DataFrame) -> int:
    answered = interactions.filter(IS_ANSWERED & IS_MEASURED)
    return int((answered["ready_ns"].cast(pl.Int64) - answered["sent_ns"].cast(pl.Int64)).sum())
