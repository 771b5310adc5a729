"""The data of charts. Their size does not grow with the run: they count into bins, and show a choice of users.

The caption under the chart describes every choice that leaves something out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.measures.summary import Summary
from loadgo.measures.total_time import is_busy
from loadgo.notation.figures import counted, seconds, share
from loadgo.records.interactions import RESPONSE_NS
from loadgo.records.phases import interactions_in
from loadgo.stats.resample import Floats, Integers

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

MOST_TIME_BINS = 200
"""The largest number of bins over a run's time."""
MOST_COMMANDS = 40
MOST_USERS = 40
FEWEST_UNNAMED_INTERACTIONS = 10
"""The caption of the response times has the number of interactions if there are fewer."""
MOST_BARS = 3000
"""The largest number of interactions that the timeline draws one by one."""

_BINS_PER_DECADE = 12

_BIN_INTERACTIONS = 10
"""Mean number of interactions in a bin of throughput. With fewer the chart shows the scatter of think times."""
_FEWEST_BINS = 10
_TIMELINE_BINS = 120
"""Bins of each user over the run in a timeline of more interactions than `MOST_BARS`."""
_NS_PER_S = 1e9


@dataclass(frozen=True)
class ChartData:
    """The data of a chart: its marks as a frame, and the caption."""

    frame: pl.DataFrame
    caption: str


def response_bins(summary: Summary, tables: Tables) -> ChartData:
    """For each command, the share of its interactions in each bin of response time.

    Columns: command, place (the row of the chart), from_s, to_s, share, count.
    """
    rows = interactions_in(tables.interactions, summary.stretch).filter(pl.col("ready_ns").is_not_null())
    response = RESPONSE_NS.clip(1000) / _NS_PER_S
    shown = [row.name for row in summary.commands[:MOST_COMMANDS]]
    place = pl.DataFrame(
        {"command": shown, "place": range(len(shown))}, schema={"command": pl.String, "place": pl.Int64}
    )
    frame = (
        rows.select(pl.col("command").cast(pl.String), bin=(response.log10() * _BINS_PER_DECADE).floor())
        .group_by("command", "bin")
        .len("count")
        .join(place, on="command")
        .with_columns(
            from_s=(10 ** (pl.col("bin") / _BINS_PER_DECADE)).round_sig_figs(5),
            to_s=(10 ** ((pl.col("bin") + 1) / _BINS_PER_DECADE)).round_sig_figs(5),
            share=(pl.col("count") / pl.col("count").sum().over("command")).round(5),
        )
        .sort("place", "bin")
        .drop("bin")
    )
    left_out = len(summary.commands) - len(shown)
    more = f" The first {len(shown)} commands of the script; {left_out} more are in the table." if left_out > 0 else ""
    few = f" {counted(len(rows), 'interaction')} in all." if len(rows) < FEWEST_UNNAMED_INTERACTIONS else ""
    return ChartData(frame, f"The stronger the colour, the more of a command's interactions took this long.{few}{more}")


def response_points(summary: Summary) -> pl.DataFrame:
    """The measured quantiles of each command. Columns: command, place, quantile, value_s, low_s, high_s."""
    rows = [
        (
            row.name,
            place,
            quantile.name,
            quantile.value_ns / _NS_PER_S,
            _seconds(quantile.low_ns),
            _seconds(quantile.high_ns),
        )
        for place, row in enumerate(summary.commands[:MOST_COMMANDS])
        for quantile in row.response.quantiles
        if quantile.value_ns is not None and quantile.name in ("p50", "p90", "p99")
    ]
    names: dict[str, type[pl.DataType]] = {"command": pl.String, "place": pl.Int64, "quantile": pl.String}
    values: dict[str, type[pl.DataType]] = {"value_s": pl.Float64, "low_s": pl.Float64, "high_s": pl.Float64}
    return pl.DataFrame(rows, schema=names | values, orient="row").with_columns(
        pl.col(*values).clip(1e-6).round_sig_figs(5)
    )


