"""Loads under meters: the processor time of a load alone, with loadgo's meters, and under other tools.

The loads and the driver are examples of crates/meters. `loads` repeats an operation and prints its processor time.
`metered` runs a command with the meters, reads them once a second, and writes their sums. Measurements that are
compared run in shuffled order within each repetition, and ratios are computed within a repetition.
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
    """Processor time in ns of one operation of `load`, the mean over `amount`, by its own clock."""
    return float(_output_of([*under, LOADS, load, str(amount)]).split()[-1])


def used_s(command: Sequence[str], under: Sequence[str] = ()) -> float:
    """Processor time of `command` in seconds, without that of the tool that it runs under."""
    return float(_output_of([*under, sys.executable, str(HERE / "timed.py"), *command]).split()[-1])


def tier(name: str) -> tuple[str, ...]:
    """The words before a command that run it under loadgo's meters."""
    return (METERED, name)


def measured_sums(under: Sequence[str], load: str, amount: int) -> tuple[float, dict[str, int]]:
    """The processor time of one operation in ns, and the meters' sums meanwhile."""
    with tempfile.NamedTemporaryFile(prefix="loadgo-bench-") as sums_file:
        ns = float(_output_of([*under, LOADS, load, str(amount)], METERED=sums_file.name).split()[-1])
        sums: dict[str, int] = json.loads(Path(sums_file.name).read_text())
        return ns, sums


@dataclass(frozen=True)
class Peer:
    """Another tool that meters system calls."""

    name: str
    program: str
    call_ns: Callable[[int], float]
    """Returns the cost of a null call under the tool, the mean over a number of calls.

    It includes the tool's own processor time if the tool wakes for each call.
    """


def peers() -> list[Peer]:
    """The tools that are installed."""
    return [peer for peer in PEERS if shutil.which(peer.program)]


def missing() -> list[str]:
    """Notes about the tools that are not installed."""
    return [f"{peer.name} is not installed here" for peer in PEERS if not shutil.which(peer.program)]


def shuffled(measures: Mapping[str, Measure], repetitions: int) -> dict[str, list[float]]:
    """The values of all measures, each repeated, in another order each time."""
    values: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(repetitions):
        for name in random.sample(list(measures), len(measures)):
            values[name].append(measures[name]())
    return values


def _traced_ns(under: Sequence[str], amount: int) -> float:
    """The cost of a call under a tool that wakes for each: all processor time, less that of a run with few calls."""
    many, few = (used_s([*under, LOADS, "calls", str(count)]) for count in (amount, 10))
    return (many - few) * 1e9 / (amount * 1.1)  # a tenth is warming up


def _bpftrace_ns(amount: int) -> float:
    said = _output_of(["bpftrace", "-e", HISTOGRAMS, "-c", f"{LOADS} calls {amount}"])
    return next(float(line) for line in said.splitlines() if line.replace(".", "", 1).isdigit())


def _syscount_ns(amount: int) -> float:
    with _in_background(["syscount", "-L", "-i", "0"], "Tracing"):
        return each_ns("calls", amount)


@contextmanager
def _in_background(command: Sequence[str], ready: str) -> Iterator[None]:
    """Runs a tool in the background, after its first line that begins with `ready`."""
    tool = subprocess.Popen(["stdbuf", "-oL", *command], stdout=subprocess.PIPE, text=True)
    try:
        assert tool.stdout is not None
        next(line for line in tool.stdout if line.startswith(ready))
        yield
    finally:
        tool.kill()
        tool.wait()


def _output_of(command: Sequence[str], **variables: str) -> str:
    """The output of a command that must not fail."""
    finished = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if finished.returncode:
        raise SystemExit(f"{' '.join(command)}: {finished.stderr}")
    return finished.stdout


PEERS = (
    Peer("strace -c", "strace", lambda amount: _traced_ns(["strace", "-c", "-f", "-o", "/dev/null"], amount // 50)),
    Peer("perf trace -s", "perf", lambda amount: _traced_ns(["perf", "trace", "-s", "-o", "/dev/null"], amount // 50)),
    Peer("bpftrace, histogram by call", "bpftrace", _bpftrace_ns),
    Peer("libbpf-tools syscount -L", "syscount", _syscount_ns),
)
