"""Runs that are priced together. They have one script and one system, so that their interactions are comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.records.conditions import HOST_CONDITION, conditions_of, differing_conditions, script_lines, system_title
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.phases import Stretch, stretch_of
from loadgo.records.runs import find_run
from loadgo.records.tables import Tables, tables

_SYSTEM_CONDITIONS = ("kind", "name", "hostname", "processor", "processors")
"""Conditions that belong to the system, besides all values of a simulated machine's file."""
_LOAD_CONDITIONS = ("users", "passes", "seed", "duration_s", "until", "arrivals_per_second", "arrivals_from")
_CHANGING_CONDITIONS = ("load_average", "users_logged_in", "memory_available", "used_bytes", "paging_devices")


@dataclass(frozen=True)
class PricedRuns:
    """The runs, in the order of their names on the command line."""

    title: str
    folders: tuple[Path, ...]
    runs: tuple[Tables, ...]
    differing: tuple[str, ...]
    """Sentences about conditions that differ, except for the load and conditions that always change."""

    def stretches(self, phases: str) -> tuple[list[str], tuple[Tables, ...], list[Stretch]]:
        """The names of the runs, the runs, and the stretch of each that is priced."""
        names = [folder.name for folder in self.folders]
        return names, self.runs, [stretch_of(run, phases) for run in self.runs]

    def by_users(self) -> list[tuple[int, list[tuple[Path, Tables]]]]:
        """The runs by their number of users."""
        groups: dict[int, list[tuple[Path, Tables]]] = {}
        for folder, run in zip(self.folders, self.runs, strict=True):
            groups.setdefault(users_of(run), []).append((folder, run))
        return sorted(groups.items())


def found_runs(names: Sequence[str]) -> PricedRuns:
    """Finds the runs by name. Raises `ValueError` if they differ in script or system."""
    if not names:
        raise BadArgument("no run is named: give a run's folder, its id, or last")
    folders = tuple(dict.fromkeys(find_run(name) for name in names))
    runs = tuple(tables_of_load(tables(folder)) for folder in folders)
    all_conditions = [conditions_of(folder, run.conditions) for folder, run in zip(folders, runs, strict=True)]
    scripts = [script_lines(folder) for folder in folders]
    for folder, script, conditions in zip(folders[1:], scripts[1:], all_conditions[1:], strict=True):
        if script != scripts[0]:
            raise BadArgument(
                f"{folder.name} has not typed the script of {folders[0].name}: price each with a loadgo cost of its own"
            )
        _one_system(folders[0].name, folder.name, all_conditions[0], conditions)
    return PricedRuns(_title(runs[0]), folders, runs, _differing(all_conditions))


def users_of(run: Tables) -> int:
    """Number of users of the load. In an open load, the users that logged in."""
    load = run.conditions.get("load", {})
    return int(load.get("users", 0)) or int(run.sessions["user"].n_unique())


def _one_system(first: str, other: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    for condition in differing_conditions(before, after):
        if condition.name in _SYSTEM_CONDITIONS or condition.name.startswith(("machine ", f"{HOST_CONDITION} ")):
            raise BadArgument(
                f"{first} and {other} are of different systems ({condition.name}: {condition.before or 'none'}, "
                f"{condition.after or 'none'}), and a curve covers one system; to judge whether a price is fair, use "
                f"loadgo cost {first} --against {other}"
            )


def _differing(all_conditions: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    values_by_name: dict[str, list[str]] = {}
    for conditions in all_conditions[1:]:
        for condition in differing_conditions(all_conditions[0], conditions):
            if not condition.name.startswith((*_LOAD_CONDITIONS, *_CHANGING_CONDITIONS)):
                values = values_by_name.setdefault(condition.name, [condition.before or "none"])
                values.append(condition.after or "none")
    return tuple(f"{name}: {', '.join(dict.fromkeys(values))}" for name, values in values_by_name.items())


def _title(run: Tables) -> str:
    system_name, script_name = system_title(run.conditions), run.conditions.get("name", "")
    return f"{script_name}, on {system_name}" if system_name else str(script_name)
