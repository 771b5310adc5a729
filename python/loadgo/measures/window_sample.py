"""Estimates of a stretch from the random windows of the sampled meters, with their errors.

A window lies at an evenly drawn time of a part of the run, and stands for it (crates/meters/src/windows.rs). In a
window programs are slower, and those that only compute do less there. So what programs do is scaled by processor time.
The processes of one name had some events in all windows, and some processor time in them. Their events over that time,
times their processor time in the stretch, are the estimate for the name. The cheap meters know that time exactly.
Processor time in windows is without what the windows themselves took. Interrupts are scaled by time.

It is a ratio estimator by groups of a sample with one unit a stratum. The standard error follows from the differences
between neighbours of the windows' residuals (Cochran, Sampling Techniques, 1977, chapters 5A.12 and 6). Few windows
say little of how a rate varies. So each group counts as if it had been seen once more, with a rate that is off by all
of itself. Processes that no window has seen are taken to do what the others do, with a doubt of all of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.measures.total_time import OWNER_GROUPS, is_busy
from loadgo.records.phases import Stretch, lies_in, spans_in
from loadgo.stats.student import student_reach

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

Floats = NDArray[np.float64]
Groups = Mapping[str, Mapping[int, float]]
"""Sums of each group by the ends of the windows."""

FEWEST_WINDOWS = 4
"""Number of windows from which on an estimate has an interval."""
COST_DOUBT_SHARE = 1.0
"""Largest error of the time that windows add to events, as a part of it. Chosen by hand (docs/meters.md)."""
ALL_GROUP = ""
"""The group of what no process does, such as interrupts. Its time is that of the clock."""


@dataclass(frozen=True)
class Estimate:
    """A sum over a stretch, and half of its 95 % interval; None with too few windows."""

    value: float
    error: float | None


@dataclass(frozen=True)
class GroupTime:
    """Processor time of the processes of one name."""

    in_windows_ns: Floats
    """In each window, without what its programs took."""
    whole_ns: float
    """In the stretch, without what the windows took."""
    added_share: float = 0.0
    """Time that the windows' programs added to the events of these processes, over their own time in windows."""


@dataclass(frozen=True)
class WindowSample:
    """The windows that lie in a stretch."""

    at_ns: tuple[int, ...]
    """The ends of the windows, in order, which are the times of their rows."""
    lengths_ns: Floats
    weights: Floats
    """By how much a sum in each window is to be multiplied, up to one factor for all of a group."""
    groups: Mapping[str, GroupTime]
    """By name of process; `ALL_GROUP` has the windows' lengths and that of the stretch."""
    share: float
    """The windows' share of the metered time, 0 to 1."""

    def factors(self, group: str) -> Floats:
        """By how much a group's sum in each window is to be multiplied, so that all of them estimate the stretch.

        A group without any time in the windows has the factors of `ALL_GROUP`.
        """
        time = self.groups.get(group, self.groups[ALL_GROUP])
        in_windows = float(self.weights @ time.in_windows_ns)
        if in_windows <= 0:
            return self.factors(ALL_GROUP)
        result: Floats = self.weights * (time.whole_ns / in_windows)
        return result

    @property
    def unseen_share(self) -> float:
        """Processor time of processes that no window has seen, over that of the others."""
        processes = [time for group, time in self.groups.items() if group != ALL_GROUP]
        unseen = sum(time.whole_ns for time in processes if not time.in_windows_ns.any())
        seen = sum(time.whole_ns for time in processes if time.in_windows_ns.any())
        return unseen / seen if seen else 0.0

    def estimate(self, sums: Groups) -> Estimate:
        """The sum over the stretch, from the sums of each group in windows. A window without a sum has 0."""
        total, doubt, variance, count = 0.0, 0.0, 0.0, len(self.at_ns)
        residuals = np.zeros(count)
        for group, by_window in sums.items():
            events, factors = np.array([by_window.get(at, 0.0) for at in self.at_ns]), self.factors(group)
            of_group, parts = float(factors @ events), self._parts(group, factors)
            total += of_group
            doubt += of_group * COST_DOUBT_SHARE * (self.groups[group].added_share if group in self.groups else 0.0)
            residuals += factors * events - of_group * parts
            seen_count = 1 / float(parts @ parts)
            variance += of_group**2 / (seen_count * (seen_count + 1))
        of_unseen = 0.0 if set(sums) <= {ALL_GROUP} else total * self.unseen_share
        if count < FEWEST_WINDOWS:
            return Estimate(total + of_unseen, None)
        variance += count * float((np.diff(residuals) ** 2).sum()) / (2 * (count - 1))
        by_chance = student_reach(count - 1) * math.sqrt(variance * (1 - min(self.share, 1.0)))
        return Estimate(total + of_unseen, math.hypot(by_chance, doubt, of_unseen))

    def _parts(self, group: str, factors: Floats) -> Floats:
        """The part of a group's time in windows that each window has."""
        time = self.groups.get(group, self.groups[ALL_GROUP])
        lengths = time.in_windows_ns if time.in_windows_ns.any() else self.lengths_ns
        result: Floats = factors * lengths / float(factors @ lengths)
        return result

    def factor_frame(self) -> pl.DataFrame:
        """The factors by time, by window. Columns: at_ns, window_ns, factor."""
        ends = pl.Series(self.at_ns, dtype=pl.UInt64)
        return pl.DataFrame({"at_ns": ends, "window_ns": self.lengths_ns, "factor": self.factors(ALL_GROUP)})


