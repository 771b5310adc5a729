"""The capacity search on systems of known capacity: how often it is right, how often its interval covers, its price.

python bench/bench_capacity.py [SEEDS] [SWEEPS]

The price is in interactions, compared with a linear sweep of equal confidence. The sweep tries one user, two, three and
so on, until a number of users misses the target with 95 % confidence. Each number runs until its side of the limit is
clear, or until its figure is as precise as the search's crossing. Its trials are at least as long as the search's, and
warmed up as well.
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
from loadgo.sizing.search.crossing import excess_of
from loadgo.sizing.search.outcomes import SHORT_TRIAL_INTERACTIONS, CapacityFound, NextTrial
from loadgo.sizing.search.rounds import RunTrial, TrialLengths, next_trial_length, run_search
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.targets import parse_targets
from support.capacity_systems import (
    KnownSystem,
    central_mean,
    laid,
    repairman_busy,
    repairman_mean,
    repairman_quantile,
    search_goal,
    trial_runner,
)

SYSTEMS = (
    repairman_mean(0.3, 2.0),
    repairman_quantile(0.3, 90, 4.0),
    central_mean(2.0),
    repairman_mean(0.1, 1.0),
    central_mean(2.0, disk_s=0.1),
    central_mean(3.0, disk_s=0.8),
    repairman_mean(1.0, 5.0),
    repairman_mean(1.0, 2.0, servers=4),
    repairman_quantile(0.5, 99, 6.0),
    repairman_busy(0.3, 0.8),
)
LEAST_COVERED = 0.93
MOST_SPENT = 1 / 3
_LONGEST = 400_000
ROOM = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""The folder of temporary trials."""
LINES = 6
FAR = 2.0
"""Distance of the limit in half widths of the interval, from which a single trial decides a sweep's number."""


@dataclass(frozen=True)
class Searched:
    """A search, compared with the true capacity."""

    seed: int
    answer: int | None
    off: int | None
    covered: bool
    spent: int
    trials: int
    half_width: float
    """Half the width of the crossing's interval, in users."""


@dataclass(frozen=True)
class Swept:
    """A linear sweep, compared with the true capacity."""

    seed: int
    covered: bool
    width: int
    """Width of the interval: from the last number that clearly meets the target to the last not clearly missing it."""
    spent: int


def main() -> None:
    """Runs all searches of all systems, then some sweeps of each."""
    seeds, sweeps = [*map(int, sys.argv[1:3]), *[100, 10][len(sys.argv) - 1 :]]
    here, figures, raw = machine(), list[Figure](), dict[str, object]()
    tempfile.tempdir = ROOM
    with ProcessPoolExecutor() as workers:
        for known in SYSTEMS:
            searches = list(workers.map(searched, [known] * seeds, range(1, seeds + 1)))
            half = mean(search.half_width for search in searches)
            sweep_list = list(workers.map(swept, [known] * sweeps, range(1, sweeps + 1), [half] * sweeps))
            figures += _figures(known, searches, sweep_list)
            raw[known.name] = {"searches": list(map(vars, searches)), "sweeps": list(map(vars, sweep_list))}
            for line in figures[-LINES:]:
                print(line.name, *line.values[:3], flush=True)
    finish("capacity", here, figures, ["a user alone costs a sweep as much as it costs the search"], raw)


def _figures(known: KnownSystem, searches: list[Searched], sweeps: list[Swept]) -> list[Figure]:
    name = f"{known.name}, capacity {known.capacity}"
    right = mean(float(search.off is not None and abs(search.off) <= 1) for search in searches)
    exact = mean(float(search.off == 0) for search in searches)
    ratios = [search.spent / mean(sweep.spent for sweep in sweeps) for search in searches]
    return [
        figure(f"{name}: exact or within 1", "", [right]),
        figure(f"{name}: exact", "", [exact]),
        figure(f"{name}: covered", "", [mean(float(search.covered) for search in searches)], f">= {LEAST_COVERED}"),
        figure(f"{name}: interactions", "", [mean(search.spent for search in searches)]),
        figure(f"{name}: of a sweep's", "", [mean(ratios)], f"<= {MOST_SPENT:.3f}"),
        figure(f"{name}: the sweep covers", "", [mean(float(sweep.covered) for sweep in sweeps)]),
    ]


def searched(system: KnownSystem, seed: int) -> Searched:
    """Runs one search."""
    with tempfile.TemporaryDirectory(dir=ROOM) as folder:
        found = run_search(trial_runner(laid(system, Path(folder)), system), search_goal(system), seed=1000 * seed)
    trials = (*found.trials, *found.left_out)
    spent = sum(trial.spent for trial in trials)
    outcome = found.outcome
    if not isinstance(outcome, CapacityFound):
        return Searched(seed, None, None, False, spent, len(trials), 0.0)
    half = (outcome.crossing.high - outcome.crossing.low) / 2 if outcome.crossing else 0.0
    covered = outcome.low <= system.capacity <= outcome.high
    return Searched(seed, outcome.users, outcome.users - system.capacity, covered, spent, len(trials), half)


def swept(system: KnownSystem, seed: int, half_width: float) -> Swept:
    """Runs one sweep."""
    target = parse_targets(system.target)[0]
    with tempfile.TemporaryDirectory(dir=ROOM) as folder:
        tries = trial_runner(laid(system, Path(folder)), system)
        spent, users, met, last = 0, 0, 0, None
        while True:
            users += 1
            trials = _decisive_trials(tries, system, users, 1_000_000 * seed + 1000 * users, half_width, last)
            spent, last = spent + sum(trial.spent for trial in trials), trials[-1]
            excess = excess_of(target, [trial.tallies[0] for trial in trials])
            if excess is not None and excess.missed:
                return Swept(seed, met <= system.capacity < users, users - 1 - met, spent)
            met = users if excess is not None and excess.met else met


def _decisive_trials(
    tries: RunTrial, system: KnownSystem, users: int, seed: int, half_width: float, last: CapacityTrial | None
) -> list[CapacityTrial]:
    """Trials with `users`, each as long as all before, until two verdicts in succession agree."""
    target = parse_targets(system.target)[0]
    trials: list[CapacityTrial] = []
    verdicts: list[str] = []
    while True:
        done = sum(trial.counted for trial in trials)
        step = NextTrial(users, max(done, SHORT_TRIAL_INTERACTIONS))
        trials.append(
            tries(step, seed + len(trials), next_trial_length(step, trials or ([last] if last else []), TrialLengths()))
        )
        excess = excess_of(target, [trial.tallies[0] for trial in trials])
        assert excess is not None
        known_well = excess.half_width <= half_width * system.slope
        verdicts.append("met" if excess.met else "missed" if excess.missed else "known" if known_well else "open")
        far = abs(excess.value) > FAR * excess.half_width
        if far or (verdicts[-2:] in (["met"] * 2, ["missed"] * 2, ["known"] * 2)) or done > _LONGEST:
            return trials


if __name__ == "__main__":
    main()
