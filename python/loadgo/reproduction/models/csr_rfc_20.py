"""Our figures for "CSR RFC 20" (`csr-rfc-20`), from runs of the bundled machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import polars as pl

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number, machine_toml
from loadgo.reproduction.models.scripts import script_without_timeouts
from loadgo.reproduction.models.totals import RunTotals
from loadgo.reproduction.models.values import Mark, Plot, ReproducedValue, ReproducedValues

ABSENTEE_USERS = 20
RUN_SEEDS = tuple(range(1, 11))
"""Ten seeds, since the idle time at the end of a run depends on its last user."""
ABSENTEE_SETTINGS = ("supervisor.process_creation=0s", "supervisor.line_in=0s")
"""Making processes and reading lines take no time, as in the document: metered after all log-ins, lines from a file."""
STUDENT_T_QUANTILE = 2.262
"""Student's t for a 95 % interval from ten runs."""

IDLE_ROWS = {
    "ttm-idle-zero": ("idle zero",),
    "ttm-idle-loading": ("idle loading",),
    "ttm-idle-mp": ("idle not eligible",),
    "ttm-idle-nmp": ("idle page wait", "idle disk wait", "idle dispatch"),
}
"""Our categories of time for each idle row of the document."""
METER_ROWS = {
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
    **IDLE_ROWS,
}
FITTED_ROWS = {
    "ttm-seg-faults": "the 6180's time of a segment fault was set by it",
    "ttm-bound-faults": "the 6180's time of a bound fault was set by it",
    "ttm-getwork": "the 6180's time of choosing a process was set by it",
    "ttm-interrupts": "the 6180's time of an interrupt was set by it",
}
"""Printed rows of the 6180 that its supervisor's times were fitted to."""


@dataclass(frozen=True)
class MachineRows:
    """The values of each printed row on one machine, one for each run."""

    machine: str
    rows: Mapping[str, Sequence[float]]

    def mean(self, row: str) -> float:
        """The mean of a row over the runs."""
        return fmean(self.rows[row])


def reproduced_values(lab: Lab) -> ReproducedValues:
    """Our figures by the ids of the printed figures, without those that follow by arithmetic."""
    machines = {"645": "multics-645", "6180": "multics-6180"}
    experiments = [
        Experiment(script_without_timeouts("absentee"), on, ABSENTEE_USERS, seed, ABSENTEE_SETTINGS)
        for on in machines.values()
        for seed in RUN_SEEDS
    ]
    runs = lab.runs(experiments)
    values: dict[str, ReproducedValue] = {}
    for index, (column, machine) in enumerate(machines.items()):
        figures = machine_rows(machine, runs[index * len(RUN_SEEDS) : (index + 1) * len(RUN_SEEDS)])
        values |= {f"csr-rfc-20/results/{row}/{column}": _value(figures, row) for row in figures.rows}
    return values


def reproduced_plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts of which the document prints only the axes."""
    return ()


def machine_rows(machine: str, runs: Sequence[RunTotals]) -> MachineRows:
    """The rows of the document's table, from runs of the script `absentee`."""
    by_run = [_rows(machine, run) for run in runs]
    return MachineRows(machine, {row: [rows[row] for rows in by_run] for row in by_run[0]})


def _rows(machine: str, run: RunTotals) -> dict[str, float]:
    shares = {row: 100 * sum(run.time_shares.get(name, 0.0) for name in names) for row, names in METER_ROWS.items()}
    interrupts = 100 * run.time_shares.get("interrupt", 0.0)
    drum = interrupts * _drum_share(run)
    charged_s = run.overall.cpu_s * run.overall.count
    virtual = shares["ttm-other"] + shares["ttm-seg-faults"] + shares["ttm-bound-faults"]
    rows = {
        **shares,
        "ttm-interrupts": interrupts - drum,
        "elapsed": run.elapsed_s / 60,
        "cpu-total": charged_s,
        "cpu-virtual": run.elapsed_s * virtual / 100,
        "cpu-good": run.elapsed_s * shares["ttm-other"] / 100,
        "page-faults": run.overall.faults * run.overall.count,
    }
    if machine_toml(machine)["memory"]["device"] == "drum":
        rows["ttm-drum-interrupts"] = drum
    prices = {shift: machine_number(machine, f"tariff.shifts.{shift}") for shift in ("2", "3")}
    prices["1"] = machine_number("multics-645", "tariff.shifts.1")
    return rows | {f"cost-{shift}": price * charged_s / 3600 for shift, price in prices.items()}


def _drum_share(run: RunTotals) -> float:
    """The drum's share of the requests to devices that interrupt. The bulk store does not."""
    requests = run.tables.queue.filter(pl.col("measure").cast(pl.String) == "requests")
    by_queue = requests.group_by(pl.col("queue").cast(pl.String)).agg(pl.col("value").sum())
    counts = {str(name): float(value) for name, value in by_queue.rows()}
    interrupting = counts.get("drum", 0.0) + counts.get("disk", 0.0)
    return counts.get("drum", 0.0) / interrupting if interrupting else 0.0


def _value(figures: MachineRows, row: str) -> ReproducedValue:
    mean = figures.mean(row)
    runs = len(figures.rows[row])
    of_one_run = STUDENT_T_QUANTILE * stdev(figures.rows[row]) * (1 + 1 / runs) ** 0.5
    half = STUDENT_T_QUANTILE * stdev(figures.rows[row]) / runs**0.5
    mark, how = _mark(figures.machine, row)
    one_run = (max(mean - of_one_run, 0.0), mean + of_one_run)
    return ReproducedValue(mean, mark, how, interval=(mean - half, mean + half), one_run=one_run)


def _mark(machine: str, row: str) -> tuple[Mark, str]:
    how = f"the mean of {len(RUN_SEEDS)} runs of the absentee script, {ABSENTEE_USERS} users on `{machine}`"
    if machine == "multics-645":
        return "fitted", f"{how}; the parameters were set by this column"
    if row in FITTED_ROWS:
        return "fitted", f"{how}; {FITTED_ROWS[row]}"
    if row in ("cost-2", "cost-3"):
        return "fitted", f"{how}, at the price that it sets"
    if row == "cost-1":
        return "predicted", f"{how}, at the 645's price of the first shift"
    return "predicted", how
