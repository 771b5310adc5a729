"""The model in LINE's compiled simulator LDES, with the processors in order of coming: LINE has no quantum.

LDES counts completions; they are the model's events without quanta: ends of thinks, bursts and disk services. The time
is that of its program alone, without the Python around it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import line_solver
from line_solver import ClosedClass, Delay, Exp, Network, Queue, SchedStrategy
from model import BURST_S, DISK_S, PROCESSORS, THINK_S, TO_DISK, USERS

PROGRAM = Path(line_solver.__file__).parent / "bin" / "ldes"


def network() -> Network:
    """The model in LINE's words."""
    model = Network("terminals")
    think, processor = Delay(model, "think"), Queue(model, "processor", SchedStrategy.FCFS)
    disk = Queue(model, "disk", SchedStrategy.FCFS)
    processor.setNumberOfServers(PROCESSORS)
    users = ClosedClass(model, "users", USERS, think)
    for station, mean in ((think, THINK_S), (processor, BURST_S), (disk, DISK_S)):
        station.setService(users, Exp(1 / mean))
    routes = model.initRoutingMatrix()
    for origin, target, share in (
        (think, processor, 1.0),
        (processor, disk, TO_DISK),
        (processor, think, 1.0 - TO_DISK),
        (disk, processor, 1.0),
    ):
        routes.set(users, users, origin, target, share)
    model.link(routes)
    return model


def main() -> None:
    """Runs so many completions and tells what they took."""
    completions = int(float(sys.argv[1]))
    with tempfile.TemporaryDirectory() as place:
        model, result = Path(place) / "model.json", Path(place) / "result.json"
        line_solver.io.linemodel_io.save_model(network(), str(model))
        command = [str(PROGRAM), "solve", str(model), "-o", str(result), "-s", str(completions), "--seed", "1"]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - began
    print(json.dumps({"events": completions, "seconds": seconds}))


if __name__ == "__main__":
    main()
