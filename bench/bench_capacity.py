"""The search for the capacity on systems where it is known: how often right, how often covered, at what price.

python bench/bench_capacity.py [SEEDS] [SWEEPS]

The price is in interactions, beside that of a linear sweep of equal confidence: one user, two, three and so on until a
number misses the target surely; each number as long as it takes to tell on which side of the limit it is, or to know
it as closely as the search knows its crossing. Its trials are as long at least, and warmed up as well, as the search's.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from figures import Figure, figure, finish
from machine import machine

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from capacity_systems import Known, central_mean, laid, repairman_mean, repairman_p90, tries_of, wanted
from loadgo.sizing.crossing import excess_of
from loadgo.sizing.outcomes import SHORT_TRIAL_INTERACTIONS, CapacityFound, NextTrial
from loadgo.sizing.rounds import RunTrial, TrialLengths, next_trial_length, run_search
from loadgo.sizing.targets import parse_targets
from loadgo.sizing.trials import CapacityTrial

SYSTEMS = (
    repairman_mean(0.3, 2.0),
    repairman_p90(0.3, 4.0),
    central_mean(2.0),
    repairman_mean(0.1, 1.0),
)
LEAST_COVERED = 0.93
MOST_SPENT = 1 / 3
_LONGEST = 400_000
ROOM = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where trials are written, for a moment."""
LINES = 6
FAR = 2.0
"""A sweep takes the first look for it where the limit is so many half widths away."""


@dataclass(frozen=True)
class Searched:
    """One search, and the truth beside it."""

    seed: int
    answer: int | None
    off: int | None
    covered: bool
    spent: int
    trials: int
    half_width: float
    """Of the crossing, in users."""


@dataclass(frozen=True)
class Swept:
    """One sweep."""

    seed: int
    covered: bool
    width: int
    """Of its interval: from the last number that surely meets the target to the last that does not surely miss it."""
    spent: int


def main() -> None:
    """All searches of all systems, then some sweeps of each."""
    seeds, sweeps = [*map(int, sys.argv[1:3]), *[100, 10][len(sys.argv) - 1 :]]
    here, figures, raw = machine(), list[Figure](), dict[str, object]()
    tempfile.tempdir = ROOM
    with ProcessPoolExecutor() as workers:
        for known in SYSTEMS:
            made = list(workers.map(searched, [known] * seeds, range(1, seeds + 1)))
            half = mean(one.half_width for one in made)
            spent = list(workers.map(swept, [known] * sweeps, range(1, sweeps + 1), [half] * sweeps))
            figures += _figures(known, made, spent)
            raw[known.name] = {"searches": [vars(one) for one in made], "sweeps": [vars(one) for one in spent]}
            for line in figures[-LINES:]:
                print(line.name, *line.values[:3], flush=True)
    finish("capacity", here, figures, ["a user alone costs a sweep as much as it costs the search"], raw)


def _figures(known: Known, made: list[Searched], sweeps: list[Swept]) -> list[Figure]:
    name = f"{known.name}, capacity {known.capacity}"
    right = mean(float(one.off is not None and abs(one.off) <= 1) for one in made)
    exact = mean(float(one.off == 0) for one in made)
    ratios = [one.spent / mean(sweep.spent for sweep in sweeps) for one in made]
    return [
        figure(f"{name}: exact or within 1", "", [right]),
        figure(f"{name}: exact", "", [exact]),
        figure(f"{name}: covered", "", [mean(float(one.covered) for one in made)], f">= {LEAST_COVERED}"),
        figure(f"{name}: interactions", "", [mean(one.spent for one in made)]),
        figure(f"{name}: of a sweep's", "", [mean(ratios)], f"<= {MOST_SPENT:.3f}"),
        figure(f"{name}: the sweep covers", "", [mean(float(one.covered) for one in sweeps)]),
    ]


def searched(known: Known, seed: int) -> Searched:
    """One search."""
    with tempfile.TemporaryDirectory(dir=ROOM) as folder:
        found = run_search(tries_of(laid(known, Path(folder)), known), wanted(known), seed=1000 * seed)
    every = (*found.trials, *found.left_out)
    spent = sum(trial.spent for trial in every)
    outcome = found.outcome
    if not isinstance(outcome, CapacityFound):
        return Searched(seed, None, None, False, spent, len(every), 0.0)
    half = (outcome.crossing.high - outcome.crossing.low) / 2 if outcome.crossing else 0.0
    covered = outcome.low <= known.capacity <= outcome.high
    return Searched(seed, outcome.users, outcome.users - known.capacity, covered, spent, len(every), half)


def swept(known: Known, seed: int, half_width: float) -> Swept:
    """One sweep."""
    target = parse_targets(known.target)[0]
    with tempfile.TemporaryDirectory(dir=ROOM) as folder:
        tries = tries_of(laid(known, Path(folder)), known)
        spent, users, met, last = 0, 0, 0, None
        while True:
            users += 1
            trials = _until_told(tries, known, users, 1_000_000 * seed + 1000 * users, half_width, last)
            spent, last = spent + sum(trial.spent for trial in trials), trials[-1]
            excess = excess_of(target, [trial.tallies[0] for trial in trials])
            if excess is not None and excess.missed:
                return Swept(seed, met <= known.capacity < users, users - 1 - met, spent)
            met = users if excess is not None and excess.met else met


def _until_told(
    tries: RunTrial, known: Known, users: int, seed: int, half_width: float, last: CapacityTrial | None
) -> list[CapacityTrial]:
    """Trials with so many users, each as long as all before, until two looks in succession tell the same."""
    target = parse_targets(known.target)[0]
    trials: list[CapacityTrial] = []
    looks: list[str] = []
    while True:
        done = sum(trial.counted for trial in trials)
        step = NextTrial(users, max(done, SHORT_TRIAL_INTERACTIONS))
        trials.append(
            tries(step, seed + len(trials), next_trial_length(step, trials or ([last] if last else []), TrialLengths()))
        )
        excess = excess_of(target, [trial.tallies[0] for trial in trials])
        assert excess is not None
        known_well = excess.half_width <= half_width * known.slope
        looks.append("met" if excess.met else "missed" if excess.missed else "known" if known_well else "open")
        far = abs(excess.value) > FAR * excess.half_width
        if far or (looks[-2:] in (["met"] * 2, ["missed"] * 2, ["known"] * 2)) or done > _LONGEST:
            return trials


if __name__ == "__main__":
    main()
