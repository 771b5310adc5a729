"""Simulated machines beside other simulators: model events a second on the same model, in pairs, as ratios.

python bench/bench_simulators.py [MODEL EVENTS OF A PEER'S RUN] [ROUNDS]
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import Figure, figure, finish
from machine import machine

PLACE = Path(__file__).parent / "simulators"


@dataclass(frozen=True)
class Peer:
    """A simulator, or an engine for this model alone, and loadgo's run beside it."""

    name: str
    target: str
    """The ratio of loadgo's rate to the peer's that should be reached."""
    program: str
    """The peer's program is `simulators/run_PROGRAM.py`."""
    switches: tuple[str, ...] = ()
    density: float = 30.0
    """Model events in a simulated second."""
    discipline: str = "round-robin"
    """loadgo's discipline beside it."""
    faster: int = 1
    """Factor of the number of events for a fast simulator, so that each run takes seconds."""
    counts_events: bool = False
    """Whether the program takes its length in model events, and not in simulated seconds."""


PEERS = (
    Peer("a plain heapq", ">= 12", "heapq", faster=4),
    Peer("SimPy", ">= 100", "simpy"),
    Peer("Ciw", ">= 250", "ciw"),
    Peer("LINE's compiled LDES", ">= 6", "line", density=13.26, discipline="first-come", faster=10, counts_events=True),
    Peer("a bare engine", ">= 0.77", "bare", ("-DONE_HEAP",), faster=60),
    Peer("a bare engine without a calendar", "", "bare", faster=60),
)
OWN_REPETITIONS = 20
ALIKE = 0.03
"""Largest relative difference in interactions per model event between two correct simulators."""
MOST_HALF_WIDTHS = 4.0
"""Largest difference of a figure between two correct simulators, in halves of loadgo's 95 % interval."""


def main() -> None:
    """Runs loadgo and each peer in turn, in fresh processes. Ratios are computed within a pair."""
    events, rounds = [*map(float, sys.argv[1:3]), *[500_000.0, 5.0][len(sys.argv) - 1 :]]
    here, figures, raw = machine(), list[Figure](), dict[str, Any]()
    loadgo_rates: dict[str, list[float]] = {"round-robin": [], "first-come": []}
    for peer in PEERS:
        count = events * peer.faster
        pairs = []
        for _ in range(int(rounds)):
            repetitions = max(1, OWN_REPETITIONS // peer.faster)
            ours = _run("loadgo", str(count / peer.density), peer.discipline, str(repetitions))
            theirs = _run(peer.program, str(count if peer.counts_events else count / peer.density), *peer.switches)
            _check_same_model(peer, ours, theirs)
            pairs.append((ours, theirs))
        loadgo_rates[peer.discipline] += [_rate(ours) for ours, _ in pairs]
        figures.append(figure(peer.name, "million events/s", [_rate(theirs) for _, theirs in pairs]))
        figures.append(figure(f"loadgo / {peer.name}", "", [_rate(a) / _rate(b) for a, b in pairs], peer.target))
        raw[peer.name] = pairs
    figures.insert(0, figure("loadgo, in order of coming", "million events/s", loadgo_rates["first-come"]))
    figures.insert(0, figure("loadgo, round robin", "million events/s", loadgo_rates["round-robin"], ">= 25"))
    notes = [
        "model events: ends of think times, of turns and bursts, of disk services; 50 users, two processors, a disk",
        "one core each; loadgo with all meters and intervals; each pair has the same number of events a run",
        "LINE has no quantum: beside it both have the processors in order of coming",
        "a bare engine: C for this model alone, with its meters (simulators/bare_engine.c), all events in one heap; "
        "without a calendar: each turn's end and the disk's in a variable, only think times in a heap",
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


def _check_same_model(peer: Peer, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """Ends the program for a pair with different models.

    Interactions per model event must agree, and the mean response and the utilisation of a peer that has them.
    """
    if "interactions" in theirs:
        per_event = [run["interactions"] / run["events"] for run in (ours, theirs)]
        if abs(per_event[0] / per_event[1] - 1.0) > ALIKE:
            raise SystemExit(
                f"{peer.name} has {per_event[1]:.4f} interactions an event, loadgo {per_event[0]:.4f}: other models"
            )
    for name in {"response_s", "utilisation"} & theirs.keys() & ours.keys():
        if abs(ours[name] - theirs[name]) > MOST_HALF_WIDTHS * ours[f"{name}_half_width"]:
            raise SystemExit(f"{peer.name} has {name} {theirs[name]:.5f}, loadgo {ours[name]:.5f}: not the same model")


if __name__ == "__main__":
    main()
