"""Serves the meters' sums to Prometheus, in its text format, at an address of this host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from loadgo.errors import Refused
from loadgo.metering.totals import BOUNDS_S, Distribution, Family, Totals, Values
from loadgo.serving.metrics_door import guarded_server


def exposition(totals: Totals) -> bytes:
    """The sums in Prometheus' text format."""
    return generate_latest(_registry(totals))


@contextmanager
def serve_metrics(totals: Totals, address: str, port: int) -> Iterator[int]:
    """Serves the current sums and yields the port. Raises `errors.Refused` if the address cannot be used."""
    answer = make_wsgi_app(_registry(totals))
    with ExitStack() as serving:
        try:
            bound_port = serving.enter_context(guarded_server(answer, address, port))
        except OSError as error:
            raise Refused(f"the meters cannot be served at {address}:{port}: {error.strerror or error}") from None
        yield bound_port


def _registry(totals: Totals) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(totals))
    return registry


class _Collector(Collector):
    def __init__(self, totals: Totals) -> None:
        self._totals = totals

    def collect(self) -> Iterator[Metric]:
        return (_metric(family, values) for family, values in self._totals.families())

    def describe(self) -> Iterator[Metric]:
        return iter(())


def _metric(family: Family, values: Values) -> Metric:
    kinds: dict[str, Any] = {
        "counter": CounterMetricFamily,
        "gauge": GaugeMetricFamily,
        "histogram": HistogramMetricFamily,
    }
    metric = kinds[family.kind](family.name, family.help, labels=family.labels)
    for labels, value in values.items():
        if isinstance(value, Distribution):
            metric.add_metric(labels, buckets=_cumulative(value), sum_value=value.sum_s)
        else:
            metric.add_metric(labels, value)
    typed: Metric = metric
    return typed


def _cumulative(distribution: Distribution) -> list[tuple[str, float]]:
    bounds = [*(repr(bound) for bound in BOUNDS_S), "+Inf"]
    return [(bound, float(below)) for bound, below in zip(bounds, accumulate(distribution.counts), strict=True)]
