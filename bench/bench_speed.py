"""Whether processor times of repeated runs agree better at equal speed of the host, by the reference work beside them.

    python bench/bench_speed.py [ROUNDS] [SECONDS] [FOLDER]     (10 20)

Each round loads this host in turns with 2, 10 and 20 users. The spread is that of the
commands' processor time between runs of the same number of users, as measured and at equal speed.
Then drawn rounds of 2 and 10 users predict the processor time of drawn runs of 20, by a line over the load.
With a FOLDER of runs that an earlier call has made there, no new ones are made.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
from figures import Figure, figure, finish
from loadgo.fitting.reading import RunReading, read_runs
from loadgo.fitting.speeds import RunSpeeds, run_speeds
from loadgo.stats.resample import Floats
from machine import machine

ROUNDS, SECONDS, SEED = 10, 20.0, 1
FITTED, PREDICTED = (2, 10), 20
DRAWS = 4000
SCRIPT = """\
name   = "work"
login  = "sh"
passes = 1000
think  = "exponential(0.9s, max 6s)"
needs  = ["awk", "sort", "python3", "seq", "gzip"]
lines  = [
    { type = "seq 60000 | sort -R --random-source=/dev/zero | wc", as = "sort" },
    { type = "awk 'BEGIN { for (i = 0; i < 300000; i++) s += i % 7; print s }'", as = "awk" },
    { type = "python3 -c 'print(sum(n * n for n in range(300000)))'", as = "python" },
    { type = "n=0; while [ $n -lt 60000 ]; do n=$((n+1)); done", as = "shell" },
    { type = "seq 100000 | gzip -c | wc -c", as = "gzip" },
]
"""


def main() -> None:
    """Makes the runs, or reads those of FOLDER, and prints the figures."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-speed-") as place:
        folder = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(place)
        folder.mkdir(exist_ok=True)
        if not list(folder.glob("*/run.toml")):
            _make_runs(folder, rounds, seconds)
        runs = sorted(path.parent for path in folder.glob("*/run.toml"))
        readings = [reading for run in runs for reading in read_runs([run])]
    speeds = run_speeds(readings)
    if speeds is None or speeds.effect is None:
        sys.exit("these runs have no reference work, or do not show the users' share of the processors")
    logs, users = np.array([_log_cpu(one) for one in readings]), np.array([one.users for one in readings])
    notes = [f"{len(readings)} runs of {seconds:g} s; {speeds.in_words}"]
    finish("speed", here, [*_spreads(logs, users, speeds), *_predictions(logs, users, speeds)], notes, {})


def _make_runs(folder: Path, rounds: int, seconds: float) -> None:
    script = folder / "work.toml"
    script.write_text(SCRIPT)
    for number in range(rounds):
        for users in (*FITTED, PREDICTED):
            out = folder / f"{users:02}-{number:02}"
            loadgo.run(script, users=users, duration=seconds, warm_up="2s", seed=SEED, out=out)


def _log_cpu(reading: RunReading) -> float:
    """The logarithm of the commands' processor time: the mean over commands, which all count alike."""
    return float(np.log(reading.rows.group_by("command").agg(pl.col("cpu").mean())["cpu"].to_numpy()).mean())


def _spreads(logs: Floats, users: Floats, speeds: RunSpeeds) -> list[Figure]:
    """The spreads between runs of the same number of users, and how closely processor time follows the reference."""
    references = _within(np.log(speeds.times_ns), users)
    measured, equal = _within(logs, users), _within(logs + np.log(speeds.factors), users)
    degrees = len(logs) - len(set(users.tolist()))
    slope = float(references @ measured / (references @ references))
    return [
        figure("spread of the reference work", "%", [100 * _deviation(references, degrees)]),
        figure("spread of processor time, as measured", "%", [100 * _deviation(measured, degrees)]),
        figure("spread of processor time, at equal speed", "%", [100 * _deviation(equal, degrees)]),
        figure("correlation of the two times", "", [float(np.corrcoef(references, measured)[0, 1])]),
        figure("change of processor time for one of the reference", "", [slope]),
    ]


def _within(logs: Floats, users: Floats) -> Floats:
    """The values without the mean of their number of users."""
    means = {count: logs[users == count].mean() for count in set(users.tolist())}
    return logs - np.array([means[count] for count in users.tolist()])


def _deviation(values: Floats, degrees: int) -> float:
    return float(np.sqrt(values @ values / degrees))


def _predictions(logs: Floats, users: Floats, speeds: RunSpeeds) -> list[Figure]:
    """The error (root of the mean square) of predictions from one, two and three rounds, by both ways."""
    draws, figures = np.random.default_rng(SEED), list[Figure]()
    for rounds in (1, 2, 3):
        errors: dict[str, list[float]] = {"as measured": [], "at equal speed": []}
        for _ in range(DRAWS):
            chosen = [draws.choice(np.flatnonzero(users == count), rounds, replace=False) for count in FITTED]
            fitted, target = np.concatenate(chosen), int(draws.choice(np.flatnonzero(users == PREDICTED)))
            own = replace(
                speeds, times_ns=speeds.times_ns[fitted], errors=speeds.errors[fitted], loads=speeds.loads[fitted]
            )
            for way, factors in (("as measured", np.ones(len(fitted))), ("at equal speed", own.factors)):
                line = np.polyfit(speeds.loads[fitted], logs[fitted] + np.log(factors), 1)
                errors[way].append(float(logs[target] - np.polyval(line, speeds.loads[target])))
        figures += [_error(f"20 users from {rounds} of 2 and 10, {way}", values) for way, values in errors.items()]
    return figures


def _error(name: str, values: Sequence[float]) -> Figure:
    return figure(name, "%", [100 * float(np.sqrt(np.mean(np.square(values))))])


if __name__ == "__main__":
    main()
