"""Trial runs of a fitted machine under the load that it was fitted to: its figures, and its context switches.

The meters count all dispatches, so they do not give the cost of a context switch, a dispatch of another process. That
cost cannot stay in the commands' own time either, since more users cause more switches. So a trial run has the users of
the fit, and the measured run is assumed to have had as many context switches.
"""

from __future__ import annotations

import math
import tempfile
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from loadgo.distribution.interrupts import interrupts_held_back
from loadgo.fitting.memory import frames_of
from loadgo.fitting.reading import RunReading, read_runs
from loadgo.fitting.uncertainty import fit_covariance, resample_groupings, resampled_ratio
from loadgo.notation.figures import digits, duration
from loadgo.running.prepared import RunProgress
from loadgo.running.worker_runs import RunCrew

MOST_TRIAL_INTERACTIONS = 20_000
"""The largest number of interactions of a trial run. A machine simulates these in less than a second."""
FEWEST_TRIAL_INTERACTIONS = 4_000
_OTHER_COMMANDS_TOML = '\n[commands."*"]\ncpu = "0s"\n'
"""Commands without an answer in the measured run take no time in a trial run."""
MEAN_RESPONSE_LABEL = "mean response"
"""The figure that has a standard error."""
ReportProgress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class FittedTrial:
    """A trial run of a fitted machine."""

    reading: RunReading

    @property
    def responses(self) -> Mapping[str, float]:
        """The mean response of each command, in nanoseconds."""
        return means_by_command(self.reading.rows, "response")


@dataclass(frozen=True)
class FittedCheck:
    """A figure of a measured run, and the machine's figure under the same load."""

    run: str
    users: int
    figure: str
    measured: float
    machine: float
    timed: bool
    """Whether the figure is in nanoseconds; otherwise it is a number a second."""
    error: float | None = None
    """The standard error of the measured figure, as a share of it; None where it is not known."""

    @property
    def off(self) -> float:
        """The error of the machine, as a share of the measured figure; infinite if that is 0 and the machine's not."""
        if self.measured:
            return self.machine / self.measured - 1
        return math.inf if self.machine else 0.0

    def shown(self, value: float) -> str:
        """Formats a value of this figure."""
        return duration(value) if self.timed else f"{digits(value)}/s"


def fitted_checks(text: str, readings: Sequence[RunReading], crew: RunCrew) -> tuple[FittedCheck, ...]:
    """The figures of the machine `text` under the load of each run, without runs with an open load.

    The crew makes the trial runs, as many at a time as it can.
    """
    closed = checked_readings(readings)
    checks: list[FittedCheck] = []
    for reading, fitted_trial in zip(closed, _run_fitted_trials(text, closed, crew), strict=True):
        trial = fitted_trial.reading
        shared_rows = trial.rows.filter(pl.col("command").is_in(reading.rows["command"].unique().to_list()))
        measured, simulated = _measured_figures(reading), _measured_figures(replace(trial, rows=shared_rows))
        errors = {MEAN_RESPONSE_LABEL: _mean_response_error(reading)}
        checks += [
            FittedCheck(reading.id, reading.users, name, value, simulated[name], name != "throughput", errors.get(name))
            for name, value in measured.items()
        ]
    return tuple(checks)


def checked_readings(readings: Sequence[RunReading]) -> list[RunReading]:
    """The runs under whose load the machine is checked: an open load is not run again."""
    return [reading for reading in readings if not is_open(reading) and reading.span_s > 0]


def trial_interactions(reading: RunReading) -> int:
    """Number of interactions of the trial run that has the load of this run."""
    return min(max(2 * len(reading.rows), FEWEST_TRIAL_INTERACTIONS), MOST_TRIAL_INTERACTIONS)


def _run_fitted_trials(text: str, readings: Sequence[RunReading], crew: RunCrew) -> list[FittedTrial]:
    """The trial run of each reading. An error or an interrupt ends all of them."""
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=crew.threads, thread_name_prefix="trial") as threads:
        try:
            with interrupts_held_back():
                futures = [threads.submit(run_fitted_trial, text, reading, crew, stop) for reading in readings]
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            raise


def _mean_response_error(reading: RunReading) -> float | None:
    """The standard error of the mean response, as a share, from resampling users and stretches."""
    groupings = resample_groupings(reading.rows)
    response = reading.rows["response"].to_numpy()
    covariance = fit_covariance([resampled_ratio(groupings, response, np.ones_like(response))], groupings)
    return float(covariance.deviations[0]) if len(covariance.covariance) else None


def _measured_figures(reading: RunReading) -> dict[str, float]:
    responses = reading.rows["response"].to_numpy()
    return {
        MEAN_RESPONSE_LABEL: float(responses.mean()),
        "p90 response": float(np.quantile(responses, 0.9)),
        "CPU an interaction": float(reading.rows["cpu"].to_numpy().mean()),
        "throughput": reading.stretch.per_second or 0.0,
    }


