"""The connection to an agent on this host: a process here, without ssh."""

from __future__ import annotations

import platform
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadgo.hosts.address import ThisHost
from loadgo.hosts.connection import Connection, Streams
from loadgo.hosts.delivery import AgentProgram
from loadgo.hosts.error_output import ErrorOutput


class LocalConnection(Connection):
    """Starts commands on this host."""

    def start(self, script: str, streams: Streams) -> subprocess.Popen[bytes]:
        """Starts a script of the Bourne shell here. Signals of the terminal are for this process alone."""
        process = subprocess.Popen(
            ["sh", "-c", script],
            stdin=streams[0],
            stdout=streams[1],
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert process.stderr is not None
        self._errors[script] = ErrorOutput(process.stderr)
        return process


@contextmanager
def connect_here(program: AgentProgram, stop: threading.Event) -> Iterator[Connection]:
    """A connection to this host, on which `program` is at hand."""
    yield LocalConnection(ThisHost(), Path(), [f"Linux-{platform.machine()}", program.sha256], stop)
