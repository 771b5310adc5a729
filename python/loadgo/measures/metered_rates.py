"""Rates of one metering, by second and by share: the figures by which two meterings are compared.

Processors' time has shares of all time. System calls, faults and interrupts have events a second of the host. A rate
that was counted has its value in each of some stretches of equal length too, so that its scatter is known. A rate that
windows or a clock estimate has half of its 95 % interval instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.event_totals import EventTotals
from loadgo.measures.meters import Meters, counted_events, meters_of
from loadgo.measures.sampled_time import SAMPLED_CATEGORIES, dividing_clock_hz
from loadgo.measures.total_time import TotalTime, is_busy, total_time_of
from loadgo.records.phases import Stretch, spans_in
from loadgo.stats.resample import FEWEST_UNITS

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

RateKind = Literal["time", "primitives", "faults", "interrupts", "queue"]
"""The kinds of rates: shares of the processors' time, events a second, and figures of the run queue."""
EVENT_KINDS: tuple[RateKind, ...] = ("primitives", "faults", "interrupts")

BUSY_NAME = "busy"
"""The name of the share of all busy categories together."""
QUEUE_MEAN = "ready"
"""The name of the run queue's mean length, which is no rate."""
_QUEUE_EVENTS = ("switches", "pre-emptions")
_MOST_STRETCHES = 20
_SPANS_A_STRETCH = 2
_SECOND_NS = 1e9


@dataclass(frozen=True)
class MeteredRate:
    """One figure of a metering: a share from 0 to 1, events a second, or a mean length."""

    name: str
    value: float
    is_estimate: bool = False
    """Whether windows or a clock estimate the value."""
    error: float | None = None
    """Half of the 95 % interval of an estimate. None for a counted value, and with too few windows."""
    by_stretch: tuple[float, ...] = ()
    """The value in each stretch. Empty where it was not recorded span by span, and for a short metering."""
    each_ns: float | None = None
    """Mean processor time of one event."""


@dataclass(frozen=True)
class MeteredRates:
    """The rates of one metering."""

    tier: str
    """The meters, such as `cheap`. Empty where the run does not say it."""
    span_ns: int
    clock_hz: int
    """Samples a second that divide the busy time; 0 if it is known exactly."""
    windows: int | None
    """Number of random windows that estimate events; None where all were counted, or none."""
    by_kind: Mapping[RateKind, tuple[MeteredRate, ...]]
    """The rates of each kind that was metered."""


