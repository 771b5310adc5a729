"""How long page faults took, processor time and wait apart: what the page shows against time, over a window.

Computes only. Kinds that wait have their lengths, handling included, among the waits, the others among processor time;
what has no lengths counts as the mean of its kind in a span. page/figures.js has the same in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.stats.cluster_bootstrap import Floats

Per = Literal["cpu_ns", "wait_ns"]


@dataclass(frozen=True)
class Lengths:
    """Faults by the power of 2, in nanoseconds, that they took."""

    first: int
    """`counts[at]` took 2 ** (first + at) ns or more, and less than twice that."""
    counts: Floats

    @property
    def range_ns(self) -> tuple[float, float]:
        """The shortest began here, and the longest ended there."""
        return 2.0**self.first, 2.0 ** (self.first + len(self.counts))


def lengths(faults: pl.DataFrame, per: Per, waited: Sequence[str]) -> Lengths | None:
    """Of rows of the table `faults` that are of nobody alone; `waited`: the kinds that wait. None when none has any."""
    kind, is_sum = pl.col("kind").cast(pl.String), pl.col("bucket_ns").is_null()
    longest = faults.filter(is_sum)["span_ns"].max()
    # A simulated machine tells lengths phase by phase: its sums, second by second, show more.
    tells = ~is_sum & (pl.col("span_ns") <= pl.lit(longest))
    one_by_one = kind.is_in(waited) if per == "wait_ns" else ~kind.is_in(waited)
    apart = faults.filter(tells & one_by_one).select(kind.unique()).to_series().to_list()
    mean = pl.col(per).cast(pl.Float64) / pl.col("count")
    length = pl.when(is_sum).then(mean).otherwise(pl.col("bucket_ns").cast(pl.Float64))
    chosen = pl.when(kind.is_in(apart)).then(tells).otherwise(is_sum)
    told = faults.filter(chosen & (pl.col("count") > 0)).select(length.alias("length"), pl.col("count"))
    told = told.filter(pl.col("length") >= 1)
    if told.is_empty():
        return None
    powers = np.floor(np.log2(told["length"].to_numpy())).astype(np.int64)
    first = int(powers.min())
    counts = np.bincount(powers - first, weights=told["count"].to_numpy().astype(np.float64))
    return Lengths(first, counts.astype(np.float64))
