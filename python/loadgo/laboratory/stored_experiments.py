"""The results that `loadgo ab`, `loadgo capacity` and `loadgo sweep` stored, read back for their documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from loadgo.errors import BadRun
from loadgo.laboratory.laboratory_runs import EXPERIMENT_FILES, LaboratoryExperiment, read_small
from loadgo.laboratory.stored_values import stored_value
from loadgo.pairing.results import DEFAULT_MOST_PAIRS, End, Experiment, LeftOut, Letter, Pair
from loadgo.pairing.run_figures import CommandMeans, RunFigures
from loadgo.pairing.variant import Variant
from loadgo.records.runs import CAPACITY_FILE, EXPERIMENT_FILE, SWEEP_FILE
from loadgo.running.load import Load
from loadgo.sizing.report.json_keys import JSON_KEYS
from loadgo.sizing.search.results import Capacity
from loadgo.sweeping.folder import read_identity, read_part
from loadgo.sweeping.merge import grid_of_identity
from loadgo.sweeping.result_of_folder import sweep_of
from loadgo.sweeping.results import Sweep

MOST_EXPERIMENT_BYTES = 64_000_000
"""Largest `experiment.json` that is read."""


def stored_document(experiment: LaboratoryExperiment) -> str:
    """The document of a stored experiment as an HTML page. Raises `BadRun` if its file is missing or damaged."""
    return str(stored_result(experiment.folder / EXPERIMENT_FILES[experiment.kind]).report("html"))


def stored_result(file: Path) -> Capacity | Experiment | Sweep:
    """The result in a file that `result_file` found. Raises `BadRun` if it is damaged, or of another format."""
    if file.name == SWEEP_FILE:
        return stored_sweep(file.parent)
    return stored_capacity(file.parent) if file.name == CAPACITY_FILE else stored_experiment(file.parent)


def stored_sweep(folder: Path) -> Sweep:
    """The points of the sweep in `folder` that are done. Raises `BadRun` if a file is damaged."""
    return sweep_of(folder, grid_of_identity(read_identity(folder)), read_part(folder))


def stored_capacity(folder: Path) -> Capacity:
    """The capacity in `folder`. Raises `BadRun` if its file is missing, damaged, or of another format."""
    path = folder / CAPACITY_FILE
    try:
        return stored_value(Capacity, json.loads(read_small(path, MOST_EXPERIMENT_BYTES)), JSON_KEYS)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadRun(f"{path} is no result of loadgo capacity, or is damaged: {error}") from error


def stored_experiment(folder: Path) -> Experiment:
    """The experiment in `folder`. Raises `BadRun` if its file is missing, damaged, or of another format."""
    path = folder / EXPERIMENT_FILE
    try:
        members = json.loads(read_small(path, MOST_EXPERIMENT_BYTES))
        return _experiment(folder, members)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRun(f"{path} is no result of loadgo ab, or is damaged: {error}") from error


def _experiment(folder: Path, members: Mapping[str, Any]) -> Experiment:
    load = members["load"]
    return Experiment(
        a=_variant(members["a"]),
        b=_variant(members["b"]),
        load=Load(**{name: load[name] for name in Load.__dataclass_fields__ if name in load}),
        margin=float(members["margin"]),
        decisive=tuple(map(str, members["measures"])),
        pairs=tuple(_pair(pair, number) for number, pair in enumerate(members["pairs"], 1)),
        left_out=tuple(
            LeftOut("A" if run["letter"] == "A" else "B", Path(str(run["folder"])), str(run["reason"]))
            for run in members["left_out"]
        ),
        end=members["end"] if members["end"] in get_args(End) else None,
        folder=folder,
    )


def _pair(members: Mapping[str, Any], number: int) -> Pair:
    """A pair. A file without its progress is of an older version, whose default number of pairs is assumed."""
    first: Letter = "A" if members["first"] == "A" else "B"
    progress = float(members.get("progress", min(1.0, number / DEFAULT_MOST_PAIRS)))
    return Pair(int(members["seed"]), first, _figures(members["a"]), _figures(members["b"]), progress)


def _variant(members: Mapping[str, Any]) -> Variant:
    limit, before, login = members["limit"], members["before"], members.get("login")
    return Variant(
        str(members["script"]),
        str(members["on"]),
        tuple(map(str, members["set"])),
        None if limit is None else str(limit),
        None if before is None else str(before),
        None if login is None else str(login),
    )


def _figures(members: Mapping[str, Any]) -> RunFigures:
    commands = {
        str(name): CommandMeans(int(row["count"]), _number(row["response_ns"]), _number(row["cpu_ns"]))
        for name, row in members["commands"].items()
    }
    return RunFigures(
        Path(str(members["folder"])),
        {str(name): _number(value) for name, value in members["measures"].items()},
        commands,
        int(members["errors"]),
        _number(members["others_share"]),
        tuple(map(str, members.get("fit_warnings", ()))),
        limit_warnings=tuple(map(str, members.get("limit_warnings", ()))),
        is_elsewhere=bool(members.get("elsewhere", False)),
        reference_ns=_number(members.get("reference_ns")),
    )


def _number(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    return float(value)
