#!/usr/bin/env python3
"""Fits the bundled machines' free parameters, each to the printed cell that docs/bundled-machines.md names.

    scripts/fit_machines.py [multics-645] [multics-3.0.2] [multics-1.8] [tenex]

In each round, every parameter is multiplied by its cell's ratio to the printed figure, raised to a power. The power
gives the direction and strength of the parameter's effect. No file is written: the machine files, with their comments,
are changed by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from loadgo.reproduction.models import csr_rfc_20, mpl_16, multics_1969
from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number
from loadgo.reproduction.models.scripts import script_from_lines, script_without_timeouts

ROUNDS = 8
Changes = tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """One parameter and the printed cell that it is fitted to."""

    key: str
    """The key in the machine file, as `--set` takes it."""
    start: float
    form: str
    """The form of the value, with `{}` for the number."""
    cell: str
    printed: float
    power: float
    """The parameter is multiplied by (ours / printed) to this power."""

    def change(self, value: float) -> str:
        """The parameter with this value, as `--set` takes it."""
        return f"{self.key}={self.form.format(value)}"


def main(machines: Sequence[str]) -> int:
    """Fits the given machines, or all."""
    unknown = [machine for machine in machines if machine not in FITS]
    if unknown:
        sys.stderr.write(f"there is no fit for {', '.join(unknown)}; there are {', '.join(FITS)}\n")
        return 2
    for machine in machines or FITS:
        parameters, ours = FITS[machine]
        fit(machine, parameters, ours)
    return 0


def fit(machine: str, parameters: Sequence[Parameter], ours: Callable[[Lab, Changes], Mapping[str, float]]) -> None:
    """Adjusts the parameters to their cells, and prints the state after each round."""
    values = {parameter.key: parameter.start for parameter in parameters}
    for turn in range(1, ROUNDS + 1):
        with Lab() as lab:
            cells = ours(lab, tuple(parameter.change(values[parameter.key]) for parameter in parameters))
        sys.stdout.write(f"{machine}, round {turn}\n")
        for parameter in parameters:
            figure = cells[parameter.cell]
            ratio = figure / parameter.printed
            change = parameter.change(values[parameter.key])
            sys.stdout.write(f"    {change:60} {parameter.cell}: {figure:.4g}, {ratio:.3f}\n")
            values[parameter.key] *= max(0.5, min(2.0, ratio**parameter.power))


def csr_rfc_20_cells(lab: Lab, changes: Changes) -> Mapping[str, float]:
    """The 645's column of CSR RFC 20, the mean over the seeds of the reproduction."""
    experiments = [
        Experiment(
            script_without_timeouts("absentee"),
            "multics-645",
            csr_rfc_20.ABSENTEE_USERS,
            seed,
            (*csr_rfc_20.ABSENTEE_SETTINGS, *changes),
        )
        for seed in csr_rfc_20.RUN_SEEDS
    ]
    figures = csr_rfc_20.machine_rows("multics-645", lab.runs(experiments))
    return {row: figures.mean(row) for row in figures.rows}


def mpl_16_cells(lab: Lab, changes: Changes) -> Mapping[str, float]:
    """The page time of MPL-16's certification run, and of some commands in its console session."""
    runs = mpl_16.certification(lab, changes)
    sessions = mpl_16.console_sessions(lab, changes)
    faults = fmean(run.overall.faults * run.overall.count for run in runs)
    return {
        "certification, page time": faults * machine_number("multics-3.0.2", "supervisor.page_fault"),
        **{f"page time of {row}": mpl_16.row_page_s(sessions, row) for row in mpl_16.FITTED_ROWS},
    }


def multics_1969_cells(lab: Lab, changes: Changes) -> Mapping[str, float]:
    """The running time between page faults at 256K."""
    times = multics_1969.between_faults_ms(lab, changes)
    return {"headway at 256K": fmean(times)}


def rfc_392_cells(lab: Lab, changes: Changes) -> Mapping[str, float]:
    """Processor seconds of short and long transfers of RFC 392's table 1, each way."""
    sizes = (3000, 56000)
    cells: dict[str, float] = {}
    for way in ("send", "receive"):
        script = script_from_lines((f"{way} {size}" for size in sizes), passes=8)
        run = lab.run(script, "tenex", 4, set=changes)
        short, long = (fmean(run.lines[number, line].cpu_s for number in range(1, 9)) for line in (1, 2))
        cells[f"{way}, 3000 bytes"], cells[f"{way}, 56000 bytes"] = short, long
    return cells


FITS: Mapping[str, tuple[Sequence[Parameter], Callable[[Lab, Changes], Mapping[str, float]]]] = {
    "multics-645": (
        (
            Parameter("memory.headway_per_page", 0.24, "{:.4f}ms", "page-faults", 919_474, 0.7),
            Parameter('commands."*".pages', 70, "{:.0f}", "ttm-idle-mp", 0.42, 0.1),
            Parameter('commands."*".cpu', 1.8, "lognormal({:.4f}s, 0.36s)", "cpu-good", 7990, -1.0),
            Parameter("supervisor.device_interrupt", 1.025, "{:.4f}ms", "ttm-drum-interrupts", 8.18, -1.0),
            Parameter("supervisor.getwork", 1.2, "{:.4f}ms", "ttm-getwork", 9.75, -1.0),
        ),
        csr_rfc_20_cells,
    ),
    "multics-3.0.2": (
        (
            Parameter("memory.headway_per_page", 0.153, "{:.4f}ms", "certification, page time", 10.2, 1.5),
            Parameter("commands.edit.headway_factor", 0.52, "{:.3f}", "page time of 1-edit-1", 3.7, 1.0),
            Parameter("commands.compile.headway_factor", 1.66, "{:.3f}", "page time of 1-compile-1", 3.7, 1.0),
        ),
        mpl_16_cells,
    ),
    "multics-1.8": (
        (Parameter("memory.headway_per_page", 0.42, "{:.4f}ms", "headway at 256K", 25, -0.8),),
        multics_1969_cells,
    ),
    "tenex": (
        (
            Parameter(
                "commands.send.network_byte_cpu",
                0.499,
                "{:.5f}ms",
                "send, 56000 bytes",
                0.0189 + 56000 * 619.7e-6,
                -1.2,
            ),
            Parameter(
                "commands.receive.network_byte_cpu",
                0.53,
                "{:.5f}ms",
                "receive, 56000 bytes",
                0.133 + 56000 * 651e-6,
                -1.2,
            ),
            Parameter("commands.receive.cpu", 0.13, "{:.4f}s", "receive, 3000 bytes", 0.133 + 3000 * 651e-6, -5.0),
        ),
        rfc_392_cells,
    ),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
