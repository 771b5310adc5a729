"""How wide `loadgo compare`'s intervals of throughput are on a simulated machine, and how often they hold equality.

    python bench/bench_throughput.py [PAIRS]

The two runs of a pair are equal and have different seeds. A width is that of the intervals over what the scatter of the
changes asks for.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from statistics import fmean, pstdev

import loadgo
from bench_ab import MACHINE, SCRIPT
from figures import Figure, figure, finish
from machine import machine

PAIRS = 200
SETTINGS: dict[str, dict[str, object]] = {
    "5 users, hardly busy": {"users": 5, "duration": "60s"},
    "8 users, 28 % busy": {"users": 8, "duration": "150s"},
    "8 users, 50 passes": {"users": 8, "passes": 50},
    "20 users, 70 % busy": {"users": 20, "duration": "60s"},
    "20 users, 20 passes": {"users": 20, "passes": 20},
    "16 users, one processor saturated": {"users": 16, "duration": "30s", "set": ("processors.count=1",)},
    "40 users, saturated": {"users": 40, "duration": "50s"},
}


def main() -> None:
    """Compares the pairs of each setting."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    here, figures = machine(), list[Figure]()
    for name, load in SETTINGS.items():
        changes, halves = zip(*(_pair(load, 2 * number + 1) for number in range(pairs)), strict=True)
        held = fmean(abs(change) <= half for change, half in zip(changes, halves, strict=True))
        figures.append(figure(f"{name}: held", "", [held], ">= 0.93"))
        figures.append(figure(f"{name}: width", "", [fmean(halves) / (1.96 * pstdev(changes))]))
    finish("throughput", here, figures, [f"{pairs} pairs of equal runs with different seeds in each setting"], {})


def _pair(load: dict[str, object], seed: int) -> tuple[float, float]:
    """The logarithm of the second run's throughput over the first's, and half the width of its interval."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        script, system = Path(place, "work.toml"), Path(place, "machine.toml")
        script.write_text(SCRIPT)
        system.write_text(MACHINE)
        folders = [Path(place, str(number)) for number in (seed, seed + 1)]
        for folder in folders:
            loadgo.run(script, on=str(system), seed=int(folder.name), out=folder, **load)  # type: ignore[arg-type]
        difference = loadgo.compare(*folders).rows.whole["throughput"]
    before, after, interval = difference.before, difference.after, difference.interval
    assert before is not None
    assert after is not None
    assert interval is not None
    ends = math.log1p(interval.low / before), math.log1p(interval.high / before)
    return math.log(after / before), (ends[1] - ends[0]) / 2


if __name__ == "__main__":
    main()
