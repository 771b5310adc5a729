"""How often `loadgo ab` is wrong, and how often it finds a change, on a simulated machine where the truth is known.

python bench/bench_ab.py [EXPERIMENTS] [RUNS]

Runs of the machine with different seeds are drawn into pairs, so that the two runs of a pair share nothing. On a host,
runs with the same seed share more. Each experiment ends as `loadgo ab` ends.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import loadgo
from figures import Figure, figure, finish
from loadgo.pairing.results import Experiment, Pair
from loadgo.pairing.run_figures import RunFigures, figures_of
from machine import machine

MACHINE = """
title = "two processors and a disk"
source = "assumed"
processors = { count = 2, discipline = "linux" }
storage.disk = { kind = "server", service = "exponential(6ms)" }
[commands."*"]
cpu = "lognormal(80ms, 40ms)"
requests = { disk = 4 }
"""
SCRIPT = 'name = "work"\nthink = "exponential(1s)"\ntyping = "1000 chars/s"\nlines = ["one", "two", "three"]\n'
MOST_PAIRS = 30


def main() -> None:
    """Simulates the pools of runs, and draws experiments from them."""
    experiments, runs = [*map(int, sys.argv[1:3]), *[400, 600][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    for users in (8, 20):
        same = [_pool(users, "", runs, 1), _pool(users, "", runs, 100_001)]
        slower = _pool(users, "processors.speed=0.909", runs, 200_001)
        drawn_alike = [_experiment(same[0], same[1], seed, users) for seed in range(experiments)]
        for measure in ("response", "cpu"):
            wrong = [change.verdict in ("better", "worse") for one in drawn_alike if (change := one.change(measure))]
            figures.append(figure(f"{users} users, A/A: {measure} called different", "", [_share(wrong)], "<= 0.05"))
        drawn_slower = [_experiment(same[0], slower, seed, users) for seed in range(experiments)]
        found = [one.change("cpu").verdict == "worse" for one in drawn_slower]  # type: ignore[union-attr]
        figures.append(figure(f"{users} users, CPU +10 %: found", "", [_share(found)], ">= 0.9"))
        holds = [_holds(one, 0.10) for one in drawn_slower]
        figures.append(figure(f"{users} users, CPU +10 %: in the interval", "", [_share(holds)], ">= 0.95"))
        figures.append(figure(f"{users} users, CPU +10 %: pairs", "", [float(len(one.pairs)) for one in drawn_slower]))
    notes = [
        f"{experiments} experiments of up to {MOST_PAIRS} pairs, drawn from {runs} runs a side of 30 simulated seconds"
    ]
    finish("ab", here, figures, notes, {})


def _pool(users: int, change: str, runs: int, first_seed: int) -> list[RunFigures]:
    """The figures of runs with seeds of their own."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        script, system = Path(place, "work.toml"), Path(place, "machine.toml")
        script.write_text(SCRIPT)
        system.write_text(MACHINE)
        values = (change,) if change else ()
        seeds = range(first_seed, first_seed + runs)
        return [
            figures_of(loadgo.run(script, on=str(system), users=users, duration="30s", seed=seed, set=values,
                                  out=Path(place, str(seed))))
            for seed in seeds
        ]  # fmt: skip


def _experiment(a: list[RunFigures], b: list[RunFigures], seed: int, users: int) -> Experiment:
    """An experiment with runs drawn from both pools, ended as `loadgo ab` ends it."""
    from loadgo.notation.margin import DEFAULT_MARGIN_SHARE
    from loadgo.pairing.experiment import DECISIVE_MEASURES
    from loadgo.pairing.variant import Variant

    variant, chance = Variant("work.toml"), random.Random(seed)
    sides = zip(chance.sample(a, MOST_PAIRS), chance.sample(b, MOST_PAIRS), strict=True)
    experiment = Experiment(
        variant,
        variant,
        loadgo.Load(users=users),
        DEFAULT_MARGIN_SHARE,
        DECISIVE_MEASURES,
        (),
        (),
        "most pairs",
        Path(),
    )
    for number, (before, after) in enumerate(sides):
        pair = Pair(number, "A", before, after, (number + 1) / MOST_PAIRS)
        experiment = replace(experiment, pairs=(*experiment.pairs, pair))
        if experiment.decided:
            return replace(experiment, end="decided")
    return experiment


def _holds(experiment: Experiment, truth: float) -> bool:
    change = experiment.change("cpu")
    return change is not None and change.interval is not None and change.interval.low <= truth <= change.interval.high


def _share(found: list[bool]) -> float:
    return sum(found) / len(found)


if __name__ == "__main__":
    main()
