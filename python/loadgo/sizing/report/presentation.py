"""A capacity in every format: its document with JSON and charts, and its curve and trials as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.sizing.report.document import capacity_document, capacity_json
from loadgo.sizing.search.results import Capacity

if TYPE_CHECKING:
    import polars as pl

_POINT_COLUMNS = (
    "users seconds interactions trials throughput=throughput.value throughput_low=throughput.interval.low "
    "throughput_high=throughput.interval.high mean_s=response_s.mean.value mean_low_s=response_s.mean.interval.low "
    "mean_high_s=response_s.mean.interval.high p50_s=response_s.p50.value p90_s=response_s.p90.value "
    "p90_low_s=response_s.p90.interval.low p90_high_s=response_s.p90.interval.high p95_s=response_s.p95.value "
    "p99_s=response_s.p99.value think_s busy=utilisation.processors users_cpu_s others cost_user_hour "
    "faults_a_command steady lost valid runs"
)
TRIAL_COLUMNS = "users name seconds interactions standing others used valid why cut_short interrupted censored late"
"""Columns of a frame of trials."""


def presentation(capacity: Capacity) -> Presentation:
    """The parts of a capacity."""
    return Presentation(
        lambda: capacity_document(capacity),
        lambda: capacity_json(capacity),
        {
            "points": lambda: _points(capacity),
            "trials": lambda: frame_of(capacity.each_trial, TRIAL_COLUMNS),
        },
        answer=lambda: capacity.headline,
        main_charts=("capacity-response",),
    )


def _points(capacity: Capacity) -> pl.DataFrame:
    """The measured points. A column named like a target has its standing: `met`, `missed` or `open`."""
    import polars as pl

    standings = [
        pl.Series(target.text, [point.verdicts[i].standing for point in capacity.points], dtype=pl.String)
        for i, target in enumerate(capacity.targets)
    ]
    return frame_of(capacity.points, _POINT_COLUMNS).with_columns(standings)
