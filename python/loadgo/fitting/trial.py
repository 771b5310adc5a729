"""The fitted machine under the load it was fitted to: what it gives again, and how often it switches.

What a dispatch of another process costs cannot be read off a meter that counts all dispatches, nor can it be left in
the commands' own time, since there is more switching among more users. So the machine is run with the users of the fit:
as often as processes change in that run, they are taken to have changed in the measured one.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.fitting.memory import frames_of
from loadgo.fitting.reading import Reading, readings_of
from loadgo.fitting.uncertainty import doubt_of, groupings_of, ratio
from loadgo.notation.figures import digits, duration

MOST = 20_000
"""Interactions of a trial; a machine has so many in well under a second."""
FEWEST = 4_000
_UNKNOWN = '\n[commands."*"]\ncpu = "0s"\n'
"""What a command takes in a trial that was never answered in the run: nothing."""
MEAN = "mean response"
"""The figure whose error is known."""


@dataclass(frozen=True)
class Trial:
    """What the machine did."""

    reading: Reading

    @property
    def responses(self) -> Mapping[str, float]:
        """The mean response of each command, in nanoseconds."""
        return means(self.reading.rows, "response")


@dataclass(frozen=True)
class Check:
    """A figure of a measured run, and what the machine gives under the same load."""

    run: str
    users: int
    figure: str
    measured: float
    machine: float
    timed: bool
    """Nanoseconds; else a number a second."""
    error: float | None = None
    """The standard error of what was measured, as a part of it; None where that is not known."""

    @property
    def off(self) -> float:
        """How far the machine is off, as a part of what was measured."""
        return self.machine / self.measured - 1 if self.measured else 0.0

    def shown(self, value: float) -> str:
        """A value of it, as people read it."""
        return duration(value) if self.timed else f"{digits(value)} /s"


def checks_of(text: str, readings: Sequence[Reading]) -> tuple[Check, ...]:
    """The machine of this text under the load of each run, figure by figure; nothing of users who come and go."""
    found: list[Check] = []
    for one in readings:
        if is_open(one) or one.span_s <= 0:
            continue
        trial = tried(text, one).reading
        known = trial.rows.filter(pl.col("command").is_in(one.rows["command"].unique().to_list()))
        told, given = _figures(one), _figures(replace(trial, rows=known))
        error = _error(one)
        found += [
            Check(one.id, one.users, name, value, given[name], name != "throughput", error if name == MEAN else None)
            for name, value in told.items()
        ]
    return tuple(found)


def _error(reading: Reading) -> float | None:
    """Of the mean response, by users and stretches drawn anew."""
    groupings = groupings_of(reading.rows)
    response = reading.rows["response"].to_numpy()
    doubt = doubt_of([ratio(groupings, response, np.ones_like(response))], groupings)
    return float(doubt.deviations[0]) if len(doubt.covariance) else None


def _figures(reading: Reading) -> dict[str, float]:
    responses = reading.rows["response"].to_numpy()
    return {
        MEAN: float(responses.mean()),
        "p90 response": float(np.quantile(responses, 0.9)),
        "CPU an interaction": float(reading.rows["cpu"].to_numpy().mean()),
        "throughput": reading.stretch.per_second or 0.0,
    }


def means(rows: pl.DataFrame, column: str) -> dict[str, float]:
    """The mean of a column by command."""
    return {str(name): float(mean) for name, mean in rows.group_by("command").agg(pl.col(column).mean()).rows()}


def is_open(reading: Reading) -> bool:
    """Whether users came and went: such a load is not tried again."""
    return bool(reading.conditions.get("load", {}).get("model") == "open")


def tried(text: str, reading: Reading) -> Trial:
    """The machine of this text with the users, the script and the think time of a run."""
    from loadgo.running.run import run

    load = reading.conditions["load"]
    paged = tomllib.loads(text).get("memory", {}).get("residence") == "paging"
    enough = min(max(2 * len(reading.rows), FEWEST), MOST)
    with tempfile.TemporaryDirectory(prefix="loadgo-fit-") as name:
        folder = Path(name)
        machine = folder / "machine.toml"
        machine.write_text(text + _UNKNOWN, encoding="utf-8")
        made = run(
            Path(str(reading.conditions["folder"])) / "script.toml",
            on=str(machine),
            set=[f"memory.frames={frames_of(reading)[0]}"] if paged else [],
            draws=0,
            users=reading.users,
            think=load.get("think"),
            typing=load.get("typing"),
            until=f"interactions={enough}",
            seed=int(load.get("seed", 1)),
            out=folder / "trial",
        )
        (read,) = readings_of([made.folder])
        return Trial(read)


@dataclass(frozen=True)
class Switching:
    """What it costs that a processor turns to another process."""

    each_ns: float
    by_command: Mapping[str, float]
    """How often that happens in an interaction."""


def switching_in(trial: Trial, cost_ns: float, line_in_ns: float, spent_ns: float) -> Switching:
    """The cost at which the machine of the trial, which had `cost_ns`, would spend `spent_ns` an interaction.

    All that its supervisor does for an interaction are the line (`line_in_ns`), page faults and switching.
    """
    rows = trial.reading.rows
    count, fault_ns = trial.reading.supervisor.get("major", (0.0, 0.0))
    each_fault = fault_ns / count if count else 0.0
    switching = pl.col("system") - line_in_ns - pl.col("faults") * each_fault
    changes = rows.with_columns((switching.clip(0.0) / cost_ns).alias("changes"))
    mean = float(changes["changes"].mean() or 0.0)  # type: ignore[arg-type]
    return Switching(spent_ns / mean, means(changes, "changes")) if mean > 0 else Switching(0.0, {})