def load_over_time(tables: Tables) -> ChartData:
    """Answered interactions and logged-in users over the run. Columns: from_s, to_s, per_second, users."""
    edges = _edges(tables, max(_FEWEST_BINS, min(MOST_TIME_BINS, tables.interactions.height // _BIN_INTERACTIONS)))
    ready = np.sort(tables.interactions["ready_ns"].drop_nulls().cast(pl.Int64).to_numpy())
    logged_in = tables.sessions.filter(pl.col("ready_ns").is_not_null())
    arrivals = np.sort(logged_in["ready_ns"].cast(pl.Int64).to_numpy())
    departures = np.sort(logged_in["ended_ns"].cast(pl.Int64).to_numpy())
    counts = np.diff(np.searchsorted(ready, edges, side="left"))
    middle = (edges[:-1] + edges[1:]) // 2
    width_s = np.diff(edges) / _NS_PER_S
    frame = pl.DataFrame(
        {
            "from_s": edges[:-1] / _NS_PER_S,
            "to_s": edges[1:] / _NS_PER_S,
            "per_second": counts / np.maximum(width_s, 1e-9),
            "users": np.searchsorted(arrivals, middle, side="right")
            - np.searchsorted(departures, middle, side="right"),
        }
    ).with_columns(pl.col("from_s", "to_s", "per_second").round_sig_figs(6))
    return ChartData(
        frame, f"Counted in spans of {seconds(float(width_s[0]))}, over the whole run." if len(width_s) else ""
    )


def phase_marks(tables: Tables) -> pl.DataFrame:
    """The beginning of each phase. Columns: at_s, phase."""
    return tables.phases.select(
        (pl.col("at_ns") / _NS_PER_S).round(3).alias("at_s"), pl.col("phase").cast(pl.String)
    ).filter(pl.col("phase").is_in(["steady", "ramp-down"]))


def binned_spans(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows by time with the number `n` of their bin in the chart, and the number of spans in a bin."""
    ends = rows["at_ns"].unique().sort()
    spans_per_bin = max(1, -(-len(ends) // MOST_TIME_BINS))
    bins = pl.DataFrame({"at_ns": ends}).with_row_index("n").with_columns(pl.col("n") // spans_per_bin)
    return rows.join(bins, on="at_ns").sort("at_ns", maintain_order=True), spans_per_bin


def bin_note(spans_per_bin: int) -> str:
    """A sentence for the caption of a chart whose bins have several spans; else empty."""
    return f" {spans_per_bin} spans are drawn as one." if spans_per_bin > 1 else ""


def time_by_category(tables: Tables, order: Sequence[str]) -> ChartData:
    """Each category's share of processor time over the run, stacked in the order of `order`.

    Busy time goes from 0 up, idle time from 0 down. Columns: from_s, to_s, category, share, bottom, top.
    """
    spans = tables.time.with_columns(pl.col("category").cast(pl.String), pl.col("at_ns").cast(pl.Int64))
    if spans.is_empty():
        return ChartData(pl.DataFrame(schema=_TIME_COLUMNS), "The processors' time was not measured.")
    own = spans.filter(pl.col("processor").is_not_null())
    spans = own if len(own) else spans
    binned, spans_per_bin = binned_spans(spans)
    rank = pl.DataFrame({"category": order, "rank": range(len(order)), "busy": [is_busy(name) for name in order]})
    shares = (
        binned.group_by("n", "category")
        .agg(
            pl.col("time_ns").sum(),
            from_s=(pl.col("at_ns") - pl.col("span_ns").cast(pl.Int64)).min() / _NS_PER_S,
            to_s=pl.col("at_ns").max() / _NS_PER_S,
        )
        .with_columns(share=pl.col("time_ns") / pl.col("time_ns").sum().over("n"))
        .with_columns(pl.col("from_s").min().over("n").round(3), pl.col("to_s").max().over("n").round(3))
        .join(rank, on="category")
        .sort("n", "rank")
    )
    where = "All processors together: busy time above the axis, time that nobody used below it, by its cause."
    return ChartData(_stacked(shares), f"{where}{bin_note(spans_per_bin)}")


def _stacked(shares: pl.DataFrame) -> pl.DataFrame:
    """Adds the place of each share: busy shares on top of each other, idle shares below each other."""
    outer_edge = pl.col("share").cum_sum().over("n", "busy", order_by="rank")
    sign = pl.when("busy").then(1).otherwise(-1)
    placed = shares.with_columns(
        top=(sign * outer_edge).round(5), bottom=(sign * (outer_edge - pl.col("share"))).round(5)
    )
    return placed.with_columns(pl.col("share").round(5)).select(*_TIME_COLUMNS)


_TIME_COLUMNS = {
    "from_s": pl.Float64,
    "to_s": pl.Float64,
    "category": pl.String,
    "share": pl.Float64,
    "bottom": pl.Float64,
    "top": pl.Float64,
}


def user_waits(tables: Tables) -> ChartData:
    """When users waited for the system; of many users, every n-th.

    A row is one interaction, or a bin of many. Columns: user, from_s, to_s, share (the waiting part of that time), and
    command (null for a bin).
    """
    everyone = tables.interactions["user"].unique().sort()
    step = max(1, -(-len(everyone) // MOST_USERS))
    shown = everyone.gather_every(step)
    rows = (
        tables.interactions.filter(pl.col("user").is_in(shown.implode()) & pl.col("ready_ns").is_not_null())
        .select("user", pl.col("sent_ns", "ready_ns").cast(pl.Int64), pl.col("command").cast(pl.String))
        .sort("user", "sent_ns")
    )
    whom = "Every user." if step == 1 else f"One user in {step} of {len(everyone):,}."
    if len(rows) <= MOST_BARS:
        return ChartData(_single_waits(rows), f"{whom} A bar is one interaction, from sending the line to the prompt.")
    edges = _edges(tables, _TIMELINE_BINS)
    width_s = (edges[1] - edges[0]) / _NS_PER_S
    frame = pl.concat([_binned_waits(user, rows.filter(pl.col("user") == user), edges) for user in shown])
    most = frame["share"].to_numpy().max(initial=0.0)
    meaning = f"the more of each {seconds(float(width_s))} was spent waiting for the system, at most {share(most)}"
    return ChartData(frame, f"{whom} The stronger the colour, {meaning}.")


def _single_waits(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        "user",
        from_s=(pl.col("sent_ns") / _NS_PER_S).round(4),
        to_s=(pl.col("ready_ns") / _NS_PER_S).round(4),
        share=pl.lit(1.0),
        command=pl.col("command"),
    )


def _binned_waits(user: int, rows: pl.DataFrame, edges: Integers) -> pl.DataFrame:
    """The share of each bin in which a user waited: the differences of the cumulative waits at the bins' `edges`."""
    sent, ready = rows["sent_ns"].to_numpy(), rows["ready_ns"].to_numpy()
    ends: Floats = np.column_stack([sent, ready]).ravel().astype(np.float64)
    waited = np.cumsum(ready - sent)
    totals = np.column_stack([waited - (ready - sent), waited]).ravel()
    share = np.diff(np.interp(edges, ends, totals, left=0.0)) / np.maximum(np.diff(edges), 1)
    frame = pl.DataFrame(
        {"from_s": edges[:-1] / _NS_PER_S, "to_s": edges[1:] / _NS_PER_S, "share": np.clip(share, 0, 1)}
    )
    return frame.filter(pl.col("share") > 0).select(
        pl.lit(user, pl.UInt32).alias("user"),
        pl.col("from_s", "to_s").round(3),
        pl.col("share").round(4),
        pl.lit(None, pl.String).alias("command"),
    )


def _edges(tables: Tables, bins: int) -> Integers:
    """The edges of bins of equal length over the run, in nanoseconds."""
    rows = tables.interactions
    ends = [rows["ready_ns"].max(), rows["sent_ns"].max(), tables.sessions["ended_ns"].max()]
    last = max((int(end) for end in ends if isinstance(end, int)), default=0)
    return np.linspace(0, last, bins + 1).astype(np.int64) if last else np.zeros(1, np.int64)


def _seconds(ns: float | None) -> float | None:
    return None if ns is None or np.isinf(ns) else ns / _NS_PER_S
