"""How late lines are sent on a loaded machine: with real-time priority for the driver and without, in alternation.

    python bench/bench_lateness.py [ROUNDS] [SECONDS] [USERS]

200 calculator users, think exponential(1s), nobody pinned, and four endless loops for each processor beside them.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from driven import Load, loadgo, raw
from figures import figure, finish
from machine import busy, machine

LOOPS_A_PROCESSOR = 4


def main() -> None:
    """Measures with and without SCHED_FIFO in alternation."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    users = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    here, load = machine(), Load(users=users, seconds=seconds, pinned=False)
    with busy(LOOPS_A_PROCESSOR) as loops:
        pairs = [(loadgo(load), loadgo(replace(load, scheduling="other"))) for _ in range(rounds)]
    first, ordinary = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    notes = [f"{loops} endless loops beside {users} users", f"driver: {first[0].more['driver']['proof']}"]
    notes += first[0].more["driver"]["notes"]
    figures = [
        figure("SCHED_FIFO, lateness p50", "us", [run.lateness_p50_us for run in first]),
        figure("SCHED_FIFO, lateness p99", "us", [run.lateness_p99_us for run in first], "<= 60"),
        figure("ordinary, lateness p50", "us", [run.lateness_p50_us for run in ordinary]),
        figure("ordinary, lateness p99", "us", [run.lateness_p99_us for run in ordinary]),
        figure("SCHED_FIFO, response p50", "us", [run.response_p50_us for run in first]),
    ]
    finish("lateness", here, figures, notes, raw({"fifo": first, "ordinary": ordinary}))


if __name__ == "__main__":
    main()
