"""The model in a bare engine, `bare_engine.c`; arguments: simulated seconds, and `-DONE_HEAP` for one calendar.

The constants of `model.py` are compiled into the program. The time is that of its simulation alone.
"""

import subprocess
import sys
from pathlib import Path

import model

SOURCE = Path(__file__).with_name("bare_engine.c")
CONSTANTS = ("USERS", "THINK_S", "PROCESSORS", "QUANTUM_S", "BURST_S", "TO_DISK", "DISK_S")


def compiled(switches: list[str]) -> Path:
    """The program, compiled with these switches if its source or the model is newer."""
    program = SOURCE.with_name("_".join([SOURCE.stem, *(switch.removeprefix("-D").lower() for switch in switches)]))
    sources = (SOURCE, Path(model.__file__), Path(__file__))
    if not program.exists() or program.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        constants = [f"-D{name}={getattr(model, name)}" for name in CONSTANTS]
        command = ["cc", "-O2", "-Wall", "-Wextra", *constants, *switches, "-o", program, SOURCE, "-lm"]
        subprocess.run(command, check=True)
    return program


if __name__ == "__main__":
    subprocess.run([compiled(sys.argv[2:]), sys.argv[1], "1"], check=True)
