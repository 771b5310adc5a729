"""Busy processes beside transfers: a load of this program's own making, bounded, and ended by their ids.

They compute at the niceness of whoever asks, as other users do. A load average of five minutes (or one) is far behind
processes that began just now: what is told instead is how many processes were running or ready to, as the kernel
counts them the moment that a transfer ended.
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

MOST = 64
"""Busy processes at once."""
_BOUND_S = 3600
"""Of processor time each: then the kernel ends it, whatever became of this program."""
_COUNTS = Path("/proc/loadavg")

_COMPUTES = """
import os, resource, sys
parent, bound_s = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (bound_s, bound_s))
os.write(1, b"!")
while os.getppid() == parent:
    for _ in range(200_000):
        pass
"""


@dataclass(frozen=True)
class AtLoad:
    """The transfers that were made beside so many busy processes."""

    busy: int
    running: float | None
    """How many processes were running or ready to, the mean over the transfers; None where the kernel does not say."""
    made: Transferred


@contextmanager
def beside(count: int) -> Iterator[tuple[int, ...]]:
    """The ids of `count` processes that always want a processor; they end with the block, or with this program.

    Raises `errors.Refused` when the system gives no more processes, `ValueError` for a count out of range.
    """
    if not 0 <= count <= MOST:
        raise BadArgument(f"a load of {count} busy processes is out of range: 0 to {MOST}")
    with ExitStack() as ends:
        started = []
        for _ in range(count):
            started.append(_started())
            ends.callback(_ended, started[-1])
        for one in started:
            assert one.stdout is not None
            if one.stdout.read(1) != b"!":
                raise Refused("a busy process ended before it began: there is no load beside the transfers")
        yield tuple(one.pid for one in started)


def running() -> int | None:
    """How many processes and threads are running or ready to, this one among them; None where nobody says."""
    try:
        return int(_COUNTS.read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return None


def at_loads(
    loads: Sequence[int], make: Callable[[Callable[[int, int], None]], Transferred], turns: int = 1
) -> list[AtLoad]:
    """What `make` makes beside each number of busy processes, so many `turns` or until it is stopped.

    Each turn goes through all loads, so that what else changes on the host falls on all of them. `make` is given what
    is to be called after each transfer. Raises what `beside` raises.
    """
    counts: dict[int, list[int]] = {busy: [] for busy in loads}
    made: dict[int, list[Transferred]] = {busy: [] for busy in loads}
    with beside(max(loads)):
        pass  # a load that cannot be had is told before the first transfer
    for busy in list(loads) * turns:
        with beside(busy):
            made[busy].append(make(partial(_count, counts[busy])))
        if made[busy][-1].stopped:
            break
    return [
        AtLoad(busy, sum(counts[busy]) / len(counts[busy]) if counts[busy] else None, together(made[busy]))
        for busy in loads
        if made[busy]
    ]


def _count(into: list[int], _made: int, _of: int) -> None:
    into.extend(one for one in [running()] if one is not None)


def merged(levels: Sequence[AtLoad]) -> Transferred:
    """The transfers of all loads, in their order."""
    return together([level.made for level in levels])


def loads_of(levels: Sequence[AtLoad]) -> list[float]:
    """The load of each row of `merged`: how many were running, or where nobody says how many busy ones there were."""
    return [float(level.busy) if level.running is None else level.running for level in levels for _ in level.made.rows]


def _started() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _COMPUTES, str(os.getpid()), str(_BOUND_S)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as why:
        raise Refused(f"a busy process cannot be started: {why.strerror}") from None


def _ended(one: subprocess.Popen[bytes]) -> None:
    one.kill()
    one.wait()
    assert one.stdout is not None
    one.stdout.close()
