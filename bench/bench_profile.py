"""The cost of profiling: the same work with and without the profile, in pairs, by processor time.

    python bench/bench_profile.py [PAIRS]

The clock runs 1000 times a second with stacks, and page faults are counted by segment. The load is
tests/support/known_work.c; the median is of the pairs' ratios. Needs root.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from figures import figure, finish
from loadgo._loadgo import LiveProfile
from machine import machine

SOURCE = Path(__file__).parent.parent / "tests" / "support"
HZ = 1000


def main() -> None:
    """Measures both loads with the profile and without, in random order within a pair."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with TemporaryDirectory() as folder:
        program = build(Path(folder))
        spin = [ratio([program, "loop", "spin", "300"], Random(pair)) for pair in range(pairs)]
        faults = [ratio([program, "loop", "fault", "150"], Random(pair)) for pair in range(pairs)]
    figures = [
        figure("spin, with the profile", "x", spin, "<= 1.02"),
        figure("minor faults, with the profile", "x", faults, "<= 1.10"),
    ]
    finish("profile", machine(), figures, [f"{HZ} samples a second with stacks, faults by segment"], {})


def build(folder: Path) -> Path:
    """The load, beside its library."""
    library, program = folder / "libknown.so", folder / "known_work"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE / "known_library.c"], check=True)
    link = ["-L", folder, "-lknown", f"-Wl,-rpath,{folder}"]
    subprocess.run(["cc", "-O1", "-o", program, SOURCE / "known_work.c", *link], check=True)
    return program


def ratio(command: list[str | Path], random: Random) -> float:
    """Processor time with the profile over that without."""
    taken = {}
    for profiled in random.sample((True, False), 2):
        live = LiveProfile(HZ, False) if profiled else None
        taken[profiled] = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        if live:
            live.close()
    return taken[True] / taken[False]


if __name__ == "__main__":
    main()
