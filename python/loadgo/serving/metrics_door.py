"""A small server for readers without a secret: few connections at once, a deadline for each, and no foreign host names.

A reader is served within milliseconds. So a further connection closes the oldest one, which reads or sends nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

MOST_READERS = 32
"""Largest number of connections at once."""
READER_TIMEOUT_S = 5.0
"""Time in which a connection must send its request and take the answer."""

Application = Callable[..., Any]


class _Handler(WSGIRequestHandler):
    timeout = READER_TIMEOUT_S

    def log_message(self, *_: object) -> None:
        """Says nothing: the standard error is the metering's."""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    """A server with a thread for each connection, of which there are few."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._open: dict[socket.socket, threading.Timer] = {}
        self._lock = threading.Lock()
        super().__init__(*arguments, **keywords)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answers in a thread of its own. Too many connections cost the oldest one its place."""
        deadline = threading.Timer(READER_TIMEOUT_S, _hang_up, [request])
        deadline.daemon = True
        with self._lock:
            oldest = next(iter(self._open)) if len(self._open) >= MOST_READERS else None
            self._open[request] = deadline
        if oldest is not None:
            self._forget(oldest)
            _hang_up(oldest)
        deadline.start()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection that has been answered."""
        self._forget(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a reader who has gone."""

    def _forget(self, request: socket.socket) -> None:
        with self._lock:
            deadline = self._open.pop(request, None)
        if deadline is not None:
            deadline.cancel()


def _hang_up(request: socket.socket) -> None:
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


@contextmanager
def guarded_server(application: Application, address: str, port: int) -> Iterator[int]:
    """Serves a WSGI application until the block ends, and yields its port. Raises `OSError` for a taken place."""

    class Server(_Server):
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

    with Server((address, port), _Handler) as server:
        server.set_app(_for_own_names(application))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _for_own_names(application: Application) -> Application:
    """The application for requests that name an address, `localhost` or this host. A page elsewhere names another."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        if _is_own_name(environ.get("HTTP_HOST", "")):
            return application(environ, start)
        start("421 Misdirected Request", [("Content-Type", "text/plain")])
        return [b"this host has another name\n"]

    return answer


def _is_own_name(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    return name.lower() in ("localhost", socket.gethostname().lower())
