"""The result of a sweep: its configurations, each a machine with settings and users, with figures over all seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.documents.result import Result
from loadgo.errors import BadRun
from loadgo.stats.interval import Interval
from loadgo.sweeping.folder import POINTS_FOLDER

# Not at run time: `loadgo.sweep` starts its workers before Polars is imported.
if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SweepFigure:
    """A figure of a configuration: the mean over its points, with a 95 % interval."""

    value: float
    interval: Interval | None
    """From the scatter of the seeds; with one seed, that of its point. None if it is not known."""
    points: int
    """Number of points that have the figure; the mean leaves out the others."""
    never: int = 0
    """Number of these where so many lines had no answer that the quantile has no time; then `value` is infinite."""


@dataclass(frozen=True)
class Configuration:
    """A machine with settings and a number of users, over all seeds."""

    machine: str
    settings: Mapping[str, str]
    users: int | None
    """None for the number in the machine's own load."""
    points: int
    """Number of points that are done."""
    problems: int
    """Number of these that could not be computed."""
    figures: Mapping[str, SweepFigure]
    """The figures that are known, by name: `mean`, `p50`, `p90`, `p95`, `p99`, `throughput`, `busy`, `errors`."""

    def points_without(self, measure: str) -> int:
        """Number of computed points that do not have this figure."""
        having = self.figures[measure].points if measure in self.figures else 0
        return self.points - self.problems - having


@dataclass(frozen=True, repr=False)
class Sweep(Result, presented_by="loadgo.sweeping.presentation:presentation"):
    """A sweep, or a part of it: its folder, and each configuration with its figures."""

    folder: Path
    title: str
    script: str | None
    measure: str
    """The figure of the answer and of the chart."""
    part: str
    """The part, such as `3/40`; empty for the whole sweep."""
    points_expected: int
    """Number of points of the sweep, or of its part."""
    points: int
    """Number of points that are done."""
    configurations: tuple[Configuration, ...]
    problems: tuple[str, ...]
    """The first reasons why points could not be computed, each once."""
    repeated: int = 0
    """Number of batches that were computed again, since a worker ended in them."""
    stopped: bool = False
    """Whether an interrupt ended the sweep before all points were done."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fits of the machines."""
    in_words: str = ""
    """The answer."""
    conditions: str = ""
    """The seeds and the length of each simulation, in words."""

    @property
    def problem_count(self) -> int:
        """Number of points that could not be computed."""
        return sum(configuration.problems for configuration in self.configurations)

    def points_without(self, measure: str) -> int:
        """Number of computed points that do not have this figure."""
        return sum(configuration.points_without(measure) for configuration in self.configurations)

    @property
    def bad(self) -> bool:
        """Whether points could not be computed."""
        return self.problem_count > 0

    def scan(self) -> pl.LazyFrame:
        """All points, read when they are needed: a row for each, with the figures and their intervals."""
        return scan_points(self.folder)

    def _line(self) -> str:
        return self.in_words


def scan_points(folder: Path) -> pl.LazyFrame:
    """The points of a sweep's folder that are done, in order. They are read when they are needed."""
    import polars as pl

    files = point_files(folder)
    return pl.scan_parquet(files, glob=False) if files else pl.LazyFrame(schema={"point": pl.UInt32()})


def point_files(folder: Path) -> list[Path]:
    """The files of the batches that are done, by number."""
    files = [path for path in (folder / POINTS_FOLDER).glob("*.parquet") if path.stem.isdecimal()]
    return sorted(files, key=lambda path: int(path.stem))


@contextmanager
def damage_named(folder: Path) -> Iterator[None]:
    """Turns the error of a file of points that cannot be read into `BadRun`, which names the file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        for path in point_files(folder):
            try:
                pl.read_parquet(path, glob=False)
            except (pl.exceptions.PolarsError, OSError) as damage:
                raise BadRun(
                    f"cannot read {path}: {damage}. Remove the file, and the same sweep runs its simulations again"
                ) from error
        raise
