"""All figures of a likeness: for each class of users, for each command, and for all users together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.observation.figures_file import FiguresDescription
from loadgo.observation.likeness.compared import (
    FEWEST_VALUES,
    Place,
    compared_correlation,
    compared_distribution,
    compared_figure,
    compared_mix,
    compared_values,
    mean_replicates,
    values_of,
)
from loadgo.observation.likeness.results import (
    ComparedCorrelation,
    ComparedDistribution,
    ComparedFigure,
    ComparedMix,
    Curve,
    FiguresOf,
    Measure,
)
from loadgo.observation.likeness.rows import SideRows, successive
from loadgo.observation.likeness.user_rates import compared_rates

_COMMAND_MEASURES: tuple[tuple[FiguresOf, Measure, str], ...] = (
    ("script", "processor time", "cpu_ns"),
    ("script", "page faults", "faults"),
    ("script", "bytes read", "read_bytes"),
    ("script", "bytes written", "written_bytes"),
    ("script", "processes", "processes"),
    ("host", "response time", "elapsed_ns"),
)
"""The figures of a command. A response depends on what else the host does, and all others on the script alone."""
_FEWEST_PAUSES = 20
"""Fewest pauses after a command that has think times of its own, as in a script."""
_MOST_CORRELATED_COMMANDS = 12
_MOST_CURVES = 4
"""Number of frequent commands with curves."""
_PROBABILITIES = tuple(float(share) for share in np.linspace(0.01, 0.99, 99).round(2))


@dataclass(frozen=True)
class Sides:
    """Both sides, with the margin."""

    observed: SideRows
    run: SideRows
    description: FiguresDescription
    margin: float

    @property
    def class_names(self) -> list[str]:
        """The classes that are on both sides, as a figure names them: a single one has no name."""
        names = [each.name for each in self.description.classes]
        return names if len(names) > 1 else [""]

    def of_class(self, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows of a class on both sides; all if it has no name."""
        chosen = pl.col("class") == name if name else pl.lit(True)
        return self.observed.rows.filter(chosen), self.run.rows.filter(chosen)


def compared_figures(sides: Sides) -> Iterator[ComparedFigure]:
    """The figures of sessions, of users, and of commands."""
    for name in sides.class_names:
        yield from _think_figures(sides, name)
        yield from _session_figures(sides, name)
    for name, command, observed, run in _commands(sides):
        for depends_on, measure, column in _COMMAND_MEASURES:
            values = values_of(observed, column), values_of(run, column)
            if min(len(side.values) for side in values):
                most = values_of(observed, "cpu_most_ns") if column == "cpu_ns" else None
                place = Place(depends_on, name, command, measure)
                yield from compared_values(place, *values, sides.margin, most)
    all_users = [""] if _has_think_times_of_all(sides) else []
    for name in dict.fromkeys([*sides.class_names, *all_users]):
        yield from compared_rates(name, sides.observed, sides.run, sides.margin)


def _has_think_times_of_all(sides: Sides) -> bool:
    """Whether the think times of each class are known: the others say nothing about a class without."""
    return all(rows["think_ns"].count() for name in sides.class_names for rows in sides.of_class(name))


def _think_figures(sides: Sides, name: str) -> Iterator[ComparedFigure]:
    """The think times of a class, and those after each of its commands."""
    values = [values_of(rows, "think_ns") for rows in sides.of_class(name)]
    if min(len(side.values) for side in values):
        yield from compared_values(Place("script", name, "", "think time"), values[0], values[1], sides.margin)
    if not sides.description.is_ordered:
        return
    pairs = [successive(SideRows(rows, 0.0)).filter(pl.col("think_ns").is_not_null()) for rows in sides.of_class(name)]
    for command in _most_frequent(pairs[0], "before"):
        after = [values_of(rows.filter(pl.col("before") == command), "think_ns") for rows in pairs]
        if min(len(side.values) for side in after) >= _FEWEST_PAUSES:
            place = Place("script", name, command, "think time")
            yield from compared_values(place, after[0], after[1], sides.margin)


