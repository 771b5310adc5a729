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
"""Factors of the number of events for fast simulators, so that each run takes seconds."""
OWN_REPETITIONS = 20
ALIKE = 0.03
"""Largest relative difference in interactions per model event between two correct simulators."""


def main() -> None:
    """Runs loadgo and each peer in turn, in fresh processes. Ratios are computed within a pair."""
    events, rounds = [*map(float, sys.argv[1:3]), *[500_000.0, 5.0][len(sys.argv) - 1 :]]
    here, figures, raw = machine(), list[Figure](), dict[str, Any]()
    loadgo_rates: dict[str, list[float]] = {"round-robin": [], "first-come": []}
    for peer, (name, density, discipline, target) in PEERS.items():
        count = events * FASTER.get(peer, 1)
        pairs = []
        for _ in range(int(rounds)):
            repetitions = max(1, OWN_REPETITIONS // FASTER.get(peer, 1))
            ours = _run("loadgo", str(count / density), discipline, str(repetitions))
            theirs = _run(peer, str(count if peer == "line" else count / density))
            _check_same_model(peer, ours, theirs)
            pairs.append((ours, theirs))
        loadgo_rates[discipline] += [_rate(ours) for ours, _ in pairs]
        figures.append(figure(name, "million events/s", [_rate(theirs) for _, theirs in pairs]))
        figures.append(figure(f"loadgo / {name}", "", [_rate(a) / _rate(b) for a, b in pairs], target))
        raw[peer] = pairs
    figures.insert(0, figure("loadgo, in order of coming", "million events/s", loadgo_rates["first-come"]))
    figures.insert(0, figure("loadgo, round robin", "million events/s", loadgo_rates["round-robin"], ">= 25"))
    notes = [
        "model events: ends of think times, of turns and bursts, of disk services; 50 users, two processors, a disk",
        "one core each; loadgo with all meters and intervals; each pair has the same number of events a run",
        "LINE has no quantum: beside it both have the processors in order of coming",
    ]
    finish("simulators", here, figures, notes, raw)


def _run(name: str, *arguments: str) -> dict[str, float]:
    """The results of one run in a fresh process."""
    command = [sys.executable, str(PLACE / f"run_{name}.py"), *arguments]
    results: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return results


def _rate(run: dict[str, float]) -> float:
    """Million model events per second."""
    return run["events"] / run["seconds"] / 1e6


def _check_same_model(peer: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """Ends the program for a pair with different models: interactions per model event must agree."""
    if "interactions" not in theirs:
        return
    per_event = [run["interactions"] / run["events"] for run in (ours, theirs)]
    if abs(per_event[0] / per_event[1] - 1.0) > ALIKE:
        raise SystemExit(
            f"{peer} has {per_event[1]:.4f} interactions an event, loadgo {per_event[0]:.4f}: not the same model"
        )


if __name__ == "__main__":
    main()
