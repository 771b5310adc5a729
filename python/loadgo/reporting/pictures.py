"""Pictures made of characters, for a page of text: shares over time, and durations of faults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.documents.signs import line, shade
from loadgo.documents.table import Column, Table
from loadgo.measures.summary import Summary
from loadgo.notation.figures import duration, joined, number
from loadgo.reporting.charts.meter_chart_data import fault_times, lengths_over_time

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_TIME_SIGNS = 24
_FAULT_SIGNS = 40
_MOST_ROWS = 16


@dataclass(frozen=True)
class SignPictures:
    """The pictures of a run; empty without data."""

    categories: Mapping[str, str]
    """The share of each category of processor time over the run, from 0 to 1, by category."""
    lengths: Mapping[str, str]
    """The share of each length of the run queue over the run, by length."""
    faults: Table | None
    """Durations of faults over the run, the longest at the top."""


NO_PICTURES = SignPictures({}, {}, None)


def sign_pictures(summary: Summary, tables: Tables) -> SignPictures:
    """The pictures of the run."""
    shares = _time_shares(tables) if summary.total_time is not None else {}
    lengths = lengths_over_time(tables).frame
    by_length = {str(name): frame for (name,), frame in lengths.group_by("length", maintain_order=True)}
    return SignPictures(
        categories={name: line(parts) for name, parts in shares.items()},
        lengths={name: line(_resampled(frame)) for name, frame in by_length.items()},
        faults=_fault_grid(tables),
    )


def _time_shares(tables: Tables) -> dict[str, list[float]]:
    """The share of each category in equal parts of the run, by category."""
    own = tables.time.filter(pl.col("processor").is_not_null())
    rows = (own if len(own) else tables.time).with_columns(
        pl.col("category").cast(pl.String), pl.col("time_ns").cast(pl.Float64)
    )
    last = int(rows["at_ns"].max() or 1)  # type: ignore[arg-type]
    spans = rows.with_columns(n=((pl.col("at_ns").cast(pl.Int64) - 1) * _TIME_SIGNS // last))
    sums = spans.group_by("n", "category").agg(pl.col("time_ns").sum())
    parts = sums.with_columns(share=pl.col("time_ns") / pl.col("time_ns").sum().over("n"))
    shares: dict[str, list[float]] = {}
    numbers = sorted(parts["n"].unique())
    for n, category, share in parts.select("n", "category", "share").rows():
        shares.setdefault(category, [0.0] * len(numbers))[numbers.index(n)] = share
    return shares


def _resampled(frame: pl.DataFrame) -> list[float]:
    """The shares of one length in at most `_TIME_SIGNS` parts of the run."""
    last = float(frame["to_s"].to_numpy().max())
    parts = frame.with_columns(n=(pl.col("from_s") / last * _TIME_SIGNS).floor().clip(0, _TIME_SIGNS - 1))
    return [float(share) for share in parts.group_by("n").agg(pl.col("share").mean()).sort("n")["share"]]


def _fault_grid(tables: Tables) -> Table | None:
    cells = fault_times(tables, columns=_FAULT_SIGNS).frame
    if cells.is_empty():
        return None
    octaves = cells.with_columns(power=((pl.col("short_s") * 1e9).log(2.0) + 1e-9).floor().cast(pl.Int64))
    rows = _rows(octaves)
    bounds = [power for power, _ in rows]
    sign_s = float(cells["to_s"].to_numpy().max()) / _FAULT_SIGNS
    rates = {power: [0.0] * _FAULT_SIGNS for power in bounds}
    counts = dict.fromkeys(bounds, 0)
    for power, begin, end, count, rate in octaves.select("power", "from_s", "to_s", "count", "per_second").rows():
        row = max(at for at in bounds if at <= power)
        counts[row] += count
        for sign in range(math.floor(begin / sign_s + 1e-6), math.ceil(end / sign_s - 1e-6)):
            rates[row][min(sign, _FAULT_SIGNS - 1)] += rate
    positive = [rate for row in rates.values() for rate in row if rate > 0]
    least, most = min(positive), max(positive)
    columns = (
        Column("a fault took", tuple(_range(low, high) for low, high in rows)),
        Column("count", tuple(number(counts[low]) for low in bounds)),
        Column("over the run", tuple("".join(shade(rate, least, most) for rate in rates[low]) for low in bounds)),
    )
    return Table("How long faults took", columns, id="fault-durations")


def _rows(octaves: pl.DataFrame) -> list[tuple[int, int]]:
    """The powers of two that bound each row, the longest first. With many octaves, a row has several."""
    low, high = int(octaves["power"].to_numpy().min()), int(octaves["power"].to_numpy().max()) + 1
    step = -(-(high - low) // _MOST_ROWS)
    return [(begin, begin + step) for begin in range(low, high, step)][::-1]


def _range(low: int, high: int) -> str:
    return joined(duration(2.0**low), duration(2.0**high))
