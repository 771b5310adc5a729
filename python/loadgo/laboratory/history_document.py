"""A history as a document with its tables and chart, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document
from loadgo.documents.document import Charts, Document, SignPicture
from loadgo.documents.table import Column, Table
from loadgo.laboratory.history import History, HistoryChange, HistoryPoint
from loadgo.laboratory.history_words import (
    about,
    answer,
    apart_words,
    figure_words,
    further_answers,
    interval_words,
    notes,
    size_words,
    time_words,
    trust,
    warnings,
)
from loadgo.notation.figures import plain
from loadgo.reporting.lists.run_list import remarks_column
from loadgo.stats.change_points import FEWEST_VALUES

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

MOST_LISTED_RUNS = 10
"""Most runs in the table of a text. The chart, JSON and CSV have all."""
_LEVELS = "▁▂▃▄▅▆▇█"


def history_document(past: History) -> Document:
    """The document of a history."""

    def charts() -> list[Chart]:
        from loadgo.laboratory.history_charts import history_charts

        return history_charts(past)

    tables = [_changes_table(past)] if past.changes else []
    if past.groups:
        tables.append(_groups_table(past))
    return Document(
        title=f"{past.figure} over {len(past.points):,} runs",
        answer=answer(past),
        further_answers=further_answers(past),
        trust=trust(past),
        warnings=warnings(past),
        about=about(past),
        sections=(*tables, SignPicture("Run by run", lambda width: _strip(past, width)), Charts(charts), _runs(past)),
        notes=notes(past),
    )


def _changes_table(past: History) -> Table:
    changes = past.changes
    columns = [
        Column("first run after", tuple(plain(change.first_after.run.name) for change in changes), kind="name"),
        Column("before", tuple(figure_words(past.figure, change.level.before) for change in changes)),
        Column("after", tuple(figure_words(past.figure, change.level.after) for change in changes)),
        Column("change", tuple(size_words(past.figure, change).partition(" (")[0] for change in changes)),
        Column("95 % interval", tuple(interval_words(past.figure, change) for change in changes)),
        Column("verdict", tuple(_judged_word(change) for change in changes), kind="words", kept=True),
        Column("started", tuple(time_words(change.first_after) for change in changes), spare=2),
        Column(
            "last run before",
            tuple(plain(change.last_before.run.name) for change in changes),
            spare=1,
            kind="name",
        ),
        Column("time between", tuple(apart_words(change) for change in changes), spare=3),
    ]
    return Table("Changes", tuple(columns), name_width=None)


def _judged_word(change: HistoryChange) -> str:
    return "–" if change.direction == "neither" else change.direction


def _groups_table(past: History) -> Table:
    groups = past.groups
    values = [[point.value for point in group.points] for group in groups]
    columns = (
        Column(past.by, tuple(plain(group.name) for group in groups), kind="name"),
        Column("runs", tuple(f"{len(group.points):,}" for group in groups)),
        Column("median", tuple(figure_words(past.figure, group.median) for group in groups)),
        Column("least", tuple(figure_words(past.figure, min(row)) for row in values)),
        Column("most", tuple(figure_words(past.figure, max(row)) for row in values)),
        Column("first run", tuple(time_words(group.points[0]) for group in groups), spare=1),
        Column("last run", tuple(time_words(group.points[-1]) for group in groups), spare=1),
    )
    return Table(f"By {past.by}", columns, name_width=None)


def _runs(past: History) -> Table:
    """The newest runs, the newest first."""
    firsts = {change.first_after.run.name: change for change in past.changes}
    points = past.points[::-1][:MOST_LISTED_RUNS]
    title = f"The newest {len(points)} of {len(past.points):,} runs" if len(points) < len(past.points) else "Runs"
    marks = tuple(_judged_word(firsts[p.run.name]) if p.run.name in firsts else "" for p in points)
    columns = [
        Column("run", tuple(plain(point.run.name) for point in points), kind="name"),
        Column("started", tuple(time_words(point) for point in points)),
        Column(str(past.figure), tuple(figure_words(past.figure, point.value) for point in points)),
        Column("change", marks, kind="words"),
        remarks_column([point.remarks for point in points]),
        Column("loadgo", tuple(plain(point.run.version) for point in points), kind="words", spare=3),
        Column("kernel", tuple(plain(point.run.kernel) for point in points), kind="words", spare=2),
        Column("host", tuple(plain(point.run.host) for point in points), kind="words", spare=1),
    ]
    return Table(title, tuple(column for column in columns if any(column.cells)), name_width=None)


def _strip(past: History, width: int) -> list[str]:
    """A sign for each run, as high as its figure, and a mark under the first run after each change."""
    lines = []
    for series in past.series:
        points = series.points[-max(10, width - 2) :]
        values = [point.value for point in points]
        if not values:
            continue
        low, high = min(values), max(values)
        step = (high - low) / (len(_LEVELS) - 1) or 1.0
        marks = {change.first_after.run.name: "▲" for change in series.changes}
        host = [plain(series.host)] if len(past.series) > 1 else []
        lines += [*host, "".join(_LEVELS[round((value - low) / step)] for value in values)]
        if any(point.run.name in marks for point in points):
            lines.append("".join(marks.get(point.run.name, " ") for point in points).rstrip())
        lines.append(f"from {figure_words(past.figure, low)} (lowest) to {figure_words(past.figure, high)} (highest)")
    return lines


def history_json(past: History) -> str:
    """One JSON object in full precision. Times are in nanoseconds, and a change's size is relative where it can be."""
    members = {
        "answer": answer(past),
        "warnings": warnings(past),
        "bad": past.bad,
        "figure": str(past.figure),
        "dimension": past.figure.dimension,
        "runs_folder": past.folder,
        "like": past.like.name,
        "by": past.by,
        "since": past.since,
        "enough": any(series.enough for series in past.series),
        "fewest_runs": FEWEST_VALUES,
        "points": [_point(point) for point in past.points],
        "changes": [_change(change) for change in past.changes],
        "groups": [{"name": group.name, "runs": len(group.points), "median": group.median} for group in past.groups],
        "left_out": [{"reason": one.reason, "runs": one.names} for one in past.left_out],
    }
    return json_document(members, {})


def _point(point: HistoryPoint) -> dict[str, object]:
    run = point.run
    return {
        "run": run.name,
        "started": run.started,
        "host": run.host,
        "version": run.version,
        "kernel": run.kernel,
        "value": point.value,
    }


def _change(change: HistoryChange) -> dict[str, object]:
    level = change.level
    return {
        "first_run_after": change.first_after.run.name,
        "last_run_before": change.last_before.run.name,
        "host": change.host,
        "before": level.before,
        "after": level.after,
        "scale": level.scale,
        "size": level.size,
        "interval": None if level.interval is None else {"low": level.interval.low, "high": level.interval.high},
        "chance": level.chance,
        "direction": change.direction,
        "conditions": [{"name": one.name, "before": one.before, "after": one.after} for one in change.conditions],
    }
