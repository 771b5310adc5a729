"""How late lines are sent on a loaded machine: with meters and without, with real-time priority and without.

    python bench/bench_lateness.py [ROUNDS] [SECONDS] [USERS]

200 calculator users, think exponential(1s), nobody pinned, and four endless loops for each processor beside them. The
three kinds of run take turns, in another order each round.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace

from driven import Driven, Load, loadgo, raw
from figures import figure, finish
from machine import busy, machine

LOOPS_A_PROCESSOR = 4


def main() -> None:
    """Measures runs without meters, with the default ones, and without SCHED_FIFO, in turns."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    users = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    here, load = machine(), Load(users=users, seconds=seconds, pinned=False)
    kinds = {"bare": replace(load, meters="none"), "metered": load, "ordinary": replace(load, scheduling="other")}
    runs: dict[str, list[Driven]] = {kind: [] for kind in kinds}
    order = random.Random(1)
    with busy(LOOPS_A_PROCESSOR) as loops:
        for _ in range(rounds):
            for kind in order.sample(list(kinds), len(kinds)):
                runs[kind].append(loadgo(kinds[kind]))
    bare, metered, ordinary = runs["bare"], runs["metered"], runs["ordinary"]
    notes = [f"{loops} endless loops beside {users} users", f"driver: {metered[0].more['driver']['proof']}"]
    notes += metered[0].more["driver"]["notes"]
    ratios = [cheap.lateness_p99_us / none.lateness_p99_us for cheap, none in zip(metered, bare, strict=True)]
    figures = [
        figure("SCHED_FIFO, lateness p50", "us", [run.lateness_p50_us for run in metered]),
        figure("SCHED_FIFO, lateness p99", "us", [run.lateness_p99_us for run in metered], "<= 60"),
        figure("SCHED_FIFO without meters, lateness p99", "us", [run.lateness_p99_us for run in bare]),
        figure("lateness p99, cheap meters / none, by round", "", ratios, "<= 1.2"),
        figure("ordinary, lateness p50", "us", [run.lateness_p50_us for run in ordinary]),
        figure("ordinary, lateness p99", "us", [run.lateness_p99_us for run in ordinary]),
        figure("SCHED_FIFO, response p50", "us", [run.response_p50_us for run in metered]),
    ]
    finish("lateness", here, figures, notes, raw({"without meters": bare, "fifo": metered, "ordinary": ordinary}))


if __name__ == "__main__":
    main()
