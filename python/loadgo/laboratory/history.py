"""The history of a figure over the runs of a laboratory: its values in the order of time, and where its level changed.

Only runs that are like each other make a history: the same script, users, system, host and log-in. Every other run is
left out, with the reason. Versions and kernels may differ, since a history is to show what they did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from loadgo.documents.result import Result
from loadgo.errors import BadArgument, BadRun, LoadgoError
from loadgo.laboratory.laboratory_runs import LaboratoryRun
from loadgo.laboratory.run_figures import StoredFigures
from loadgo.laboratory.run_index import Progress, RunIndex, open_index
from loadgo.measures.fail_if_figures import CONDITION_FIGURES
from loadgo.notation.comparisons import Figures, NamedFigure, parse_figure
from loadgo.records.conditions import DifferingCondition, conditions_of, differing_conditions, is_measured_condition
from loadgo.records.runs import runs_folder
from loadgo.records.tables import read_conditions
from loadgo.stats.change_points import FEWEST_VALUES, LevelChange, change_points

Order = Literal["date", "version", "host", "kernel"]
HISTORY_ORDERS: tuple[Order, ...] = get_args(Order)
Direction = Literal["worse", "better", "neither"]

_FIGURES = Figures("figure", CONDITION_FIGURES.of_commands, CONDITION_FIGURES.of_run)
_MORE_IS_BETTER = frozenset({"throughput"})
_NEITHER_WAY = frozenset({"count"})
"""Figures of which more is neither better nor worse."""
_OF_FITNESS = frozenset({"lost", "lateness_p50", "lateness_p99", "lateness_max"})
"""Figures that say whether a run measures its system. Their history has the runs that do not."""
_LIKENESS: Mapping[str, Callable[[LaboratoryRun], object]] = {
    "script": lambda run: run.script,
    "text of the script": lambda run: run.script_mark,
    "users": lambda run: run.users,
    "system": lambda run: run.system,
    "host": lambda run: run.host,
    "log-in": lambda run: run.login,
}
"""The values that runs have in common when they are like each other."""
_GROUP_KEYS: Mapping[Order, Callable[[LaboratoryRun], str]] = {
    "version": lambda run: run.version,
    "host": lambda run: run.host or run.system,
    "kernel": lambda run: run.kernel,
}


@dataclass(frozen=True)
class HistoryPoint:
    """The figure of one run."""

    run: LaboratoryRun
    value: float
    remarks: str = ""
    """The limits of the run's users, and reasons to doubt its figures, as in `run_remarks`."""


@dataclass(frozen=True)
class HistoryChange:
    """A change of the figure's level, between two runs that follow each other."""

    host: str
    """The host or machine whose runs changed."""
    last_before: HistoryPoint
    first_after: HistoryPoint
    level: LevelChange
    direction: Direction
    conditions: tuple[DifferingCondition, ...]
    """The conditions that differ between the two runs, without those that the host's state gives."""


@dataclass(frozen=True)
class HistorySeries:
    """The runs of one host or machine, in the order of time, and their changes."""

    host: str
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...]

    @property
    def enough(self) -> bool:
        """Whether there are enough runs for a change to be found."""
        return len(self.points) >= FEWEST_VALUES


@dataclass(frozen=True)
class HistoryGroup:
    """The runs with the same version, host or kernel."""

    name: str
    points: tuple[HistoryPoint, ...]

    @property
    def median(self) -> float:
        """The median of the figure."""
        return float(np.median([point.value for point in self.points]))


