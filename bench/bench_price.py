"""The price that the meters tell of themselves, held against the processor time that loads take longer with them.

    python bench/bench_price.py [PAIRS]

Each load runs on every processor at once, in pairs: with the meters and without, in random order. The outside truth is
what the load's processor time grows by. The told price is that of all windows of all metered runs together.

- a loop of the shell, which the clock's ticks interrupt and nothing else
- a shell script that forks and executes
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

from figures import Figure, figure, finish
from machine import machine
from metering import HERE, METERED, TIERS, build, used_s

SPINNING = "n=0; while [ $n -lt 600000 ]; do n=$((n+1)); done"
SCRIPT = f"sh {HERE / 'eighteen.sh'} 40"
AHEAD_OF_OTHERS = ("setsid", "-w", "sh", "-c", 'echo -10 >/proc/self/autogroup 2>/dev/null; exec "$@"', "sh")
"""Words before a command: a session that the scheduler prefers to others, where it has groups of sessions."""
NOTES = (
    "outside: growth of the load's processor time, in pairs; told: all windows of the metered runs together",
    "the load is on every processor, in a session with nice -10; the windows also have what others use",
    "the interval of an outside price is that of the median, by order statistics",
)


def main() -> None:
    """Measures and records both prices of each load under each tier."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    here = machine()
    build()
    figures, raw = list[Figure](), dict[str, object]()
    for name, commands in (("loop", SPINNING), ("script", SCRIPT)):
        for tier in TIERS:
            growths, windows = _pairs(commands, tier, pairs)
            low, high = _interval(growths)
            told = windows["price in windows"] / windows["busy in windows"]
            outside = median(growths)
            told_growth = told / (1 - told)
            figures += [
                figure(f"{name}, {tier}: outside", "%", [100 * outside]),
                figure(f"{name}, {tier}: outside, low end of 95 %", "%", [100 * low]),
                figure(f"{name}, {tier}: outside, high end", "%", [100 * high]),
                figure(f"{name}, {tier}: told", "%", [100 * told_growth]),
                figure(
                    f"{name}, {tier}: told, the calls alone",
                    "%",
                    [100 * windows["calls in windows"] / windows["busy in windows"]],
                ),
                figure(
                    f"{name}, {tier}: the load's part of the busy time",
                    "%",
                    [100 * windows["load in runs"] / windows["busy in runs"]],
                ),
                figure(f"{name}, {tier}: told / outside", "", [told_growth / outside]),
            ]
            raw[f"{name}, {tier}"] = {"growths": growths, "windows": windows}
    finish("price", here, figures, NOTES, raw)


def _pairs(command: str, tier: str, count: int) -> tuple[list[float], dict[str, int]]:
    """The growth of the processor time in each pair, and sums of all windows."""
    growths, windows = list[float](), dict[str, int]()
    everywhere = ["sh", "-c", _on_each_processor(command)]
    for _ in range(count):
        used = dict[str, float]()
        for name in random.sample(["none", tier], 2):
            used[name] = _used_s(everywhere, name, windows)
        growths.append(used[tier] / used["none"] - 1)
    return growths, windows


def _used_s(command: list[str], tier: str, windows: dict[str, int]) -> float:
    """Processor time of the command in seconds; adds the windows of its meters to `windows`."""
    with tempfile.NamedTemporaryFile(prefix="loadgo-bench-") as sums_file:
        os.environ["METERED"] = sums_file.name
        seconds = used_s(command, (*AHEAD_OF_OTHERS, METERED, tier))
        for name, value in json.loads(Path(sums_file.name).read_text() or "{}").items():
            is_busy = name.startswith("time ") and not name.startswith(("time idle", "time of"))
            key = "busy in runs" if is_busy else name
            if is_busy or "window" in name or name.startswith("price"):
                windows[key] = windows.get(key, 0) + value
        if tier != "none":
            windows["load in runs"] = windows.get("load in runs", 0) + round(1e9 * seconds)
        return seconds


def _on_each_processor(command: str) -> str:
    """A shell command that runs `command` on each processor at once, and waits."""
    processors = sorted(os.sched_getaffinity(0))
    runs = " ".join(f"taskset -c {number} sh -c '{command}' &" for number in processors)
    return f"{runs} wait"


def _interval(values: list[float]) -> tuple[float, float]:
    """A 95 % interval of the median, by order statistics."""
    ordered, reach = sorted(values), 0.98 * len(values) ** 0.5
    middle = len(values) / 2
    return ordered[max(int(middle - reach), 0)], ordered[min(int(middle + reach), len(values) - 1)]


if __name__ == "__main__":
    main()
