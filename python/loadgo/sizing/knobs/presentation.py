"""A search over a limit in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.sizing.knobs.document import knob_document, knob_json
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.report.presentation import TRIAL_COLUMNS

if TYPE_CHECKING:
    import polars as pl


def presentation(result: KnobCapacity) -> Presentation:
    """The parts of a result."""
    return Presentation(
        lambda: knob_document(result),
        lambda: knob_json(result),
        {"points": lambda: _points(result), "trials": lambda: _trials(result)},
        answer=lambda: result.in_words,
        main_charts=("capacity-of-limit",),
    )


def _points(result: KnobCapacity) -> pl.DataFrame:
    columns = (
        "value standing interactions=figures.interactions trials=figures.trials p90_s=figures.response_s.p90.value"
    )
    return frame_of(result.points, f"{columns} mean_s=figures.response_s.mean.value")


def _trials(result: KnobCapacity) -> pl.DataFrame:
    import polars as pl

    return frame_of(result.each_trial, TRIAL_COLUMNS).with_columns(pl.Series("value", result.values, pl.Float64))
