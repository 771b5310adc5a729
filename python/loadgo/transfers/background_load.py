"""Busy processes beside transfers: a load that loadgo makes, limited in number and time, and ended by process id.

They compute at the caller's niceness, as other users do. A load average of one or five minutes lags far behind
processes that began just now. So the load is the number of running and ready processes, which the kernel counts at the
end of each transfer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loadgo.errors import BadArgument, Refused
from loadgo.transfers.rounds import together
from loadgo.transfers.transfer import Transferred

MOST_BUSY_PROCESSES = 64
"""Largest number of busy processes at once. Chosen by hand."""
_CPU_LIMIT_S = 3600
"""Processor time after which the kernel ends a busy process, in case this program cannot."""
_LOAD_COUNTS = Path("/proc/loadavg")

_BUSY_LOOP_PYTHON = """
import os, resource, sys
parent, bound_s = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (bound_s, bound_s))
os.write(1, b"!")
while os.getppid() == parent:
    for _ in range(200_000):
        pass
"""


@dataclass(frozen=True)
class LoadLevel:
    """The transfers that were made beside a number of busy processes."""

    busy: int
    running: float | None
    """Mean number of running and ready processes over the transfers. None if the kernel does not count them."""
    transferred: Transferred


@contextmanager
def busy_processes(count: int) -> Iterator[tuple[int, ...]]:
    """Starts `count` processes that always want a processor, and yields their ids.

    They end with the block, or with this program. Raises `errors.Refused` if a process cannot be started, `ValueError`
    for a count out of range.
    """
    if not 0 <= count <= MOST_BUSY_PROCESSES:
        raise BadArgument(f"a load of {count} busy processes is out of range: 0 to {MOST_BUSY_PROCESSES}")
    with ExitStack() as ends:
        started = []
        for _ in range(count):
            started.append(_start())
            ends.callback(_end, started[-1])
        for process in started:
            assert process.stdout is not None
            if process.stdout.read(1) != b"!":
                raise Refused("a busy process ended before it began: there is no load beside the transfers")
        yield tuple(process.pid for process in started)


def running() -> int | None:
    """Number of running and ready processes and threads, this one included. None if the kernel does not count them."""
    try:
        return int(_LOAD_COUNTS.read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return None


def at_loads(
    loads: Sequence[int], make: Callable[[Callable[[int, int], None]], Transferred], turns: int = 1
) -> list[LoadLevel]:
    """Makes transfers beside each number of busy processes, for a number of `turns` or until an interrupt.

    Each turn goes through all loads, so that other changes on the host affect all of them. `make` receives a function
    that it calls after each transfer. Raises the errors of `busy_processes`.
    """
    counts: dict[int, list[int]] = {busy: [] for busy in loads}
    transfers: dict[int, list[Transferred]] = {busy: [] for busy in loads}
    with busy_processes(max(loads)):
        pass  # the largest load is tried once, so that it fails before the first transfer
    for busy in list(loads) * turns:
        with busy_processes(busy):
            transfers[busy].append(make(partial(_count, counts[busy])))
        if transfers[busy][-1].stopped:
            break
    return [
        LoadLevel(busy, sum(counts[busy]) / len(counts[busy]) if counts[busy] else None, together(transfers[busy]))
        for busy in loads
        if transfers[busy]
    ]


def _count(counts: list[int], _finished: int, _planned: int) -> None:
    count = running()
    if count is not None:
        counts.append(count)


def merged(levels: Sequence[LoadLevel]) -> Transferred:
    """The transfers of all loads, in their order."""
    return together([level.transferred for level in levels])


def loads_of(levels: Sequence[LoadLevel]) -> list[float]:
    """The load of each row of `merged`: running processes, or the busy processes if the kernel does not count them."""
    return [
        float(level.busy) if level.running is None else level.running
        for level in levels
        for _ in level.transferred.rows
    ]


def _start() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BUSY_LOOP_PYTHON, str(os.getpid()), str(_CPU_LIMIT_S)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise Refused(f"a busy process cannot be started: {error.strerror}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
