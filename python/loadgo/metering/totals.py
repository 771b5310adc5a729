"""Sums of the meters' rows since the start, as families of metrics for Prometheus and OpenTelemetry.

Names and units follow Prometheus: seconds, and `_total` after a counter. Families whose labels come from the host
(processes, mappings) have at most `MOST_LABELS` of them. All further labels are counted as `other`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

BOUNDS_S = tuple(float(1 << exponent) * 1e-9 for exponent in range(7, 37))
"""Upper bounds of histograms, 128 ns to 69 s. They are powers of two, like some bounds of the meters' own buckets."""
LOADGO_PARTS = ("users", "driver", "meters")
"""Owners of processor time that are parts of a run: the metered command (`users`) and loadgo's own threads."""
MOST_LABELS = 500
"""The largest number of labels of a family whose labels come from the host."""
OTHER_LABEL = "other"
SECONDS_PER_NS = 1e-9

Labels = tuple[str, ...]
MetricKind = Literal["counter", "gauge", "histogram"]
Rows = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """A family of metrics with one name."""

    name: str
    """The name without a counter's `_total`."""
    help: str
    kind: MetricKind
    labels: Labels
    unit: str = ""


@dataclass(frozen=True)
class Distribution:
    """A histogram: the number of durations between each two of `BOUNDS_S`, and the sum of all durations."""

    counts: tuple[int, ...]
    """A count for each of `BOUNDS_S`, which is the upper bound, and a last count of longer durations."""
    sum_s: float

    @property
    def count(self) -> int:
        return sum(self.counts)


Values = dict[Labels, float] | dict[Labels, Distribution]

_PROCESSOR = ("processor", "category")
PROCESSOR_TIME_METRIC = Family(
    "loadgo_processor_time_seconds", "Time of each processor by what it did.", "counter", _PROCESSOR, "s"
)
PART_TIME_METRIC = Family(
    "loadgo_part_time_seconds", "Processor time of the metered command and of loadgo itself.", "counter", ("part",), "s"
)
PROCESS_TIME_METRIC = Family(
    "loadgo_process_time_seconds", "Processor time by name of processes.", "counter", ("process",), "s"
)
PROCESS_WAIT_METRIC = Family(
    "loadgo_process_ready_wait_seconds", "Time that processes were ready and waited.", "counter", ("process",), "s"
)
FAULTS_METRIC = Family("loadgo_faults", "Page faults and interrupts.", "counter", ("kind", "device"))
FAULT_TIME_METRIC = Family(
    "loadgo_fault_time_seconds", "Processor time of handling them.", "counter", ("kind", "device"), "s"
)
FAULT_WAIT_METRIC = Family(
    "loadgo_fault_wait_seconds", "Waits of faulting processes beside that.", "counter", ("kind", "device"), "s"
)
FAULT_DURATION_METRIC = Family("loadgo_fault_duration_seconds", "How long faults took.", "histogram", ("kind",), "s")
SYSTEM_CALLS_METRIC = Family("loadgo_primitives", "System calls.", "counter", ("primitive",))
SYSTEM_CALL_ERRORS_METRIC = Family("loadgo_primitive_errors", "System calls that failed.", "counter", ("primitive",))
SYSTEM_CALL_TIME_METRIC = Family(
    "loadgo_primitive_time_seconds", "Time in system calls, waits included.", "counter", ("primitive",), "s"
)
SYSTEM_CALL_DURATION_METRIC = Family(
    "loadgo_primitive_duration_seconds", "How long system calls took.", "histogram", ("primitive",), "s"
)
MAPPING_FAULTS_METRIC = Family(
    "loadgo_segment_faults", "Page faults by what is mapped.", "counter", ("segment", "kind")
)
MAPPING_SAMPLES_METRIC = Family(
    "loadgo_segment_samples", "Samples of a clock by what was run.", "counter", ("segment",)
)
QUEUE_COUNTS_METRIC = Family("loadgo_queue_events", "What a queue counts.", "counter", ("queue", "event"))
QUEUE_TIMES_METRIC = Family(
    "loadgo_queue_time_seconds", "Times that a queue adds up.", "counter", ("queue", "measure"), "s"
)
QUEUE_LENGTH_METRIC = Family("loadgo_queue_length", "Mean length in the last span.", "gauge", ("queue", "measure"))
LOST_METRIC = Family("loadgo_lost", "What the meters could not keep.", "counter", ("what",))
INFO_METRIC = Family("loadgo_meters", "1 while the meters work; which they are.", "gauge", ("tier", "version"))

_COUNTED_MEASURES = ("switches", "pre-emptions", "requests")
_LIMITED_FAMILIES = (
    PROCESS_TIME_METRIC.name,
    PROCESS_WAIT_METRIC.name,
    MAPPING_FAULTS_METRIC.name,
    MAPPING_SAMPLES_METRIC.name,
)


