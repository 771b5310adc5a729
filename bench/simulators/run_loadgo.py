"""The model in loadgo, simulated with all meters on; arguments: simulated seconds, discipline, repetitions."""

import json
import math
import sys
import time

from loadgo.running.simulation import SimulatedFigure, simulate_text
from model import BURST_S, DISK_S, PROCESSORS, QUANTUM_S, THINK_S, TO_DISK, USERS

MACHINE = f"""
title = "two processors, a disk, and terminals"
source = "the benchmark's model"

[processors]
count = {PROCESSORS}
discipline = "{{discipline}}"
{{quantum}}

[storage.disk]
kind = "server"
service = "exponential({DISK_S}s)"
servers = 1

[commands.transaction]
route = [
  {{{{ at = "processor", service = "exponential({BURST_S}s)", then = {{{{ 1 = {TO_DISK}, done = {1 - TO_DISK} }}}} }}}},
  {{{{ at = "disk", service = "exponential({DISK_S}s)", then = {{{{ 0 = 1 }}}} }}}},
]

[[load]]
name = "terminals"
users = {USERS}
think = "exponential({THINK_S}s)"
commands = ["transaction"]
"""


def main() -> None:
    """Runs so many simulated seconds, several times with seeds of their own, and tells the sum."""
    simulated_s, discipline, repetitions = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    quantum = f'quantum = "{QUANTUM_S}s"' if discipline == "round-robin" else ""
    text = MACHINE.format(discipline=discipline, quantum=quantum)
    simulate_text(text, until="interactions=1000")
    began = time.perf_counter()
    runs = [simulate_text(text, until=f"time={simulated_s:.3f}s", seed=seed) for seed in range(1, repetitions + 1)]
    seconds = time.perf_counter() - began
    events, interactions = sum(run.events for run in runs), sum(run.interactions for run in runs)
    lengths = {"events": events, "interactions": interactions, "simulated_s": simulated_s, "seconds": seconds}
    responses = _mean("response_s", [run.response_s for run in runs])
    utilisations = _mean("utilisation", [run.station("processors").utilisation for run in runs])
    print(json.dumps({**lengths, **responses, **utilisations}))


def _mean(name: str, figures: list[SimulatedFigure | None]) -> dict[str, float]:
    """The mean of a figure over independent runs, with half of its 95 % interval; empty where a run is too short."""
    pairs = [(figure.value, figure.half_width) for figure in figures if figure and figure.half_width is not None]
    if len(pairs) < len(figures):
        return {}
    half_width = math.hypot(*(half for _, half in pairs)) / len(pairs)
    return {name: sum(value for value, _ in pairs) / len(pairs), f"{name}_half_width": half_width}


if __name__ == "__main__":
    main()
