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
from loadgo.running.simulation import known_figure, raw_sweep
from loadgo.sweeping.columns import INTERVAL_FIGURES, columns_of, interval_columns
from loadgo.sweeping.grid import Point, SeedRun
from loadgo.sweeping.plan import BatchTask

RUN_BATCH_POINTS = 1000
"""Most points of one call of the simulator, since their reports are in memory together."""

Row = dict[str, Any]


def compute_batch(task: BatchTask) -> bytes:
    """Computes the points of a task. Returns a Parquet file with a row for each; the same task gives the same bytes.

    Raises `Refused` if the worker has other code than the process that made the task.
    """
    check_code(task.code)
    figures = _own_load_figures(task) if task.script is None else _script_figures(task, task.script)
    first = task.machines[task.seed_runs[0].machine, task.seed_runs[0].variant]
    schema, columns = columns_of(first.settings), _identity_columns(task)
    columns |= {name: [row.get(name) for row in figures] for name in schema if name not in columns}
    content = BytesIO()
    pl.DataFrame(columns, schema=schema).write_parquet(content, compression="zstd")
    return content.getvalue()


def _identity_columns(task: BatchTask) -> dict[str, list[Any]]:
    """The columns that say which simulation each point is."""
    rows = [
        (task.machines[seed_run.machine, seed_run.variant], seed_run.users)
        for seed_run in task.seed_runs
        for _ in seed_run.seeds
    ]
    keys = rows[0][0].settings
    return {
        "point": list(range(task.seed_runs[0].first, task.seed_runs[0].first + len(rows))),
        "machine": [machine.name for machine, _ in rows],
        **{f"set {key}": [machine.settings[key] for machine, _ in rows] for key in keys},
        "users": [users for _, users in rows],
        "seed": [seed for seed_run in task.seed_runs for seed in seed_run.seeds],
    }


def _own_load_figures(task: BatchTask) -> list[Row]:
    """The figures of machines under their own load, many in one call of the simulator."""
    rows: list[Row] = []
    all_pairs = [(_text(task, seed_run), seed) for seed_run in task.seed_runs for seed in seed_run.seeds]
    for first in range(0, len(all_pairs), RUN_BATCH_POINTS):
        pairs = all_pairs[first : first + RUN_BATCH_POINTS]
        try:
            rows += map(_simulation_row, raw_sweep(pairs, task.until, 1))
        except Refused:
            rows += [_simulated_alone(pair, task.until) for pair in pairs]
    return rows


def _text(task: BatchTask, seed_run: SeedRun) -> str:
    text = task.machines[seed_run.machine, seed_run.variant].text
    return text if seed_run.users is None else text_with_users(text, seed_run.users)


def _simulated_alone(pair: tuple[str, int], until: str) -> Row:
    try:
        return _simulation_row(raw_sweep([pair], until, 1)[0])
    except Refused as refusal:
        return {"problem": str(refusal)}


_COLUMN_NAMES = tuple((name, *interval_columns(name)) for name in INTERVAL_FIGURES)


def _simulation_row(raw_figures: Mapping[str, Any]) -> Row:
    """The figures of a simulation by column. A figure that it does not have is left out."""
    responses = raw_figures["all"]
    busy = next(
        (station["utilisation"] for station in raw_figures["stations"] if station["name"] == "processors"), None
    )
    row: Row = {"interactions": raw_figures["interactions"], "virtual_s": raw_figures["simulated_s"]}
    results = (responses["throughput"], responses["mean"], *responses["quantiles"], busy)
    for (name, low, high), result in zip(_COLUMN_NAMES, results, strict=True):
        known = None if result is None else known_figure(result)
        if known is None:
            continue
        value, half_width = known
        row[name] = value
        if half_width is not None:
            row[low], row[high] = max(value - half_width, 0.0), value + half_width
    return row


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
