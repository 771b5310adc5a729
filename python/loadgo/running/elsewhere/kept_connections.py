"""Connections to other hosts that several runs share: one log-in for a search or an experiment, not for each run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace

from loadgo.hosts.address import Address
from loadgo.hosts.connection import Connection, connect
from loadgo.hosts.delivery import AgentProgram, deliver


class _KeptConnections:
    """The connections that are open, by host."""

    def __init__(self, open_connections: ExitStack) -> None:
        self._open = open_connections
        self._by_host: dict[Address, Connection] = {}

    def connection(self, host: Address, program: AgentProgram, stop: threading.Event) -> Connection:
        """The connection to `host`, whose waits end with `stop`. One that was cut is replaced by a new log-in."""
        kept = self._by_host.get(host)
        if kept is None or not kept.control_socket.exists():  # its ssh removes the socket when it ends
            connection = self._open.enter_context(connect(host, program.question, stop))
            deliver(connection, program)
            kept = replace(connection, answer=[connection.answer[0], program.sha256])
            self._by_host[host] = kept
        return replace(kept, stop=stop)


_KEPT: ContextVar[_KeptConnections | None] = ContextVar("kept connections to other hosts", default=None)


@contextmanager
def keep_connections() -> Iterator[None]:
    """Within this context, the runs on one host share the log-in of the first, so that a password is asked once."""
    with ExitStack() as open_connections:
        token = _KEPT.set(_KeptConnections(open_connections))
        try:
            yield
        finally:
            _KEPT.reset(token)


@contextmanager
def connection_for_run(host: Address, program: AgentProgram, stop: threading.Event) -> Iterator[Connection]:
    """A connection to `host` for one run: the kept one within `keep_connections`, else one that ends with the context.

    Raises what `hosts.connection.connect` raises.
    """
    kept = _KEPT.get()
    if kept is not None:
        yield kept.connection(host, program, stop)
        return
    with connect(host, program.question, stop) as connection:
        yield connection
