"""Predictions against measurements: a machine fitted to five users foretells twenty and forty, here and simulated.

python bench/bench_fit.py [SECONDS] [ROUNDS] [TRUTHS]     (20 2 100)

*Here*: each round loads this host in turns with 5 users, with 20 and with 40, for SECONDS each and three times as long
with 5; fits a machine to all that the 5 did, and predicts the others. In turns, because the processors of a shared
machine are a fifth slower or faster from one minute to the next: each load gets its share of that.
*Known*: the same on a simulated machine, for an hour of its time. *Coverage*: TRUTHS machines, each another, are
measured with 5 users for 5 minutes of their time, fitted, and the prediction's interval either holds what the truth
then shows with 20 users, or not.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import loadgo
from figures import Figure, figure, finish
from loadgo.comparison.compare import Comparison, compare
from loadgo.comparison.figures import change_interval
from loadgo.fitting.fit import fit
from loadgo.prediction.figures import figures_of
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.records.tables import tables
from machine import machine

FITTED, PREDICTED = 5, (20, 40)
TURNS = 4
FIGURES = ("response", "p90 response", "cpu", "throughput")
DRAWS = 20
KNOWN = "exponential(1.2s, max 8s)"
"""The think time where the truth is known: two thirds busy with 40 users, so that four hours hold little chance."""

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
USUAL = {
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
    """One prediction beside what was measured."""

    users: int
    ratios: Mapping[str, float]
    """Predicted over measured, by figure."""
    intervals: Mapping[str, str]
    """Of measured less predicted, in words."""
    busy: float
    """Of all processors' time, as measured."""


def main() -> None:
    """All three; a part whose size is 0 is left out."""
    seconds, rounds, truths = [*map(int, sys.argv[1:4]), *[20, 2, 100][len(sys.argv) - 1 :]]
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-fit-") as kept:
        folder = Path(kept)
        script = folder / "script.toml"
        script.write_text(SCRIPT)
        on_host = [one for place in range(rounds) for one in _on_host(folder / f"here-{place}", script, seconds, place)]
        known = _known(folder / "known", script) if truths else []
        held = _coverage(folder, script, truths)
    figures = [
        *_figures("here", on_host, "<= 0.1"),
        *_figures("known", known, "<= 0.03"),
        *(figure(f"coverage of {name}, 20 users", "", [share], ">= 0.9") for name, share in held.items()),
    ]
    notes = [
        "off by: |predicted / measured - 1|, of a machine fitted to 5 users; the host should have nothing else to do",
        f"here: {TURNS} turns of {seconds} s, {3 * seconds} s with 5 users; known: fitted to 8 h of a simulated "
        "machine's time, 4 h predicted",
        f"coverage: of {truths} machines, each fitted to 5 min with 5 users: the share whose figure with 20 users, "
        "over 2 min, lies in the prediction's interval",
    ]
    raw = {name: [vars(one) for one in told] for name, told in (("here", on_host), ("known", known))}
    finish("fit", here, figures, notes, raw | {"coverage": held})


def _on_host(folder: Path, script: Path, seconds: int, place: int) -> list[Predicted]:
    """One round here: 5 users, to whom a machine is fitted, 20 and 40, in turns."""
    lengths = {FITTED: 3 * seconds, **dict.fromkeys(PREDICTED, seconds)}
    measured: dict[int, list[loadgo.Run]] = {users: [] for users in lengths}
    for turn in range(TURNS):
        for users, lasts in lengths.items():
            out, seed = folder / f"{users}-{turn}", 100 * place + 1000 * turn + users
            measured[users].append(loadgo.run(script, users=users, duration=lasts, seed=seed, out=out))
    return _predicted(folder, script, {"duration": TURNS * seconds, "draws": DRAWS}, measured.pop(FITTED), measured)


def _known(folder: Path, script: Path) -> list[Predicted]:
    """The same where the truth is known: long enough that hardly anything is chance."""
    folder.mkdir()
    truth = folder / "truth.toml"
    truth.write_text(TRUTH.format(**USUAL))
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
    script: Path,
    load: Mapping[str, Any],
    fitted_to: Sequence[loadgo.Run],
    measured: Mapping[int, Sequence[loadgo.Run]],
) -> list[Predicted]:
    fit(*fitted_to, output=folder / "machine.toml")
    found = []
    for users in PREDICTED:
        out, on = folder / f"predicted-{users}", str(folder / "machine.toml")
        foretold = loadgo.run(script, on=on, users=users, seed=7000 + users, out=out, **load)
        found.append(_beside(users, compare(foretold, measured[users], judge=True), measured[users]))
        print(_line(found[-1]), flush=True)
    return found


def _beside(users: int, made: Comparison, measured: Sequence[loadgo.Run]) -> Predicted:
    told = {one.measure: one for one in made.judged}
    busy = [run.summary.total_time.busy_share or 0.0 for run in measured if run.summary.total_time]
    return Predicted(
        users=users,
        ratios={name: (told[name].before or 0.0) / (told[name].after or 1.0) for name in FIGURES},
        intervals={name: f"{change_interval(told[name])}, {told[name].judgement}" for name in FIGURES},
        busy=sum(busy) / len(busy) if busy else 0.0,
    )


def _line(one: Predicted) -> str:
    told = "; ".join(f"{name} {one.ratios[name]:.3f} ({one.intervals[name]})" for name in FIGURES)
    return f"{one.users} users, processors {one.busy:.0%} busy; predicted / measured: {told}"


def _figures(where: str, told: Sequence[Predicted], target: str) -> list[Figure]:
    return [
        figure(
            f"{where}: {name} with {users} users, off by",
            "",
            [abs(one.ratios[name] - 1) for one in told if one.users == users],
            target,
        )
        for users in PREDICTED
        for name in FIGURES
        if told
    ]


def _coverage(folder: Path, script: Path, truths: int) -> dict[str, float]:
    """By figure, how often the interval holds the truth."""
    if not truths:
        return {}
    # Polars has threads, which a fork would not have.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
        held = list(workers.map(_held, [folder] * truths, [script] * truths, range(truths)))
    return {name: sum(one[name] for one in held) / truths for name in held[0]}


def _held(folder: Path, script: Path, place: int) -> dict[str, bool]:
    """Whether the prediction for one machine, drawn about the usual one, holds what that machine shows."""
    own = folder / f"truth-{place}"
    own.mkdir()
    drawn = random.Random(place)
    truth = own / "truth.toml"
    truth.write_text(TRUTH.format(**{name: value * drawn.lognormvariate(0.0, 0.3) for name, value in USUAL.items()}))
    seeds = range(10 * place + 1, 10 * place + 4)
    few = loadgo.run(script, on=str(truth), users=FITTED, duration="5min", seed=seeds[0], out=own / "few")
    many = loadgo.run(script, on=str(truth), users=20, duration="2min", seed=seeds[1], out=own / "many")
    fit(few, output=own / "machine.toml")
    on = str(own / "machine.toml")
    made = loadgo.run(script, on=on, users=20, duration="2min", seed=seeds[2], draws=DRAWS, out=own / "predicted")
    shown = figures_of(tables(many), "steady")
    told = [] if made.summary.prediction is None else made.summary.prediction.figures["steady"]
    found = {
        one.measure: one.interval.holds(shown[ALL_COMMANDS, one.measure]) for one in told if one.command == ALL_COMMANDS
    }
    shutil.rmtree(own)
    return found


if __name__ == "__main__":
    main()
