"""A sweep of simulations on all processors: how much of them it uses, against the same sweep on one.

python bench/bench_sweep.py [SIMULATIONS] [ROUNDS]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from figures import Figure, figure, finish
from loadgo.running.simulation import sweep
from machine import machine

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.model_machines import central_server


def main() -> None:
    """Times the sweep on one thread and on all, in turn. Efficiency is computed within a round."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    here, figures = machine(), list[Figure]()
    pairs = [(central_server(50), seed) for seed in range(1, count + 1)]
    threads = len(os.sched_getaffinity(0))
    times = [(_seconds(pairs, 1), _seconds(pairs, threads)) for _ in range(rounds)]
    name = f"{count:,} simulations of 600 s"
    figures.append(figure(f"{name} on one thread", "s", [single for single, _ in times]))
    figures.append(figure(f"{name} on {threads} threads", "s", [all_ for _, all_ in times]))
    figures.append(figure("efficiency", "", [single / all_ / threads for single, all_ in times], ">= 0.9"))
    finish(
        "sweep",
        here,
        figures,
        ["50 users, two processors, a disk; in Python, results as dataclasses"],
        {"seconds": times},
    )


def _seconds(pairs: list[tuple[str, int]], threads: int) -> float:
    """The real time of the sweep."""
    began = time.perf_counter()
    sweep(pairs, until="time=600s", threads=threads)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
