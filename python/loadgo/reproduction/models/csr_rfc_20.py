"""Our figures for "CSR RFC 20" (`csr-rfc-20`), from runs of the bundled machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import polars as pl

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import number, told
from loadgo.reproduction.models.scripts import patient
from loadgo.reproduction.models.totals import Totals
from loadgo.reproduction.models.values import Mark, Plot, Value, Values

USERS = 20
SEEDS = tuple(range(1, 11))
"""The idle time at the end hangs on who comes last: one run alone says little."""
ABSENTEE = ("supervisor.process_creation=0s", "supervisor.line_in=0s")
"""The meters began when all were logged in, and lines came from a file."""
STUDENT = 2.262
"""Of a 95 % interval from ten runs."""

IDLE = {
    "ttm-idle-zero": ("idle zero",),
    "ttm-idle-loading": ("idle loading",),
    "ttm-idle-mp": ("idle not eligible",),
    "ttm-idle-nmp": ("idle page wait", "idle disk wait", "idle dispatch"),
}
"""The document's names of the causes of idle time, of 1973, and ours."""
METERS = {
    "ttm-page-faults": ("page fault",),
    "ttm-getwork": ("getwork",),
    "ttm-seg-faults": ("segment fault",),
    "ttm-bound-faults": ("bound fault",),
    "ttm-other": ("user",),
    "ttm-idle-total": (
        "idle zero",
        "idle loading",
        "idle not eligible",
        "idle page wait",
        "idle disk wait",
        "idle dispatch",
    ),
    **IDLE,
}
CHANGED = {
    "ttm-seg-faults": "the 6180's time of a segment fault was set by it",
    "ttm-bound-faults": "the 6180's time of a bound fault was set by it",
    "ttm-getwork": "the 6180's time of choosing a process was set by it",
    "ttm-interrupts": "the 6180's time of an interrupt was set by it",
}
"""Meters of the 6180 that its fault path was set by; what they are a share of is predicted."""


@dataclass(frozen=True)
class Figures:
    """What the runs of one machine come to: each printed row's values, a run after the other."""

    machine: str
    rows: Mapping[str, Sequence[float]]

    def mean(self, row: str) -> float:
        """The mean over the runs."""
        return fmean(self.rows[row])


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `arithmetic`."""
    machines = {"645": "multics-645", "6180": "multics-6180"}
    experiments = [
        Experiment(patient("absentee"), on, USERS, seed, ABSENTEE) for on in machines.values() for seed in SEEDS
    ]
    done = lab.runs(experiments)
    values: dict[str, Value] = {}
    for at, (column, machine) in enumerate(machines.items()):
        figures = figures_of(machine, done[at * len(SEEDS) : (at + 1) * len(SEEDS)])
        values |= {f"csr-rfc-20/results/{row}/{column}": _value(figures, row) for row in figures.rows}
    return values


def plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts that the document has only as axes."""
    return ()


def figures_of(machine: str, runs: Sequence[Totals]) -> Figures:
    """The rows of the document's table, from runs of the absentee script."""
    by_run = [_rows(machine, run) for run in runs]
    return Figures(machine, {row: [rows[row] for rows in by_run] for row in by_run[0]})


def _rows(machine: str, run: Totals) -> dict[str, float]:
    shares = {row: 100 * sum(run.time.get(name, 0.0) for name in names) for row, names in METERS.items()}
    interrupts = 100 * run.time.get("interrupt", 0.0)
    drum = interrupts * _drum_part(run)
    busy_s = run.elapsed_s * (1 - shares["ttm-idle-total"] / 100)
    virtual = shares["ttm-other"] + shares["ttm-seg-faults"] + shares["ttm-bound-faults"]
    rows = {
        **shares,
        "ttm-interrupts": interrupts - drum,
        "elapsed": run.elapsed_s / 60,
        "cpu-total": busy_s,
        "cpu-virtual": run.elapsed_s * virtual / 100,
        "cpu-good": run.elapsed_s * shares["ttm-other"] / 100,
        "page-faults": run.every.faults * run.every.count,
    }
    if told(machine)["memory"]["device"] == "drum":
        rows["ttm-drum-interrupts"] = drum
    prices = {shift: number(machine, f"tariff.shifts.{shift}") for shift in ("2", "3")}
    prices["1"] = number("multics-645", "tariff.shifts.1")
    return rows | {f"cost-{shift}": price * busy_s / 3600 for shift, price in prices.items()}


def _drum_part(run: Totals) -> float:
    """The drum's part of the requests to devices that interrupt when they are done; the bulk store does not."""
    asked = run.tables.queue.filter(pl.col("measure").cast(pl.String) == "requests")
    by = asked.group_by(pl.col("queue").cast(pl.String)).agg(pl.col("value").sum())
    requests = {str(name): float(value) for name, value in by.rows()}
    interrupting = requests.get("drum", 0.0) + requests.get("disk", 0.0)
    return requests.get("drum", 0.0) / interrupting if interrupting else 0.0


def _value(figures: Figures, row: str) -> Value:
    mean = figures.mean(row)
    half = STUDENT * stdev(figures.rows[row]) / len(figures.rows[row]) ** 0.5
    mark, how = _mark(figures.machine, row)
    return Value(mean, mark, how, interval=(mean - half, mean + half))


def _mark(machine: str, row: str) -> tuple[Mark, str]:
    ran = f"the mean of {len(SEEDS)} runs of the absentee script, {USERS} users on `{machine}`"
    if machine == "multics-645":
        return "fitted", f"{ran}; the parameters were set by this column"
    if row in CHANGED:
        return "fitted", f"{ran}; {CHANGED[row]}"
    if row in ("cost-2", "cost-3"):
        return "fitted", f"{ran}, at the price that it sets"
    if row == "cost-1":
        return "predicted", f"{ran}, at the 645's price of the first shift"
    return "predicted", ran
