"""The price of the cheap and the sampled meters in whole runs of a minute, and the sampled counts beside exact ones.

    python bench/bench_minutes.py [REPETITIONS] [PASSES] [SCRIPT TURNS]

- the typical user, 4 without think time: all of loadgo is in the price, with loading, calibrating and reading
- a shell script that forks and executes, under `loadgo meter`, whose own processor time is in the price, too
- the same script under the sampled and the exact meters: the programs begun and the system calls that each tells
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import loadgo
from figures import Figure, figure, finish
from loadgo.measures.meters import Meters
from loadgo.measures.summary import summarize
from machine import machine
from metering import HERE, Measure, build, shuffled, used_s

LOADGO = str(Path(sys.executable).parent / "loadgo")
MOST = {"typical user": 1.02, "script": 1.05}
TIERS = ("cheap", "sampled")
COUNTED = ("execve", "read", "openat")
"""System calls that the tiers are compared by: the script does them again and again."""
NOTES = (
    "processor time of loadgo and the load together, of whole runs of about a minute, in shuffled order",
    "sampled / exact: each tier meters a run of its own of the same script, of the same length",
)


def main() -> None:
    """Measures and records all figures."""
    given = [int(word) for word in sys.argv[1:4]]
    repetitions, passes, turns = [*given, *(3, 400, 5000)[len(given) :]]
    here = machine()
    build()
    figures, raw = list[Figure](), dict[str, object]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        loads = {"typical user": _typical(passes, Path(place)), "script": _script(turns, Path(place))}
        for name, measures in loads.items():
            values = shuffled(measures, repetitions)
            raw[name] = values
            for tier in TIERS:
                ratios = [one / bare for one, bare in zip(values[tier], values["none"], strict=True)]
                figures.append(figure(f"{name}, {tier} / none", "", ratios, f"<= {MOST[name]}"))
            figures.append(figure(f"{name}, none", "s", values["none"]))
        figures += _nearness(turns, Path(place), repetitions)
    finish("minutes", here, figures, NOTES, raw)


def _typical(passes: int, place: Path) -> dict[str, Measure]:
    words = [LOADGO, "run", "typical-user", "--quiet", "--users", "4", "--think", "none", "--typing", "none"]

    def run(tier: str) -> float:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            return used_s([*words, "--passes", str(passes), "--meters", tier, "--out", f"{folder}/run"])

    return {tier: partial(run, tier) for tier in ("none", *TIERS)}


def _script(turns: int, place: Path) -> dict[str, Measure]:
    command = [str(HERE / "eighteen.sh"), str(turns)]

    def run(tier: str) -> float:
        if tier == "none":
            return used_s(command)
        with tempfile.TemporaryDirectory(dir=place) as folder:
            return used_s([LOADGO, "meter", "--meters", tier, "--out", f"{folder}/run", "--", *command])

    return {tier: partial(run, tier) for tier in ("none", *TIERS)}


def _nearness(turns: int, place: Path, repetitions: int) -> list[Figure]:
    """Figures of the sampled meters over those of the exact ones."""
    ratios: dict[str, list[float]] = {name: [] for name in (*COUNTED, "minor faults")}
    held, judged = 0, 0
    for _ in range(repetitions):
        exact, sampled = (_metered(turns, place, tier) for tier in ("exact", "sampled"))
        for name, values in ratios.items():
            (true, _), (told, error) = _count(exact, name), _count(sampled, name)
            values.append(told / true)
            judged += 1
            held += abs(told - true) <= error
    near = [figure(f"{name}, sampled / exact", "", values) for name, values in ratios.items()]
    return [*near, figure("intervals that hold the exact count", "", [held / judged])]


def _metered(turns: int, place: Path, tier: str) -> Meters:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        run = Path(folder) / "run"
        words = [LOADGO, "meter", "--meters", tier, "--out", str(run), "--", str(HERE / "eighteen.sh"), str(turns)]
        subprocess.run(words, check=True, capture_output=True)
        return summarize(loadgo.tables(run), phases="all").meters


def _count(meters: Meters, name: str) -> tuple[float, float]:
    """The count of events by name, and half of its interval."""
    rows, key = (meters.faults, "minor") if name == "minor faults" else (meters.primitives, name)
    row = next(row for row in rows if row.name == key)
    return row.count, float(row.count_error or 0)


if __name__ == "__main__":
    main()
