"""The search over a limit of each user on simulated machines, held to a dense sweep: how often its interval covers.

    python bench/bench_capacity_limit.py [SEEDS]

Some users take all the processor time that they can get, and the others edit. Trials of an hour give the true value of
each system: first with values over the whole range, then with values near the crossing.
A search *covers* if its interval has that value. A search that leaves the value open does not cover.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import mean, median
from threading import Event

import numpy as np
from figures import Figure, figure, finish
from loadgo.running.prepared import RunSettings
from loadgo.sizing.knobs.find import KnobSearch, find_knob, knob_search
from loadgo.sizing.mix import parse_mix
from loadgo.sizing.options import DEFAULT_MACHINE_TRIAL_S
from loadgo.sizing.search.crossing import TargetScale, scale_of
from loadgo.sizing.search.early_end import trial_watcher
from loadgo.sizing.site import TrialLoad, run_trial
from loadgo.sizing.targets import parse_targets
from machine import machine

LEAST_COVERED = 0.93
HOUR_S = 3600.0
COARSE_VALUES, COARSE_SEEDS = 16, 2
"""Values over the whole range, and trials of an hour with each."""
NEAR_RATIOS, NEAR_SEEDS = (0.9, 0.95, 1.0, 1.05, 1.1), 12
"""Values near the crossing, in parts of it, and trials of an hour with each."""
SWEEP_SEED = 100_000
"""The first seed of a sweep, beyond those of searches."""

MACHINE = """
title = "a login node"
source = "made for a benchmark"
processors = {{ count = {processors}, discipline = "linux", slice = "3ms" }}
[commands.edit]
cpu = "lognormal(120ms, 120ms)"
[commands.spin]
cpu = "20s"
"""
EDITOR = 'name = "editor"\nthink = "exponential(4s)"\nlines = ["edit"]\n'
HOG = 'name = "hog"\nthink = "none"\nlines = ["spin"]\n'


@dataclass(frozen=True)
class LimitSystem:
    """A machine with users, the limit that is varied, and the target."""

    name: str
    processors: int
    hogs: int
    editors: int
    vary: str
    target: str


SYSTEMS = (
    LimitSystem("hogs on one processor, p90", 1, 3, 5, "limit-each.hog.cpus=0.05:1", "p90(edit) < 450ms"),
    LimitSystem("hogs on two processors, mean", 2, 4, 12, "limit-each.hog.cpus=0.05:1", "mean(edit) < 160ms"),
    LimitSystem("everybody on two processors, p90", 2, 4, 12, "limit-each.cpus=0.05:1", "p90(edit) < 750ms"),
)


@dataclass(frozen=True)
class Searched:
    """A search, beside the true value."""

    seed: int
    end: str
    answer: float | None
    low: float | None
    high: float | None
    trials: int
    covered: bool


def main() -> None:
    """Makes the sweep of each system and its searches."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    here, figures, raw = machine(), list[Figure](), dict[str, object]()
    room = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=room) as place, ProcessPoolExecutor() as workers:
        tempfile.tempdir = place
        for system in SYSTEMS:
            truth, error = true_value(system, place, workers)
            searches = list(workers.map(partial(searched, system, place, truth), range(1, seeds + 1)))
            figures += _figures(system, truth, error, searches)
            raw[system.name] = {"truth": truth, "error": error, "searches": list(map(vars, searches))}
            for line in figures[-4:]:
                print(line.name, *line.values[:3], flush=True)
    finish("capacity_limit", here, figures, [f"{seeds} searches of each system"], raw)


def _figures(system: LimitSystem, truth: float, error: float, searches: list[Searched]) -> list[Figure]:
    name = f"{system.name}, {truth:.4f} processors ± {error:.4f}"
    widths = [search.high / search.low for search in searches if search.low and search.high]
    off = [abs(search.answer / truth - 1) for search in searches if search.answer]
    return [
        figure(f"{name}: covered", "", [mean(float(search.covered) for search in searches)], f">= {LEAST_COVERED}"),
        figure(f"{name}: off by, median", "", [median(off)] if off else []),
        figure(f"{name}: interval, high over low, median", "", [median(widths)] if widths else []),
        figure(f"{name}: trials", "", [mean(search.trials for search in searches)]),
    ]


