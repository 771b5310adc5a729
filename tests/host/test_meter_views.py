"""Views of running meters: the figures for Prometheus and OpenTelemetry. A viewer never delays the meters."""

import http.client
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from loadgo.errors import Refused
from loadgo.metering.opentelemetry import export_metrics
from loadgo.metering.prometheus import exposition, serve_metrics
from loadgo.metering.totals import BOUNDS_S, MOST_LABELS, OTHER_LABEL, Totals
from loadgo.metering.viewers import parse_address
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from support.outside import NEEDS_ROOT, PATIENCE_S, Bench, ended, wait_until

ROWS: dict[str, Any] = {
    "span_ns": 1_000_000_000,
    "time": [(0, "user", 250_000_000), (0, "idle zero", 750_000_000), (None, "user", 5)],
    "processes": [("driver", None, 1_000_000, None), ("bash", 1, 2_000_000, 3_000_000), ("bash", 2, 4_000_000, None)],
    "faults": [
        ("minor", None, None, 3, 3_000, 0),
        ("minor", None, 512, 2, None, None),
        ("minor", None, 100, 1, None, None),
        ("interrupt", "virtio0", None, 7, 700, None),
    ],
    "primitives": [("read", None, 4, 1, 8_000), ("read", 1 << 60, 4, None, None)],
    "segments": [("/bin/ls", 5, None, 6)],
    "queue": [("processors", "switches", 9.0), ("processors", "ready", 0.5), ("sda", "busy_ns", 2e9)],
}


def totals(times: int = 1) -> Totals:
    """The sums of so many spans."""
    summed = Totals("exact", "0")
    for _ in range(times):
        summed.add(ROWS, [("usage", 2)])
    return summed


Samples = dict[tuple[str, frozenset[str]], float]


def samples(text: bytes) -> Samples:
    """The samples by Prometheus' own parser: values by name and labels' values."""
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def at(name: str, *labels: str) -> tuple[str, frozenset[str]]:
    """The key of a sample: its name and its labels' values."""
    return name, frozenset(labels)


def buckets(told: Samples, name: str) -> dict[str, float]:
    """The cumulative counts of a histogram with one label, by upper bound as it is written."""
    bounds = {*map(repr, BOUNDS_S), "+Inf"}
    found = [(labels & bounds, value) for (of, labels), value in told.items() if of == f"{name}_bucket"]
    return {bound: value for (bound,), value in found}


def test_prometheus_reads_sums_in_seconds() -> None:
    values = samples(exposition(totals(2)))
    assert values[at("loadgo_processor_time_seconds_total", "0", "user")] == pytest.approx(0.5)
    assert values[at("loadgo_process_time_seconds_total", "bash")] == pytest.approx(0.012)
    assert values[at("loadgo_process_ready_wait_seconds_total", "bash")] == pytest.approx(0.006)
    assert values[at("loadgo_part_time_seconds_total", "driver")] == pytest.approx(0.002)
    assert values[at("loadgo_faults_total", "interrupt", "virtio0")] == 14
    assert values[at("loadgo_primitive_errors_total", "read")] == 2
    assert values[at("loadgo_segment_faults_total", "/bin/ls", "minor")] == 10
    assert at("loadgo_segment_faults_total", "/bin/ls", "major") not in values
    assert values[at("loadgo_queue_events_total", "processors", "switches")] == 18
    assert values[at("loadgo_queue_time_seconds_total", "sda", "busy")] == pytest.approx(4)
    assert values[at("loadgo_queue_length", "processors", "ready")] == 0.5
    assert values[at("loadgo_lost_total", "usage")] == 4


def test_a_histogram_has_all_its_bounds_from_the_beginning() -> None:
    told = samples(exposition(totals()))
    bounds = buckets(told, "loadgo_fault_duration_seconds")
    assert len(bounds) == len(BOUNDS_S) + 1
    assert [bounds[repr(BOUNDS_S[place])] for place in (0, 1, 2, 3)] == [1, 1, 1, 3]
    assert told[at("loadgo_fault_duration_seconds_count", "minor")] == 3
    assert told[at("loadgo_fault_duration_seconds_sum", "minor")] == pytest.approx(3e-6)
    slow = buckets(told, "loadgo_primitive_duration_seconds")
    assert (slow[repr(BOUNDS_S[-1])], slow["+Inf"]) == (0, 4)


def test_a_host_that_makes_up_names_without_end_fills_no_memory() -> None:
    summed = Totals("cheap", "0")
    for number in range(3 * MOST_LABELS):
        summed.add(ROWS | {"processes": [(f"worker-{number}", None, 1_000, None)]}, [])
    told = samples(exposition(summed))
    names = {labels for name, labels in told if name == "loadgo_process_time_seconds_total"}
    assert len(names) == MOST_LABELS + 1
    assert told[at("loadgo_process_time_seconds_total", OTHER_LABEL)] == pytest.approx(2 * MOST_LABELS * 1e-6)


