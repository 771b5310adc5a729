"""The door of metrics without a secret: silent connections keep nobody out, and foreign host names get nothing."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from loadgo.serving.metrics_door import MOST_READERS, guarded_server
from support.outside import PATIENCE_S

HOSTILE = 250


def figures(_environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"figures"]


@pytest.fixture
def port() -> Iterator[int]:
    with guarded_server(figures, "127.0.0.1", 0) as port:
        yield port


def asked(port: int, host: str) -> tuple[int, bytes]:
    reader = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    reader.request("GET", "/metrics", headers={"Host": host})
    answer = reader.getresponse()
    content = answer.read()
    reader.close()
    return answer.status, content


def test_silent_connections_keep_no_reader_out_and_few_threads(port: int) -> None:
    threads_before = threading.active_count()
    with ExitStack() as silent:
        for number in range(HOSTILE):
            one = silent.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            if number % 2:
                one.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
        assert asked(port, f"127.0.0.1:{port}") == (200, b"figures")
        # A connection that was hung up may take a moment to leave its thread; it has no deadline any more.
        deadlines = [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
        assert len(deadlines) <= MOST_READERS + 1, f"{threads_before} threads before"


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:9464", 200), ("[::1]:9464", 200), ("127.0.0.1", 200), ("rebound.example:9464", 421)],
)
def test_a_page_elsewhere_whose_name_leads_here_reads_nothing(host: str, status: int, port: int) -> None:
    assert asked(port, host)[0] == status
