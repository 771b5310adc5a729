"""Exports the meters' sums to an OpenTelemetry collector, by OTLP over HTTP, every ten seconds (`loadgo[otel]`)."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from loadgo import _loadgo
from loadgo.metering.totals import BOUNDS_S, Distribution, Family, Totals, Values

EXPORT_PERIOD_S = 10.0
EXPORT_TIMEOUT_S = 5.0
SCHEMA_URL = ""


@dataclass
class ExportCounts:
    """The number of exports so far. One that is never answered counts as failed."""

    begun: int = 0
    succeeded: int = 0
    reason: str = ""
    """Why the last export failed, in words; empty if none failed, or if the reason is not known."""

    @property
    def failed(self) -> int:
        """The number of exports that the collector did not accept."""
        return self.begun - self.succeeded


class _ReasonReader(logging.Handler):
    """Reads the reason of a failed export from what the library logs, which then does not reach standard error."""

    def __init__(self, counts: ExportCounts) -> None:
        super().__init__()
        self.counts = counts

    def emit(self, record: logging.LogRecord) -> None:
        self.counts.reason = failure_in_words(record.getMessage()) or self.counts.reason


def failure_in_words(logged: str) -> str:
    """The reason in what the library logged: an error number of the system, or a status of HTTP; empty for others."""
    if error := re.search(r"\[Errno (\d+)\]", logged):
        return os.strerror(int(error[1]))
    if status := re.search(r"\bcode: (\d{3})\b", logged):
        return f"the collector answered with the status {status[1]}"
    return ""


@contextmanager
def export_metrics(totals: Totals, address: str, every_s: float = EXPORT_PERIOD_S) -> Iterator[ExportCounts]:
    """Exports the sums to `address` every `every_s` seconds, and once more at the end. Yields the counts of exports."""
    exporter = OTLPMetricExporter(endpoint=address, timeout=EXPORT_TIMEOUT_S)
    began_ns, over, counts = time.time_ns(), threading.Event(), ExportCounts()

    def export() -> None:
        counts.begun += 1
        if exporter.export(metrics_data(totals, began_ns)) is MetricExportResult.SUCCESS:
            counts.succeeded += 1

    def export_until_over() -> None:
        while not over.wait(every_s):
            export()
        export()

    reader, logger = _ReasonReader(counts), logging.getLogger("opentelemetry")
    logger.addHandler(reader)
    thread = threading.Thread(target=export_until_over, name="loadgo-otlp", daemon=True)
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join(2 * EXPORT_TIMEOUT_S)
        exporter.shutdown()
        logger.removeHandler(reader)


def metrics_data(totals: Totals, began_ns: int) -> MetricsData:
    """The sums since `began_ns` (nanoseconds of the epoch), in OpenTelemetry's data model."""
    now_ns = time.time_ns()
    metrics = [_metric(family, values, began_ns, now_ns) for family, values in totals.families()]
    scope = ScopeMetrics(InstrumentationScope("loadgo", _loadgo.__version__), metrics, SCHEMA_URL)
    return MetricsData([ResourceMetrics(Resource.create({"service.name": "loadgo"}), [scope], SCHEMA_URL)])


def _metric(family: Family, values: Values, began_ns: int, now_ns: int) -> Metric:
    def attributes(labels: tuple[str, ...]) -> dict[str, str]:
        return dict(zip(family.labels, labels, strict=True))

    numbers = [
        NumberDataPoint(attributes(labels), began_ns, now_ns, value)
        for labels, value in values.items()
        if not isinstance(value, Distribution)
    ]
    cumulative = AggregationTemporality.CUMULATIVE
    points: Sum | Gauge | Histogram
    if family.kind == "counter":
        points = Sum(numbers, cumulative, is_monotonic=True)
    elif family.kind == "gauge":
        points = Gauge(numbers)
    else:
        points = Histogram(
            [
                _point(value, attributes(labels), began_ns, now_ns)
                for labels, value in values.items()
                if isinstance(value, Distribution)
            ],
            cumulative,
        )
    return Metric(family.name, family.help, family.unit, points)


def _point(value: Distribution, attributes: dict[str, str], began_ns: int, now_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=attributes,
        start_time_unix_nano=began_ns,
        time_unix_nano=now_ns,
        count=value.count,
        sum=value.sum_s,
        bucket_counts=value.counts,
        explicit_bounds=BOUNDS_S,
        min=None,  # type: ignore[arg-type] # unknown, which the protocol allows
        max=None,  # type: ignore[arg-type]
    )
