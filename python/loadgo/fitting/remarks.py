"""Remarks on a fit: the heading of its file, the load of its users, a command that predicts, and warnings."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.fitting.design import PREDICTED_TIMES, pace_options, usual_run
from loadgo.fitting.law_choice import choose_law
from loadgo.fitting.machine_file import FileHeading, OwnLoad
from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import FittedCheck, is_open
from loadgo.fitting.unowned_time import UnownedTime
from loadgo.measures.other_work import OtherWork, busy_clause, other_work_of
from loadgo.measures.run_warnings import warnings_of_runs
from loadgo.notation.figures import as_code, digits, in_words, people, share
from loadgo.notation.laws import number, written
from loadgo.notation.measures import percent
from loadgo.records.conditions import script_lines

_MISS_WARNING_SHARE = 0.1
_MISS_STANDARD_ERRORS = 2.0
"""A warning is given if the machine's mean response is off by more than this share and this many standard errors."""
_CPU_GROWTH_SHARE = 0.05
"""A warning is given if processor time changes by more than this share from few users to many."""


def file_heading(readings: Sequence[RunReading], interactions: int, name: str | None) -> FileHeading:
    """The title and the source of the machine file."""
    first = readings[0]
    system = first.conditions.get("system", {})
    system_name = str(system.get("hostname") or system.get("title") or system.get("name"))
    users = people(*sorted({reading.users for reading in readings}))
    script = first.conditions.get("name")
    runs = ", ".join(reading.id for reading in readings)
    source = f"fitted by loadgo to {interactions:,} interactions of {script} with {users} on {system_name}: {runs}"
    return FileHeading(name or f"{system_name}, fitted to {script}", source)


def copied_fit_in_words(readings: Sequence[RunReading]) -> str:
    """A sentence if the runs are no measurements, but were simulated on a machine that was fitted; else empty."""
    machine = next((reading.machine for reading in readings if "fit" in reading.machine), None)
    if machine is None:
        return ""
    runs = [str(run) for run in machine["fit"].get("runs", ())]
    remedy = f" The measured runs that it was fitted to: `loadgo fit {shlex.join(runs)}`." if runs else ""
    which = "This run is" if len(readings) == 1 else "These runs are"
    return f"{which} simulated, on a machine that was fitted itself ({machine.get('title', '')}).{remedy}"


def measured_load(readings: Sequence[RunReading], rows: pl.DataFrame) -> OwnLoad:
    """The load of the measured users: their pauses from prompt to sending, and the commands in the script's order.

    The pauses are those of the runs with the longest think time, the usual one.
    """
    think = usual_run(readings).think
    usual = [place for place, reading in enumerate(readings) if reading.think == think]
    pauses = rows.filter(pl.col("run").is_in(usual))["thinking"].to_numpy()
    pause_law = written(choose_law(np.maximum(pauses, 0.0)).law) if pauses.mean() > 0 else "none"
    first = rows.unique("line", keep="first").sort("line")
    rate = sum(reading.stretch.counted for reading in readings) / max(sum(reading.span_s for reading in readings), 1e-9)
    users = None if any(is_open(reading) for reading in readings) else max(reading.users for reading in readings)
    return OwnLoad(users, pause_law, f"{number(rate)}/s", tuple(first["command"]))


def prediction_command(readings: Sequence[RunReading], path: Path | None) -> str:
    """A command that predicts four times the most users, or twice the arrivals, at the usual pace."""
    usual, closed = usual_run(readings), [reading for reading in readings if not is_open(reading)]
    machine = shlex.quote(str(path)) if path is not None else "machine.toml"
    if closed:
        load_options = f"--users {PREDICTED_TIMES * max(reading.users for reading in closed)}"
    else:
        per_second = float(usual.conditions["load"].get("arrivals_per_second", 1))
        load_options = f"--arrivals {number(2 * per_second)}/s --for 1h"
    script = shlex.quote(str(usual.conditions.get("script", "SCRIPT")))
    return f"loadgo run {script} --on {machine} {load_options}{pace_options(usual.asked_pace)}"


def fit_warnings(
    readings: Sequence[RunReading], others: OtherWork | None, checks: Sequence[FittedCheck]
) -> tuple[str, ...]:
    """The warnings of the runs, and of the fit: lost records, unknown commands, other programs, misses."""
    names = [reading.id for reading in readings]
    runs, stretches = [reading.tables for reading in readings], [reading.stretch for reading in readings]
    warnings = [text.rstrip(".") for text in warnings_of_runs(names, runs, stretches, without=("busy", "lost"))]
    lost = sum(reading.lost for reading in readings)
    if lost:
        warnings.append(f"{lost} records of these runs are lost, so the machine is fitted to the remaining ones only")
    unknown = sorted(
        _commands_of_script(readings) - {str(name) for reading in readings for name in reading.rows["command"].unique()}
    )
    if unknown:
        warnings.append(
            f"no interaction of {in_words([*map(as_code, unknown)])} was answered and metered, so the machine has no "
            "such command, and refuses the script: fit runs in which each line was answered"
        )
    if clause := busy_clause(others):
        clause = clause[0].lower() + clause[1:]
        warnings.append(
            f"{clause}: the fitted machine leaves that out, but its commands have processor times of a busy host"
        )
    return (*warnings, *_miss_warnings(_checks_of_loads(readings, checks)))


