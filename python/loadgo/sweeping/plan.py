"""The plan of a sweep: a grid with its script and machines read and checked, and its batches as tasks."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from loadgo.distribution.own_code import CodeIdentity, own_code
from loadgo.errors import BadArgument, LoadgoError
from loadgo.notation import quantities
from loadgo.records.machine_file import fit_warnings
from loadgo.running import bundled
from loadgo.running.day_arrivals import day_rates
from loadgo.running.load import Load, check_types
from loadgo.running.machines import find, parse_machine_file
from loadgo.running.prepared import PreparedRun, RunSettings, prepare_run
from loadgo.running.run import load_options, passes_of_users
from loadgo.running.simulation import DEFAULT_UNTIL
from loadgo.sweeping.grid import Grid, Point, SeedRun

SWEEP_FORMAT = 1
"""The number of the format of a sweep's folder."""


@dataclass(frozen=True)
class MachineUnderTest:
    """A machine with settings, as the text of a whole machine file, so that it is the same on any host."""

    name: str
    settings: Mapping[str, str]
    text: str
    options: Mapping[str, Any]
    """The options of a run besides the load; empty for a machine's own load."""


@dataclass(frozen=True)
class BatchTask:
    """A batch of points, with all that a worker needs to compute it. It can be pickled."""

    number: int
    script: str | None
    """The script's text; None for the machines' own load."""
    until: str
    """The end of a simulation without a script."""
    load: Mapping[str, Any]
    """The load of a run with a script, except for users and seed."""
    machines: Mapping[tuple[int, int], MachineUnderTest]
    """The machine of each pair of machine and variant that the points have."""
    seed_runs: tuple[SeedRun, ...]
    """The points."""
    code: CodeIdentity
    """The code that made the task: other code may compute other figures."""

    @property
    def points(self) -> tuple[Point, ...]:
        """The points, in their order."""
        return tuple(point for seed_run in self.seed_runs for point in seed_run.points())

    @property
    def point_count(self) -> int:
        """Number of points."""
        return sum(len(seed_run.seeds) for seed_run in self.seed_runs)

    @property
    def name(self) -> str:
        """The simulations of the batch in words."""
        first = self.seed_runs[0].first
        last = first + self.point_count - 1
        return f"simulation {first}" if first == last else f"simulations {first} to {last}"


