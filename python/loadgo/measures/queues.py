"""How long queues were: the processors' own, with how its length was distributed, and those of storage devices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

MEANS = ("ready", "eligible", "asking", "length")
"""The measures that are means over a span; all others count in it, or are times in it."""

_LENGTH = re.compile(r"ready (\d+)(?:(-)(\d+)?)?")

Measures = Mapping[str, float]
"""By measure: what is a mean, as the mean over all its spans; of anything else the sum."""


@dataclass(frozen=True)
class Queue:
    """A queue: the processors', or a storage device's; None where it has no such measure."""

    name: str
    length: float | None
    """The mean number in it; of the processors, of those that can run and do not."""
    requests: int | None
    """Requests, or dispatches."""
    a_second: float | None
    """The same, a second."""
    service_ns: float | None
    """The mean service of a request."""
    wait_ns: float | None
    """The mean wait before service."""
    busy: float | None
    """How many of its servers are busy on average."""


@dataclass(frozen=True)
class Length:
    """How long the queue was of a length from `low` to `high`; None is without end."""

    low: int
    high: int | None
    time_ns: float
    share: float
    """Of the time whose length was measured."""


@dataclass(frozen=True)
class ReadyQueue:
    """The queue of those that can run and do not; None is not measured."""

    mean: float | None
    lengths: tuple[Length, ...]
    """Its distribution over time, from the shortest; empty when not measured."""
    wait_ns: float | None
    """The mean wait for a processor, by Little's law: length over dispatches a second."""
    switches: int | None
    """Dispatches."""
    preemptions: int | None
    interruptions: int | None
    a_second: Mapping[str, float]
    """Of each count that is known, how many a second."""


def measures_of(queue: pl.DataFrame) -> dict[str, Measures]:
    """By queue, in the order of the rows: its measures summed up."""
    weighed = (pl.col("value") * pl.col("span_ns")).sum() / pl.col("span_ns").sum()
    found = queue.group_by("queue", "measure", maintain_order=True).agg(mean=weighed, sum=pl.col("value").sum())
    told: dict[str, dict[str, float]] = {}
    names = found.with_columns(pl.col("queue", "measure").cast(pl.String))
    for name, measure, mean, total in names.rows():
        told.setdefault(name, {})[measure] = float(mean if measure in MEANS else total)
    return dict(told)


def queues_of(measures: Mapping[str, Measures], span_ns: int) -> tuple[Queue, ...]:
    """Every queue over `span_ns`."""
    return tuple(_queue(name, told, max(span_ns, 1)) for name, told in measures.items())


def ready_of(told: Measures | None, span_ns: int, interruptions: int | None) -> ReadyQueue | None:
    """The processors' queue, from its measures over `span_ns`; None when it has none."""
    if told is None or not span_ns:
        return None
    ready, switches = told.get("ready"), told.get("switches")
    counts = {
        "switches": _whole(switches),
        "pre-emptions": _whole(told.get("pre-emptions")),
        "interruptions": _whole(told.get("interruptions")) if "interruptions" in told else interruptions,
    }
    return ReadyQueue(
        mean=ready,
        lengths=_lengths(told),
        wait_ns=ready * span_ns / switches if ready is not None and switches else None,
        switches=counts["switches"],
        preemptions=counts["pre-emptions"],
        interruptions=counts["interruptions"],
        a_second={name: count / (span_ns / 1e9) for name, count in counts.items() if count is not None},
    )


def length_of(measure: str) -> tuple[int, int | None] | None:
    """The lengths that a measure is of, from and to: `ready 2-3`, or `ready 64-` without end; None for any other."""
    found = _LENGTH.fullmatch(measure)
    if found is None:
        return None
    low = int(found[1])
    if found[2] is None:
        return low, low
    return low, None if found[3] is None else int(found[3])


def _lengths(told: Measures) -> tuple[Length, ...]:
    times = {lengths: time for measure, time in told.items() if (lengths := length_of(measure)) is not None}
    whole = sum(times.values())
    if whole <= 0:
        return ()
    return tuple(
        Length(*lengths, time, time / whole) for lengths, time in sorted(times.items(), key=lambda at: at[0][0])
    )


def _queue(name: str, told: Measures, span_ns: int) -> Queue:
    requests = told.get("requests", told.get("switches"))

    def each(measure: str) -> float | None:
        return told[measure] / requests if requests and measure in told else None

    return Queue(
        name=name,
        length=told.get("length", told.get("ready")),
        requests=_whole(requests),
        a_second=None if requests is None else requests / (span_ns / 1e9),
        service_ns=each("busy_ns"),
        wait_ns=each("wait_ns"),
        busy=told["busy_ns"] / span_ns if "busy_ns" in told else None,
    )


def _whole(count: float | None) -> int | None:
    return None if count is None else round(count)
