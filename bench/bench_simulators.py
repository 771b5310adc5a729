"""Simulated machines beside other simulators: model events a second on the same model, in pairs, as ratios.

python bench/bench_simulators.py [MODEL EVENTS OF A PEER'S RUN] [ROUNDS]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from figures import Figure, figure, finish
from machine import machine

PLACE = Path(__file__).parent / "simulators"
# Each peer: model events in a simulated second, loadgo's discipline beside it, and the ratio that should be reached.
PEERS = {
    "heapq": ("a plain heapq", 30.0, "round-robin", ">= 12"),
    "simpy": ("SimPy", 30.0, "round-robin", ">= 100"),
    "ciw": ("Ciw", 30.0, "round-robin", ">= 250"),
    "line": ("LINE's compiled LDES", 13.26, "first-come", ">= 6"),
}
FASTER = {"line": 10, "heapq": 4}
"""How many times as many events these run, so that each run takes seconds."""
OWN_REPETITIONS = 20
ALIKE = 0.03
"""Two right simulators' interactions for each model event differ by no more."""


def main() -> None:
    """Runs loadgo and each peer in turn, in fresh processes; the ratios are made within a pair."""
    events, rounds = [*map(float, sys.argv[1:3]), *[500_000.0, 5.0][len(sys.argv) - 1 :]]
    here, figures, raw = machine(), list[Figure](), dict[str, Any]()
    own: dict[str, list[float]] = {"round-robin": [], "first-come": []}
    for peer, (name, density, discipline, target) in PEERS.items():
        count = events * FASTER.get(peer, 1)
        pairs = []
        for _ in range(int(rounds)):
            repetitions = max(1, OWN_REPETITIONS // FASTER.get(peer, 1))
            ours = _run("loadgo", str(count / density), discipline, str(repetitions))
            theirs = _run(peer, str(count if peer == "line" else count / density))
            _alike(peer, ours, theirs)
            pairs.append((ours, theirs))
        own[discipline] += [_rate(ours) for ours, _ in pairs]
        figures.append(figure(name, "million events/s", [_rate(theirs) for _, theirs in pairs]))
        figures.append(figure(f"loadgo / {name}", "", [_rate(a) / _rate(b) for a, b in pairs], target))
        raw[peer] = pairs
    figures.insert(0, figure("loadgo, in order of coming", "million events/s", own["first-come"]))
    figures.insert(0, figure("loadgo, round robin", "million events/s", own["round-robin"], ">= 25"))
    notes = [
        "model events: ends of think times, of turns and bursts, of disk services; 50 users, two processors, a disk",
        "one core each; loadgo with all meters and intervals; each pair has the same number of events a run",
        "LINE has no quantum: beside it both have the processors in order of coming",
    ]
    finish("simulators", here, figures, notes, raw)


def _run(name: str, *arguments: str) -> dict[str, float]:
    """What one run in a fresh process tells."""
    command = [sys.executable, str(PLACE / f"run_{name}.py"), *arguments]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told


def _rate(told: dict[str, float]) -> float:
    """Million model events a second."""
    return told["events"] / told["seconds"] / 1e6


def _alike(peer: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """Refuses a pair that has not simulated the same: interactions for each model event must agree."""
    if "interactions" not in theirs:
        return
    each = [told["interactions"] / told["events"] for told in (ours, theirs)]
    if abs(each[0] / each[1] - 1.0) > ALIKE:
        raise SystemExit(f"{peer} has {each[1]:.4f} interactions an event, loadgo {each[0]:.4f}: not the same model")


if __name__ == "__main__":
    main()