def test_a_viewer_that_never_reads_keeps_nobody_waiting() -> None:
    summed = totals()
    with serve_metrics(summed, "127.0.0.1", 0) as port:
        deaf = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for one in deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            one.sendall(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
        summed.add(ROWS, [])
        told = samples(read(port))
        for one in deaf:
            one.close()
    assert told[at("loadgo_processor_time_seconds_total", "0", "user")] == pytest.approx(0.5)


def read(port: int) -> bytes:
    """Reads the text that is served now."""
    viewer = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    viewer.request("GET", "/metrics")
    text = viewer.getresponse().read()
    viewer.close()
    return text


def test_a_port_that_is_taken_is_named() -> None:
    with (
        serve_metrics(totals(), "127.0.0.1", 0) as port,
        pytest.raises(Refused, match="in use"),
        serve_metrics(totals(), "127.0.0.1", port),
    ):
        pass


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        ("9464", ("127.0.0.1", 9464)),
        ("localhost:1", ("127.0.0.1", 1)),
        ("[::1]:9464", ("::1", 9464)),
    ],
)
def test_an_address_is_of_the_loopback(asked: str, found: tuple[str, int]) -> None:
    assert parse_address(asked, beyond_loopback=False) == found


def test_an_address_that_others_reach_must_be_wanted() -> None:
    with pytest.raises(ValueError, match="`beyond_loopback`"):
        parse_address("0.0.0.0:9464", beyond_loopback=False)
    assert parse_address("0.0.0.0:9464", beyond_loopback=True) == ("0.0.0.0", 9464)
    for wrong in ("here", "127.0.0.1:", "127.0.0.1:70000", "example.org:80"):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            parse_address(wrong, beyond_loopback=True)


class Collector(HTTPServer):
    """An OpenTelemetry collector that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.received: list[ExportMetricsServiceRequest] = []


class _Receive(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        assert isinstance(self.server, Collector)
        self.server.received.append(ExportMetricsServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector at work."""
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def test_a_collector_receives_sums_gauges_and_histograms() -> None:
    with collector() as server:
        with export_metrics(totals(), f"http://127.0.0.1:{server.server_port}/v1/metrics", every_s=3600):
            pass
        (request,) = server.received
    (resource,) = request.resource_metrics
    metrics = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    point = metrics["loadgo_processor_time_seconds"].sum.data_points[0]
    assert {one.key: one.value.string_value for one in point.attributes} == {"processor": "0", "category": "user"}
    assert point.as_double == pytest.approx(0.25)
    assert metrics["loadgo_processor_time_seconds"].sum.is_monotonic
    assert metrics["loadgo_queue_length"].gauge.data_points[0].as_double == 0.5
    (histogram,) = metrics["loadgo_fault_duration_seconds"].histogram.data_points
    assert (histogram.count, list(histogram.bucket_counts)[:4]) == (3, [1, 0, 0, 2])
    assert not histogram.HasField("max")


def test_exports_that_fail_are_counted() -> None:
    with (
        collector() as server,
        export_metrics(totals(), f"http://127.0.0.1:{server.server_port}/v1/metrics", every_s=3600) as good,
    ):
        pass
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody listens at this port, and nobody else gets it
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/metrics"
        with export_metrics(totals(), address, every_s=3600) as bad:
            pass
    assert (good.begun, good.failed) == (1, 0)
    assert (bad.begun, bad.failed) == (1, 1)


@NEEDS_ROOT
def test_a_failed_export_makes_the_status_bad(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    bench = Bench(tmp_path)
    nobody_listens = "http://127.0.0.1:9/v1/metrics"
    completed = bench.typed("meter", "--for", "200ms", "--every", "100ms", "--otlp", nobody_listens, status=1)
    assert f"loadgo: 1 of 1 exports to {nobody_listens} failed: Connection refused" in completed.stderr
    assert "HTTPConnectionPool" not in completed.stderr, "the library's own words"
    assert bench.typed("meter", "--otlp", nobody_listens, "--", "sh", "-c", "exit 3", status=3)
    recorded = bench.typed("meter", "--for", "200ms", "--otlp", nobody_listens, "--out", "kept", status=1)
    assert recorded.stderr.count("exports to") == 1, "the error is no note as well"


def read_at(running: subprocess.Popen[str], port: int, more_than_s: float) -> float:
    """Reads until the processors' time is more than it was; what it is then, in seconds."""
    times: list[float] = []

    def grew() -> bool:
        told = samples(read(port))
        times.append(sum(value for (name, _), value in told.items() if name == "loadgo_processor_time_seconds_total"))
        return times[-1] > more_than_s

    wait_until(grew, running)
    return times[-1]


@NEEDS_ROOT
def test_the_command_serves_until_it_is_interrupted_and_records_nothing(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    bench = Bench(tmp_path)
    running = bench.start("meter", "--serve", "127.0.0.1:0", "--every", "100ms", "--meters", "exact")
    assert running.stderr is not None
    said = ""
    while "http" not in said:
        said = running.stderr.readline()
        assert said, "it ended without serving"
    port = int(re.findall(r":(\d+)/metrics", said)[0])
    read_at(running, port, read_at(running, port, 0.0))
    assert samples(read(port))[at("loadgo_meters", "exact", "0.1.0")] == 1
    running.send_signal(signal.SIGINT)
    ended(running, 0)
    assert not (tmp_path / "runs").exists()


@NEEDS_ROOT
def test_an_address_beyond_the_loopback_is_refused_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    told = Bench(tmp_path).typed("meter", "--serve", "0.0.0.0:0", status=2)
    assert "--beyond-loopback" in told.stderr
