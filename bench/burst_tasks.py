"""Tasks on this host that sleep and compute for given times (`bare/bursts.c`), and what each burst waited."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BURSTS = Path(__file__).parent / "bare" / "bursts"
MOST_BY_OTHERS = 0.05
QUIET_S, MOST_PATIENCE_S = 0.25, 5.0
"""Length of the quiet moment before a round, and how long a round waits for it."""
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
"""The tree of groups of processor time, version 1, in which a thread may have a group of its own."""
PREFERRED_SHARES = 262_144
"""The largest weight of a group: that of all tasks together against others."""
USAGE_BY_PROCESSOR = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu")
PERIOD_US = 100_000
"""The kernel's period of a quota."""

Floats = NDArray[np.float64]


def compile_bursts() -> None:
    """Compiles the program, if its source is newer."""
    source = BURSTS.with_suffix(".c")
    if not BURSTS.exists() or BURSTS.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", str(BURSTS), str(source)], check=True)


def has_groups() -> bool:
    """Whether this account may make control groups of version 1 for processor time."""
    return (CPU_GROUPS / "cpu.cfs_quota_us").exists() and os.access(CPU_GROUPS, os.W_OK)


@dataclass(frozen=True)
class HostBursts:
    """The bursts of the tasks on this host."""

    bursts: Floats
    """By burst: task, due, wait, response and computing in nanoseconds, nice."""
    others: float
    busy: float

    @property
    def due_s(self) -> Floats:
        """When each burst was due, since the tasks' beginning."""
        due: Floats = self.bursts[:, 1] / 1e9
        return due

    @property
    def waits_s(self) -> Floats:
        """Each burst's wait for a processor, as the kernel counts it: without throttled time."""
        waits: Floats = self.bursts[:, 2] / 1e9
        return waits

    @property
    def delays_s(self) -> Floats:
        """The part of each response that is no computing."""
        delays: Floats = (self.bursts[:, 3] - self.bursts[:, 4]) / 1e9
        return delays

    @property
    def nice(self) -> Floats:
        """The nice value of each burst."""
        nice: Floats = self.bursts[:, 5]
        return nice


def run_bursts(bursts: Path, seconds: float, processors: int, quotas: Sequence[float] = ()) -> HostBursts:
    """Runs the tasks of the file `bursts` on this number of processors; `quotas` are shares of a processor, by task."""
    pinned = sorted(os.sched_getaffinity(0))[-processors:]
    out = bursts.with_suffix(".out")
    _await_quiet(pinned)
    began, busy_before, own_before = time.monotonic(), _busy_s(pinned), _own_s()
    with out.open("w") as file, _groups(quotas) as environment:
        words = [str(BURSTS), str(bursts), str(seconds), *map(str, pinned)]
        subprocess.run(words, check=True, stdout=file, env=environment)
    room = (time.monotonic() - began) * processors
    own, busy = _own_s() - own_before, _busy_s(pinned) - busy_before
    return HostBursts(np.loadtxt(out, ndmin=2), max(busy - own, 0) / room, own / room)


@contextmanager
def _groups(quotas: Sequence[float]) -> Iterator[dict[str, str]]:
    """Makes a control group with a quota for each task, and removes it; yields the program's environment."""
    if not quotas:
        yield dict(os.environ)
        return
    top = CPU_GROUPS / f"loadgo-bench-{os.getpid()}"
    groups = [top / str(number) for number in range(len(quotas))]
    try:
        top.mkdir()
        (top / "cpu.shares").write_text(str(PREFERRED_SHARES))
        for group, quota in zip(groups, quotas, strict=True):
            group.mkdir()
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(round(quota * PERIOD_US)))
        yield dict(os.environ) | {"BURSTS_GROUPS": str(top)}
    finally:
        for group in (*groups, top):
            if group.exists():
                group.rmdir()


def _busy_s(processors: Sequence[int]) -> float:
    """Processor time that all tasks took of these processors so far, with what the hypervisor took."""
    lines = re.findall(r"^cpu(\d+) (.+)$", Path("/proc/stat").read_text(), re.MULTILINE)
    ticks = {int(number): [int(word) for word in words.split()] for number, words in lines}
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    if USAGE_BY_PROCESSOR.exists():
        used = [int(word) / 1e9 for word in USAGE_BY_PROCESSOR.read_text().split()]
        return sum(used[number] + ticks[number][7] * tick_s for number in processors)
    return sum(tick_s * (sum(ticks[number][:3]) + sum(ticks[number][5:8])) for number in processors)


def _await_quiet(processors: Sequence[int]) -> None:
    """Waits until others leave these processors alone for a moment, but not for long."""
    for _ in range(round(MOST_PATIENCE_S / QUIET_S)):
        before = _busy_s(processors)
        time.sleep(QUIET_S)
        if (_busy_s(processors) - before) / QUIET_S <= MOST_BY_OTHERS * len(processors):
            return


def _own_s() -> float:
    """Processor time of the programs that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
