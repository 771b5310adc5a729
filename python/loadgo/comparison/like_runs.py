"""Like runs: runs of the same script, users and conditions on the same host, in the folders beside those of a side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from loadgo.comparison.side import Side, side_of_runs
from loadgo.errors import LoadgoError
from loadgo.records.conditions import conditions_of, differing_conditions, is_measured_condition
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.run_file import read_run_file, start_in
from loadgo.records.runs import EXPERIMENT_FILE
from loadgo.records.tables import Tables, tables

MOST_LIKE_RUNS = 12
"""Most like runs of each side that are read: those nearest in time. More would narrow an allowance by little."""
_VARYING_CONDITIONS = ("seed",)
_VARIANT = re.compile(r"\d+-([ab])")


def like_runs_of(a: Side, b: Side, tariff: str) -> tuple[Side, ...]:
    """The like runs of each side, without the runs of both sides.

    Sides that are like each other have one group: runs nearest to A and runs nearest to B. Its scatter then contains
    how the host changed between the two. Two groups, each with a mean of its own, would leave that out.
    """
    live = [side for side in (a, b) if side.kind == "host" and side.folders]
    own_folders = {folder.resolve() for side in (a, b) for folder in side.folders}
    nearest = [
        [folder for folder in _like_folders(side) if folder not in own_folders][:MOST_LIKE_RUNS] for side in live
    ]
    if len(live) == 2 and _are_like(a, b):
        nearest = [list(dict.fromkeys(nearest[0] + nearest[1]))]
    groups = [_group(folders, side, tariff) for folders, side in zip(nearest, live, strict=False)]
    return tuple(group for group in groups if group is not None)


def _are_like(a: Side, b: Side) -> bool:
    """Whether the runs of both sides are like each other, also if one of them ended early."""
    folder = b.folders[0]
    is_same_variant = _variant(a.folders[0]) == _variant(folder)
    return is_same_variant and _has_conditions(folder, _run_toml(folder / "run.toml"), a.conditions)


def _like_folders(side: Side) -> list[Path]:
    """The folders of runs that are like those of `side`, in the folders that contain its runs, the nearest first."""
    parents = {folder.resolve().parent for folder in side.folders}
    variant = _variant(side.folders[0])
    starts = {}
    for parent in parents:
        for path in parent.glob("*/run.toml"):
            run_toml = _run_toml(path)
            if _variant(path.parent) == variant and _is_like(path.parent, run_toml, side.conditions):
                starts[path.parent] = _start_s(run_toml)
    own_start = min(side.starts_s, default=0.0)
    return sorted(starts, key=lambda folder: abs(starts[folder] - own_start))


def _variant(folder: Path) -> str:
    """The letter of a run of an experiment by `loadgo ab`; empty for any other run."""
    match = _VARIANT.fullmatch(folder.name)
    return match[1] if match and (folder.parent / EXPERIMENT_FILE).is_file() else ""


def _run_toml(path: Path) -> dict[str, Any]:
    """The content of a `run.toml`. Empty if it cannot be read."""
    try:
        return read_run_file(path.parent)
    except (OSError, ValueError):
        return {}


def _start_s(run_toml: Mapping[str, Any]) -> float:
    started = start_in(dict(run_toml))
    return 0.0 if started is None else started.timestamp()


def _is_like(folder: Path, run_toml: Mapping[str, Any], conditions: Mapping[str, str]) -> bool:
    """Whether a run was completed in these conditions, but for those that were measured, and for the seed."""
    is_complete = run_toml.get("kind", "run") == "run" and run_toml.get("outcome") == "done"
    return is_complete and _has_conditions(folder, run_toml, conditions)


def _has_conditions(folder: Path, run_toml: Mapping[str, Any], conditions: Mapping[str, str]) -> bool:
    """Whether a run had these conditions, but for those that were measured, and for the seed."""
    try:
        differing = differing_conditions(conditions, conditions_of(folder, run_toml))
    except (OSError, ValueError, TypeError, AttributeError):
        return False
    names = [condition.name for condition in differing]
    return all(name in _VARYING_CONDITIONS or is_measured_condition(name) for name in names)


def _group(folders: list[Path], side: Side, tariff: str) -> Side | None:
    """The runs in these folders as one side, in the order of time. None if fewer than two of them can be read."""
    runs: dict[Path, Tables] = {}
    for folder in sorted(folders, key=lambda folder: (_start_s(_run_toml(folder / "run.toml")), folder)):
        try:
            runs[folder] = tables_of_load(tables(folder))
        except (OSError, LoadgoError, pl.exceptions.PolarsError):
            continue
    if len(runs) < 2:
        return None
    group = side_of_runs(side.name, tuple(runs.values()), side.stretches[0].name, tariff, side.conditions)
    return replace(group, folders=tuple(runs))
