"""The data of the meters' charts: fault times, mappings, system calls and the run queue.

Durations are counted in two bins for each power of two, whose bounds are bounds of every log-linear histogram.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.event_totals import most_time_first
from loadgo.measures.meters import host_wide_rows
from loadgo.measures.queues import length_range
from loadgo.measures.summary import Summary
from loadgo.notation.figures import number, path_end, share
from loadgo.records.meter_windows import stretched, window_parts
from loadgo.reporting.charts.chart_data import ChartData, bin_note, binned_spans

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

MOST_HEAT_MAP_COLUMNS = 120
"""The largest number of columns of a heat map."""
MOST_ROWS = 20
"""The largest number of system calls or mappings in a chart."""

LEAST_BAR_SHARE = 0.005
"""A bar that is shorter than this part of the longest one cannot be seen, and is left out."""

INTERRUPT_KINDS = ("interrupt", "soft interrupt")
_NS_PER_S = 1e9


def fault_times(tables: Tables, *, interrupts: bool = False, columns: int = MOST_HEAT_MAP_COLUMNS) -> ChartData:
    """The number of faults, or of interrupts, by duration over the run.

    In the chart, a span of the records that is longer than a column is a column of its own.

    Columns of the data: from_s, to_s, short_s and long_s (bounds of the duration), count, per_second, kinds (how many
    of each kind, as text).
    """
    faults = stretched(tables.faults, tables.meter_windows)
    rows = host_wide_rows(faults.filter(pl.col("bucket_ns").is_not_null())).with_columns(
        pl.col("kind").cast(pl.String), pl.col("count").cast(pl.Int64)
    )
    rows = rows.filter(pl.col("kind").is_in(INTERRUPT_KINDS) == interrupts)
    if rows.is_empty():
        return ChartData(pl.DataFrame(schema=_FAULT_COLUMNS), "No durations were metered.")
    where = ("from_s", "to_s", "short_s", "long_s")
    frame = (
        _halved(_in_columns(rows, columns))
        .group_by(*where, "kind")
        .agg(pl.col("count").sum())
        .sort(*where, "kind")
        .group_by(*where, maintain_order=True)
        .agg(pl.col("count").sum(), kinds=pl.format("{} {}", pl.col("kind"), pl.col("count")).str.join(", "))
        .with_columns(per_second=(pl.col("count") / (pl.col("to_s") - pl.col("from_s"))).round_sig_figs(5))
        .select(*_FAULT_COLUMNS)
    )
    most = float(frame["per_second"].to_numpy().max())
    what = "interrupts" if interrupts else "faults"
    return ChartData(
        frame, f"The stronger the colour, the more {what} took this long: at most {number(most)} a second."
    )


_FAULT_COLUMNS = {
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "short_s": pl.Float64,
    "long_s": pl.Float64,
    "count": pl.Int64,
    "per_second": pl.Float64,
    "kinds": pl.String,
}


def _in_columns(rows: pl.DataFrame, columns: int) -> pl.DataFrame:
    """Adds from_s and to_s: those of the column in which a row's span ends, or of the span itself if it is longer."""
    end, span = pl.col("at_ns").cast(pl.Float64) / _NS_PER_S, pl.col("span_ns").cast(pl.Float64) / _NS_PER_S
    last_s = float(rows["at_ns"].cast(pl.Float64).to_numpy().max()) / _NS_PER_S
    usual_s = _usual_span_s(rows)
    width_s = usual_s * max(1, math.ceil(last_s / usual_s / columns))
    column = ((end - 1e-9) / width_s).floor()
    long = pl.lit(value=True) if usual_s > last_s / 10 else span > 1.5 * width_s
    return rows.with_columns(
        from_s=pl.when(long).then(end - span).otherwise(column * width_s).round(3),
        to_s=pl.when(long).then(end).otherwise((column + 1) * width_s).round(3),
    )


def _usual_span_s(rows: pl.DataFrame) -> float:
    """The median span of the records, weighted by its length, in seconds."""
    spans = np.sort(rows.select("at_ns", "span_ns").unique()["span_ns"].cast(pl.Float64).to_numpy())
    return float(spans[np.searchsorted(np.cumsum(spans), spans.sum() / 2)]) / _NS_PER_S