def means_by_command(rows: pl.DataFrame, column: str) -> dict[str, float]:
    """The mean of a column for each command."""
    return {str(name): float(mean) for name, mean in rows.group_by("command").agg(pl.col(column).mean()).rows()}


def is_open(reading: RunReading) -> bool:
    """Whether a run had an open load, which is not run again."""
    return bool(reading.conditions.get("load", {}).get("model") == "open")


def run_fitted_trial(text: str, reading: RunReading, crew: RunCrew, stop: threading.Event) -> FittedTrial:
    """Runs the machine `text` with the users, the script and the think time of a measured run.

    Raises what `loadgo.run` raises, and `Refused` if `stop` is set before the end.
    """
    from loadgo.running.load import Load
    from loadgo.running.run import simulate_run

    load = reading.conditions["load"]
    paged = tomllib.loads(text).get("memory", {}).get("residence") == "paging"
    interactions = trial_interactions(reading)
    with tempfile.TemporaryDirectory(prefix="loadgo-fit-") as folder_name:
        folder = Path(folder_name)
        machine = folder / "machine.toml"
        machine.write_text(text + _OTHER_COMMANDS_TOML, encoding="utf-8")
        script = Path(str(reading.conditions["folder"])) / "script.toml"
        users = Load(
            reading.users,
            think=reading.asked_pace.get("think"),
            typing=reading.asked_pace.get("typing"),
            until=f"interactions={interactions}",
            seed=int(load.get("seed", 1)),
        )
        settings = [f"memory.frames={frames_of(reading)[0]}"] if paged else []
        trial = simulate_run(crew.drive, script, str(machine), users, set=settings, out=folder / "trial", stop=stop)
        (reading_of_trial,) = read_runs([trial])
        return FittedTrial(reading_of_trial)


@dataclass(frozen=True)
class SwitchCost:
    """The cost of a context switch, and how often it happens."""

    each_ns: float
    by_command: Mapping[str, float]
    """Mean number of context switches in an interaction of each command."""


def switch_cost(trial: FittedTrial, cost_ns: float, line_in_ns: float, spent_ns: float) -> SwitchCost:
    """The cost of a context switch that makes the machine spend `spent_ns` of each interaction on switches.

    In the trial run a switch cost `cost_ns`. The supervisor's other work for an interaction there is its line
    (`line_in_ns`) and page faults.
    """
    rows = trial.reading.rows
    count, fault_ns = trial.reading.supervisor.get("major", (0.0, 0.0))
    each_fault = fault_ns / count if count else 0.0
    switching = pl.col("system") - line_in_ns - pl.col("faults") * each_fault
    changes = rows.with_columns((switching.clip(0.0) / cost_ns).alias("changes"))
    mean = float(changes["changes"].mean() or 0.0)  # type: ignore[arg-type]
    return SwitchCost(spent_ns / mean, means_by_command(changes, "changes")) if mean > 0 else SwitchCost(0.0, {})


def reported_crew(crew: RunCrew, loads: Sequence[RunReading], report: ReportProgress | None) -> RunCrew:
    """The crew, which reports the trial runs under these loads; the same crew if there is nothing to report to."""
    if report is None:
        return crew
    return replace(crew, drive=_TrialCount(crew, loads, report).drive)


class _TrialCount:
    """The trial runs of one fit: those that ended, and the interactions of all. Several threads make runs."""

    def __init__(self, crew: RunCrew, loads: Sequence[RunReading], report: ReportProgress) -> None:
        self._crew, self._report, self._lock = crew, report, Lock()
        self._trials, self._expected = len(loads), sum(map(trial_interactions, loads))
        self._done: dict[str, int] = {}
        """Interactions of each trial run by its folder."""
        self._ended = 0

    def drive(
        self, script: str, options: dict[str, Any], folder: str, go_on: Callable[[RunProgress], bool]
    ) -> RunProgress:
        """Makes one trial run, and reports it meanwhile."""

        def report(state: RunProgress) -> bool:
            self._count(folder, int(state.get("interactions") or 0))
            return go_on(state)

        result = self._crew.drive(script, options, folder, report)
        self._count(folder, int(result["interactions"]), ended=True)
        return result

    def _count(self, folder: str, interactions: int, *, ended: bool = False) -> None:
        with self._lock:
            self._ended += ended
            self._done[folder] = max(self._done.get(folder, 0), interactions)
            self._report(
                {
                    "trial": min(self._ended + 1, self._trials),
                    "trials": self._trials,
                    "interactions": min(sum(self._done.values()), self._expected),
                    "interactions_expected": self._expected,
                }
            )