@dataclass(frozen=True)
class LeftOutRuns:
    """Runs that are in no history, with the same reason."""

    reason: str
    names: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class History(Result, presented_by="loadgo.laboratory.presentation:presentation"):
    """A figure over the runs of a laboratory."""

    figure: NamedFigure
    folder: Path
    like: LaboratoryRun
    """The run that the others are like: the newest with the figure, or the chosen one."""
    by: Order
    series: tuple[HistorySeries, ...]
    """A series for each host. Unless the history is by host, there is one."""
    left_out: tuple[LeftOutRuns, ...]
    since: datetime | None = None
    """The moment from which on changes count; None where only the newest change counts."""

    @property
    def points(self) -> tuple[HistoryPoint, ...]:
        """All points, in the order of time."""
        return tuple(sorted((point for one in self.series for point in one.points), key=_point_order))

    @property
    def changes(self) -> tuple[HistoryChange, ...]:
        """All changes, in the order of time."""
        return tuple(
            sorted((change for one in self.series for change in one.changes), key=lambda c: _point_order(c.first_after))
        )

    @property
    def judged_changes(self) -> tuple[HistoryChange, ...]:
        """The changes that decide: all since `since`, or the newest of each host."""
        if self.since is None:
            return tuple(one.changes[-1] for one in self.series if one.changes)
        limit_s = self.since.timestamp()
        return tuple(change for change in self.changes if change.first_after.run.start_s >= limit_s)

    @property
    def bad(self) -> bool:
        """Whether one of the changes that decide is for the worse."""
        return any(change.direction == "worse" for change in self.judged_changes)

    @property
    def groups(self) -> tuple[HistoryGroup, ...]:
        """The points by version, host or kernel, in the order of their first runs. None by date."""
        if self.by == "date":
            return ()
        points_by_name: dict[str, list[HistoryPoint]] = {}
        for point in self.points:
            points_by_name.setdefault(_GROUP_KEYS[self.by](point.run) or "not known", []).append(point)
        return tuple(HistoryGroup(name, tuple(points)) for name, points in points_by_name.items())


def history(
    figure: str,
    *,
    runs: str | Path | None = None,
    by: Order = "date",
    like: str | None = None,
    since: str | None = None,
    progress: Progress | None = None,
) -> History:
    """A figure over the runs of a folder, with the places where its level changed.

        past = loadgo.history("p90(compile)")
        print(past.bad, [change.first_after.run.name for change in past.changes])

    Args:
        figure: A figure as in a condition of `fail_if`, without a limit: `p90(compile)`, `errors`, `throughput`.
        runs: The folder of runs. By default `$LOADGO_RUNS`, or `runs` in the current folder.
        by: `date` has all runs in a row. `version`, `host` and `kernel` also sum them up by that condition; by `host`,
            runs of other hosts are in the history, and changes are looked for on each host by itself.
        like: The name of a run. The history has the runs that are like it: the same script with the same text, users,
            system, host and log-in. By default the newest run that has the figure.
        since: A date, such as `2026-11-01`, or the name of a run. All changes from then on decide whether the history
            is bad, and not only the newest change.
        progress: A function that is called while runs are read, with the number of runs read and to read.

    Returns:
        A `History`: points, changes with their size and interval, runs that were left out and why, and `bad`, whether a
        change that counts is for the worse.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.BadRun: The folder cannot be read, or no run in it has the figure.
    """
    named = parse_figure(figure, _FIGURES)
    if by not in HISTORY_ORDERS:
        raise BadArgument(f"`by={by}`: write one of {', '.join(HISTORY_ORDERS)}").about("by")
    index = open_index(Path(runs) if runs is not None else runs_folder())
    return history_in(index, named, by=by, like=like, since=since, progress=progress)


def parsed_figure(text: str) -> NamedFigure:
    """The figure that `text` names. Raises `ConditionError` for a mistake."""
    return parse_figure(text, _FIGURES)


def history_in(
    index: RunIndex,
    figure: NamedFigure,
    *,
    by: Order = "date",
    like: str | None = None,
    since: str | None = None,
    progress: Progress | None = None,
) -> History:
    """The history of a figure over the runs of an index. The arguments and errors are those of `history`."""
    index.read_all()
    since_moment = _moment(since, index)
    runs, left_out = _whole_runs(index)
    model = _model_run(index, runs, figure, like)
    index.read_figures(tuple(run for run in runs if not _unlike(run, model, by)), progress)
    points: list[HistoryPoint] = []
    for run in sorted(runs, key=_run_order):
        reason = _unlike(run, model, by) or _unfit(index.figures(run), figure)
        if reason:
            left_out.setdefault(reason, []).append(run.name)
        else:
            points.append(_point(run, index.figures(run), figure))
    if not points:
        reason = _unfit(index.figures(model), figure)
        raise BadRun(f"no completed run that is like {model.name} has the figure: {reason or figure}")
    hosts = dict.fromkeys(_GROUP_KEYS["host"](point.run) for point in points)
    series = tuple(
        _series(host, [point for point in points if _GROUP_KEYS["host"](point.run) == host], figure) for host in hosts
    )
    reasons = tuple(LeftOutRuns(reason, tuple(names)) for reason, names in left_out.items())
    return History(figure, index.folder, model, by, series, reasons, since_moment)