def other_work(readings: Sequence[RunReading], unowned: UnownedTime | None) -> OtherWork | None:
    """The other work of all runs together, as in reports, or else from the regression's background."""
    works = [(other_work_of(reading.tables, reading.stretch, reading.total), reading.span_s) for reading in readings]
    measured = [(work, span_s) for work, span_s in works if work is not None]
    total_s = sum(span_s for _, span_s in measured)
    if total_s > 0:
        return OtherWork(
            share=sum(work.share * span_s for work, span_s in measured) / total_s,
            error=sum(work.error * span_s for work, span_s in measured) / total_s,
            at_most=any(work.at_most for work, _ in measured),
        )
    return None if unowned is None else OtherWork(unowned.background / readings[0].processors)


def _commands_of_script(readings: Sequence[RunReading]) -> set[str]:
    """The commands that the script's users type, those that they did not come to as well."""
    typed = {name for reading in readings for name in reading.tables.interactions["command"].cast(pl.String).unique()}
    lines = script_lines(Path(str(readings[0].conditions["folder"])))
    return {str(name) for name in typed} | {name for _, name in lines}


def _checks_of_loads(readings: Sequence[RunReading], checks: Sequence[FittedCheck]) -> list[FittedCheck]:
    """The checks of the mean response, one of all runs of a load: these differ as the processors' speed does."""
    loads = {reading.id: reading.load_key for reading in readings}
    by_load: dict[tuple[str, ...], list[FittedCheck]] = {}
    for check in checks:
        if check.error is not None:
            by_load.setdefault(loads[check.run], []).append(check)
    return [
        replace(
            of_load[0],
            measured=sum(check.measured for check in of_load) / len(of_load),
            machine=sum(check.machine for check in of_load) / len(of_load),
            error=float(np.hypot.reduce([check.error or 0.0 for check in of_load])) / len(of_load),
        )
        for of_load in by_load.values()
    ]


def _miss_warnings(checks: Sequence[FittedCheck]) -> list[str]:
    """A warning if the machine misses the mean response that it was fitted to."""
    significant = [
        (abs(check.off), check)
        for check in checks
        if check.error is not None and abs(check.off) > _MISS_STANDARD_ERRORS * check.error
    ]
    off, worst = max(significant, key=lambda pair: pair[0], default=(0.0, None))
    if worst is None or off <= _MISS_WARNING_SHARE:
        return []
    side = "high" if worst.off > 0 else "low"
    off_by = (
        f"{percent(off).removeprefix('+')} too {side}"
        if worst.measured
        else f"{worst.shown(worst.machine)}, and the run's is 0"
    )
    with_users = f"with the {people(worst.users)} that it was fitted to"
    if len(checks) > 1:
        with_users += f" in {worst.run}"
    return [
        f"{with_users}, the machine's mean response is "
        f"{off_by}: the machine lacks a part of this system, so expect predictions to be as far off"
    ]


def growth_warnings(readings: Sequence[RunReading]) -> list[str]:
    """A warning if processor time depends on the load, for runs that do not show how."""
    few, many = min(readings, key=_interaction_rate), max(readings, key=_interaction_rate)
    if few.load_key == many.load_key:
        return []
    by_command = [
        reading.rows.group_by("command").agg(
            pl.col("cpu").mean(), (pl.col("cpu").std() / pl.len().sqrt()).alias("error")
        )
        for reading in (few, many)
    ]
    joined = by_command[0].join(by_command[1], on="command", suffix="_many").drop_nulls()
    few_cpu, many_cpu = float(joined["cpu"].sum()), float(joined["cpu_many"].sum())
    error = float(np.sqrt(float((joined["error"] ** 2).sum()) + float((joined["error_many"] ** 2).sum()))) / max(
        few_cpu, 1.0
    )
    change = many_cpu / few_cpu - 1 if few_cpu else 0.0
    if abs(change) <= max(_CPU_GROWTH_SHARE, _MISS_STANDARD_ERRORS * error):
        return []
    more, (few_speed, many_speed) = ("more", ("slow", "fast")) if change > 0 else ("less", ("fast", "slow"))
    compared = f"with {people(many.users)} than with {few.users}"
    if few.think != many.think:
        rates = [digits(_interaction_rate(reading)) for reading in (many, few)]
        compared = f"at {rates[0]} interactions a second than at {rates[1]}"
    return [
        f"the commands take {share(abs(change))} {more} processor time {compared}: the machine has the mean of all "
        f"runs, and is too {many_speed} for a higher load and too {few_speed} for a lower one"
    ]


def _interaction_rate(reading: RunReading) -> float:
    """Interactions a second."""
    return len(reading.rows) / reading.span_s if reading.span_s else 0.0
