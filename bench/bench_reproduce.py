"""The cost of `loadgo reproduce`, which computes every published table again, from start to end.

python bench/bench_reproduce.py [ROUNDS]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from figures import Figure, figure, finish
from machine import machine

LOADGO = Path(sysconfig.get_path("scripts")) / "loadgo"


def main() -> None:
    """Runs the command in fresh processes."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else 3
    here, figures = machine(), list[Figure]()
    costs = [_reproduced() for _ in range(rounds)]
    figures.append(figure("reproduce, all", "s", [seconds for seconds, _ in costs], "< 60"))
    figures.append(figure("reproduce, all, processor time", "s", [cpu_s for _, cpu_s in costs]))
    finish("reproduce", here, figures, [f"on {len(os.sched_getaffinity(0))} processors"], {})


def _reproduced() -> tuple[float, float]:
    """Seconds of real time and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    status = subprocess.run([str(LOADGO), "reproduce"], capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if status.returncode not in (0, 1):
        raise SystemExit(f"loadgo reproduce ended with status {status.returncode}: {status.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
