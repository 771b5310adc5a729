"""Estimates of a stretch from the random windows of the sampled meters, with their errors.

A window lies at an evenly drawn time of a part of the run, and stands for it (crates/meters/src/windows.rs). In a
window programs are slower, and those that only compute do less there. So events are scaled by busy time, and not by
time. The events in all windows over the busy time in them, times the busy time of the stretch, are the estimate.
Neither time has what the windows cost.

It is a ratio estimator of a sample with one unit a stratum. The standard error follows from the differences between
neighbours of the windows' residuals (Cochran, Sampling Techniques, 1977, chapters 5A.12 and 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.measures.total_time import is_busy
from loadgo.records.phases import Stretch, lies_in, spans_in
from loadgo.stats.student import student_reach

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

Floats = NDArray[np.float64]

FEWEST_WINDOWS = 4
"""Number of windows from which on an estimate has an interval."""


@dataclass(frozen=True)
class Estimate:
    """A sum over a stretch, and half of its 95 % interval; None with too few windows."""

    value: float
    error: float | None


@dataclass(frozen=True)
class WindowSample:
    """The windows that lie in a stretch."""

    at_ns: tuple[int, ...]
    """The ends of the windows, in order, which are the times of their rows."""
    lengths_ns: Floats
    weights: Floats
    """By how much a sum in each window is to be multiplied, up to one factor for all."""
    busy_ns: Floats
    """Busy time of all processors in each window, without what the window cost."""
    whole_busy_ns: float
    """Busy time of the whole stretch, likewise."""
    share: float
    """The windows' share of the stretch, 0 to 1."""

    @property
    def factors(self) -> Floats:
        """By how much a sum in each window is to be multiplied, so that all of them estimate the stretch."""
        result: Floats = self.weights * (self.whole_busy_ns / float(self.weights @ self.busy_ns))
        return result

    def estimate(self, sums: Mapping[int, float]) -> Estimate:
        """The sum over the stretch, from the sums in windows by their ends. A window without a sum has 0."""
        events = np.array([sums.get(at, 0.0) for at in self.at_ns])
        value, count = float(self.factors @ events), len(events)
        if count < FEWEST_WINDOWS:
            return Estimate(value, None)
        residuals = self.factors * (events - value / self.whole_busy_ns * self.busy_ns)
        variance = count * float((np.diff(residuals) ** 2).sum()) / (2 * (count - 1))
        return Estimate(value, student_reach(count - 1) * math.sqrt(variance * (1 - min(self.share, 1.0))))

    def factor_frame(self) -> pl.DataFrame:
        """The factors by window. Columns: at_ns, window_ns, factor."""
        ends = pl.Series(self.at_ns, dtype=pl.UInt64)
        return pl.DataFrame({"at_ns": ends, "window_ns": self.lengths_ns, "factor": self.factors})


def window_sample(tables: Tables, stretch: Stretch) -> WindowSample | None:
    """The windows of a stretch; None without any, and where the processors were idle in all of them."""
    if tables.meter_windows.is_empty():
        return None
    inside = tables.meter_windows.filter(lies_in(stretch)).sort("at_ns")
    columns = ("span_ns", "stretch_ns", "busy_ns", "cost_ns")
    lengths, stretches, busy, cost = (inside[name].cast(pl.Float64).to_numpy() for name in columns)
    whole_busy = _busy_ns(tables, stretch) - float(cost.sum())
    if not busy.any() or whole_busy <= 0:
        return None
    return WindowSample(
        at_ns=tuple(inside["at_ns"].to_list()),
        lengths_ns=lengths,
        weights=stretches / lengths,
        busy_ns=busy,
        whole_busy_ns=whole_busy,
        share=float(lengths.sum()) / max(stretch.span_ns, 1),
    )


def _busy_ns(tables: Tables, stretch: Stretch) -> float:
    """Busy time of all processors in the stretch."""
    times = spans_in(tables.time, stretch).group_by(pl.col("category").cast(pl.String)).agg(pl.col("time_ns").sum())
    return float(sum(time for name, time in times.iter_rows() if is_busy(str(name))))
