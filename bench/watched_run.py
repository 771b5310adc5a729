"""A run on this host with its watch page and viewers, or without: the processor time of serving and recording.

`loadgo run --watch` serves the page, by a child of low priority. Viewers in another process read new rows about twice
a second. Processor time is the kernel's count in the steady load.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import loadgo
import polars as pl
from drive_loadgo import SCRIPT
from loadgo import _loadgo

HERE = Path(__file__).parent
WRITER = "loadgo-writer"
MARGIN_S = 2.0
"""Time before the end of the steady load at which the clocks are read, since the end itself has extra work."""
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Watched:
    """The figures of one run."""

    viewers: int
    window_s: float
    """Length of the window in the steady load over which processor time was read."""
    serving: float
    """Share of one processor that the serving process used; 0 without a page."""
    writing: float
    """Share of one processor that the writer's thread used."""
    interactions: int
    """Number of answered interactions in the run."""
    lateness_p50_us: float
    lateness_p99_us: float
    """Lateness in the steady load."""
    told: tuple[int, ...]
    """Number of interactions that each viewer had at the end."""
    served_mb: float
    """The largest resident memory of the serving process."""


def watched_run(users: int, seconds: int, viewers: int) -> Watched:
    """Makes one run. With 0 viewers, no page is served."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        script, folder = Path(place) / "calculator.toml", Path(place) / "run"
        script.write_text(SCRIPT.format(login="loadgo-calculator", think="exponential(1s)"))
        command = [sys.executable, "-m", "loadgo", "run", str(script), "--users", str(users), "--for", f"{seconds}s"]
        command += ["--warm-up", "3s", "--fifo", "--processor", "0", "--quiet", "--out", str(folder)]
        command += ["--watch"] if viewers else []
        run = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        watchers = _viewers(run, viewers) if viewers else None
        begun = _when_steady(run, folder)
        time.sleep(seconds - MARGIN_S)
        ended = _moment(run.pid)
        viewer_rows = json.loads(watchers.communicate()[0]) if watchers else []
        _, messages = run.communicate()
        if run.returncode not in (0, 1):
            raise SystemExit(f"the run ended with status {run.returncode}: {messages}")
        return _watched(loadgo.tables(folder), begun, ended, viewer_rows)


def _viewers(run: subprocess.Popen[str], count: int) -> subprocess.Popen[str]:
    assert run.stderr is not None
    address = next(line.split("http://")[1].split()[0] for line in run.stderr if "http://" in line)
    command = [sys.executable, str(HERE / "watching.py"), address, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@dataclass(frozen=True)
class Moment:
    """An instant, with the processor seconds and memory up to then."""

    now_s: float
    serving_s: float
    writing_s: float
    served_mb: float


def _when_steady(run: subprocess.Popen[str], folder: Path) -> Moment:
    """Waits until the load is steady, and reads the clocks."""
    stream, phases = None, set[str]()
    while "steady" not in phases:
        if run.poll() is not None:
            raise SystemExit("the run was over before it was steady")
        time.sleep(0.1)
        if stream is None and (folder / "phases.arrows").exists():
            stream = _loadgo.Growing(folder, "phases")
        batches = stream.news() if stream else b""
        phases |= set(pl.read_ipc_stream(batches)["phase"].cast(pl.String)) if batches else set()
    return _moment(run.pid)


def _moment(pid: int) -> Moment:
    serving, resident = _serving(pid)
    return Moment(time.monotonic(), serving, _writing(pid), resident)


def _serving(pid: int) -> tuple[float, float]:
    """Processor seconds and largest memory in megabytes of the child that serves."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"watch" in (Path("/proc") / child / "cmdline").read_bytes().split(b"\0"):
            used = (Path("/proc") / child / "stat").read_text().rpartition(")")[2].split()
            status = (Path("/proc") / child / "status").read_text()
            peak_line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            return (int(used[11]) + int(used[12])) * TICK_S, int(peak_line.split()[1]) / 1000
    return 0.0, 0.0


def _writing(pid: int) -> float:
    threads = [path for path in Path(f"/proc/{pid}/task").iterdir() if (path / "comm").read_text().strip() == WRITER]
    return sum(int((path / "schedstat").read_text().split()[0]) for path in threads) / 1e9


def _watched(tables: loadgo.Tables, begun: Moment, ended: Moment, viewer_rows: list[int]) -> Watched:
    rows = tables.interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    late = (rows["sent_ns"].cast(pl.Int64) - rows["planned_ns"].cast(pl.Int64)) / 1e3
    window_s = ended.now_s - begun.now_s
    return Watched(
        viewers=len(viewer_rows),
        window_s=window_s,
        serving=(ended.serving_s - begun.serving_s) / window_s,
        writing=(ended.writing_s - begun.writing_s) / window_s,
        interactions=int(tables.interactions["ready_ns"].is_not_null().sum()),
        lateness_p50_us=float(late.quantile(0.5) or 0),
        lateness_p99_us=float(late.quantile(0.99) or 0),
        told=tuple(viewer_rows),
        served_mb=ended.served_mb,
    )
