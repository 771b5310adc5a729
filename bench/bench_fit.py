"""Predictions against measurements: a machine fitted to ten users predicts twenty and forty, here and simulated.

    python bench/bench_fit.py [--runs FOLDER] [SECONDS] [ROUNDS] [TRUTHS]     (45 5 100)

*Here*: each round loads this host with `typical-user`, in turns of SECONDS: ten users; ten who think a quarter as long;
twenty; and forty. One machine is fitted to both runs with ten users, six minutes in all (`two loads`), one to those who
think as usual, three minutes (`one load`). Both predict twenty and forty. The loads take turns, in a drawn order,
because the speed of a shared host changes by a fifth from minute to minute. The runs are kept in FOLDER, and rounds
that are there already are not made again.

*Known*: the same on a simulated machine, for hours of its time.

*Coverage*: TRUTHS different machines are measured with 5 users for 5 minutes of their time, and fitted. The share whose
figure with 20 users lies in the prediction's interval is reported.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import loadgo
from figures import Figure, figure, finish
from loadgo.comparison.compare import Comparison, compare
from loadgo.comparison.figures import change_interval
from loadgo.fitting.fit import fit
from loadgo.measures.summary import summarize
from loadgo.prediction.figures import figures_of
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.records.tables import tables
from machine import machine

FITTED, PREDICTED = 5, (20, 40)
TURNS = 4
SCRIPT_HERE = "typical-user"
THINK, SHORT_THINK = "exponential(0.4s, max 3s)", "exponential(0.1s, max 0.75s)"


@dataclass(frozen=True)
class HostLoad:
    """A load of this host."""

    users: int
    think: str

    @property
    def slug(self) -> str:
        """The beginning of the names of its runs' folders."""
        return f"{self.users}{'-quick' if self.think == SHORT_THINK else ''}"


ONE_LOAD, OTHER_LOAD = HostLoad(10, THINK), HostLoad(10, SHORT_THINK)
HOST_LOADS = (ONE_LOAD, OTHER_LOAD, *(HostLoad(users, THINK) for users in PREDICTED))
"""The loads of this host; the fit has the first two: six minutes in all, and ten users."""
FIGURES = ("response", "p90 response", "cpu", "throughput")
DRAWS = 20
KNOWN = "exponential(1.2s, max 8s)"
"""Think time on the known machine. With 40 users it is two thirds busy, so that four hours leave little chance."""

SCRIPT = """\
name   = "light and heavy commands"
login  = "sh"
passes = 1
think  = "exponential(0.9s, max 6s)"
needs  = ["awk", "sort", "gzip", "python3", "seq"]
lines  = [
    { type = "seq 150000 | tac > numbers.txt", as = "make" },
    "ls -l",
    { type = "awk 'BEGIN { for (i = 0; i < 1400000; i++) s += i % 7; print s }'", as = "compute" },
    "wc numbers.txt",
    { type = "sort -n numbers.txt | tail -1", as = "sort" },
    { type = "python3 -c 'print(sum(n * n for n in range(1600000)))'", as = "python" },
    { type = "grep -c 7 numbers.txt", as = "search" },
    { type = "gzip -c numbers.txt | wc -c", as = "compress" },
]
"""
"""An interaction takes about 35 ms of a processor: forty users keep two of them two thirds busy."""

TRUTH = """\
title  = "two processors and a disk, known"
source = "made up, as the truth of a benchmark"
[processors]
count      = 2
discipline = "linux"
switch     = "3us"
[storage.disk]
kind    = "server"
service = "exponential({disk}ms)"
[commands.make]
cpu = "lognormal({make}ms, 8ms)"
[commands.ls]
cpu = "lognormal({ls}ms, 1ms)"
[commands.compute]
cpu = "lognormal({compute}ms, 15ms)"
[commands.wc]
cpu = "lognormal({wc}ms, 1ms)"
requests = {{ disk = 1 }}
[commands.sort]
cpu = "lognormal({sort}ms, 20ms)"
requests = {{ disk = 2 }}
[commands.python]
cpu = "hyperexponential({python}ms, 2)"
[commands.search]
cpu = "exponential({search}ms)"
requests = {{ disk = 2 }}
[commands.compress]
cpu = "lognormal({compress}ms, 40ms)"
"""
USUAL_VALUES = {
    "make": 20.0,
    "disk": 5.0,
    "ls": 2.0,
    "compute": 60.0,
    "wc": 3.0,
    "sort": 50.0,
    "python": 90.0,
    "search": 10.0,
    "compress": 80.0,
}