def _halved(rows: pl.DataFrame) -> pl.DataFrame:
    """Adds short_s and long_s, the bounds of a row's bin: the lower or the upper half between two powers of two ns."""
    shortest = pl.col("bucket_ns").cast(pl.Float64).clip(1.0)
    power = pl.lit(2.0).pow((shortest.log(2.0) + 1e-9).floor())
    upper = shortest >= 1.5 * power
    return rows.with_columns(
        short_s=pl.when(upper).then(1.5 * power).otherwise(power) / _NS_PER_S,
        long_s=pl.when(upper).then(2 * power).otherwise(1.5 * power) / _NS_PER_S,
    )


def fault_rates(tables: Tables) -> pl.DataFrame:
    """Page faults a second over the run, and those that waited for a device. Columns: from_s, to_s, faults, major.

    A span that was metered and has no fault counts 0. Empty where no meter counted faults.
    """
    schema = dict.fromkeys(("from_s", "to_s", "faults", "major"), pl.Float64)
    faults = stretched(tables.faults, tables.meter_windows)
    sums = host_wide_rows(faults.filter(pl.col("bucket_ns").is_null())).with_columns(
        pl.col("kind").cast(pl.String), pl.col("count", "at_ns", "span_ns").cast(pl.Int64)
    )
    sums = sums.filter(~pl.col("kind").str.contains("interrupt"))
    if sums.is_empty():
        return pl.DataFrame(schema=schema)
    spans_with_meters = tables.queue if tables.meter_windows.is_empty() else window_parts(tables.meter_windows)
    spans = [frame.select(pl.col("at_ns", "span_ns").cast(pl.Int64)) for frame in (sums, spans_with_meters)]
    counted = sums.group_by("at_ns", "span_ns").agg(
        faults=pl.col("count").sum(), major=pl.col("count").filter(pl.col("kind").is_in(_WAITING_KINDS)).sum()
    )
    metered = pl.concat(spans).unique().join(counted, on=["at_ns", "span_ns"], how="left")
    binned, _ = binned_spans(metered)
    seconds = pl.col("span_ns").sum() / _NS_PER_S
    rates = [(pl.col(name).sum() / seconds).round_sig_figs(5) for name in ("faults", "major")]
    return binned.group_by("n", maintain_order=True).agg(*_BOUNDS, *rates).drop("n")


_WAITING_KINDS = ("major", "swap-in", "major unclocked")


def primitive_times(summary: Summary, tables: Tables) -> ChartData:
    """The share of calls in each bin of duration, for the system calls with the most time.

    Columns: name, place, short_s, long_s, share, count.
    """
    names = [row.name for row in most_time_first(summary.meters.primitives)[:MOST_ROWS]]
    place = pl.DataFrame({"name": names, "place": range(len(names))}, schema={"name": pl.String, "place": pl.Int64})
    rows = host_wide_rows(tables.primitives.filter(pl.col("bucket_ns").is_not_null()))
    buckets = rows.group_by("name", "bucket_ns").agg(pl.col("count").sum()).with_columns(pl.col("name").cast(pl.String))
    frame = (
        _halved(buckets)
        .group_by("name", "short_s", "long_s")
        .agg(pl.col("count").sum())
        .join(place, on="name")
        .with_columns(share=(pl.col("count") / pl.col("count").sum().over("name")).round(5))
        .sort("place", "short_s")
        .select("name", "place", "short_s", "long_s", "share", "count")
    )
    left_out = len(summary.meters.primitives) - len(names)
    more = f" The {len(names)} that took the most time; {left_out} more are metered." if left_out > 0 else ""
    means = "" if summary.meters.windows else "; the point is the mean"  # windows cut waits, so they tell no mean
    return ChartData(frame, f"The stronger the colour, the more of its calls took this long{means}.{more}")


