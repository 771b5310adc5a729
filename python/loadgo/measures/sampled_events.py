"""Totals of the events that the sampled meters clocked in windows, estimated for the whole stretch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from loadgo.measures.event_totals import EventTotals, event_totals
from loadgo.measures.window_sample import ALL_GROUP, Groups, WindowSample
from loadgo.records.meter_windows import METERED_SUMS

_ROUNDING_SHARE = 0.005
"""A smaller rest of a count is no event that took longer than a window, but what rounding leaves."""


@dataclass(frozen=True)
class SampledEvents:
    """The windows of a stretch, with the events of each name of processes."""

    sample: WindowSample
    by_event: Mapping[str, Groups]
    """Number of events by name of the event, by process, and by window."""

    def totals(self, rows: pl.DataFrame, *, are_cut: bool = False) -> tuple[EventTotals, ...]:
        """The totals by `name`, as `event_totals` has them of rows of a whole stretch, with the errors of the counts.

        A duration of an event is known where the event began and ended in one window. An event of that duration does so
        the more rarely the longer it is, which is made up for. If windows cut events (`are_cut`), those that remain of
        the count took longer than a window.
        """
        factors = self.sample.factor_frame()
        within = rows.join(factors, on="at_ns", how="inner", maintain_order="left")
        sums = within.filter(pl.col("bucket_ns").is_null())
        counts, times = (_by_window(sums, column) for column in ("count", "cpu_ns"))
        plain = {name: self.sample.estimate({ALL_GROUP: by_window}) for name, by_window in counts.items()}
        better = {name: self.sample.estimate(self.by_event.get(name, {ALL_GROUP: counts[name]})) for name in counts}
        corrections = {name: better[name].value / one.value for name, one in plain.items() if one.value}
        weighted = _weighted(within, corrections)
        if are_cut and len(within):
            weighted = pl.concat([weighted, _unseen_durations(weighted, int(self.sample.lengths_ns.min()))])
        return tuple(
            replace(
                row,
                count_error=_rounded(better[row.name].error),
                cpu_error_ns=self._time_error_ns(row, times, corrections.get(row.name, 1.0)),
            )
            for row in event_totals(weighted)
        )

    def _time_error_ns(
        self, row: EventTotals, times: Mapping[str, Mapping[int, float]], correction: float
    ) -> int | None:
        if row.cpu_ns is None:
            return None
        error = self.sample.estimate({ALL_GROUP: times.get(row.name, {})}).error
        return _rounded(None if error is None else error * correction)


def sampled_events(window_events: pl.DataFrame, sample: WindowSample | None) -> SampledEvents | None:
    """The events of the table `window_events` in the windows of a sample; None without windows."""
    if sample is None:
        return None
    events = window_events.filter(pl.col("event").is_not_null() & pl.col("at_ns").is_in(sample.at_ns))
    by_event: dict[str, dict[str, dict[int, float]]] = {}
    columns = (pl.col("event").cast(pl.String), pl.col("process").cast(pl.String), pl.col("at_ns"), pl.col("count"))
    for event, process, at, count in events.select(columns).iter_rows():
        of_process = by_event.setdefault(event, {}).setdefault(process, {})
        of_process[at] = of_process.get(at, 0.0) + count
    return SampledEvents(sample, by_event)


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _by_window(sums: pl.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """The sums of a column by name and by window."""
    by_name: dict[str, dict[int, float]] = {}
    grouped = sums.group_by("name", "at_ns", maintain_order=True).agg(pl.col(column).sum())
    for name, at, value in grouped.iter_rows():
        by_name.setdefault(str(name), {})[int(at)] = float(value or 0)
    return by_name


def _weighted(within: pl.DataFrame, corrections: Mapping[str, float]) -> pl.DataFrame:
    """Rows for the whole stretch: sums, and buckets of known durations."""
    longer = pl.col("window_ns") / (pl.col("window_ns") - pl.col("bucket_ns").fill_null(0)).clip(lower_bound=1.0)
    fits = pl.when(pl.col("bucket_ns").is_null()).then(1.0).otherwise(longer)
    correction = pl.col("name").replace_strict(dict(corrections), default=1.0, return_dtype=pl.Float64)
    sums = [
        pl.when(pl.col(name).count() > 0).then((pl.col(name) * pl.col("weight")).sum()).alias(name)
        for name in METERED_SUMS
    ]
    grouped = (
        within.with_columns(weight=pl.col("factor") * correction * fits)
        .group_by("name", "bucket_ns", maintain_order=True)
        .agg(*sums)
    )
    return grouped.with_columns(pl.col(name).round().cast(pl.UInt64) for name in METERED_SUMS)


def _unseen_durations(rows: pl.DataFrame, window_ns: int) -> pl.DataFrame:
    """A bucket for the events of each name whose durations no window shows: they took longer than one."""
    known = rows.filter(pl.col("bucket_ns").is_not_null()).group_by("name").agg(seen=pl.col("count").sum())
    counted = rows.filter(pl.col("bucket_ns").is_null()).join(known, on="name", how="inner", maintain_order="left")
    rest = counted.filter(pl.col("count") > pl.col("seen") * (1 + _ROUNDING_SHARE))
    empty = [pl.lit(None, pl.UInt64).alias(name) for name in METERED_SUMS if name != "count"]
    return rest.with_columns(
        *empty, count=pl.col("count") - pl.col("seen"), bucket_ns=pl.lit(window_ns, pl.UInt64)
    ).select(rows.columns)
