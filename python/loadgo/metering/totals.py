"""The meters' rows added up since they began, as families of figures: what Prometheus and OpenTelemetry are told.

Names and units are Prometheus' conventions: seconds, `_total` behind what only grows. Families whose labels are names
that the host makes up (processes, segments) have at most `MOST` of them; the rest is `other`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

BOUNDS_S = tuple(float(1 << exponent) * 1e-9 for exponent in range(7, 37))
"""Upper bounds of histograms, 128 ns to 69 s: powers of two, which are bounds of the meters' own buckets too."""
PARTS = ("users", "driver", "meters")
MOST = 500
OTHER = "other"
NS = 1e-9

Labels = tuple[str, ...]
Kind = Literal["counter", "gauge", "histogram"]
Rows = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """Figures of one name."""

    name: str
    """Without the `_total` of a counter."""
    help: str
    kind: Kind
    labels: Labels
    unit: str = ""


@dataclass(frozen=True)
class Distribution:
    """A histogram: counts between the `BOUNDS_S`, and the sum of all durations."""

    counts: tuple[int, ...]
    """As many as `BOUNDS_S`, and one for what took longer."""
    sum_s: float

    @property
    def count(self) -> int:
        return sum(self.counts)


Values = dict[Labels, float] | dict[Labels, Distribution]

_PROCESSOR = ("processor", "category")
PROCESSOR_TIME = Family(
    "loadgo_processor_time_seconds", "Time of each processor by what it did.", "counter", _PROCESSOR, "s"
)
PART_TIME = Family(
    "loadgo_part_time_seconds", "Processor time of the metered command and of loadgo itself.", "counter", ("part",), "s"
)
PROCESS_TIME = Family(
    "loadgo_process_time_seconds", "Processor time by name of processes.", "counter", ("process",), "s"
)
PROCESS_WAIT = Family(
    "loadgo_process_ready_wait_seconds", "Time that processes were ready and waited.", "counter", ("process",), "s"
)
FAULTS = Family("loadgo_faults", "Page faults and interrupts.", "counter", ("kind", "device"))
FAULT_TIME = Family("loadgo_fault_time_seconds", "Processor time of handling them.", "counter", ("kind", "device"), "s")
FAULT_WAIT = Family(
    "loadgo_fault_wait_seconds", "Waits of faulting processes beside that.", "counter", ("kind", "device"), "s"
)
FAULT_DURATION = Family("loadgo_fault_duration_seconds", "How long faults took.", "histogram", ("kind",), "s")
PRIMITIVES = Family("loadgo_primitives", "System calls.", "counter", ("primitive",))
PRIMITIVE_ERRORS = Family("loadgo_primitive_errors", "System calls that failed.", "counter", ("primitive",))
PRIMITIVE_TIME = Family(
    "loadgo_primitive_time_seconds", "Time in system calls, waits included.", "counter", ("primitive",), "s"
)
PRIMITIVE_DURATION = Family(
    "loadgo_primitive_duration_seconds", "How long system calls took.", "histogram", ("primitive",), "s"
)
SEGMENT_FAULTS = Family("loadgo_segment_faults", "Page faults by what is mapped.", "counter", ("segment", "kind"))
SEGMENT_SAMPLES = Family("loadgo_segment_samples", "Samples of a clock by what was run.", "counter", ("segment",))
QUEUE_COUNTS = Family("loadgo_queue_events", "What a queue counts.", "counter", ("queue", "event"))
QUEUE_TIMES = Family("loadgo_queue_time_seconds", "Times that a queue adds up.", "counter", ("queue", "measure"), "s")
QUEUE_LENGTH = Family("loadgo_queue_length", "Mean length in the last span.", "gauge", ("queue", "measure"))
LOST = Family("loadgo_lost", "What the meters could not keep.", "counter", ("what",))
INFO = Family("loadgo_meters", "1 while the meters work; which they are.", "gauge", ("tier", "version"))

_COUNTED = ("switches", "pre-emptions", "requests")
_SUMS = (PROCESS_TIME.name, PROCESS_WAIT.name, SEGMENT_FAULTS.name, SEGMENT_SAMPLES.name)


