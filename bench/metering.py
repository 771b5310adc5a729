"""Loads under meters: what a load costs bare, with loadgo's meters on, and under other tools, in processor time.

The loads and the driver are examples of crates/meters: `loads` does a thing so many times and prints the processor time
of each; `metered` has the meters on while a command runs, reads them once a second, and tells what they found. What is
compared is run in shuffled order within each repetition, and ratios are made within a repetition.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")) / "release" / "examples"
LOADS, METERED = str(BUILT / "loads"), str(BUILT / "metered")
TIERS = ("cheap", "exact")
HISTOGRAMS = (
    "tracepoint:raw_syscalls:sys_enter { @began[tid] = nsecs; }"
    " tracepoint:raw_syscalls:sys_exit /@began[tid]/"
    " { @[args->id] = hist(nsecs - @began[tid]); delete(@began[tid]); }"
)

Measure = Callable[[], float]


def build() -> None:
    """Builds the loads and the driver."""
    command = ["cargo", "build", "--quiet", "--release", "--package", "loadgo-meters"]
    subprocess.run([*command, "--example", "loads", "--example", "metered"], check=True, cwd=HERE.parent)


def each_ns(load: str, amount: int, under: Sequence[str] = ()) -> float:
    """Processor time of one `load`, of `amount`, as it clocks itself: in ns."""
    return float(_said([*under, LOADS, load, str(amount)]).split()[-1])


def used_s(command: Sequence[str], under: Sequence[str] = ()) -> float:
    """Processor time of `command`, in seconds; not of what it runs under."""
    return float(_said([*under, sys.executable, str(HERE / "timed.py"), *command]).split()[-1])


def tier(name: str) -> tuple[str, ...]:
    """What a load runs under so that the meters are on."""
    return (METERED, name)


def told(under: Sequence[str], load: str, amount: int) -> tuple[float, dict[str, int]]:
    """The processor time of each in ns, and the sums of what the meters found meanwhile."""
    with tempfile.NamedTemporaryFile(prefix="loadgo-bench-") as found:
        ns = float(_said([*under, LOADS, load, str(amount)], METERED=found.name).split()[-1])
        sums: dict[str, int] = json.loads(Path(found.name).read_text())
        return ns, sums


@dataclass(frozen=True)
class Peer:
    """Another tool that meters system calls."""

    name: str
    program: str
    call_ns: Callable[[int], float]
    """What a null call costs under it, of so many; with the tool's own processor time if it wakes for each call."""


def peers() -> list[Peer]:
    """Those that are installed."""
    return [peer for peer in PEERS if shutil.which(peer.program)]


def missing() -> list[str]:
    """Those that are not, in words."""
    return [f"{peer.name} is not installed here" for peer in PEERS if not shutil.which(peer.program)]


def shuffled(measures: Mapping[str, Measure], repetitions: int) -> dict[str, list[float]]:
    """Every measure so many times, in another order each time."""
    values: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(repetitions):
        for name in random.sample(list(measures), len(measures)):
            values[name].append(measures[name]())
    return values


def _traced_ns(under: Sequence[str], amount: int) -> float:
    """Of a tool that wakes for each call: all processor time, less that of a run with hardly any."""
    many, few = (used_s([*under, LOADS, "calls", str(count)]) for count in (amount, 10))
    return (many - few) * 1e9 / (amount * 1.1)  # a tenth is warming up


def _bpftrace_ns(amount: int) -> float:
    said = _said(["bpftrace", "-e", HISTOGRAMS, "-c", f"{LOADS} calls {amount}"])
    return next(float(line) for line in said.splitlines() if line.replace(".", "", 1).isdigit())


def _syscount_ns(amount: int) -> float:
    with _in_background(["syscount", "-L", "-i", "0"], "Tracing"):
        return each_ns("calls", amount)


@contextmanager
def _in_background(command: Sequence[str], ready: str) -> Iterator[None]:
    """A tool at work, from its first line that begins with `ready`."""
    tool = subprocess.Popen(["stdbuf", "-oL", *command], stdout=subprocess.PIPE, text=True)
    try:
        assert tool.stdout is not None
        next(line for line in tool.stdout if line.startswith(ready))
        yield
    finally:
        tool.kill()
        tool.wait()


def _said(command: Sequence[str], **variables: str) -> str:
    """The output of a command that must not fail."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


PEERS = (
    Peer("strace -c", "strace", lambda amount: _traced_ns(["strace", "-c", "-f", "-o", "/dev/null"], amount // 50)),
    Peer("perf trace -s", "perf", lambda amount: _traced_ns(["perf", "trace", "-s", "-o", "/dev/null"], amount // 50)),
    Peer("bpftrace, histogram by call", "bpftrace", _bpftrace_ns),
    Peer("libbpf-tools syscount -L", "syscount", _syscount_ns),
)
