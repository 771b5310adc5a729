"""A TCP connection over a slow network that loses packets: the `ProxyCommand` of ssh, which delays what it passes on.

A lost packet is sent again after a time-out, and what follows waits for it: to a program it is a longer delay. So this
needs no `sch_netem` of the kernel, which many kernels lack.
"""

from __future__ import annotations

import queue
import random
import socket
import sys
import threading
import time
from collections.abc import Callable

_PIECE_BYTES = 1 << 16
RESEND_S = 0.2
"""The shortest time after which TCP on Linux sends a lost packet again."""


def proxy_command(port: int, *, round_trip_s: float, loss: float) -> str:
    """The command that connects its standard streams with a port on loopback over such a network."""
    return f"{sys.executable} -I {__file__} {port} {round_trip_s} {loss}"


class _Way:
    """One direction: pieces arrive in order, each after half a round trip, or later if it was lost at first."""

    def __init__(
        self, delay_s: float, loss: float, receive: Callable[[], bytes], send: Callable[[bytes], None]
    ) -> None:
        self._delay_s, self._loss = delay_s, loss
        self._receive, self._send = receive, send
        self._pieces: queue.Queue[tuple[float, bytes]] = queue.Queue()
        self._chance = random.Random(1)
        threading.Thread(target=self._take_in, daemon=True).start()

    def _take_in(self) -> None:
        while True:
            piece = self._receive()
            resent_s = RESEND_S + 2 * self._delay_s if self._chance.random() < self._loss else 0.0
            self._pieces.put((time.monotonic() + self._delay_s + resent_s, piece))
            if not piece:
                return

    def pass_on(self) -> None:
        """Passes pieces on until the end of the input."""
        while True:
            due_s, piece = self._pieces.get()
            time.sleep(max(0.0, due_s - time.monotonic()))
            if not piece:
                return
            self._send(piece)


def _write(piece: bytes) -> None:
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def main() -> None:
    """Passes on both ways, until the far end closes its own."""
    port, round_trip_s, loss = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    with socket.create_connection(("127.0.0.1", port)) as far:
        there = _Way(round_trip_s / 2, loss, lambda: sys.stdin.buffer.raw.read(_PIECE_BYTES), far.sendall)
        back = _Way(round_trip_s / 2, loss, lambda: far.recv(_PIECE_BYTES), _write)
        threading.Thread(target=there.pass_on, daemon=True).start()
        back.pass_on()


if __name__ == "__main__":
    main()
