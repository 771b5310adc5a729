"""The machine that a benchmark runs on: its description, its load, and the kernel's settings that benchmarks change."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from types import FrameType

MOST_TERMINALS = Path("/proc/sys/kernel/pty/max")
TERMINALS_NOW = Path("/proc/sys/kernel/pty/nr")
RESERVED_TERMINALS = Path("/proc/sys/kernel/pty/reserve")
SESSION_GROUPS = Path("/proc/sys/kernel/sched_autogroup_enabled")
FOREVER = "while True: pass"


@dataclass(frozen=True)
class Machine:
    """Description and state of the machine before the benchmark."""

    hostname: str
    processor: str
    processors: int
    memory_gb: float
    kernel: str
    python: str
    loadgo: str
    """The version and the commit, with `-dirty` if files have changed since."""
    load_average: tuple[float, float, float]
    """The load averages before the benchmark; they may include an earlier benchmark."""
    busy_before: float
    """The share of all processors that others used in the second before the benchmark began."""

    @property
    def name(self) -> str:
        """A short description for people."""
        return f"{self.hostname}, {self.processors} x {self.processor}, {self.memory_gb:.0f} GB, Linux {self.kernel}"

    @property
    def slug(self) -> str:
        """A name for files."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.hostname} {self.processors} {self.processor}".lower()).strip("-")

    def record(self) -> dict[str, object]:
        """The machine as it is recorded."""
        return {"name": self.name, **asdict(self)}


def machine() -> Machine:
    """Describes this machine. It takes a second to measure how busy the machine is."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        hostname=platform.node(),
        processor=_processor(),
        processors=len(os.sched_getaffinity(0)),
        memory_gb=round(memory / 1e9, 1),
        kernel=platform.release(),
        python=platform.python_version(),
        loadgo=f"{version('loadgo')} {_commit()}".strip(),
        load_average=os.getloadavg(),
        busy_before=_busy_share(),
    )


@contextmanager
def terminals(wanted: int) -> Iterator[int]:
    """Raises the limit of terminals, and yields the number available, at most `wanted`. The limit is restored."""
    taken, reserved = int(TERMINALS_NOW.read_text()), int(RESERVED_TERMINALS.read_text())
    before, need = int(MOST_TERMINALS.read_text()), wanted + taken + reserved + 64
    with _ended_in_order():
        try:
            raised = before >= need or _write(MOST_TERMINALS, need)
            yield wanted if raised else max(1, before - taken - reserved - 64)
        finally:
            if int(MOST_TERMINALS.read_text()) != before:
                _write(MOST_TERMINALS, before)


@contextmanager
def without_session_groups() -> Iterator[bool]:
    """Switches off the kernel's scheduling groups of sessions, and yields whether it could. The setting is restored."""
    before = int(SESSION_GROUPS.read_text()) if SESSION_GROUPS.exists() else 0
    with _ended_in_order():
        try:
            yield before == 0 or _write(SESSION_GROUPS, 0)
        finally:
            if before:
                _write(SESSION_GROUPS, before)


@contextmanager
def busy(loops_per_processor: int) -> Iterator[int]:
    """Runs endless loops, some for each processor, and yields their number."""
    count = loops_per_processor * len(os.sched_getaffinity(0))
    with beside([(FOREVER,)] * count):
        yield count


@contextmanager
def beside(programs: Iterable[Sequence[str]]) -> Iterator[None]:
    """Runs programs beside the block: each is a Python text and its arguments. They are killed at the end."""
    with _ended_in_order(), ExitStack() as stack:
        for words in programs:
            program = stack.enter_context(subprocess.Popen([sys.executable, "-c", *words]))
            stack.callback(program.kill)
        yield


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Makes a termination signal raise `KeyboardInterrupt`, so that everything is restored."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _write(path: Path, value: int) -> bool:
    try:
        path.write_text(f"{value}\n")
    except PermissionError:
        return False
    return True


def _processor() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else platform.machine()


def _busy_share() -> float:
    before = _total_and_idle()
    time.sleep(1)
    total, idle = (after - then for after, then in zip(_total_and_idle(), before, strict=True))
    return round(1 - idle / total, 3)


def _total_and_idle() -> tuple[int, int]:
    """Ticks of all processors since boot: all ticks, and those of idle processors and disk waits."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks), ticks[3] + ticks[4]


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
