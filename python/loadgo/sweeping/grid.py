"""A grid: the machines, settings, numbers of users and seeds that are combined to the points of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import ceil, prod
from pathlib import Path
from typing import Any

MOST_BATCHES = 1000
"""A sweep has at most this many batches, unless its file says otherwise: each is a file and a task."""
MANY_POINTS, MOST_BATCHES_OF_MANY = 10_000, 400
"""A sweep of more points than the first number has at most so many batches.

A batch costs the controller 2 ms, which short points must outweigh on all processors.
"""

GridMeasure = str
"""The figure that the answer and the chart are about: one of `GRID_MEASURES`."""
GRID_MEASURES = ("mean", "p50", "p90", "p95", "p99", "throughput", "busy")


@dataclass(frozen=True)
class Grid:
    """The content of a grid file, checked."""

    machines: tuple[str, ...]
    """Names of bundled machines, or paths of machine files."""
    script: str | None = None
    """The script that the users type; None for the machines' own load."""
    users: tuple[int | None, ...] = (None,)
    """Numbers of users; None for the number in the machine's own load."""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Keys of machine files, each with the values that are tried."""
    seeds: tuple[int, ...] = (1,)
    load: Mapping[str, Any] = field(default_factory=dict)
    """The other arguments of a run: `duration`, `until`, `passes`, `warm_up`, `think`, `typing`."""
    measure: GridMeasure = "mean"
    title: str = ""
    batch: int | None = None
    """Number of points in a batch; None lets the number of points decide."""
    folder: Path = Path()
    """The folder where paths of scripts and machines start."""

    def path_of(self, name: str) -> str:
        """A script's or machine's path from the present folder; a bundled name stays as it is."""
        is_path = "/" in name or name.endswith(".toml")
        return str(self.folder / name) if is_path else name

    @property
    def variants(self) -> tuple[Mapping[str, str], ...]:
        """All combinations of the settings, the last key changing first."""
        return tuple(dict(zip(self.settings, values, strict=True)) for values in product(*self.settings.values()))

    @property
    def point_count(self) -> int:
        """Number of points."""
        variants = prod(len(values) for values in self.settings.values())
        return len(self.machines) * variants * len(self.users) * len(self.seeds)

    @property
    def batch_points(self) -> int:
        """Number of points in each batch; the last one may have fewer."""
        most_batches = MOST_BATCHES_OF_MANY if self.point_count > MANY_POINTS else MOST_BATCHES
        return self.batch or ceil(self.point_count / most_batches)

    @property
    def batch_count(self) -> int:
        """Number of batches."""
        return ceil(self.point_count / self.batch_points)

    def points_in(self, batches: Iterable[int]) -> int:
        """Number of points in these batches."""
        count, batch_points = self.point_count, self.batch_points
        return sum(min(batch_points, count - batch * batch_points) for batch in batches)

    def points(self, batch: int) -> Iterator[Point]:
        """The points of a batch. Seeds change first, then users, settings, and machines."""
        return (point for seed_run in self.seed_runs(batch) for point in seed_run.points())

    def seed_runs(self, batch: int) -> Iterator[SeedRun]:
        """The points of a batch, those that follow each other with one configuration together."""
        index = batch * self.batch_points
        end = min(index + self.batch_points, self.point_count)
        variant_count = prod(len(values) for values in self.settings.values())
        while index < end:
            configuration, seed = divmod(index, len(self.seeds))
            rest, users = divmod(configuration, len(self.users))
            machine, variant = divmod(rest, variant_count)
            seeds = self.seeds[seed : seed + end - index]
            yield SeedRun(index, machine, variant, self.users[users], seeds)
            index += len(seeds)


@dataclass(frozen=True)
class Point:
    """One simulation of a sweep."""

    index: int
    machine: int
    """The index of the machine in the grid."""
    variant: int
    """The index of the settings in the grid's variants."""
    users: int | None
    seed: int


@dataclass(frozen=True)
class SeedRun:
    """Points that follow each other and differ in their seeds alone. Tasks have these: points take longer to send."""

    first: int
    """The index of the first point."""
    machine: int
    variant: int
    users: int | None
    seeds: tuple[int, ...]

    def points(self) -> Iterator[Point]:
        """The points, each with its seed."""
        for index, seed in enumerate(self.seeds, self.first):
            yield Point(index, self.machine, self.variant, self.users, seed)
