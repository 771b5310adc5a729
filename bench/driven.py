"""Drivers of simulated users in fresh processes: loadgo, pexpect and a bare loop, with one load and the same figures.

Every driver meters itself in the same way. Processor time is that of its process (all threads) over a window in the
steady load. Memory (/proc/self/smaps_rollup) is read before the first log-in and at the window's end. With a pinned
load, the driver has processor 0 and the users have processor 1.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BARE = HERE / "bare" / "bare"


@dataclass(frozen=True)
class Load:
    """The users' work."""

    users: int
    think_s: float = 1.0
    """Mean of an exponential think time; 0 for no think time."""
    seconds: float = 10.0
    """Length of the window."""
    pinned: bool = True
    """Whether the driver runs on processor 0 and the users on processor 1."""
    scheduling: str = "fifo"
    """`fifo`, `batch` (loadgo's choice without think time) or `other`."""
    login: str = "loadgo-calculator"
    meters: str = "cheap"
    """loadgo's meters: `none`, `cheap` or `exact`. The other drivers have none."""


@dataclass(frozen=True)
class Driven:
    """The figures of one run of a driver."""

    interactions: int
    """Number of interactions in the window."""
    window_s: float
    cpu_s: float
    """Processor time of the driver's process, all threads, in the window."""
    allocated_bytes: int
    """Growth of anonymous memory since before the first log-in, which the users need."""
    resident_bytes: int
    """Growth of all resident memory, with the pages of the driver's program."""
    log_in_s: float
    """Time until all users were logged in."""
    response_p50_us: float
    response_p99_us: float
    lateness_p50_us: float
    lateness_p99_us: float
    more: dict[str, Any] = field(default_factory=dict)
    """Further figures of this driver."""

    @property
    def cpu_us(self) -> float:
        """Processor time of the whole process per interaction."""
        return self.cpu_s / self.interactions * 1e6

    @property
    def rate(self) -> float:
        """Interactions per second."""
        return self.interactions / self.window_s


def loadgo(load: Load) -> Driven:
    """Runs the installed loadgo, which records everything."""
    return _driven([sys.executable, str(HERE / "drive_loadgo.py"), json.dumps(asdict(load))])


def pexpect(load: Load) -> Driven:
    """Runs pexpect with a thread for each user and its delays off."""
    return _driven([sys.executable, str(HERE / "drive_pexpect.py"), json.dumps(asdict(load))])


def bare(load: Load) -> Driven:
    """Runs a minimal event loop in C that records only response and lateness, as a lower bound for any driver."""
    _compile()
    program = Path(sysconfig.get_path("scripts")) / load.login
    processors = ["0", "1"] if load.pinned else ["-1", "-1"]
    words = [load.users, load.think_s, load.seconds, *processors, load.scheduling, program]
    return _driven([str(BARE), *map(str, words)])


def raw(runs: dict[str, list[Driven]]) -> dict[str, object]:
    """The runs by the driver's name, as they are recorded."""
    return {name: list(map(asdict, driver_runs)) for name, driver_runs in runs.items()}


def _driven(command: list[str]) -> Driven:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        try:
            output, _ = driver.communicate()
        except KeyboardInterrupt:
            # loadgo logs its users out and cleans up behind them.
            driver.terminate()
            driver.wait()
            raise
    if driver.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {driver.returncode}; its messages are above")
    return Driven(**json.loads(output.splitlines()[-1]))


def _compile() -> None:
    source = BARE.with_suffix(".c")
    if not BARE.exists() or BARE.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(BARE), str(source), "-lm"], check=True)
