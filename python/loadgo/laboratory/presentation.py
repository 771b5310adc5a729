"""A history in every format: its document with JSON, and its points, changes and runs left out as frames."""

from __future__ import annotations

import polars as pl

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.laboratory.history import History
from loadgo.laboratory.history_document import history_document, history_json
from loadgo.laboratory.history_words import answer

_POINT_COLUMNS = "run=run.name started=run.started host=run.host version=run.version kernel=run.kernel value"
_CHANGE_COLUMNS = (
    "first_run_after=first_after.run.name last_run_before=last_before.run.name host before=level.before "
    "after=level.after scale=level.scale size=level.size low=level.interval.low high=level.interval.high "
    "chance=level.chance direction"
)


def presentation(past: History) -> Presentation:
    """The parts of a history. Times in the frames are in nanoseconds."""
    return Presentation(
        lambda: history_document(past),
        lambda: history_json(past),
        {
            "points": lambda: _points(past),
            "changes": lambda: frame_of(past.changes, _CHANGE_COLUMNS),
            "left_out": lambda: frame_of(past.left_out, "reason runs=names"),
        },
        answer=lambda: answer(past),
    )


def _points(past: History) -> pl.DataFrame:
    """A row for each run. The first run after a change has the change's size and direction."""
    firsts = {change.first_after.run.name: change for change in past.changes}
    changes = [firsts.get(point.run.name) for point in past.points]
    return frame_of(past.points, _POINT_COLUMNS).with_columns(
        pl.Series("change", [change.level.size if change else None for change in changes], dtype=pl.Float64),
        pl.Series("direction", [change.direction if change else None for change in changes], dtype=pl.String),
    )
