"""Transfers of commands that are made up, and sockets that talk beside a command."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from loadgo.running.command_run import CommandRun, Wait4Usage
from loadgo.transfers.command import CommandTransfer, Moved, NetworkInterrupts
from loadgo.transfers.prices import Prices

from support.command_runs import command_run

PYTHON = (sys.executable, "-I", "-c")


PRICES = Prices("$", 1.0, 0.09, "an hour for a dollar")


@contextmanager
def others_talk() -> Iterator[None]:
    """While it lasts this process, which is not the command, sends and receives on sockets of its own."""
    over = threading.Event()
    near, far = socket.socketpair()
    tcp = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(tcp.getsockname())
    server, _ = tcp.accept()

    def talks() -> None:
        while not over.is_set():
            for one, other in ((near, far), (client, server)):
                one.sendall(bytes(1000))
                other.recv(1000)

    thread = threading.Thread(target=talks)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for each in (near, far, tcp, client, server):
            each.close()


def a_run(user_ms: int, system_ms: int) -> CommandRun:
    """A run of a second."""
    return command_run(
        cpu_user_ns=user_ms * 10**6,
        cpu_system_ns=system_ms * 10**6,
        faults_minor=1,
        waited=Wait4Usage(0, 0, 0, 0, 0, 3, 0),
    )


def made_of(run: CommandRun, *kinds: Moved, inside_s: float = 0.0, soft_s: float = 0.0) -> CommandTransfer:
    """A transfer with these figures."""
    return CommandTransfer(
        command=("/usr/bin/fetch", "it"),
        run=run,
        kinds=kinds,
        interrupts=NetworkInterrupts(soft_s, 0.0, inside_s, 0.0, soft_s, 10, 10),
        held=0,
        unsent=0,
        lost=0,
        load_5min=0.5,
        sources={"cpu": "cpuacct", "split": "clock ticks"},
        notes=(),
    )


def a_kind(kind: str, sent: int, received: int) -> Moved:
    return Moved(kind, 1, sent, received, 0, 2, 3, 4, 5)
