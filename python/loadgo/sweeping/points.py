"""The computation of a batch of points, in a worker: figures with their intervals, as the bytes of a Parquet file."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import tomlkit

from loadgo.distribution.own_code import check_code
from loadgo.errors import Refused, RunTrouble
from loadgo.records.machine_file import parsed_machine
from loadgo.running.prepared import run_machine
from loadgo.running.simulation import SimulatedFigure, Simulation, sweep
from loadgo.sweeping.columns import INTERVAL_FIGURES, columns_of, interval_columns
from loadgo.sweeping.grid import Point
from loadgo.sweeping.plan import BatchTask, MachineUnderTest

RUN_BATCH_POINTS = 1000
"""Most points of one call of the simulator, since their reports are in memory together."""

Row = dict[str, Any]


def compute_batch(task: BatchTask) -> bytes:
    """Computes the points of a task. Returns a Parquet file with a row for each; the same task gives the same bytes.

    Raises `Refused` if the worker has other code than the process that made the task.
    """
    check_code(task.code)
    figures = _own_load_figures(task) if task.script is None else _script_figures(task, task.script)
    rows = [
        _identity(task.machines[point.machine, point.variant], point) | row
        for point, row in zip(task.points, figures, strict=True)
    ]
    first = task.machines[task.points[0].machine, task.points[0].variant]
    content = BytesIO()
    pl.DataFrame(rows, schema=columns_of(first.settings)).write_parquet(content, compression="zstd")
    return content.getvalue()


def _identity(machine: MachineUnderTest, point: Point) -> Row:
    settings = {f"set {key}": value for key, value in machine.settings.items()}
    return {"point": point.index, "machine": machine.name, **settings, "users": point.users, "seed": point.seed}


def _own_load_figures(task: BatchTask) -> list[Row]:
    """The figures of machines under their own load, many in one call of the simulator."""
    rows: list[Row] = []
    for first in range(0, len(task.points), RUN_BATCH_POINTS):
        pairs = [_text_and_seed(task, point) for point in task.points[first : first + RUN_BATCH_POINTS]]
        try:
            rows += map(_simulation_row, sweep(pairs, until=task.until, threads=1))
        except Refused:
            rows += [_simulated_alone(pair, task.until) for pair in pairs]
    return rows


def _text_and_seed(task: BatchTask, point: Point) -> tuple[str, int]:
    text = task.machines[point.machine, point.variant].text
    return (text if point.users is None else text_with_users(text, point.users)), point.seed


def _simulated_alone(pair: tuple[str, int], until: str) -> Row:
    try:
        return _simulation_row(sweep([pair], until=until, threads=1)[0])
    except Refused as refusal:
        return {"problem": str(refusal)}


def _simulation_row(simulation: Simulation) -> Row:
    responses = simulation.all
    figures = {name: getattr(responses, name) for name in INTERVAL_FIGURES if name != "busy"}
    busy = next((station.utilisation for station in simulation.stations if station.name == "processors"), None)
    row: Row = {"interactions": simulation.interactions, "virtual_s": simulation.simulated_s}
    for name, figure in (figures | {"busy": busy}).items():
        row |= _ends(name, figure)
    return row


def _ends(name: str, figure: SimulatedFigure | None) -> Row:
    if figure is None or figure.value is None:
        return {}
    half = figure.half_width
    if half is None:
        return {name: figure.value}
    low, high = interval_columns(name)
    return {name: figure.value, low: max(figure.value - half, 0.0), high: figure.value + half}


@lru_cache(maxsize=64)
def text_with_users(text: str, users: int) -> str:
    """The text of a machine file with one class of users in its load, with this number of users."""
    set_load = _load_setting(text).replace(_USERS_MARK, str(users))
    return str(parsed_machine(text, [set_load])["text"])


_USERS_MARK = "987654321"


@lru_cache(maxsize=64)
def _load_setting(text: str) -> str:
    """The load of a machine file as a setting on one line, with a mark in the place of the number of users."""
    user_class = tomllib.loads(text)["load"][0] | {"users": int(_USERS_MARK)}
    table = tomlkit.inline_table()
    table.update(user_class)
    return f"load=[{table.as_string()}]"


def _script_figures(task: BatchTask, script: str) -> list[Row]:
    """The figures of runs of a script, each in a folder that is removed after it."""
    with tempfile.TemporaryDirectory(prefix="loadgo-sweep-") as folder:
        return [_script_row(task, script, point, Path(folder)) for point in task.points]


def _script_row(task: BatchTask, script: str, point: Point, parent: Path) -> Row:
    from loadgo.sweeping.run_figures import figures_of_run

    machine = task.machines[point.machine, point.variant]
    folder = parent / f"point-{point.index}"
    options = {**task.load, **machine.options, "machine_text": machine.text, "users": point.users, "seed": point.seed}
    try:
        problem = _machine_refusal(script, options, folder)
        return figures_of_run(folder) if problem is None else {"problem": problem}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _machine_refusal(script: str, options: dict[str, Any], folder: Path) -> str | None:
    """Runs a script, and returns why the machine refused it; None after a run. Raises `RunTrouble`."""
    try:
        run_machine(script, options, str(folder), _go_on)
    except RunTrouble:
        raise
    except Refused as refusal:
        return str(refusal).replace(str(folder), "the run's folder")
    return None


def _go_on(_progress: Mapping[str, Any]) -> bool:
    return True
