"""How often `loadgo ab` finds a change that was planted on this host, and how often it finds one where there is none.

    python bench/bench_ab_live.py [EXPERIMENTS] [USERS]

A is a loop of bash, B the same with more steps: 10 % for processor time, 20 % for response. In the experiments of A
against itself every verdict *better* or *worse* is wrong. An experiment takes pairs of runs of 4 s until it has a
verdict, and at most three minutes. `busy_before` says how busy the host was with other things at the beginning.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import loadgo
from figures import Figure, figure, finish
from loadgo.pairing.results import Experiment
from machine import machine

EXPERIMENTS, USERS, STEPS = 10, 8, 20_000
SECONDS, TIME_LIMIT = "4s", "3min"


@dataclass(frozen=True)
class Planted:
    """A change of B against A, and the measure that must find it; none for a change of nothing."""

    name: str
    steps_share: float
    measure: str

    def experiment(self, folder: Path, seed: int, users: int) -> Experiment:
        """One experiment, which asks for this measure's verdict alone."""
        folder.mkdir(parents=True)
        a, b = (_script(folder, side, round(STEPS * share)) for side, share in (("a", 1.0), ("b", self.steps_share)))
        load = loadgo.Load(users=users, duration=SECONDS, seed=seed)
        out = folder / "runs"
        return loadgo.ab(a, b, load=load, measures=(self.measure,), most_pairs=30, time_limit=TIME_LIMIT, out=out)


CHANGES = (
    Planted("CPU +10 %", 1.1, "cpu"),
    Planted("response +20 %", 1.2, "response"),
    Planted("A/A", 1.0, "response"),
)


def main() -> None:
    """Makes all experiments, each change in its turn, so that a change of the host reaches all kinds alike."""
    experiments, users = [*map(int, sys.argv[1:3]), *[EXPERIMENTS, USERS][len(sys.argv) - 1 :]]
    here = machine()
    made: dict[str, list[dict[str, object]]] = {change.name: [] for change in CHANGES}
    for number in range(experiments):
        for change in CHANGES:
            with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
                one = change.experiment(Path(place) / "experiment", 1000 * number + 1, users)
                made[change.name].append(_recorded(one, change.measure))
            print(number, change.name, json.dumps(made[change.name][-1]), file=sys.stderr, flush=True)
    figures = [figure_of for change in CHANGES for figure_of in _figures(change, made[change.name])]
    notes = [f"{experiments} experiments of each kind, {users} users, runs of {SECONDS}, at most {TIME_LIMIT} each"]
    finish("ab_live", here, figures, notes, {"experiments": made})


def _script(folder: Path, side: str, steps: int) -> Path:
    path = folder / f"{side}.toml"
    line = f"for ((i = 0; i < {steps}; i++)); do :; done"
    login = '"bash --norc --noprofile"'
    path.write_text(f'name = "loop"\nlogin = {login}\nthink = "exponential(500ms)"\nlines = [{json.dumps(line)}]\n')
    return path


def _recorded(experiment: Experiment, measure: str) -> dict[str, object]:
    change = experiment.change(measure)
    assert change is not None
    interval = None if change.interval is None else (change.interval.low, change.interval.high)
    return {
        "verdict": change.verdict,
        "relative": change.relative,
        "interval": interval,
        "pairs": len(experiment.pairs),
        "reference_slope": change.mean.slope,
        "others": median(run.others_share or 0.0 for pair in experiment.pairs for run in (pair.a, pair.b)),
        "end": experiment.end,
    }


def _figures(change: Planted, made: list[dict[str, object]]) -> list[Figure]:
    verdicts = [one["verdict"] for one in made]
    pairs = figure(f"{change.name}: pairs", "", [float(str(one["pairs"])) for one in made])
    if change.steps_share == 1.0:
        wrong = sum(verdict in ("better", "worse") for verdict in verdicts) / len(verdicts)
        return [figure(f"{change.name}: {change.measure} called different", "", [wrong], "<= 0.05"), pairs]
    found = verdicts.count("worse") / len(verdicts)
    relative = figure(f"{change.name}: change", "", [float(str(one["relative"])) for one in made])
    return [figure(f"{change.name}: found", "", [found], ">= 0.9"), relative, pairs]


if __name__ == "__main__":
    main()
