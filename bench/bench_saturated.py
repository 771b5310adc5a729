"""64 calculator users who do not think, on the whole machine: interactions a second, and what each takes of the driver.

    python bench/bench_saturated.py [ROUNDS] [SECONDS]

A bare loop under the same load, in alternation, says what this machine gives to any driver.
"""

from __future__ import annotations

import sys

from driven import Load, bare, loadgo, raw
from figures import figure, finish
from machine import machine


def main() -> None:
    """Measures loadgo and the bare loop in alternation."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    here, load = machine(), Load(users=64, think_s=0, seconds=seconds, pinned=False, scheduling="batch")
    pairs = [(loadgo(load), bare(load)) for _ in range(rounds)]
    ours, floor = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    every = ours[0].more["usage_every"]
    notes = [
        f"usage was sampled: read for one interaction in {every} of a user, from {ours[0].more['usage_from']}",
        f"driver: {ours[0].more['driver']['proof']}",
    ]
    figures = [
        figure("interactions a second", "/s", [run.rate for run in ours], ">= 100000"),
        figure("driver's thread, CPU an interaction", "us", [run.more["driver_cpu_us"] for run in ours], "<= 3"),
        figure("whole process, CPU an interaction", "us", [run.cpu_us for run in ours]),
        figure("users' own CPU an interaction", "us", [run.more["users_cpu_us"] for run in ours]),
        figure("interactions with their usage", "", [run.more["usage_share"] for run in ours]),
        figure("response p50", "us", [run.response_p50_us for run in ours]),
        figure("bare loop, interactions a second", "/s", [run.rate for run in floor]),
        figure("bare loop, CPU an interaction", "us", [run.cpu_us for run in floor]),
        figure("rate, loadgo : bare loop", "", [one.rate / other.rate for one, other in pairs]),
        figure("records lost", "", [run.more["lost"] for run in ours], "<= 0"),
    ]
    finish("saturated", here, figures, notes, raw({"loadgo": ours, "bare": floor}))


if __name__ == "__main__":
    main()
