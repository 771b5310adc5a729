"""Our figures for "MPL-16" (`mpl-16`), from runs of the bundled machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

import numpy as np

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number
from loadgo.reproduction.models.scripts import script_from_lines, script_without_timeouts
from loadgo.reproduction.models.totals import RunTotals
from loadgo.reproduction.models.values import Area, Mark, Plot, PlottedCurve, ReproducedValue, ReproducedValues

MACHINE_NAME = "multics-3.0.2"
CONSOLE_USERS = 4
"""Number of users in the console sessions, who think between lines."""
RUN_SEEDS = (1, 2, 3, 4, 5, 6)
SCRIPT_COMMANDS = ("edit-1", "compile-1", "edit-2", "compile-2", "rename", "print", "run", "list", "delete")
FITTED_ROWS = ("1-edit-1", "1-compile-1")
"""The rows whose page times set the headway factors of edm and dummy_ep1."""
NONPAGE_S = ((2.9, 9.4, 1.1, 7.7, 1.7, 0.7, 0.4, 1.7, 1.8), (1.3, 7.9, 1.5, 8.2, 1.6, 0.8, 0.7, 0.8, 1.1))
"""The table's column of processor time without paging, in two passes. It is fed into the model."""
PRINTED_ROWS = tuple(f"{number}-{command}" for number in (1, 2) for command in SCRIPT_COMMANDS)
THINK_LAW = "uniform(2s, 15s)"
HALF_ROWS = {"2-edit-1": 2.4, "2-edit-2": 2.3, "2-list": 1.3, "2-delete": 2.2}
"""CTSS's run times in seconds of the commands that run "in half the time of CTSS"."""

WORKING_SET_PAGES = (10, 25, 50, 100, 150, 200, 250, 280)
DEBUGGING_USERS = 4
MOST_USERS_ALLOWED = 70


def reproduced_values(lab: Lab) -> ReproducedValues:
    """Our figures by the ids of the printed figures, without those that follow by arithmetic."""
    console, certified = console_sessions(lab), certification(lab)
    values = _cells(console)
    page_s, certified_s = (_page_s(runs, range(len(PRINTED_ROWS))) for runs in (console, certified))
    how = (
        f"the script's page faults, {CONSOLE_USERS} users who think, over those of one user who does not, "
        f"on `{MACHINE_NAME}`"
    )
    values["text/console"] = values["commands/total/multics-total"]
    values["text/more"] = ReproducedValue(page_s - certified_s, "predicted", f"{how}: the difference, at 8 ms each")
    values["text/fault-increase"] = ReproducedValue(page_s / certified_s, "predicted", how)
    halves = [
        NONPAGE_S[1][PRINTED_ROWS.index(row) - len(SCRIPT_COMMANDS)] / ctss_s for row, ctss_s in HALF_ROWS.items()
    ]
    values["text/half"] = ReproducedValue(
        fmean(halves), "given", "the mean of four commands' printed times over CTSS's"
    )
    return {f"mpl-16/{name}": value for name, value in values.items()}


def console_sessions(lab: Lab, changes: tuple[str, ...] = ()) -> list[RunTotals]:
    """The console sessions: a few users who think, on the machine with these changes."""
    script = script_from_lines(PRINTED_ROWS, think=THINK_LAW)
    with _table_machine() as machine:
        return lab.runs([Experiment(script, machine, CONSOLE_USERS, seed, changes) for seed in RUN_SEEDS])


def row_page_s(runs: Sequence[RunTotals], row: str) -> float:
    """The mean time of the page faults in a row of the table."""
    return _page_s(runs, [PRINTED_ROWS.index(row)])


def certification(lab: Lab, changes: tuple[str, ...] = ()) -> list[RunTotals]:
    """The certification runs: one user who does not think, on the machine with these changes."""
    with _table_machine() as machine:
        return lab.runs([Experiment(script_from_lines(PRINTED_ROWS), machine, 1, seed, changes) for seed in RUN_SEEDS])