class Totals:
    """The sums since the meters began; one thread adds, others read."""

    def __init__(self, tier: str, version: str) -> None:
        self._lock = threading.Lock()
        self._sums: dict[Family, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._counts: dict[Family, dict[Labels, list[int]]] = defaultdict(lambda: defaultdict(_no_counts))
        self._sums[INFO][(tier, version)] = 1

    def add(self, rows: Rows, lost: list[tuple[str, int]]) -> None:
        """Adds the rows of a span, as `_loadgo.MeteredHost` tells them."""
        with self._lock:
            for processor, category, time_ns in rows["time"]:
                self._more(PROCESSOR_TIME, ("" if processor is None else str(processor), category), time_ns * NS)
            self._processes(rows["processes"])
            self._faults(rows["faults"])
            self._primitives(rows["primitives"])
            self._segments(rows["segments"])
            self._queues(rows["queue"])
            for what, count in lost:
                self._more(LOST, (what,), count)

    def families(self) -> list[tuple[Family, Values]]:
        """Every family with its figures as they stand; a copy."""
        with self._lock:
            told: list[tuple[Family, Values]] = [
                (family, dict(values)) for family, values in self._sums.items() if family.kind != "histogram"
            ]
            for family, series in self._counts.items():
                sums = self._sums[family]
                told.append((family, {at: Distribution(tuple(part), sums.get(at, 0.0)) for at, part in series.items()}))
        return told

    def _more(self, family: Family, labels: Labels, value: float | None) -> None:
        if value is None:
            return
        sums = self._sums[family]
        if family.name in _SUMS and labels not in sums and len(sums) >= MOST:
            labels = (OTHER, *labels[1:])
        sums[labels] += value

    def _bucket(self, family: Family, labels: Labels, bucket_ns: int, count: int) -> None:
        """A bucket of the meters lies within one of these, which end at the next power of two."""
        place = min(max(bucket_ns.bit_length() - 7, 0), len(BOUNDS_S))
        self._counts[family][labels][place] += count

    def _processes(self, rows: list[Any]) -> None:
        for who, _user, cpu_ns, ready_wait_ns in rows:
            if who in PARTS:
                self._more(PART_TIME, (who,), cpu_ns * NS)
                continue
            self._more(PROCESS_TIME, (who,), cpu_ns * NS)
            self._more(PROCESS_WAIT, (who,), None if ready_wait_ns is None else ready_wait_ns * NS)

    def _faults(self, rows: list[Any]) -> None:
        for kind, device, bucket_ns, count, cpu_ns, wait_ns in rows:
            labels = (kind, device or "")
            if bucket_ns is not None:
                if device is None:
                    self._bucket(FAULT_DURATION, (kind,), bucket_ns, count)
                continue
            self._more(FAULTS, labels, count)
            self._more(FAULT_TIME, labels, None if cpu_ns is None else cpu_ns * NS)
            self._more(FAULT_WAIT, labels, None if wait_ns is None else wait_ns * NS)
            if device is None:
                self._more(FAULT_DURATION, (kind,), ((cpu_ns or 0) + (wait_ns or 0)) * NS)

    def _primitives(self, rows: list[Any]) -> None:
        for name, bucket_ns, count, errors, time_ns in rows:
            if bucket_ns is not None:
                self._bucket(PRIMITIVE_DURATION, (name,), bucket_ns, count)
                continue
            self._more(PRIMITIVES, (name,), count)
            self._more(PRIMITIVE_ERRORS, (name,), errors)
            time_s = None if time_ns is None else time_ns * NS
            self._more(PRIMITIVE_TIME, (name,), time_s)
            self._more(PRIMITIVE_DURATION, (name,), time_s)

    def _segments(self, rows: list[Any]) -> None:
        for segment, minor, major, samples in rows:
            self._more(SEGMENT_FAULTS, (segment, "minor"), minor)
            self._more(SEGMENT_FAULTS, (segment, "major"), major)
            self._more(SEGMENT_SAMPLES, (segment,), samples)

    def _queues(self, rows: list[Any]) -> None:
        for queue, measure, value in rows:
            if measure in _COUNTED:
                self._more(QUEUE_COUNTS, (queue, measure), value)
            elif measure.endswith("_ns"):
                self._more(QUEUE_TIMES, (queue, measure.removesuffix("_ns")), value * NS)
            else:
                self._sums[QUEUE_LENGTH][(queue, measure)] = value


def _no_counts() -> list[int]:
    return [0] * (len(BOUNDS_S) + 1)
