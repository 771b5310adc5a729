"""Sweeps of short simulations: what a point costs beside its simulation, in time, bytes and memory, and how much of all
processors they use.

python bench/bench_sweep.py [SIMULATIONS] [ROUNDS] [POINTS]

The first part is the simulator alone, on one thread and on all, with its results as classes. The second part is
`loadgo sweep` with POINTS points, beside the simulator without classes. Its overhead is in processor time, of all its
processes, so that other work on the machine hardly changes it. Its efficiency is in real time: of an idle machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from figures import Figure, figure, finish
from loadgo.running.simulation import raw_sweep, sweep
from machine import machine

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.model_machines import central_server

SHORT_GRID = 'machine = "central.toml"\nusers = {{ from = 1, to = 50 }}\nseeds = {seeds}\nuntil = "time={seconds}s"\n'
POINT_SECONDS = 60
"""Simulated time of a point of the second part."""


@dataclass(frozen=True)
class SweepCost:
    """The cost of a run of `loadgo sweep`."""

    real_s: float
    cpu_s: float
    """Processor time of the controller and all workers."""
    controller_bytes: int
    """Largest memory of the controller."""
    stored_bytes: int


def main() -> None:
    """Times the simulator, then `loadgo sweep`. Efficiency is computed within a round."""
    numbers = [int(argument) for argument in sys.argv[1:]]
    count, rounds, points = [*numbers, *[1000, 7, 100_000][len(numbers) :]]
    here, figures = machine(), list[Figure]()
    pairs = [(central_server(50), seed) for seed in range(1, count + 1)]
    threads = len(os.sched_getaffinity(0))
    times = [(_seconds(pairs, 1), _seconds(pairs, threads)) for _ in range(rounds)]
    name = f"{count:,} simulations of 600 s"
    figures.append(figure(f"{name} on one thread", "s", [single for single, _ in times]))
    figures.append(figure(f"{name} on {threads} threads", "s", [all_ for _, all_ in times]))
    figures.append(figure("efficiency", "", [single / all_ / threads for single, all_ in times], ">= 0.9"))
    costs, simulator_s = _sweep_costs(points, threads)
    figures += _sweep_figures(points, threads, costs, simulator_s)
    notes = ["50 users, two processors, a disk; in Python, results as dataclasses"]
    finish("sweep", here, figures, notes, {"seconds": times, "sweeps": {k: vars(v) for k, v in costs.items()}})


def _seconds(pairs: list[tuple[str, int]], threads: int) -> float:
    """The real time of the simulator alone."""
    began = time.perf_counter()
    sweep(pairs, until="time=600s", threads=threads)
    return time.perf_counter() - began


def _sweep_figures(points: int, threads: int, costs: dict[str, SweepCost], simulator_s: float) -> list[Figure]:
    """The figures of `loadgo sweep` with all points, and of a tenth of them, beside the simulator alone."""
    tenth, single, full = costs["tenth"], costs["one worker"], costs["whole"]
    name = f"{points:,} simulations of {POINT_SECONDS} s"
    return [
        figure(f"{name}, the simulator alone: a point", "us of CPU", [1e6 * simulator_s]),
        figure(f"{name}, loadgo sweep: a point", "us of CPU", [1e6 * full.cpu_s / points]),
        figure("overhead a point", "us of CPU", [1e6 * (full.cpu_s / points - simulator_s)]),
        figure("share of the simulator in the processor time", "", [points * simulator_s / full.cpu_s]),
        figure("bytes a point", "bytes", [full.stored_bytes / points]),
        figure(f"memory of the controller, {points // 10:,} points", "MB", [tenth.controller_bytes / 1e6]),
        figure(f"memory of the controller, {points:,} points", "MB", [full.controller_bytes / 1e6]),
        figure(f"{name}, one worker", "s", [single.real_s]),
        figure(f"{name}, {threads} workers", "s", [full.real_s]),
        figure("efficiency of loadgo sweep", "", [single.real_s / full.real_s / threads], ">= 0.9"),
    ]


def _sweep_costs(points: int, threads: int) -> tuple[dict[str, SweepCost], float]:
    """The costs of the sweeps, and the simulator's processor time for a point, from a tenth of the points."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as name:
        folder = Path(name)
        (folder / "central.toml").write_text(central_server(50))
        costs = {
            "tenth": _swept(folder, points // 10, threads),
            "one worker": _swept(folder, points, 1),
            "whole": _swept(folder, points, threads),
        }
    seeds = max(points // 500, 1)
    pairs = [(central_server(users), seed) for users in range(1, 51) for seed in range(1, seeds + 1)]
    began = time.process_time()
    raw_sweep(pairs, f"time={POINT_SECONDS}s", 1)
    return costs, (time.process_time() - began) / len(pairs)


def _swept(folder: Path, points: int, workers: int) -> SweepCost:
    """Runs `loadgo sweep` in a process of its own, which meters itself and its workers."""
    (folder / "grid.toml").write_text(SHORT_GRID.format(seeds=max(points // 50, 1), seconds=POINT_SECONDS))
    out = folder / f"{points}-{workers}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    program = (
        "import loadgo, resource, sys\n"
        "if __name__ == '__main__':\n"
        "    loadgo.sweep(sys.argv[1], workers=sys.argv[2], out=sys.argv[3])\n"
        "    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    (folder / "run.py").write_text(program)
    command = [sys.executable, folder / "run.py", folder / "grid.toml", str(workers), out]
    controller_bytes = int(subprocess.check_output(command, text=True))
    real_s = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    stored = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return SweepCost(real_s, cpu_s, controller_bytes, stored)


if __name__ == "__main__":
    main()