def reproduced_plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts of which the document prints only the axes."""
    runs = lab.runs(
        [
            Experiment(
                script_without_timeouts("debugging"),
                MACHINE_NAME,
                DEBUGGING_USERS,
                set=(f'commands."*".pages={pages}',),
                think="exponential(35s)",
            )
            for pages in WORKING_SET_PAGES
        ]
    )
    points = sorted((run.overall.faults, _saturation(run)) for run in runs)
    most_faults = max(faults for faults, _ in points)
    return (
        Plot(
            name="users-by-faults",
            document="mpl-16",
            title="Number of users debugging Fortran programs versus working set size",
            x="Average number of page faults per command",
            y="Maximum number of users",
            curves=(
                PlottedCurve("the model's saturation point", tuple(points)),
                PlottedCurve(
                    "maximum number of users allowed",
                    ((0.0, MOST_USERS_ALLOWED), (most_faults, MOST_USERS_ALLOWED)),
                    dashed=True,
                ),
            ),
            areas=(
                Area("current area of operation 5/19/69", 200, 260, *_curve_range(points, 200, 260)),
                Area("potential area of operation in 10/69", 40, 80, *_curve_range(points, 40, 80)),
            ),
            how=f"the script `debugging` on `{MACHINE_NAME}`, its commands of {WORKING_SET_PAGES[0]} to "
            f"{WORKING_SET_PAGES[-1]} pages: the saturation point is (think time + processor time) / processor time of "
            "a command; think time of 35 s as Scherr measured it on CTSS",
        ),
    )


def _cells(console: Sequence[RunTotals]) -> dict[str, ReproducedValue]:
    values: dict[str, ReproducedValue] = {}
    nonpage_s = sum(NONPAGE_S, ())
    for index, row in enumerate(PRINTED_ROWS):
        values |= _row(row, _page_s(console, [index]), nonpage_s[index], "given")
    indices_by_sum = {"1-subtotals": range(9), "2-subtotals": range(9, 18), "total": range(18)}
    for row, indices in indices_by_sum.items():
        values |= _row(row, _page_s(console, indices), sum(nonpage_s[index] for index in indices), "given")
    return values


def _row(row: str, page_s: float, nonpage_s: float, mark: Mark) -> dict[str, ReproducedValue]:
    how = (
        f"page faults at 8 ms each, {CONSOLE_USERS} users who think, the mean of {len(RUN_SEEDS)} sessions "
        f"on `{MACHINE_NAME}`"
    )
    page_mark: Mark = "fitted" if row in FITTED_ROWS else "predicted"
    page_how = f"{how}; its command's headway_factor was set by it" if row in FITTED_ROWS else how
    return {
        f"commands/{row}/multics-page": ReproducedValue(page_s, page_mark, page_how),
        f"commands/{row}/multics-nonpage": ReproducedValue(nonpage_s, mark, "fed in: the command's processor time"),
        f"commands/{row}/multics-total": ReproducedValue(page_s + nonpage_s, page_mark, page_how),
    }


def _page_s(runs: Sequence[RunTotals], rows: Sequence[int] | range) -> float:
    """The mean time of the page faults in these rows together."""
    fault_s = machine_number(MACHINE_NAME, "supervisor.page_fault")
    return fmean(sum(run.lines[1, index + 1].faults for index in rows) for run in runs) * fault_s


def _saturation(run: RunTotals) -> float:
    return (run.overall.think_s + run.overall.cpu_s) / run.overall.cpu_s


def _curve_range(points: Sequence[tuple[float, float]], left: float, right: float) -> tuple[float, float]:
    """The lowest and the highest value of a piecewise linear curve between two positions."""
    xs, ys = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    heights = np.interp(np.linspace(left, right, 20), xs, ys)
    return float(heights.min()), float(heights.max())


@contextmanager
def _table_machine() -> Iterator[str]:
    """A temporary machine file: the bundled machine with a command for each row of the table."""
    commands = "\n".join(
        f'[commands."{row}"]\nlike = "{row.split("-")[1]}"\ncpu = "{cpu_s}s"'
        for row, cpu_s in zip(PRINTED_ROWS, sum(NONPAGE_S, ()), strict=True)
    )
    head = f'title = "{MACHINE_NAME}, row by row"\nsource = "the table of MPL-16"\nlike = "{MACHINE_NAME}"\n'
    with tempfile.TemporaryDirectory(prefix="loadgo-machine-") as folder:
        path = Path(folder) / "by-row.toml"
        path.write_text(head + commands, encoding="utf-8")
        yield str(path)