@dataclass(frozen=True)
class SweepPlan:
    """A grid whose points can be computed."""

    grid: Grid
    script: str | None
    """The script's text."""
    until: str
    load: Mapping[str, Any]
    machines: tuple[tuple[MachineUnderTest, ...], ...]
    """The variants of each machine, in the grid's order."""

    def task(self, batch: int) -> BatchTask:
        """The task of a batch."""
        seed_runs = tuple(self.grid.seed_runs(batch))
        pairs = dict.fromkeys((seed_run.machine, seed_run.variant) for seed_run in seed_runs)
        machines = {(machine, variant): self.machines[machine][variant] for machine, variant in pairs}
        return BatchTask(batch, self.script, self.until, self.load, machines, seed_runs, own_code())

    def tasks(self, batches: Iterable[int]) -> Iterator[BatchTask]:
        """The tasks of these batches, each made when it is needed."""
        return map(self.task, batches)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that the points depend on: two sweeps with the same identity have the same points."""
        grid = self.grid
        return {
            "format": SWEEP_FORMAT,
            "loadgo": own_code().version,
            "code": own_code().code_hash,
            "title": grid.title,
            "measure": grid.measure,
            "script": grid.script or "",
            "machines": list(grid.machines),
            "users": _ranges([users for users in grid.users if users is not None]),
            "seeds": _ranges(grid.seeds),
            "settings": {key: list(values) for key, values in grid.settings.items()},
            "load": {key: str(value) for key, value in grid.load.items()},
            "points": grid.point_count,
            "batch": grid.batch_points,
            "script_hash": _hash(self.script or ""),
            "machine_hashes": [_hash("\0".join(machine.text for machine in variants)) for variants in self.machines],
            "fit_warnings": list(self.fit_warnings),
        }

    @property
    def fit_warnings(self) -> tuple[str, ...]:
        """The reasons to doubt the fits of the machines, each once."""
        texts = (machine.text for variants in self.machines for machine in variants)
        return tuple(dict.fromkeys(warning for text in texts for warning in fit_warnings(text)))


def plan_sweep(grid: Grid) -> SweepPlan:
    """Reads and checks everything that a grid names. Raises what `loadgo.run` and `loadgo.simulate` raise."""
    return _plan_own_load(grid) if grid.script is None else _plan_script(grid, grid.script)


def _plan_script(grid: Grid, script: str) -> SweepPlan:
    source = bundled.find_script(grid.path_of(script))
    load = Load(**grid.load)
    check_types(vars(load))
    options = load_options(load, day_rates(source, load))
    prepared: list[list[PreparedRun]] = [
        [prepare_run(source, grid.path_of(machine), _run_settings(grid, variant)) for variant in grid.variants]
        for machine in grid.machines
    ]
    repeats = load.duration is not None or load.until is not None
    script_passes = prepared[0][0].script["passes"]
    options["passes"] = passes_of_users(load.passes, script_passes, until_load_ends=repeats)
    machines = tuple(
        tuple(_machine_of(name, run, variant) for run, variant in zip(runs, grid.variants, strict=True))
        for name, runs in zip(grid.machines, prepared, strict=True)
    )
    base = {"script": source.requested, "command": [], **options}
    return SweepPlan(grid, source.text, "", base, machines)


def _run_settings(grid: Grid, variant: Mapping[str, str]) -> RunSettings:
    return RunSettings(think=grid.load.get("think"), typing=grid.load.get("typing"), set=_settings(variant))


def _settings(variant: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{key}={value}" for key, value in variant.items())


def _machine_of(name: str, run: PreparedRun, variant: Mapping[str, str]) -> MachineUnderTest:
    """The machine of a checked run. Its text has the settings, so that no option repeats them."""
    if run.machine is None:
        raise BadArgument("a sweep runs on simulated machines: `here` is none")
    text = str(run.machine.parsed["text"])
    options = {key: value for key, value in run.options.items() if key != "machine_text"} | {"set": []}
    return MachineUnderTest(name, variant, text, options)


def _plan_own_load(grid: Grid) -> SweepPlan:
    until = str(grid.load.get("until", DEFAULT_UNTIL))
    if "duration" in grid.load:
        until = f"time={quantities.span_s(grid.load['duration'], 'duration'):.9f}s"
    load = Load(until=until)
    check_types(vars(load))
    load_options(load)
    machines = tuple(
        tuple(_own_load_machine(grid, machine, variant) for variant in grid.variants) for machine in grid.machines
    )
    return SweepPlan(grid, None, until, {}, machines)


def _own_load_machine(grid: Grid, machine: str, variant: Mapping[str, str]) -> MachineUnderTest:
    text = str(parse_machine_file(find(grid.path_of(machine)), _settings(variant))["text"])
    try:
        check_own_load(text, has_users=grid.users != (None,))
    except LoadgoError as error:
        raise BadArgument(f"{machine}: {error}") from None
    return MachineUnderTest(machine, variant, text, {})


def check_own_load(text: str, *, has_users: bool) -> None:
    """Raises `BadArgument` unless a machine's text has a load of its own, whose number of users can be set."""
    load = tomllib.loads(text).get("load", [])
    if not load:
        raise BadArgument("the machine has no load of its own: add a [[load]] to it, or a script to the grid")
    if has_users and len(load) > 1:
        raise BadArgument(f"the machine's load has {len(load)} classes: leave users out of the grid")
    if has_users and "users" not in load[0]:
        raise BadArgument("the users of the machine's load come and go: leave users out of the grid")


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in their order, those that follow each other as a range: `1-20, 40`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def differing_keys(identity: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The keys in which two identities differ."""
    known = json.loads(json.dumps(identity))
    return [key for key in {**known, **other} if known.get(key) != other.get(key)]