def _session_figures(sides: Sides, name: str) -> Iterator[ComparedFigure]:
    """The commands of a session. Each session of the script has the same number, which the script says."""
    each = next(each for each in sides.description.classes if name in ("", each.name))
    if sides.of_class(name)[1].is_empty():
        return
    counts = sides.of_class(name)[0].group_by("session", maintain_order=True).len()
    observed = values_of(counts.with_columns(pl.col("len").cast(pl.Float64)), "len")
    means = mean_replicates(observed, 0)
    run = np.full(len(means), float(each.commands_per_session))
    yield compared_figure(
        Place("script", name, "", "commands in a session"),
        "mean",
        (len(observed.values), sides.of_class(name)[1]["session"].n_unique()),
        (means, means, run),
        (observed.units, observed.units),
        sides.margin,
    )


def _commands(sides: Sides) -> Iterator[tuple[str, str, pl.DataFrame, pl.DataFrame]]:
    """The commands of each class, the most frequent first, with their rows on both sides."""
    for name in sides.class_names:
        rows = sides.of_class(name)
        for command in _most_frequent(rows[0], "command"):
            observed, run = (side.filter(pl.col("command") == command) for side in rows)
            yield name, command, observed, run


def _most_frequent(rows: pl.DataFrame, column: str) -> list[str]:
    counts = rows.group_by(column).len().sort(["len", column], descending=[True, False])
    return [str(name) for name in counts[column]]


def compared_mixes(sides: Sides) -> Iterator[ComparedMix]:
    for name in sides.class_names:
        observed, run = sides.of_class(name)
        mixes = [compared_mix(name, "commands", observed, run, sides.margin)]
        if sides.description.is_ordered:
            pairs = successive(SideRows(observed, 0.0)), successive(SideRows(run, 0.0))
            mixes.append(compared_mix(name, "pairs of commands", pairs[0], pairs[1], sides.margin))
        yield from (mix for mix in mixes if mix is not None)


def compared_distributions(sides: Sides) -> Iterator[ComparedDistribution]:
    for name in sides.class_names:
        rows = sides.of_class(name)
        yield from _distance(Place("script", name, "", "think time"), rows, "think_ns")
    for name, command, observed, run in _commands(sides):
        for depends_on, measure, column in _COMMAND_MEASURES:
            yield from _distance(Place(depends_on, name, command, measure), (observed, run), column)


def _distance(place: Place, rows: tuple[pl.DataFrame, pl.DataFrame], column: str) -> Iterator[ComparedDistribution]:
    observed, run = (values_of(side, column) for side in rows)
    if min(len(observed.values), len(run.values)) >= FEWEST_VALUES:
        most = values_of(rows[0], "cpu_most_ns") if column == "cpu_ns" else None
        found = compared_distribution(place, observed, run, most)
        if found is not None:
            yield found


def compared_correlations(sides: Sides) -> Iterator[ComparedCorrelation]:
    commands = sorted(_commands(sides), key=lambda found: -len(found[2]))[:_MOST_CORRELATED_COMMANDS]
    for name, command, observed, run in commands:
        for column in ("faults", "waiting_ns"):
            place = Place("script", name, command, "processor time")
            found = compared_correlation(place, column, observed, run)
            if found is not None:
                yield found


def quantile_curves(sides: Sides) -> Iterator[Curve]:
    """The quantiles of the think times of each class, and of the most frequent commands."""
    for name in sides.class_names:
        yield from _curve(Place("script", name, "", "think time"), sides.of_class(name), "think_ns")
    commands = sorted(_commands(sides), key=lambda found: -len(found[2]))[:_MOST_CURVES]
    for name, command, observed, run in commands:
        for measure, column in (("processor time", "cpu_ns"), ("page faults", "faults")):
            place = Place("script", name, command, measure)  # type: ignore[arg-type]
            yield from _curve(place, (observed, run), column)


def _curve(place: Place, rows: tuple[pl.DataFrame, pl.DataFrame], column: str) -> Iterator[Curve]:
    values = [values_of(side, column).values for side in rows]
    if min(map(len, values)) >= FEWEST_VALUES and max(float(side.max()) for side in values) > 0:
        observed, run = (tuple(map(float, np.quantile(side, _PROBABILITIES))) for side in values)
        yield Curve(place.user_class, place.command, place.measure, _PROBABILITIES, observed, run)