def primitive_means(summary: Summary) -> pl.DataFrame:
    """The mean duration of each system call in the chart. Columns: name, place, mean_s."""
    shown = most_time_first(summary.meters.primitives)[:MOST_ROWS]
    rows = [(row.name, place, row.mean_ns / _NS_PER_S) for place, row in enumerate(shown) if row.mean_ns]
    schema = {"name": pl.String, "place": pl.Int64, "mean_s": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def segment_faults(summary: Summary) -> ChartData:
    """Faults of the mappings with the most faults. Columns: segment, place, kind, count."""
    counts = {row.name: (row.faults_major or 0, row.faults_minor or 0) for row in summary.meters.segments}
    shown, note = _seen({name: sum(both) for name, both in counts.items()}, "faults")
    rows = [
        (path_end(name), place, kind, count)
        for place, name in enumerate(shown)
        for kind, count in zip(("major", "minor"), counts[name], strict=True)
        if count
    ]
    return ChartData(_segment_frame(rows), note)


def segment_samples(summary: Summary) -> ChartData:
    """Profile samples of the mappings with the most samples. Columns: segment, place, kind, count."""
    counts = {row.name: row.samples or 0 for row in summary.meters.segments}
    shown, note = _seen(counts, "samples")
    rows = [(path_end(name), place, "samples", counts[name]) for place, name in enumerate(shown)]
    return ChartData(_segment_frame(rows), note)


def _seen(counts: Mapping[str, int], unit: str) -> tuple[list[str], str]:
    """The names whose bars can be seen, the longest first, and a sentence about the others."""
    ordered = [(name, count) for name, count in sorted(counts.items(), key=lambda pair: -pair[1]) if count]
    longest, total = max(counts.values(), default=0), sum(counts.values())
    shown = [name for name, count in ordered[:MOST_ROWS] if count >= LEAST_BAR_SHARE * longest]
    left_out = len(ordered) - len(shown)
    if not left_out:
        return shown, ""
    rest = 1 - sum(counts[name] for name in shown) / total
    return shown, f"… and {number(left_out)} more, with {share(rest)} of the {unit}."


def _segment_frame(rows: Sequence[tuple[str, int, str, int]]) -> pl.DataFrame:
    schema = {"segment": pl.String, "place": pl.Int64, "kind": pl.String, "count": pl.Int64}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def ready_over_time(tables: Tables) -> ChartData:
    """The mean length of the run queue over the run. Columns: from_s, to_s, ready."""
    rows = _of_processors(tables).filter(pl.col("measure") == "ready")
    if rows.is_empty():
        return ChartData(pl.DataFrame(schema=dict.fromkeys(("from_s", "to_s", "ready"), pl.Float64)), "Not measured.")
    binned, spans_per_bin = binned_spans(rows)
    frame = binned.group_by("n", maintain_order=True).agg(
        *_BOUNDS, ready=((pl.col("value") * pl.col("span_ns")).sum() / pl.col("span_ns").sum()).round(5)
    )
    caption = "Tasks that could run while no processor was free, on average."
    return ChartData(frame.drop("n"), f"{caption}{bin_note(spans_per_bin)}")


def lengths_over_time(tables: Tables) -> ChartData:
    """The share of time that the run queue had each length. Columns: from_s, to_s, length, rank, share."""
    measures = map(str, tables.queue["measure"].cast(pl.String).unique())
    lengths = {name: length for name in measures if (length := length_range(name)) is not None}
    names = {name: rank for rank, name in enumerate(sorted(lengths, key=lambda name: lengths[name][0]))}
    rows = _of_processors(tables).filter(pl.col("measure").is_in(names))
    if rows.is_empty():
        schema = {"from_s": pl.Float64, "to_s": pl.Float64, "length": pl.String, "rank": pl.Int64, "share": pl.Float64}
        return ChartData(pl.DataFrame(schema=schema), "Not measured.")
    binned, spans_per_bin = binned_spans(rows)
    rank = pl.DataFrame({"measure": list(names), "rank": list(names.values())})
    frame = (
        binned.group_by("n", "measure")
        .agg(*_BOUNDS, pl.col("value").sum())
        .with_columns(share=(pl.col("value") / pl.col("value").sum().over("n")).round(5))
        .with_columns(pl.col("from_s").min().over("n"), pl.col("to_s").max().over("n"))
        .join(rank, on="measure")
        .sort("n", "rank")
        .select("from_s", "to_s", "rank", "share", length=pl.col("measure").str.strip_prefix("ready "))
    )
    return ChartData(
        frame, f"The share of the time in which this number of tasks waited for a processor.{bin_note(spans_per_bin)}"
    )


_BOUNDS = (
    ((pl.col("at_ns") - pl.col("span_ns")).min() / _NS_PER_S).round(3).alias("from_s"),
    (pl.col("at_ns").max() / _NS_PER_S).round(3).alias("to_s"),
)


def _of_processors(tables: Tables) -> pl.DataFrame:
    return tables.queue.with_columns(
        pl.col("queue", "measure").cast(pl.String), pl.col("at_ns", "span_ns").cast(pl.Int64)
    ).filter(pl.col("queue") == "processors")