def _point(run: LaboratoryRun, figures: StoredFigures, figure: NamedFigure) -> HistoryPoint:
    return HistoryPoint(run, figures.value(figure) or 0.0, figures.remarks)


def _whole_runs(index: RunIndex) -> tuple[tuple[LaboratoryRun, ...], dict[str, list[str]]]:
    """The runs that were completed, and the names of the others by the reason why they are left out."""
    runs: list[LaboratoryRun] = []
    left_out: dict[str, list[str]] = {}
    for run in index.runs:
        if run.damage:
            left_out.setdefault("cannot be read", []).append(run.name)
        elif run.experiment:
            left_out.setdefault("part of an experiment", []).append(run.name)
        elif run.kind != "run":
            left_out.setdefault("no load", []).append(run.name)
        elif run.outcome != "done":
            left_out.setdefault(f"outcome {run.outcome}", []).append(run.name)
        else:
            runs.append(run)
    return tuple(runs), left_out


def _model_run(index: RunIndex, runs: Sequence[LaboratoryRun], figure: NamedFigure, like: str | None) -> LaboratoryRun:
    """The run that the others must be like."""
    if like is not None:
        chosen = index.run(like)
        if chosen is None or chosen.damage:
            raise BadArgument(f"`like={like}`: there is no run of this name in {index.folder}").about("like")
        return chosen
    for run in runs:
        if not _unfit(index.figures(run), figure):
            return run
    raise BadRun(f"no run in {index.folder} has {figure}: {_known_commands(index, runs)}")


def _known_commands(index: RunIndex, runs: Sequence[LaboratoryRun]) -> str:
    if not runs:
        return "there is no completed run in it"
    names = sorted({name for run in runs for name in index.figures(run).commands})
    return f"its runs have the commands {', '.join(names)}" if names else "no interaction was measured in them"


def _unlike(run: LaboratoryRun, model: LaboratoryRun, by: Order) -> str:
    """The reason why a run is unlike the model; empty for a run that is like it."""
    for name, value in _LIKENESS.items():
        if value(run) != value(model) and not (by == "host" and name == "host"):
            return f"another {name}" if name != "users" else "another number of users"
    return ""


def _unfit(figures: StoredFigures, figure: NamedFigure) -> str:
    """The reason why a run has no point; empty for a run that has one."""
    if figures.damage:
        return "its tables cannot be read"
    value = figures.value(figure)
    if value is None:
        return f"{figure} is not known: too few samples, or not measured"
    if math.isinf(value):
        return f"{figure} is never: too many lines were not answered"
    return "" if figure.name in _OF_FITNESS else figures.unfit


def _series(host: str, points: list[HistoryPoint], figure: NamedFigure) -> HistorySeries:
    values = np.array([point.value for point in points], dtype=np.float64)
    changes = tuple(
        HistoryChange(
            host,
            points[level.index - 1],
            points[level.index],
            level,
            _direction(figure, level.size),
            _differing(points[level.index - 1].run, points[level.index].run),
        )
        for level in change_points(values)
    )
    return HistorySeries(host, tuple(points), changes)


def _direction(figure: NamedFigure, size: float) -> Direction:
    if figure.name in _NEITHER_WAY:
        return "neither"
    return "better" if (size > 0) == (figure.name in _MORE_IS_BETTER) else "worse"


def _differing(before: LaboratoryRun, after: LaboratoryRun) -> tuple[DifferingCondition, ...]:
    """The conditions that differ between two runs, loadgo's version too, without those that were measured."""
    try:
        sides = [conditions_of(run.folder, read_conditions(run.folder)) for run in (before, after)]
    except (OSError, ValueError, TypeError, AttributeError, LoadgoError):
        return ()
    versions = [{"loadgo": run.version} for run in (before, after)]
    differing = differing_conditions(versions[0] | sides[0], versions[1] | sides[1])
    return tuple(one for one in differing if not is_measured_condition(one.name) and one.name != "seed")


def _moment(since: str | None, index: RunIndex) -> datetime | None:
    """The moment that `since` names: a date, a time, or the start of a run."""
    if since is None:
        return None
    run = index.run(since)
    if run is not None and run.started is not None:
        return run.started
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        raise BadArgument(
            f"`since={since}`: write a date, such as 2026-11-01, or the name of a run in {index.folder}"
        ).about("since") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _run_order(run: LaboratoryRun) -> tuple[float, str]:
    return run.start_s, run.name


def _point_order(point: HistoryPoint) -> tuple[float, str]:
    return _run_order(point.run)