def search_of(system: LimitSystem, place: str, seed: int) -> KnobSearch:
    """The search on a system with this seed, as the command makes it."""
    folder = Path(place) / f"{system.processors}-processors"
    folder.mkdir(exist_ok=True)
    texts = {"machine.toml": MACHINE.format(processors=system.processors), "editor.toml": EDITOR, "hog.toml": HOG}
    for file, text in texts.items():
        if not (folder / file).exists():
            (folder / file).write_text(text)
    return knob_search(
        parse_mix(f"{folder / 'hog.toml'}={system.hogs},{folder / 'editor.toml'}={system.editors}"),
        str(folder / "machine.toml"),
        system.vary,
        users=None,
        limit_each=(),
        targets=system.target,
        settings=RunSettings(),
        trial_s=DEFAULT_MACHINE_TRIAL_S,
        most_trials=None,
        seed=seed,
        tariff="default",
        out=None,
    )


def searched(system: LimitSystem, place: str, truth: float, seed: int) -> Searched:
    """A search with seeds of its own, judged by the truth."""
    found = find_knob(search_of(system, place, 1000 * seed))
    low, high = found.interval or (None, None)
    is_covered = found.end == "found" and low is not None and high is not None and low <= truth <= high
    return Searched(seed, found.end, found.answer, low, high, len(found.each_trial), is_covered)


def true_value(system: LimitSystem, place: str, workers: ProcessPoolExecutor) -> tuple[float, float]:
    """The value at which the target is just met, with its standard error: the last crossing of a dense sweep."""
    knob, scale = search_of(system, place, 1).knob, scale_of(parse_targets(system.target)[0])
    values = [knob.low * (knob.high / knob.low) ** (step / (COARSE_VALUES - 1)) for step in range(COARSE_VALUES)]
    curve = [mean(each) for each in _sweep(system, place, scale, values, COARSE_SEEDS, workers)]
    last = max(i for i in range(len(curve) - 1) if (curve[i] < 0) != (curve[i + 1] < 0))
    part = curve[last] / (curve[last] - curve[last + 1])
    around = exp(log(values[last]) + part * log(values[last + 1] / values[last]))
    for _ in range(2):  # the second time around the crossing of the first
        near = [around * ratio for ratio in NEAR_RATIOS]
        excesses = _sweep(system, place, scale, near, NEAR_SEEDS, workers)
        x = np.repeat(np.log(near) - log(around), NEAR_SEEDS)
        (slope, level), covariance = np.polyfit(x, np.array(excesses).ravel(), 1, cov=True)
        crossing, error = -level / slope, np.sqrt(covariance[1, 1]) / abs(slope)
        around *= exp(crossing)
    return float(around), float(around * error)


def _sweep(
    system: LimitSystem,
    place: str,
    scale: TargetScale,
    values: list[float],
    seeds: int,
    workers: ProcessPoolExecutor,
) -> list[list[float]]:
    """The excess of the target in trials of an hour, by value."""
    pairs = [
        (value, SWEEP_SEED + number * seeds + seed) for number, value in enumerate(values) for seed in range(seeds)
    ]
    excesses = list(workers.map(partial(_excess, system, place, scale), *zip(*pairs, strict=True)))
    return [excesses[begin : begin + seeds] for begin in range(0, len(excesses), seeds)]


def _excess(system: LimitSystem, place: str, scale: TargetScale, value: float, seed: int) -> float:
    """The distance of the target from its limit in one trial of an hour; it is below 0 where the target is met."""
    search = search_of(system, place, seed)
    by_class = {}
    option = f"cpus={value!r}"
    settings = search.settings
    if search.knob.user_class:
        by_class = {search.knob.user_class: option}
    else:
        settings = RunSettings(limit_each=option)
    from loadgo.sizing.site import prepare_site

    site = prepare_site(search.script_or_mix, search.on, settings, class_limits=by_class)
    targets = parse_targets(system.target)
    watch = trial_watcher(Event(), targets, False)
    tally = run_trial(site, targets, TrialLoad(search.users, seed, None, HOUR_S), watch).tallies[0]
    ratio = (float(tally.numerators.sum()) + 0.5) / (tally.weight + 1) if scale.link == "logit" else tally.ratio
    return scale.sign * (float(scale.forward(ratio)) - scale.limit)


if __name__ == "__main__":
    main()