def window_sample(tables: Tables, stretch: Stretch) -> WindowSample | None:
    """The windows of a stretch; None without any, and where the processors did nothing but the windows' own work."""
    if tables.meter_windows.is_empty():
        return None
    inside = tables.meter_windows.filter(lies_in(stretch)).sort("at_ns")
    columns = ("span_ns", "stretch_ns", "cost_ns")
    lengths, stretches, cost = (inside[name].cast(pl.Float64).to_numpy() for name in columns)
    metered_ns, busy_ns = _metered_ns(tables, stretch), _busy_ns(tables, stretch)
    at_ns = tuple(inside["at_ns"].to_list())
    if not at_ns or busy_ns <= float(cost.sum()):
        return None
    processes = _process_times(tables, stretch, at_ns, 1 - float(cost.sum()) / busy_ns)
    return WindowSample(
        at_ns=at_ns,
        lengths_ns=lengths,
        weights=stretches / lengths,
        groups={ALL_GROUP: GroupTime(lengths, metered_ns), **processes},
        share=float(lengths.sum()) / max(metered_ns, 1.0),
    )


def _metered_ns(tables: Tables, stretch: Stretch) -> float:
    """The length of the spans that lie in the stretch: a metering begins some time before its first span."""
    spans = spans_in(tables.time, stretch).group_by("at_ns").agg(pl.col("span_ns").first())
    return float(spans["span_ns"].sum()) if len(spans) else float(stretch.span_ns)


def _process_times(tables: Tables, stretch: Stretch, at_ns: tuple[int, ...], kept_share: float) -> dict[str, GroupTime]:
    """The processor time of each name of processes."""
    process_rows = spans_in(tables.processes, stretch).with_columns(pl.col("who").cast(pl.String))
    whole_times = process_rows.filter(~pl.col("who").is_in(OWNER_GROUPS)).group_by("who").agg(pl.col("cpu_ns").sum())
    windows = tables.window_events.filter(pl.col("event").is_null() & pl.col("at_ns").is_in(at_ns))
    found: dict[str, dict[int, float]] = {}
    added: dict[str, float] = {}
    columns = ("at_ns", pl.col("process").cast(pl.String), "cpu_ns", "added_ns")
    for at, process, cpu_ns, added_ns in windows.select(columns).iter_rows():
        found.setdefault(process, {})[at] = float(cpu_ns or 0)
        added[process] = added.get(process, 0.0) + float(added_ns or 0)
    groups = {}
    for process, cpu_ns in whole_times.iter_rows():
        in_windows = np.array([found.get(process, {}).get(at, 0.0) for at in at_ns])
        added_share = added.get(process, 0.0) / max(float(in_windows.sum()), 1.0)
        groups[process] = GroupTime(in_windows, cpu_ns * kept_share, min(added_share, 1.0))
    return groups


def _busy_ns(tables: Tables, stretch: Stretch) -> float:
    """Busy time of all processors in the stretch."""
    times = spans_in(tables.time, stretch).group_by(pl.col("category").cast(pl.String)).agg(pl.col("time_ns").sum())
    return float(sum(time for name, time in times.iter_rows() if is_busy(str(name))))