@dataclass(frozen=True)
class Predicted:
    """A prediction compared with a measurement."""

    users: int
    ratios: Mapping[str, float]
    """Predicted over measured, by figure."""
    intervals: Mapping[str, str]
    """The interval of measured less predicted, as a text, by figure."""
    busy: float
    """Measured busy share of all processors' time."""
    fit: str = ""
    """The runs of the fit: `two loads`, `one load`, or empty."""
    inside: Mapping[str, bool] = field(default_factory=dict)
    """Whether what was measured lies in the prediction's interval, by figure."""


def main() -> None:
    """Measures all three parts. A part of size 0 is left out."""
    kept = _kept_runs()
    seconds, rounds, truths = [*map(int, sys.argv[1:4]), *[45, 5, 100][len(sys.argv[1:4]) :]]
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-fit-") as folder_name:
        folder = Path(folder_name)
        script = folder / "script.toml"
        script.write_text(SCRIPT)
        on_host = []
        for number in range(rounds):
            measured = _measured_here((kept or folder) / f"round-{number + 1}", seconds)
            on_host += _predicted_here(folder / f"here-{number + 1}", measured, seconds)
        on_known = _known(folder / "known", script) if truths else []
        coverage = _coverage(folder, script, truths)
    figures = [
        *_figures("here, two loads", [each for each in on_host if each.fit == "two loads"], "<= 0.1"),
        *_figures("here, one load", [each for each in on_host if each.fit == "one load"], ""),
        *_figures("known", on_known, "<= 0.03"),
        *(figure(f"coverage of {name}, 20 users", "", [share], ">= 0.9") for name, share in coverage.items()),
    ]
    notes = [
        "off by: |predicted / measured - 1|; the host should have nothing else to do",
        f"here: {TURNS} turns of {seconds} s, fitted to 10 users who think {THINK} or {SHORT_THINK}; known: fitted to "
        "8 h of a simulated machine's time with 5 users, 4 h predicted",
        f"coverage: of {truths} machines, each fitted to 5 min with 5 users: the share whose figure with 20 users, "
        "over 2 min, lies in the prediction's interval",
    ]
    raw = {name: list(map(vars, predictions)) for name, predictions in (("here", on_host), ("known", on_known))}
    finish("fit", here, figures, notes, raw | {"coverage": coverage})


def _kept_runs() -> Path | None:
    """The folder of `--runs`, which is taken off the arguments."""
    if sys.argv[1:2] != ["--runs"]:
        return None
    folder = Path(sys.argv[2])
    del sys.argv[1:3]
    return folder


def _measured_here(folder: Path, seconds: int) -> dict[HostLoad, list[Path]]:
    """The runs of one round on this host, in turns; those that are in the folder already are not made again."""
    measured: dict[HostLoad, list[Path]] = {load: [] for load in HOST_LOADS}
    for turn in range(TURNS):
        for load in random.sample(HOST_LOADS, len(HOST_LOADS)):
            out = folder / f"{load.slug}-{turn}"
            measured[load].append(out)
            if out.exists():
                continue
            seed = random.randrange(2**31)
            loadgo.run(SCRIPT_HERE, users=load.users, duration=seconds, seed=seed, think=load.think, out=out)
            print(f"{folder.name}: {load.users} users, think {load.think}, load {os.getloadavg()[0]:.1f}", flush=True)
    return measured


def _predicted_here(folder: Path, measured: Mapping[HostLoad, Sequence[Path]], seconds: int) -> list[Predicted]:
    """The predictions of the machines fitted to two loads, and to one, for one round."""
    load = {"duration": TURNS * seconds, "draws": DRAWS, "think": THINK}
    truths = {load.users: measured[load] for load in HOST_LOADS[2:]}
    folder.mkdir(exist_ok=True)
    predicted = []
    for name, fitted in (("two loads", (ONE_LOAD, OTHER_LOAD)), ("one load", (ONE_LOAD,))):
        runs = [run for one in fitted for run in measured[one]]
        predicted += _predicted(folder / name, SCRIPT_HERE, load, runs, truths)
    return predicted


def _known(folder: Path, script: Path) -> list[Predicted]:
    """The same on a known machine, long enough that chance is small."""
    folder.mkdir()
    truth = folder / "truth.toml"
    truth.write_text(TRUTH.format(**USUAL_VALUES))
    few = loadgo.run(script, on=str(truth), users=FITTED, duration="8h", think=KNOWN, seed=1, out=folder / "few")
    measured = {
        users: [
            loadgo.run(
                script, on=str(truth), users=users, duration="4h", think=KNOWN, seed=users, out=folder / f"{users}"
            )
        ]
        for users in PREDICTED
    }
    return _predicted(folder, script, {"duration": "4h", "think": KNOWN, "draws": 0}, [few], measured)


