"""A sweep in every format: its document with JSON and a chart; its points and its configurations as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgo.documents.presentation import Presentation
from loadgo.sweeping.columns import interval_columns
from loadgo.sweeping.document import sweep_document, sweep_json
from loadgo.sweeping.results import Configuration, Sweep

if TYPE_CHECKING:
    import polars as pl


def presentation(sweep: Sweep) -> Presentation:
    """The parts of a sweep."""
    return Presentation(
        lambda: sweep_document(sweep),
        lambda: sweep_json(sweep),
        {"points": lambda: sweep.scan().collect(), "configurations": lambda: _configurations(sweep)},
        answer=lambda: sweep.in_words,
        main_charts=("sweep",),
    )


def _configurations(sweep: Sweep) -> pl.DataFrame:
    """A row for each configuration, with the ends of each figure's interval. Times are in seconds."""
    import polars as pl

    return pl.DataFrame([_row(configuration) for configuration in sweep.configurations], infer_schema_length=None)


def _row(configuration: Configuration) -> dict[str, Any]:
    row: dict[str, Any] = {"machine": configuration.machine}
    row |= {f"set {key}": value for key, value in configuration.settings.items()}
    row |= {"users": configuration.users, "points": configuration.points, "problems": configuration.problems}
    for name, figure in configuration.figures.items():
        ends = (None, None) if figure.interval is None else (figure.interval.low, figure.interval.high)
        column = name if name in ("throughput", "busy", "errors") else f"{name}_s"
        low, high = interval_columns(column)
        row |= {column: figure.value, low: ends[0], high: ends[1], f"{name}_points": figure.points}
    return row
