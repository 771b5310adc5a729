"""Our figures for "MPL-16" (`mpl-16`), from runs of the bundled machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

import numpy as np

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import number
from loadgo.reproduction.models.scripts import of_lines, patient
from loadgo.reproduction.models.totals import Totals
from loadgo.reproduction.models.values import Area, Curve, Mark, Plot, Value, Values

MACHINE = "multics-3.0.2"
AT_LOGIN = 4
SEEDS = (1, 2, 3, 4, 5, 6)
COMMANDS = ("edit-1", "compile-1", "edit-2", "compile-2", "rename", "print", "run", "list", "delete")
NONPAGE_S = ((2.9, 9.4, 1.1, 7.7, 1.7, 0.7, 0.4, 1.7, 1.8), (1.3, 7.9, 1.5, 8.2, 1.6, 0.8, 0.7, 0.8, 1.1))
"""The table's column of processor time without paging, in two passes: it is fed in."""
ROWS = tuple(f"{number}-{command}" for number in (1, 2) for command in COMMANDS)
THINK = "uniform(2s, 15s)"
HALF_ROWS = {"2-edit-1": 2.4, "2-edit-2": 2.3, "2-list": 1.3, "2-delete": 2.2}
"""CTSS's run time of the commands that run "in half the time of CTSS"."""

PAGES = (10, 25, 50, 100, 150, 200, 250, 280)
DEBUGGERS = 4
ALLOWED = 70


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `arithmetic`."""
    with _table_machine() as machine:
        console = lab.runs([Experiment(of_lines(ROWS, think=THINK), machine, AT_LOGIN, seed) for seed in SEEDS])
    certified = certification(lab)
    values = _cells(console)
    page_s, certified_s = (_page_s(runs, range(len(ROWS))) for runs in (console, certified))
    how = f"the script's page faults, {AT_LOGIN} users who think, over those of one user who does not, on `{MACHINE}`"
    values["text/console"] = values["commands/total/multics-total"]
    values["text/more"] = Value(page_s - certified_s, "predicted", f"{how}: the difference, at 8 ms each")
    values["text/fault-increase"] = Value(page_s / certified_s, "predicted", how)
    halves = [NONPAGE_S[1][ROWS.index(row) - len(COMMANDS)] / ctss_s for row, ctss_s in HALF_ROWS.items()]
    values["text/half"] = Value(fmean(halves), "given", "the mean of four commands' printed times over CTSS's")
    return {f"mpl-16/{name}": value for name, value in values.items()}


def certification(lab: Lab, changes: tuple[str, ...] = ()) -> list[Totals]:
    """The certification runs: one user alone, who does not think, on the machine with these changes."""
    with _table_machine() as machine:
        return lab.runs([Experiment(of_lines(ROWS), machine, 1, seed, changes) for seed in SEEDS])


def plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts that the document has only as axes."""
    runs = lab.runs(
        [
            Experiment(
                patient("debugging"), MACHINE, DEBUGGERS, set=(f'commands."*".pages={pages}',), think="exponential(35s)"
            )
            for pages in PAGES
        ]
    )
    points = sorted((run.every.faults, _saturation(run)) for run in runs)
    most = max(faults for faults, _ in points)
    return (
        Plot(
            name="users-by-faults",
            document="mpl-16",
            title="Number of users debugging Fortran programs versus working set size",
            x="Average number of page faults per command",
            y="Maximum number of users",
            curves=(
                Curve("the model's saturation point", tuple(points)),
                Curve("maximum number of users allowed", ((0.0, ALLOWED), (most, ALLOWED)), dashed=True),
            ),
            areas=(
                Area("current area of operation 5/19/69", 200, 260, *_between(points, 200, 260)),
                Area("potential area of operation in 10/69", 40, 80, *_between(points, 40, 80)),
            ),
            how=f"the script `debugging` on `{MACHINE}`, its commands of {PAGES[0]} to {PAGES[-1]} pages: the "
            "saturation point is (think time + processor time) / processor time of a command; think time of 35 s "
            "as Scherr measured it on CTSS",
        ),
    )


def _cells(console: Sequence[Totals]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for at, row in enumerate(ROWS):
        values |= _row(row, _page_s(console, [at]), sum(NONPAGE_S, ())[at], "given")
    halves = {"1-subtotals": range(9), "2-subtotals": range(9, 18), "total": range(18)}
    for row, places in halves.items():
        values |= _row(row, _page_s(console, places), sum(sum(NONPAGE_S, ())[at] for at in places), "given")
    return values


def _row(row: str, page_s: float, nonpage_s: float, mark: Mark) -> dict[str, Value]:
    how = f"page faults at 8 ms each, {AT_LOGIN} users who think, the mean of {len(SEEDS)} sessions on `{MACHINE}`"
    return {
        f"commands/{row}/multics-page": Value(page_s, "predicted", how),
        f"commands/{row}/multics-nonpage": Value(nonpage_s, mark, "fed in: the command's processor time"),
        f"commands/{row}/multics-total": Value(page_s + nonpage_s, "predicted", how),
    }


def _page_s(runs: Sequence[Totals], rows: Sequence[int] | range) -> float:
    """The mean time that the page faults of these rows took, all rows together."""
    fault_s = number(MACHINE, "supervisor.page_fault")
    return fmean(sum(run.lines[1, at + 1].faults for at in rows) for run in runs) * fault_s


def _saturation(run: Totals) -> float:
    return (run.every.think_s + run.every.cpu_s) / run.every.cpu_s


def _between(points: Sequence[tuple[float, float]], left: float, right: float) -> tuple[float, float]:
    """The lowest and the highest of a curve between two places, on straight lines between its points."""
    across, up = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    heights = np.interp(np.linspace(left, right, 20), across, up)
    return float(heights.min()), float(heights.max())


@contextmanager
def _table_machine() -> Iterator[str]:
    """The bundled machine with a command for each row of the table, in a file of its own."""
    commands = "\n".join(
        f'[commands."{row}"]\nlike = "{row.split("-")[1]}"\ncpu = "{cpu_s}s"'
        for row, cpu_s in zip(ROWS, sum(NONPAGE_S, ()), strict=True)
    )
    head = f'title = "{MACHINE}, row by row"\nsource = "the table of MPL-16"\nlike = "{MACHINE}"\n'
    with tempfile.TemporaryDirectory(prefix="loadgo-machine-") as folder:
        path = Path(folder) / "by-row.toml"
        path.write_text(head + commands, encoding="utf-8")
        yield str(path)