def _predicted(
    folder: Path,
    script: Path | str,
    load: Mapping[str, Any],
    fitted_to: Sequence[os.PathLike[str]],
    measured: Mapping[int, Sequence[os.PathLike[str]]],
) -> list[Predicted]:
    folder.mkdir(exist_ok=True)
    found = fit(*fitted_to, output=folder / "machine.toml")
    for parameter in found.fitted.parameters:
        if parameter.key.startswith("processors.") or parameter.key.endswith("cpu_when_busy"):
            print(f"{parameter.key} = {parameter.value} ({parameter.low} to {parameter.high})", flush=True)
    predictions = []
    for users in PREDICTED:
        out, on = folder / f"predicted-{users}", str(folder / "machine.toml")
        predicted = loadgo.run(script, on=on, users=users, seed=7000 + users, out=out, **load)
        comparison = compare(predicted, measured[users], judge=True)
        predictions.append(replace(_beside(users, comparison, measured[users]), fit=folder.name))
        predictions[-1] = replace(predictions[-1], inside=_inside(predicted, comparison))
        print(_line(predictions[-1]), flush=True)
    return predictions


def _inside(predicted: loadgo.Run, comparison: Comparison) -> dict[str, bool]:
    """Whether what was measured lies in the prediction's interval, by figure; empty without an interval."""
    if predicted.summary.prediction is None:
        return {}
    judged = {figure.measure: figure for figure in comparison.judged}
    intervals = predicted.summary.prediction.figures["steady"]
    return {
        figure.measure: figure.interval.holds(judged[figure.measure].after or 0.0)
        for figure in intervals
        if figure.command == ALL_COMMANDS and figure.measure in FIGURES
    }


def _beside(users: int, comparison: Comparison, measured: Sequence[os.PathLike[str]]) -> Predicted:
    judged = {figure.measure: figure for figure in comparison.judged}
    totals = [summarize(tables(run)).total_time for run in measured]
    busy = [total.busy_share or 0.0 for total in totals if total]
    return Predicted(
        users=users,
        ratios={name: (judged[name].before or 0.0) / (judged[name].after or 1.0) for name in FIGURES},
        intervals={name: f"{change_interval(judged[name])}, {judged[name].judgement}" for name in FIGURES},
        busy=sum(busy) / len(busy) if busy else 0.0,
    )


def _line(prediction: Predicted) -> str:
    ratios = "; ".join(f"{name} {prediction.ratios[name]:.3f} ({prediction.intervals[name]})" for name in FIGURES)
    held = (
        f"; held by {sum(prediction.inside.values())} of {len(prediction.inside)} intervals"
        if prediction.inside
        else ""
    )
    which = f"{prediction.fit}: {prediction.users} users, processors {prediction.busy:.0%} busy"
    return f"{which}; predicted / measured: {ratios}{held}"


def _figures(where: str, predictions: Sequence[Predicted], target: str) -> list[Figure]:
    return [
        figure(
            f"{where}: {name} with {users} users, off by",
            "",
            [abs(prediction.ratios[name] - 1) for prediction in predictions if prediction.users == users],
            target,
        )
        for users in PREDICTED
        for name in FIGURES
        if predictions
    ]


def _coverage(folder: Path, script: Path, truths: int) -> dict[str, float]:
    """The share of intervals that contain the truth, by figure."""
    if not truths:
        return {}
    # Polars has threads, which a fork would not have.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
        covered = list(workers.map(_covered, [folder] * truths, [script] * truths, range(truths)))
    return {name: sum(figures[name] for figures in covered) / truths for name in covered[0]}


def _covered(folder: Path, script: Path, number: int) -> dict[str, bool]:
    """Whether the prediction for a random machine contains what that machine shows, by figure."""
    machine_folder = folder / f"truth-{number}"
    machine_folder.mkdir()
    draws = random.Random(number)
    truth = machine_folder / "truth.toml"
    truth.write_text(
        TRUTH.format(**{name: value * draws.lognormvariate(0.0, 0.3) for name, value in USUAL_VALUES.items()})
    )
    seeds = range(10 * number + 1, 10 * number + 4)
    few = loadgo.run(script, on=str(truth), users=FITTED, duration="5min", seed=seeds[0], out=machine_folder / "few")
    many = loadgo.run(script, on=str(truth), users=20, duration="2min", seed=seeds[1], out=machine_folder / "many")
    fit(few, output=machine_folder / "machine.toml")
    on = str(machine_folder / "machine.toml")
    run = loadgo.run(
        script, on=on, users=20, duration="2min", seed=seeds[2], draws=DRAWS, out=machine_folder / "predicted"
    )
    shown = figures_of(tables(many), "steady")
    predicted = [] if run.summary.prediction is None else run.summary.prediction.figures["steady"]
    covered = {
        figure.measure: figure.interval.holds(shown[ALL_COMMANDS, figure.measure])
        for figure in predicted
        if figure.command == ALL_COMMANDS
    }
    shutil.rmtree(machine_folder)
    return covered


if __name__ == "__main__":
    main()
