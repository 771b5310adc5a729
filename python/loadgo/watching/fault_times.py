"""Distribution of the durations of page faults over a window, separately for processor time and waits.

Computes only. Kinds of faults that wait are counted by their duration with the wait, other kinds by processor time.
Faults without recorded durations count with the mean of their kind in a span. page/figures.js computes the same from
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.stats.resample import Floats

TimeColumn = Literal["cpu_ns", "wait_ns"]


@dataclass(frozen=True)
class FaultTimes:
    """Faults by duration, in buckets of powers of 2 in nanoseconds."""

    first: int
    """`counts[i]` faults took at least 2 ** (first + i) ns, and less than twice that."""
    counts: Floats

    @property
    def range_ns(self) -> tuple[float, float]:
        """Lower end of the first bucket and upper end of the last."""
        return 2.0**self.first, 2.0 ** (self.first + len(self.counts))


def fault_times(faults: pl.DataFrame, time_column: TimeColumn, waited: Sequence[str]) -> FaultTimes | None:
    """The times in rows of the table `faults` of the whole system. `waited` are the kinds of faults that wait.

    None if no row has a time.
    """
    kind, is_sum = pl.col("kind").cast(pl.String), pl.col("bucket_ns").is_null()
    longest = faults.filter(is_sum)["span_ns"].max()
    # A simulated machine has durations only by phase, but sums for every second, which show more.
    is_bucket = ~is_sum & (pl.col("span_ns") <= pl.lit(longest))
    has_durations = kind.is_in(waited) if time_column == "wait_ns" else ~kind.is_in(waited)
    clocked_kinds = faults.filter(is_bucket & has_durations).select(kind.unique()).to_series().to_list()
    mean = pl.col(time_column).cast(pl.Float64) / pl.col("count")
    length = pl.when(is_sum).then(mean).otherwise(pl.col("bucket_ns").cast(pl.Float64))
    is_chosen = pl.when(kind.is_in(clocked_kinds)).then(is_bucket).otherwise(is_sum)
    durations = faults.filter(is_chosen & (pl.col("count") > 0)).select(length.alias("length"), pl.col("count"))
    durations = durations.filter(pl.col("length") >= 1)
    if durations.is_empty():
        return None
    powers = np.floor(np.log2(durations["length"].to_numpy())).astype(np.int64)
    first = int(powers.min())
    counts = np.bincount(powers - first, weights=durations["count"].to_numpy().astype(np.float64))
    return FaultTimes(first, counts.astype(np.float64))
