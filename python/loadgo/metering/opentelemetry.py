"""The meters' sums to an OpenTelemetry collector, by OTLP over HTTP, every ten seconds; needs `loadgo[otel]`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
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

EVERY_S = 10.0
PATIENCE_S = 5.0
SCHEMA = ""


@contextmanager
def exported(totals: Totals, address: str, every_s: float = EVERY_S) -> Iterator[None]:
    """Exports the sums to `address` every so often, and once more at the end."""
    exporter = OTLPMetricExporter(endpoint=address, timeout=PATIENCE_S)
    began_ns, over = time.time_ns(), threading.Event()

    def export() -> None:
        while not over.wait(every_s):
            exporter.export(data_of(totals, began_ns))
        exporter.export(data_of(totals, began_ns))

    thread = threading.Thread(target=export, name="loadgo-otlp", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(2 * PATIENCE_S)
        exporter.shutdown()


def data_of(totals: Totals, began_ns: int) -> MetricsData:
    """The sums since `began_ns` (of the epoch), as OpenTelemetry has them."""
    now_ns = time.time_ns()
    metrics = [_metric(family, values, began_ns, now_ns) for family, values in totals.families()]
    scope = ScopeMetrics(InstrumentationScope("loadgo", _loadgo.__version__), metrics, SCHEMA)
    return MetricsData([ResourceMetrics(Resource.create({"service.name": "loadgo"}), [scope], SCHEMA)])


def _metric(family: Family, values: Values, began_ns: int, now_ns: int) -> Metric:
    def attributes(labels: tuple[str, ...]) -> dict[str, str]:
        return dict(zip(family.labels, labels, strict=True))

    numbers = [
        NumberDataPoint(attributes(labels), began_ns, now_ns, value)
        for labels, value in values.items()
        if not isinstance(value, Distribution)
    ]
    cumulative = AggregationTemporality.CUMULATIVE
    data: Sum | Gauge | Histogram
    if family.kind == "counter":
        data = Sum(numbers, cumulative, is_monotonic=True)
    elif family.kind == "gauge":
        data = Gauge(numbers)
    else:
        data = Histogram(
            [
                _point(value, attributes(labels), began_ns, now_ns)
                for labels, value in values.items()
                if isinstance(value, Distribution)
            ],
            cumulative,
        )
    return Metric(family.name, family.help, family.unit, data)


def _point(value: Distribution, attributes: dict[str, str], began_ns: int, now_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=attributes,
        start_time_unix_nano=began_ns,
        time_unix_nano=now_ns,
        count=value.count,
        sum=value.sum_s,
        bucket_counts=value.counts,
        explicit_bounds=BOUNDS_S,
        min=None,  # type: ignore[arg-type] # not known, which the protocol allows
        max=None,  # type: ignore[arg-type]
    )
