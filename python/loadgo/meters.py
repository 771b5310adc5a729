"""What the meters tell of a stretch: faults by kind and by segment, primitives, and how long queues were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.phases import Stretch, spans_in

if TYPE_CHECKING:
    from loadgo.tables import Tables


@dataclass(frozen=True)
class Metered:
    """Faults of one kind, or primitives of one name; None is not measured."""

    name: str
    count: int
    cpu_ns: int | None
    """The processor time of all of them."""
    wait_ns: int | None
    """What was waited for all of them, beside that."""
    p90_ns: int | None
    """Nine of ten took less than about this long: the lower bound of a bucket of the histogram."""


@dataclass(frozen=True)
class Segment:
    """Faults on one thing that is paged: a mapped file, or a simulated machine's command."""

    name: str
    faults_minor: int | None
    faults_major: int | None
    samples: int | None


@dataclass(frozen=True)
class Queue:
    """A queue: the processors', or a storage device's; None where it has no such measure."""

    name: str
    length: float | None
    """The mean number in it; of the processors, of those that can run and do not."""
    a_second: float | None
    """Requests, or dispatches, a second."""
    service_ns: float | None
    """The mean service of a request."""
    wait_ns: float | None
    """The mean wait before service."""
    busy: float | None
    """How many of its servers are busy on average."""


@dataclass(frozen=True)
class Meters:
    """All that the meters tell, in `span_ns` of the system's time; empty where nothing was metered."""

    span_ns: int
    faults: tuple[Metered, ...]
    segments: tuple[Segment, ...]
    primitives: tuple[Metered, ...]
    queues: tuple[Queue, ...]
    eligible: float | None
    """Processes that were multiprogrammed, on average."""
    asking: float | None
    """Processes that wanted to be, and were not."""


def meters_of(tables: Tables, stretch: Stretch) -> Meters:
    """The meters' account of the stretch."""
    queue = spans_in(tables.queue, stretch)
    measures = _measures(queue)
    of_processors = measures.get("processors", {})
    return Meters(
        span_ns=_span_ns(queue),
        faults=_metered(tables.faults, "kind", "cpu_ns", stretch),
        segments=_segments(spans_in(tables.segments, stretch)),
        primitives=_metered(tables.primitives, "name", "time_ns", stretch),
        queues=tuple(_queue(name, told) for name, told in measures.items()),
        eligible=of_processors.get("eligible"),
        asking=of_processors.get("asking"),
    )


def _metered(frame: pl.DataFrame, by: str, time: str, stretch: Stretch) -> tuple[Metered, ...]:
    """Sums and quantiles by name, of the rows that are of all users and commands."""
    everybody = frame.filter(pl.all_horizontal(pl.col("user", "command", "^device$").is_null()))
    sums = spans_in(everybody.filter(pl.col("bucket_ns").is_null()), stretch)
    buckets = spans_in(everybody.filter(pl.col("bucket_ns").is_not_null()), stretch)
    wait = "wait_ns" if "wait_ns" in frame.columns else None
    found = sums.group_by(pl.col(by).cast(pl.String), maintain_order=True).agg(
        pl.col("count").sum(),
        cpu=_measured_sum(time),
        wait=_measured_sum(wait) if wait else pl.lit(None, pl.UInt64),
    )
    return tuple(
        Metered(name, int(count), cpu, waited, _p90(buckets.filter(pl.col(by).cast(pl.String) == name)))
        for name, count, cpu, waited in found.rows()
    )


def _measured_sum(column: str) -> pl.Expr:
    """The sum of what was measured; null when nothing was."""
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum())


def _p90(buckets: pl.DataFrame) -> int | None:
    counts = buckets.group_by("bucket_ns").agg(pl.col("count").sum()).sort("bucket_ns")
    if counts.is_empty():
        return None
    above = counts.filter(pl.col("count").cum_sum() >= 0.9 * pl.col("count").sum())
    return int(above["bucket_ns"][0])


def _segments(frame: pl.DataFrame) -> tuple[Segment, ...]:
    """The segments, those with the most major faults first."""
    columns = ("faults_minor", "faults_major", "samples")
    found = frame.group_by(pl.col("segment").cast(pl.String), maintain_order=True).agg(
        _measured_sum(name).alias(name) for name in columns
    )
    ordered = found.sort("faults_major", "faults_minor", descending=True, nulls_last=True, maintain_order=True)
    return tuple(Segment(*row) for row in ordered.rows())


def _measures(queue: pl.DataFrame) -> dict[str, dict[str, float]]:
    """By queue: means over the stretch, and counts and times a second of it."""
    span_s = max(_span_ns(queue), 1) / 1e9
    weighed = (pl.col("value") * pl.col("span_ns")).sum() / pl.col("span_ns").sum()
    found = queue.group_by(pl.col("queue").cast(pl.String), pl.col("measure").cast(pl.String), maintain_order=True).agg(
        mean=weighed, rate=pl.col("value").sum() / span_s
    )
    told: dict[str, dict[str, float]] = {}
    for name, measure, mean, rate in found.rows():
        told.setdefault(name, {})[measure] = float(mean if measure in _MEANS else rate)
    return told


_MEANS = ("ready", "eligible", "asking", "length")


def _queue(name: str, told: dict[str, float]) -> Queue:
    requests = told.get("requests", 0.0)

    def each(measure: str) -> float | None:
        return told[measure] / requests if requests and measure in told else None

    return Queue(
        name=name,
        length=told.get("length", told.get("ready")),
        a_second=told.get("requests", told.get("switches")),
        service_ns=each("busy_ns"),
        wait_ns=each("wait_ns"),
        busy=told["busy_ns"] / 1e9 if "busy_ns" in told else None,
    )


def _span_ns(frame: pl.DataFrame) -> int:
    return int(frame.group_by("at_ns").agg(pl.col("span_ns").max())["span_ns"].sum())