class Totals:
    """The sums since the meters started. One thread adds, and other threads read."""

    def __init__(self, tier: str, version: str) -> None:
        self._lock = threading.Lock()
        self._sums: dict[Family, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._counts: dict[Family, dict[Labels, list[int]]] = defaultdict(lambda: defaultdict(_no_counts))
        self._sums[INFO_METRIC][(tier, version)] = 1

    def add(self, rows: Rows, lost: list[tuple[str, int]]) -> None:
        """Adds the rows of a span, as `_loadgo.MeteredHost` returns them."""
        with self._lock:
            for processor, category, time_ns in rows["time"]:
                self._add(
                    PROCESSOR_TIME_METRIC,
                    ("" if processor is None else str(processor), category),
                    time_ns * SECONDS_PER_NS,
                )
            self._processes(rows["processes"])
            self._faults(rows["faults"])
            self._primitives(rows["primitives"])
            self._segments(rows["segments"])
            self._queues(rows["queue"])
            for reason, count in lost:
                self._add(LOST_METRIC, (reason,), count)

    def families(self) -> list[tuple[Family, Values]]:
        """A copy of every family with its current values."""
        with self._lock:
            families: list[tuple[Family, Values]] = [
                (family, dict(values)) for family, values in self._sums.items() if family.kind != "histogram"
            ]
            for family, series in self._counts.items():
                sums = self._sums[family]
                distributions = {
                    labels: Distribution(tuple(counts), sums.get(labels, 0.0)) for labels, counts in series.items()
                }
                families.append((family, distributions))
        return families

    def _add(self, family: Family, labels: Labels, value: float | None) -> None:
        if value is None:
            return
        sums = self._sums[family]
        if family.name in _LIMITED_FAMILIES and labels not in sums and len(sums) >= MOST_LABELS:
            labels = (OTHER_LABEL, *labels[1:])
        sums[labels] += value

    def _bucket(self, family: Family, labels: Labels, bucket_ns: int, count: int) -> None:
        """Adds a bucket of the meters, which lies within one bucket of `BOUNDS_S`: no bucket crosses a power of two."""
        index = min(max(bucket_ns.bit_length() - 7, 0), len(BOUNDS_S))
        self._counts[family][labels][index] += count

    def _processes(self, rows: list[Any]) -> None:
        for owner, _user, cpu_ns, ready_wait_ns in rows:
            if owner in LOADGO_PARTS:
                self._add(PART_TIME_METRIC, (owner,), cpu_ns * SECONDS_PER_NS)
                continue
            self._add(PROCESS_TIME_METRIC, (owner,), cpu_ns * SECONDS_PER_NS)
            self._add(PROCESS_WAIT_METRIC, (owner,), None if ready_wait_ns is None else ready_wait_ns * SECONDS_PER_NS)

    def _faults(self, rows: list[Any]) -> None:
        for kind, device, bucket_ns, count, cpu_ns, wait_ns in rows:
            labels = (kind, device or "")
            if bucket_ns is not None:
                if device is None:
                    self._bucket(FAULT_DURATION_METRIC, (kind,), bucket_ns, count)
                continue
            self._add(FAULTS_METRIC, labels, count)
            self._add(FAULT_TIME_METRIC, labels, None if cpu_ns is None else cpu_ns * SECONDS_PER_NS)
            self._add(FAULT_WAIT_METRIC, labels, None if wait_ns is None else wait_ns * SECONDS_PER_NS)
            if device is None:
                self._add(FAULT_DURATION_METRIC, (kind,), ((cpu_ns or 0) + (wait_ns or 0)) * SECONDS_PER_NS)

    def _primitives(self, rows: list[Any]) -> None:
        for name, bucket_ns, count, errors, time_ns in rows:
            if bucket_ns is not None:
                self._bucket(SYSTEM_CALL_DURATION_METRIC, (name,), bucket_ns, count)
                continue
            self._add(SYSTEM_CALLS_METRIC, (name,), count)
            self._add(SYSTEM_CALL_ERRORS_METRIC, (name,), errors)
            time_s = None if time_ns is None else time_ns * SECONDS_PER_NS
            self._add(SYSTEM_CALL_TIME_METRIC, (name,), time_s)
            self._add(SYSTEM_CALL_DURATION_METRIC, (name,), time_s)

    def _segments(self, rows: list[Any]) -> None:
        for segment, minor, major, samples in rows:
            self._add(MAPPING_FAULTS_METRIC, (segment, "minor"), minor)
            self._add(MAPPING_FAULTS_METRIC, (segment, "major"), major)
            self._add(MAPPING_SAMPLES_METRIC, (segment,), samples)

    def _queues(self, rows: list[Any]) -> None:
        for queue, measure, value in rows:
            if measure in _COUNTED_MEASURES:
                self._add(QUEUE_COUNTS_METRIC, (queue, measure), value)
            elif measure.endswith("_ns"):
                self._add(QUEUE_TIMES_METRIC, (queue, measure.removesuffix("_ns")), value * SECONDS_PER_NS)
            else:
                self._sums[QUEUE_LENGTH_METRIC][(queue, measure)] = value


def _no_counts() -> list[int]:
    return [0] * (len(BOUNDS_S) + 1)
