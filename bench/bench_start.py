"""The start of a command: processor time of short `loadgo` commands from start to end.

python bench/bench_start.py [OTHER_LOADGO]

With the path of another version's `loadgo`, both run in pairs, and the ratio of their processor times is printed too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from command import LOADGO, command_cost
from figures import Figure, figure, finish
from machine import machine

ROUNDS = 15
USERS = 5
COMMANDS = {
    "--version": "<= 0.15",
    "--help": "<= 0.15",
    "runs": "<= 0.7",
    "report small": "<= 0.7",
    "report small --format html --output -": "<= 2",
}
"""The commands with the targets of their processor seconds."""


def main() -> None:
    """Makes a small run on a simulated machine, and times each command on it."""
    programs = [LOADGO, *map(Path, sys.argv[1:2])]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as folder:
        os.environ["LOADGO_RUNS"] = folder
        output, run = Path(folder, "output"), Path(folder, "small")
        command_cost(["run", "typical-user", "--on", "ctss", "--users", str(USERS), "--quiet", "--out", run], output)
        for command, target in COMMANDS.items():
            seconds = _processor_seconds(programs, command.split(), output)
            figures.append(figure(command, "s", [of_each[0] for of_each in seconds], target))
            if len(programs) > 1:
                figures.append(figure(f"{command}, other", "s", [of_each[1] for of_each in seconds]))
                figures.append(figure(f"{command}, ratio", "", [mine / other for mine, other in seconds]))
    notes = [f"user and system time; the run is one of {USERS} typical users on the simulated machine ctss"]
    finish("start", here, figures, notes, {})


def _processor_seconds(programs: Sequence[Path], words: Sequence[str], output: Path) -> list[list[float]]:
    """The processor seconds of each program, round by round. The first round, which may compile Python, is left out."""
    rounds = [
        [command_cost(words, output, loadgo=program).processor_s for program in programs] for _ in range(ROUNDS + 1)
    ]
    return rounds[1:]


if __name__ == "__main__":
    main()
