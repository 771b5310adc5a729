"""How often `loadgo compare` calls equal live runs different, on an idle host and beside neighbours.

    python bench/bench_drift.py [SITUATION] [RUNS]

The situations are `idle`, `random` (one neighbour that takes a processor, on and off at random) and `loops` (two busy
loops). All runs of a situation are equal, and lie in one folder, so that each pair has like runs beside it. Each
verdict *better* or *worse* is wrong.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import loadgo
from figures import Figure, figure, finish
from machine import FOREVER, beside, machine

RUNS, USERS, SECONDS, SEED = 101, 8, 10.0, 14
SITUATIONS = ("idle", "random", "loops")
APART = (1, 2, 16)
MEASURES = ("response", "p90 response", "cpu", "throughput")
SCRIPT = (
    'name = "spin"\nlogin = "bash --norc --noprofile"\nthink = "exponential(1s)"\n'
    'lines = ["for ((i = 0; i < 15000; i++)); do :; done"]\n'
)
RANDOM_LOOP = """
import random, time
chance = random.Random(14)
while True:
    end = time.monotonic() + chance.expovariate(1 / 8)
    while time.monotonic() < end:
        pass
    time.sleep(chance.expovariate(1 / 8))
"""


def main() -> None:
    """Makes the runs of each situation, and compares pairs that lie 1, 2 and 16 runs apart."""
    situations = (sys.argv[1],) if len(sys.argv) > 1 else SITUATIONS
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else RUNS
    here, figures = machine(), list[Figure]()
    for situation in situations:
        with tempfile.TemporaryDirectory(prefix="loadgo-drift-") as place:
            folders = _runs(Path(place), situation, runs)
            for apart in APART:
                figures += _figures(f"{situation}, {apart} apart", folders, apart)
    finish("drift", here, figures, [f"{runs} runs of {USERS} users for {SECONDS:g} s in each situation"], {})


def _runs(place: Path, situation: str, count: int) -> list[Path]:
    """The folders of equal runs, one after the other, in this situation."""
    script = place / "spin.toml"
    script.write_text(SCRIPT)
    folders = [place / "runs" / f"{number:03}" for number in range(count)]
    with beside(_neighbours(situation)):
        for folder in folders:
            loadgo.run(script, users=USERS, duration=SECONDS, seed=SEED, out=folder)
    return folders


def _neighbours(situation: str) -> list[tuple[str]]:
    """The programs that run beside the runs of a situation."""
    codes = {"idle": [], "random": [RANDOM_LOOP], "loops": [FOREVER] * (os.cpu_count() or 1)}[situation]
    return [(code,) for code in codes]


def _figures(name: str, folders: list[Path], apart: int) -> list[Figure]:
    """The share of wrong verdicts of each measure, and how many pairs had a verdict at all."""
    pairs = [loadgo.compare(a, b) for a, b in zip(folders, folders[apart:], strict=False)]
    figures = []
    for measure in MEASURES:
        verdicts = [str(pair.rows.whole[measure].verdict) for pair in pairs]
        wrong = sum(verdict in ("better", "worse") for verdict in verdicts) / len(verdicts)
        told = sum(verdict != "cannot tell" for verdict in verdicts) / len(verdicts)
        figures.append(figure(f"{name}: {measure} called different", "", [wrong], "<= 0.05"))
        figures.append(figure(f"{name}: {measure} with a verdict", "", [told]))
    return figures


if __name__ == "__main__":
    main()
