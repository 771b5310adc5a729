"""The runs that are priced together: of one script on one system, or there is no one cost of an interaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.errors import BadArgument
from loadgo.records.conditions import conditions_of, differing, lines_of
from loadgo.records.runs import find_run
from loadgo.records.tables import tables

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_SYSTEM = ("kind", "name", "hostname", "processor", "processors")
"""Conditions that make another system; and every value of a simulated machine's file."""
_OF_THE_LOAD = ("users", "passes", "seed", "duration_s", "until", "arrivals_per_second")
_PASSING = ("load_average", "users_logged_in", "memory_available", "used_bytes", "paging_devices")


@dataclass(frozen=True)
class Found:
    """The runs, in the order in which they were named."""

    title: str
    folders: tuple[Path, ...]
    runs: tuple[Tables, ...]
    differing: tuple[str, ...]
    """In words, the conditions in which they differ, beside how many users there are and what goes by."""

    def by_users(self) -> list[tuple[int, list[tuple[Path, Tables]]]]:
        """The runs by their number of users."""
        groups: dict[int, list[tuple[Path, Tables]]] = {}
        for folder, run in zip(self.folders, self.runs, strict=True):
            groups.setdefault(users_of(run), []).append((folder, run))
        return sorted(groups.items())


def found_runs(names: Sequence[str]) -> Found:
    """The runs called `names`; raises `ValueError` where they are not of one script on one system."""
    if not names:
        raise BadArgument("no run is named: give a run's folder, its id, or last")
    folders = tuple(dict.fromkeys(find_run(name) for name in names))
    runs = tuple(tables(folder) for folder in folders)
    told = [conditions_of(folder, run.conditions) for folder, run in zip(folders, runs, strict=True)]
    scripts = [lines_of(folder) for folder in folders]
    for folder, script, conditions in zip(folders[1:], scripts[1:], told[1:], strict=True):
        if script != scripts[0]:
            raise BadArgument(
                f"{folder.name} has not typed the script of {folders[0].name}: price them apart, one loadgo cost each"
            )
        _one_system(folders[0].name, folder.name, told[0], conditions)
    return Found(_title(runs[0]), folders, runs, _differing(told))


def users_of(run: Tables) -> int:
    """How many users were asked for; of an open load, how many came."""
    load = run.conditions.get("load", {})
    return int(load.get("users", 0)) or int(run.sessions["user"].n_unique())


def _one_system(first: str, other: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    for one in differing(before, after):
        if one.name in _SYSTEM or one.name.startswith("machine "):
            raise BadArgument(
                f"{first} and {other} are of different systems ({one.name}: {one.before or 'none'}, "
                f"{one.after or 'none'}), and one curve is of one system; whether a price is fair says "
                f"loadgo cost {first} --against {other}"
            )


def _differing(told: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    found: dict[str, list[str]] = {}
    for conditions in told[1:]:
        for one in differing(told[0], conditions):
            if not one.name.startswith((*_OF_THE_LOAD, *_PASSING)):
                found.setdefault(one.name, [one.before or "none"]).append(one.after or "none")
    return tuple(f"{name}: {', '.join(dict.fromkeys(values))}" for name, values in found.items())


def _title(run: Tables) -> str:
    told = run.conditions
    system = told.get("system", {})
    where = system.get("title") or system.get("hostname") or system.get("name", "")
    return f"{told.get('name', '')}, on {where}" if where else str(told.get("name", ""))
