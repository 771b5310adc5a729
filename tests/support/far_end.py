"""The other end of a transfer, on loopback: `loadgo transfer serve` in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loadgo.transfers.transfer import Served, Server, serving


@contextmanager
def waiting(heard: Callable[[Served], None] | None = None, **options: object) -> Iterator[Server]:
    """A server on a port of the kernel's choice; `heard` is told of each transfer."""
    over = threading.Event()
    with serving("127.0.0.1:0", **options) as server:  # type: ignore[arg-type]
        thread = threading.Thread(target=server.serve, args=(heard, over.is_set))
        thread.start()
        try:
            yield server
        finally:
            over.set()
            thread.join()