class _Stretches:
    """Stretches of equal length that divide the spans of a metering, and the time of the host in each.

    The first begins with the first span: on a busy host that is some time after the metering began.
    """

    def __init__(self, spans: pl.DataFrame) -> None:
        lengths = spans.group_by("at_ns").agg(pl.col("span_ns").max()).sort("at_ns")
        count = min(_MOST_STRETCHES, len(lengths) // _SPANS_A_STRETCH)
        self.count = count if count >= FEWEST_UNITS else 0
        ends, lengths_ns = (lengths[name].cast(pl.Int64).to_numpy() for name in ("at_ns", "span_ns"))
        self._begin_ns = int((ends - lengths_ns).min(initial=ends.max(initial=0)))
        self._length_ns = max(int(ends.max(initial=0)) - self._begin_ns, 1)
        self._seconds = {index: ns / _SECOND_NS for index, ns in self.sums(lengths, "span_ns").items()}
        if len(self._seconds) < self.count:
            self.count = 0

    def sums(self, rows: pl.DataFrame, column: str) -> dict[int, float]:
        """The sum of a column in each stretch that has rows."""
        if not self.count or rows.is_empty():
            return {}
        middle = pl.col("at_ns").cast(pl.Float64) - pl.col("span_ns").cast(pl.Float64) / 2
        position = (middle - self._begin_ns) * self.count / self._length_ns
        index = position.floor().clip(0, self.count - 1).cast(pl.Int64)
        grouped = rows.group_by(index.alias("index")).agg(pl.col(column).cast(pl.Float64).sum())
        return {int(at): float(value) for at, value in grouped.rows()}

    def rates(self, rows: pl.DataFrame, column: str) -> tuple[float, ...]:
        """The sum of a column in each stretch, by second of the host."""
        sums = self.sums(rows, column)
        return tuple(sums.get(index, 0.0) / self._seconds[index] for index in range(self.count))


def metered_rates_of(tables: Tables, stretch: Stretch) -> MeteredRates | None:
    """The rates of one host; None where its processors' time was not measured."""
    total = total_time_of(tables, stretch)
    if total is None or not total.total_ns or not total.span_ns:
        return None
    meters, spans = meters_of(tables, stretch), spans_in(tables.time, stretch)
    section = tables.conditions.get("meters", {})
    stretches, seconds = _Stretches(spans), total.span_ns / _SECOND_NS
    by_kind: dict[RateKind, tuple[MeteredRate, ...]] = {
        "time": _time_rates(total, spans, stretches, dividing_clock_hz(section)),
        **_event_rates(meters, tables, stretch, stretches, seconds),
        "queue": _queue_rates(meters, spans_in(tables.queue, stretch), stretches, seconds),
    }
    return MeteredRates(
        tier=str(section.get("tier", "")),
        span_ns=total.span_ns,
        clock_hz=dividing_clock_hz(section),
        windows=None if meters.windows is None else meters.windows.number,
        by_kind={
            kind: rates
            for kind, rates in by_kind.items()
            if rates or (kind in EVENT_KINDS and meters.windows is not None)  # windows may have seen none
        },
    )


def _time_rates(total: TotalTime, spans: pl.DataFrame, stretches: _Stretches, clock_hz: int) -> tuple[MeteredRate, ...]:
    """The share of each category in all time, and that of the busy ones together."""
    owned = spans.filter(pl.col("processor").is_not_null())
    times = (owned if len(owned) else spans).with_columns(pl.col("category").cast(pl.String))
    all_sums = stretches.sums(times, "time_ns")

    def by_stretch(is_part: Callable[[str], bool]) -> tuple[float, ...]:
        names = [name for name in times["category"].unique() if is_part(name)]
        sums = stretches.sums(times.filter(pl.col("category").is_in(names)), "time_ns")
        return tuple(sums.get(index, 0.0) / (all_sums[index] or 1.0) for index in range(stretches.count))

    rates = [
        MeteredRate(
            name=category.name,
            value=category.time_ns / total.total_ns,
            is_estimate=bool(clock_hz) and category.name in SAMPLED_CATEGORIES,
            error=None if category.error_ns is None else category.error_ns / total.total_ns,
            by_stretch=by_stretch(lambda name, own=category.name: name == own),  # type: ignore[misc]
        )
        for category in total.categories
    ]
    return (*rates, MeteredRate(BUSY_NAME, total.busy_share, by_stretch=by_stretch(is_busy)))


def _event_rates(
    meters: Meters, tables: Tables, stretch: Stretch, stretches: _Stretches, seconds: float
) -> dict[RateKind, tuple[MeteredRate, ...]]:
    """The events a second of each kind by name, those with the most processor time first."""
    totals: dict[RateKind, Sequence[EventTotals]] = {
        "primitives": meters.primitives,
        "faults": [row for row in meters.faults if not row.name.startswith(("interrupt", "soft interrupt"))],
        "interrupts": meters.interrupts,
    }
    is_counted = meters.windows is None
    events = counted_events(tables, stretch) if is_counted else {}
    rates: dict[RateKind, tuple[MeteredRate, ...]] = {}
    for kind, rows in totals.items():
        frames = events[kind].partition_by("name", as_dict=True) if is_counted and rows else {}
        named_rates = [
            MeteredRate(
                name=row.name,
                value=row.count / seconds,
                is_estimate=not is_counted,
                error=None if row.count_error is None else row.count_error / seconds,
                by_stretch=stretches.rates(frames[row.name,], "count") if (row.name,) in frames else (),
                each_ns=row.cpu_ns / row.count if row.cpu_ns is not None and row.count else None,
            )
            for row in rows
        ]
        rates[kind] = tuple(sorted(named_rates, key=lambda rate: -(rate.each_ns or 0.0) * rate.value))
    return rates


def _queue_rates(meters: Meters, queue: pl.DataFrame, stretches: _Stretches, seconds: float) -> tuple[MeteredRate, ...]:
    """The run queue's mean length, and its events a second."""
    if meters.ready is None:
        return ()
    of_processors = queue.filter(pl.col("queue").cast(pl.String) == "processors").with_columns(
        pl.col("measure").cast(pl.String)
    )
    rates = []
    if meters.ready.mean is not None:
        lengths = of_processors.filter(pl.col("measure") == QUEUE_MEAN)
        waiting = lengths.with_columns(waiting_s=pl.col("value") * pl.col("span_ns") / _SECOND_NS)
        rates.append(MeteredRate(QUEUE_MEAN, meters.ready.mean, by_stretch=stretches.rates(waiting, "waiting_s")))
    for name in _QUEUE_EVENTS:
        own = of_processors.filter(pl.col("measure") == name)
        if len(own):
            rate = float(own["value"].sum()) / seconds
            rates.append(MeteredRate(name, rate, by_stretch=stretches.rates(own, "value")))
    return tuple(rates)
