"""Drivers of simulated users in fresh processes: loadgo, pexpect and a bare loop, under one load, told in one way.

Every driver meters itself alike: processor time of its whole process (all threads) over a window in the steady load,
memory (/proc/self/smaps_rollup) before the first log-in and at the window's end. Where a load is pinned, the driver has
processor 0 and the users have processor 1.
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
    """What the users do."""

    users: int
    think_s: float = 1.0
    """The mean of an exponential think time; 0: none."""
    seconds: float = 10.0
    """How long the window lasts."""
    pinned: bool = True
    """The driver on processor 0, the users on processor 1; else all on all."""
    scheduling: str = "fifo"
    """`fifo`, `batch` (which loadgo takes by itself where nobody thinks) or `other`."""
    login: str = "loadgo-calculator"


@dataclass(frozen=True)
class Driven:
    """What one run of a driver came to."""

    interactions: int
    """In the window."""
    window_s: float
    cpu_s: float
    """Of the driver's process, all threads, in the window."""
    allocated_bytes: int
    """By how much its anonymous memory grew from before the first log-in: what its users took."""
    resident_bytes: int
    """By how much all of its resident memory grew; the pages of its own program count here."""
    log_in_s: float
    """Until all users were logged in."""
    response_p50_us: float
    response_p99_us: float
    lateness_p50_us: float
    lateness_p99_us: float
    more: dict[str, Any] = field(default_factory=dict)
    """What this driver alone can tell."""

    @property
    def cpu_us(self) -> float:
        """Processor time of the whole process for an interaction."""
        return self.cpu_s / self.interactions * 1e6

    @property
    def rate(self) -> float:
        """Interactions a second."""
        return self.interactions / self.window_s


def loadgo(load: Load) -> Driven:
    """loadgo, as it is installed, with everything recorded."""
    return _driven([sys.executable, str(HERE / "drive_loadgo.py"), json.dumps(asdict(load))])


def pexpect(load: Load) -> Driven:
    """pexpect with a thread for each user and its delays off."""
    return _driven([sys.executable, str(HERE / "drive_pexpect.py"), json.dumps(asdict(load))])


def bare(load: Load) -> Driven:
    """A minimal event loop in C that records nothing but response and lateness: what no driver can go below."""
    _compile()
    program = Path(sysconfig.get_path("scripts")) / load.login
    processors = ["0", "1"] if load.pinned else ["-1", "-1"]
    words = [load.users, load.think_s, load.seconds, *processors, load.scheduling, program]
    return _driven([str(BARE), *map(str, words)])


def raw(runs: dict[str, list[Driven]]) -> dict[str, object]:
    """Runs by the driver's name, as they are recorded."""
    return {name: [asdict(run) for run in each] for name, each in runs.items()}


def _driven(command: list[str]) -> Driven:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        try:
            said, _ = driver.communicate()
        except KeyboardInterrupt:
            # loadgo logs its users out and cleans up behind them.
            driver.terminate()
            driver.wait()
            raise
    if driver.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {driver.returncode}; what it said is above")
    return Driven(**json.loads(said.splitlines()[-1]))


def _compile() -> None:
    source = BARE.with_suffix(".c")
    if not BARE.exists() or BARE.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(BARE), str(source), "-lm"], check=True)
