"""Queue lengths: the run queue with the distribution of its length, and the queues of storage devices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

MEAN_MEASURES = ("ready", "eligible", "asking", "length")
"""The measures that are means over a span; all others are counts or times in the span."""

_LENGTH = re.compile(r"ready (\d+)(?:(-)(\d+)?)?")

Measures = Mapping[str, float]
"""Values by measure: the mean over all spans for a measure of `MEAN_MEASURES`, the sum for any other."""


@dataclass(frozen=True)
class Queue:
    """The queue of the processors or of a storage device; None means not measured."""

    name: str
    length: float | None
    """Mean length: of the processors, tasks that wait; of a device, requests that wait or are served."""
    requests: int | None
    """Number of requests; of the processors, dispatches."""
    a_second: float | None
    """`requests` a second."""
    service_ns: float | None
    """Mean service time of a request."""
    wait_ns: float | None
    """Mean wait before service."""
    busy: float | None
    """Mean number of busy servers."""


@dataclass(frozen=True)
class QueueLengthTime:
    """The time for which the run queue had a length from `low` to `high`."""

    low: int
    high: int | None
    """None means without an upper end."""
    time_ns: float
    share: float
    """Share of the time in which the length was measured."""


@dataclass(frozen=True)
class ReadyQueue:
    """The run queue; None means not measured."""

    mean: float | None
    """Mean length."""
    lengths: tuple[QueueLengthTime, ...]
    """The distribution of the length over time, from the shortest; empty when not measured."""
    wait_ns: float | None
    """Mean wait for a processor, by Little's law: mean length / dispatches a second."""
    switches: int | None
    """Number of dispatches."""
    preemptions: int | None
    interruptions: int | None
    a_second: Mapping[str, float]
    """Events a second, by name of the counts that are known."""


def measures_of(queue: pl.DataFrame) -> dict[str, Measures]:
    """The measures of each queue, in the order of the rows."""
    weighed = (pl.col("value") * pl.col("span_ns")).sum() / pl.col("span_ns").sum()
    sums = queue.group_by("queue", "measure", maintain_order=True).agg(mean=weighed, sum=pl.col("value").sum())
    measures_by_queue: dict[str, dict[str, float]] = {}
    names = sums.with_columns(pl.col("queue", "measure").cast(pl.String))
    for name, measure, mean, total in names.rows():
        measures_by_queue.setdefault(name, {})[measure] = float(mean if measure in MEAN_MEASURES else total)
    return dict(measures_by_queue)


def queues_of(measures: Mapping[str, Measures], span_ns: int) -> tuple[Queue, ...]:
    """The queues from their measures over `span_ns`."""
    return tuple(_queue_of(name, measures, max(span_ns, 1)) for name, measures in measures.items())


def ready_of(measures: Measures | None, span_ns: int, interruptions: int | None) -> ReadyQueue | None:
    """The run queue from its measures over `span_ns`; None without measures."""
    if measures is None or not span_ns:
        return None
    ready, switches = measures.get("ready"), measures.get("switches")
    counts = {
        "switches": _rounded(switches),
        "pre-emptions": _rounded(measures.get("pre-emptions")),
        "interruptions": _rounded(measures.get("interruptions")) if "interruptions" in measures else interruptions,
    }
    return ReadyQueue(
        mean=ready,
        lengths=_length_times(measures),
        wait_ns=ready * span_ns / switches if ready is not None and switches else None,
        switches=counts["switches"],
        preemptions=counts["pre-emptions"],
        interruptions=counts["interruptions"],
        a_second={name: count / (span_ns / 1e9) for name, count in counts.items() if count is not None},
    )


def length_range(measure: str) -> tuple[int, int | None] | None:
    """The first and last length of a measure such as `ready 2-3`, or `ready 64-` without end; None for any other."""
    match = _LENGTH.fullmatch(measure)
    if match is None:
        return None
    low = int(match[1])
    if match[2] is None:
        return low, low
    return low, None if match[3] is None else int(match[3])


def _length_times(measures: Measures) -> tuple[QueueLengthTime, ...]:
    times = {lengths: time for measure, time in measures.items() if (lengths := length_range(measure)) is not None}
    total_ns = sum(times.values())
    if total_ns <= 0:
        return ()
    return tuple(
        QueueLengthTime(*lengths, time, time / total_ns)
        for lengths, time in sorted(times.items(), key=lambda pair: pair[0][0])
    )


def _queue_of(name: str, measures: Measures, span_ns: int) -> Queue:
    requests = measures.get("requests", measures.get("switches"))

    def per_request(measure: str) -> float | None:
        return measures[measure] / requests if requests and measure in measures else None

    return Queue(
        name=name,
        length=measures.get("length", measures.get("ready")),
        requests=_rounded(requests),
        a_second=None if requests is None else requests / (span_ns / 1e9),
        service_ns=per_request("busy_ns"),
        wait_ns=per_request("wait_ns"),
        busy=measures["busy_ns"] / span_ns if "busy_ns" in measures else None,
    )


def _rounded(count: float | None) -> int | None:
    return None if count is None else round(count)
