"""Fits a machine to runs: the demands of each command, as a machine file that predicts other loads.

Values come from the best source that the runs have. What a meter charged to an interaction is used directly. A total of
all interactions is divided. Time that no interaction owns is regressed. What the runs do not show is assumed, with a
note.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.distribution.choice import WorkerChoice
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.fitting.correlation import fit_correlations
from loadgo.fitting.demands import fit_disk_waits, fit_processor_times, fit_unmetered_wait, mean_unmetered_waits
from loadgo.fitting.design import further_runs
from loadgo.fitting.load_law import INDEPENDENT_WORK, UNSEEN_DEPENDENCE, RunLoads, load_shares, run_loads
from loadgo.fitting.locks import FittedLocks, fit_locks
from loadgo.fitting.machine_file import fitted_parameters, machine_file_text
from loadgo.fitting.memory import fit_memory
from loadgo.fitting.reading import RunReading, read_runs
from loadgo.fitting.remarks import (
    copied_fit_in_words,
    file_heading,
    fit_warnings,
    growth_warnings,
    measured_load,
    other_work,
    prediction_command,
)
from loadgo.fitting.speeds import RunSpeeds, at_equal_speed, run_speeds
from loadgo.fitting.supervisor import fit_stores, supervisor_steps, switch_time_per_interaction, switch_value
from loadgo.fitting.system import known_values
from loadgo.fitting.trial import (
    FittedCheck,
    ReportProgress,
    SwitchCost,
    checked_readings,
    fitted_checks,
    is_open,
    reported_crew,
    run_fitted_trial,
    switch_cost,
)
from loadgo.fitting.uncertainty import (
    FitCovariance,
    Grouping,
    ResampledValue,
    fit_covariance,
    log_interval,
    resample_groupings,
)
from loadgo.fitting.unowned_time import MOST_OTHERS_SHARE, UnownedTime, fit_unowned_time
from loadgo.fitting.values import FittedValue, FittedValues, join_values
from loadgo.measures.run_evidence import evidence_of_runs
from loadgo.measures.trust import NO_EVIDENCE, Evidence
from loadgo.notation.laws import Law
from loadgo.prediction.fitted import Fitted
from loadgo.records.machine_file import parsed_machine
from loadgo.running.worker_runs import RunCrew, run_crew

_BUSY_HOST_SHARE = 0.5
"""On a host that is busier, the unmetered part of a response is mostly an unmetered wait for a processor."""


@dataclass(frozen=True, repr=False)
class Fit(Result, presented_by="loadgo.fitting.presentation:presentation"):
    """A machine fitted to runs."""

    text: str
    """The text of the machine file."""
    title: str
    fitted: Fitted
    """The part `[fit]` of the file: parameters with their intervals, and the assumptions."""
    warnings: tuple[str, ...]
    """Warnings about the quality of the fit."""
    unowned: UnownedTime | None
    """Processor time that no interaction was charged with; None where it was not metered."""
    checks: tuple[FittedCheck, ...]
    """Figures of the machine under the load of each run, with the measured ones."""
    hint: str
    """A command that predicts with the machine."""
    path: Path | None
    """The path of the machine file; None if it was not written."""
    further_runs: str = ""
    """Runs that would lessen the doubt in how processor time depends on the load, as a sentence; else empty."""
    evidence: Evidence = NO_EVIDENCE
    """The evidence of the runs for and against their figures."""
    copied_fit: str = ""
    """A sentence if the runs are no measurements, but were simulated on a machine that was fitted; else empty."""
    speeds: RunSpeeds | None = None
    """The speeds of the runs; None where no reference work was done beside all of them."""


def fit(
    *runs: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    name: str | None = None,
    force: bool = False,
    host: str | None = None,
    equal_speed: bool = True,
    workers: int | str | None = None,
    executor: Executor | None = None,
    progress: ReportProgress | None = None,
) -> Fit:
    """Fits a simulated machine to measured runs, so that it predicts other numbers of users, processors and devices.

        print(loadgo.fit("last", output="here.toml").report("text"))

    Args:
        runs: Runs of one script on one system: folders or ids. By default the last run.
        output: The machine file that is written. By default none; `Fit.text` has its content.
        name: The machine's title.
        force: Whether an existing `output` is replaced.
        host: For runs on several hosts: the name of the one to which the machine is fitted, with its users alone.
        equal_speed: Whether processor times of several runs are brought to equal speed of the host, as far as the
            reference work beside them shows it.
        workers: Who makes the trial runs of the machine: a number of processes, `dask`, or the address of a Dask
            scheduler. By default threads of this process. The fit is the same.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        progress: A function that is called some times a second, by threads in turn, while the machine is tried. Its
            argument is a dict with `trial` and `trials`, the number of the present trial and of all, and with
            `interactions` and `interactions_expected` of all trials.

    Returns:
        `Fit` with the machine file's text, the fitted parameters with 95 % intervals, a check of the machine under the
        load of each run, and warnings.

    Raises:
        loadgo.errors.BadArgument: `name` is blank, `output` exists, or no machine can be fitted to these runs; it is a
            `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    See docs/fit.md for the source of each parameter.
    """
    path = None if output is None else Path(output)
    if path is not None and path.exists() and not force:
        raise BadArgument(f"{path} exists: name another file with `output`, or replace it with `force`").about(
            "output", "force"
        )
    if name and not name.strip():
        raise BadArgument("name is blank: give the machine a title in words")
    choice = WorkerChoice(workers, executor)
    choice.check(is_simulated=True)
    measured = read_runs(runs or ("last",), host)
    speeds = run_speeds(measured, is_wanted=equal_speed)
    readings = at_equal_speed(measured, speeds)
    tried_loads = [*([readings[0]] if _needs_switch_trial(readings) else []), *checked_readings(readings)]
    with run_crew(choice) as crew:
        trials = reported_crew(crew, tried_loads, progress)
        fitted = _fit_runs(readings, name, path, trials, speeds)
    parsed_machine(fitted.text)
    if path is not None:
        path.write_text(fitted.text, encoding="utf-8")
    return fitted


def _fit_runs(
    readings: Sequence[RunReading],
    name: str | None,
    path: Path | None,
    crew: RunCrew,
    speeds: RunSpeeds | None = None,
) -> Fit:
    rows = pl.concat([reading.rows for reading in readings])
    groupings = resample_groupings(rows)
    unowned = fit_unowned_time(readings) if readings[0].kind == "host" else None
    interrupt_ns = unowned.interaction_ns if unowned else 0.0
    others = other_work(readings, unowned)
    is_busy = readings[0].kind == "host" and others is not None and others.share > MOST_OTHERS_SHARE
    loads = None if is_busy else run_loads(readings, interrupt_ns, speeds.spread if speeds else 0.0)
    measured = MeasuredRuns(readings, rows, groupings, loads)
    locks = _fit_locks(measured, interrupt_ns)
    values = _fit_host(measured, unowned, locks) if readings[0].kind == "host" else _fit_machine(measured, crew)
    values = join_values(known_values(readings[0]), values, fit_correlations(values, rows, groupings))
    fitted = _fitted_parameters(readings, rows, values, groupings)
    heading, load = file_heading(readings, len(rows), name), measured_load(readings, rows)
    checks = fitted_checks(machine_file_text(heading, values, load, fitted), readings, crew)
    growth = growth_warnings(readings) if loads is None else ()
    reference = speeds.reference_text if speeds else ""
    fitted = replace(
        fitted, warnings=(*fit_warnings(readings, others, checks), *growth, *locks.warnings), reference=reference
    )
    return Fit(
        text=machine_file_text(heading, values, load, fitted),
        title=heading.title,
        fitted=fitted,
        warnings=fitted.warnings,
        unowned=unowned,
        checks=checks,
        hint=prediction_command(readings, path),
        further_runs="" if is_busy else further_runs(readings, load_shares(readings, interrupt_ns), values),
        path=path,
        evidence=evidence_of_runs([one.tables for one in readings], [one.stretch for one in readings]),
        copied_fit=copied_fit_in_words(readings),
        speeds=speeds,
    )


@dataclass(frozen=True)
class MeasuredRuns:
    """The runs of a fit: their interactions, how these are resampled, and the load of each run."""

    readings: Sequence[RunReading]
    rows: pl.DataFrame
    groupings: Sequence[Grouping]
    loads: RunLoads | None


def _fit_machine(measured: MeasuredRuns, crew: RunCrew) -> FittedValues:
    """The values of a simulated machine, from the meters of its supervisor and of its interactions."""
    readings, rows, groupings = measured.readings, measured.rows, measured.groupings
    steps = supervisor_steps(readings)
    paging = str(readings[0].machine.get("memory", {}).get("device", ""))
    stores = fit_stores(readings, rows, groupings, paging)
    charged_ns = steps.line_in_ns + rows["faults"].fill_null(0.0).to_numpy() * steps.page_fault_ns
    stores = join_values(stores, fit_memory(readings, rows["cpu"].to_numpy() - charged_ns, groupings))
    switching_ns = switch_time_per_interaction(readings)
    if not _needs_switch_trial(readings):
        return join_values(steps.values, fit_processor_times(rows, groupings, charged_ns, measured.loads), stores)
    work = fit_processor_times(rows, groupings, charged_ns + switching_ns, measured.loads)
    first_guess = join_values(steps.values, switch_value(switching_ns), work, stores)
    switch = _try_switching(readings, rows, first_guess, SwitchTrialCosts(switching_ns, steps.line_in_ns), crew)
    charged_ns += switch.each_ns * rows["command"].replace_strict(switch.by_command, default=0.0).to_numpy()
    work = fit_processor_times(rows, groupings, charged_ns, measured.loads)
    return join_values(steps.values, switch_value(switch.each_ns), work, stores)


def _needs_switch_trial(readings: Sequence[RunReading]) -> bool:
    """Whether a trial run finds the cost of a context switch."""
    if readings[0].kind == "host" or is_open(readings[0]):
        return False
    return switch_time_per_interaction(readings) >= 1


@dataclass(frozen=True)
class SwitchTrialCosts:
    """Supervisor times of the machine of the trial run, in nanoseconds."""

    switch_ns: float
    line_in_ns: float


def _try_switching(
    readings: Sequence[RunReading],
    rows: pl.DataFrame,
    first_guess: FittedValues,
    costs: SwitchTrialCosts,
    crew: RunCrew,
) -> SwitchCost:
    """The cost of a context switch, from a trial run of the machine with a first guess of that cost."""
    no_fit = Fitted("", (), (), 0, (), (), (), np.zeros((0, 0)))
    values = join_values(known_values(readings[0]), first_guess)
    text = machine_file_text(file_heading(readings, len(rows), None), values, measured_load(readings, rows), no_fit)
    trial = run_fitted_trial(text, readings[0], crew, threading.Event())
    return switch_cost(trial, costs.switch_ns, costs.line_in_ns, costs.switch_ns)


def _fit_locks(measured: MeasuredRuns, interrupt_ns: float) -> FittedLocks:
    """The locks of a host; none where the unmetered part of a response, in which they are held, is not known."""
    rows, readings = measured.rows, measured.readings
    if readings[0].kind != "host" or rows["ready"].is_null().all():
        return FittedLocks()
    return fit_locks(readings, mean_unmetered_waits(rows, interrupt_ns))


def _is_busy(readings: Sequence[RunReading]) -> bool:
    return any(reading.total is not None and reading.total.busy_share > _BUSY_HOST_SHARE for reading in readings)


def _fit_host(measured: MeasuredRuns, unowned: UnownedTime | None, locks: FittedLocks) -> FittedValues:
    """The values of a host: from the meters of its interactions, their unmetered waits, and time that none owns."""
    readings, rows, groupings = measured.readings, measured.rows, measured.groupings
    work = fit_processor_times(rows, groupings, np.zeros(len(rows)), measured.loads)
    has_several_loads = len({reading.load_key for reading in readings}) > 1
    independent = UNSEEN_DEPENDENCE if has_several_loads else INDEPENDENT_WORK
    parts = [
        FittedValues((), () if measured.loads else (independent,)),
        work,
        fit_disk_waits(rows, groupings),
        fit_memory(readings, rows["cpu"].to_numpy(), groupings),
    ]
    if rows["ready"].is_null().all():
        assumed = "waits for a processor were not metered, so the unmetered part of a response is not known"
        return join_values(*parts, FittedValues((), (assumed,)))
    interrupt_ns = unowned.interaction_ns if unowned else 0.0
    wait = fit_unmetered_wait(rows, groupings, interrupt_ns, locks.taken_ns, busy=_is_busy(readings))
    return join_values(*parts, locks.values, wait, _unowned_interrupt(unowned))


def _unowned_interrupt(unowned: UnownedTime | None) -> FittedValues:
    """The unowned processor time of an interaction, as an interrupt at its end that is charged to nobody."""
    if unowned is None or unowned.interaction_ns < 1:
        return FittedValues(())
    law = Law("fixed", (float(round(unowned.interaction_ns)),), timed=True)
    source = f"processor time that no interaction owns, regressed on {unowned.spans} spans"
    deviation = unowned.error_ns / unowned.interaction_ns
    return FittedValues((FittedValue("supervisor.device_interrupt", law, source, deviation=deviation),))


def _fitted_parameters(
    readings: Sequence[RunReading], rows: pl.DataFrame, fitted: FittedValues, groupings: Sequence[Grouping]
) -> Fitted:
    """The fitted parameters with their covariance. Values that were not resampled vary independently."""
    estimates: list[ResampledValue | float] = []
    for value in fitted.values:
        for estimate in (value.mean if value.mean is not None else value.deviation, value.spread, value.correlation):
            estimates += [] if estimate is None else [estimate]
    resampled = [index for index, estimate in enumerate(estimates) if isinstance(estimate, ResampledValue)]
    uncertainty = fit_covariance(
        [estimate for estimate in estimates if isinstance(estimate, ResampledValue)], groupings
    )
    has_covariance = len(uncertainty.covariance) > 0
    covariance = np.zeros((len(estimates), len(estimates)))
    bounds: list[tuple[float, float] | None] = [None] * len(estimates)
    values = [estimated for value in fitted.values for estimated in _estimated_values(value)]
    if has_covariance:
        covariance[np.ix_(resampled, resampled)] = uncertainty.covariance
        for index, estimate in enumerate(estimates):
            bounds[index] = _estimate_bounds(estimate, values[index], uncertainty, resampled, index)
            if isinstance(estimate, float):
                covariance[index, index] = estimate**2
    return Fitted(
        script=str(readings[0].conditions.get("name", "")),
        runs=tuple(reading.id for reading in readings),
        users=tuple(reading.users for reading in readings if not is_open(reading)),
        interactions=len(rows),
        assumed=fitted.assumed,
        warnings=(),
        parameters=fitted_parameters(fitted.values, bounds),
        covariance=covariance if has_covariance else np.zeros((0, 0)),
    )


def _estimated_values(value: FittedValue) -> list[float]:
    mean = [value.law.mean] if value.mean is not None or value.deviation is not None else []
    spread = [value.law.spread] if value.spread is not None else []
    return mean + spread + ([value.correlation.value] if value.correlation is not None else [])


def _estimate_bounds(
    estimate: ResampledValue | float, value: float, uncertainty: FitCovariance, resampled: list[int], index: int
) -> tuple[float, float]:
    if isinstance(estimate, float):
        return log_interval(value, estimate, 1000)
    position = resampled.index(index)
    return log_interval(value, float(uncertainty.deviations[position]), uncertainty.degrees[position])
