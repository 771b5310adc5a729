"""The model that every simulator runs: 50 users at terminals, two processors, a disk; and the output of a run.

Model events are the ends of think times, of quanta, of bursts of processor time, and of disk services. A simulator's
own events do not count. An interaction has 9.04 of them with round robin, and 4 in order of
arrival.
"""

import json
import sys
import time
from collections.abc import Callable

USERS = 50
THINK_S = 10.0
PROCESSORS = 2
QUANTUM_S = 0.1
BURST_S = 0.3
TO_DISK = 0.5
DISK_S = 0.2


def tell(run: Callable[[float], tuple[int, int]]) -> None:
    """Runs `run(simulated seconds)` and prints its model events, its interactions and its real time."""
    simulated_s = float(sys.argv[1])
    began = time.perf_counter()
    events, interactions = run(simulated_s)
    seconds = time.perf_counter() - began
    print(json.dumps({"events": events, "interactions": interactions, "simulated_s": simulated_s, "seconds": seconds}))
