"""The figures of a prediction: the interval in which another run lies, and the parts of the parameters and of chance.

The machine is run K times as fitted and K times with drawn parameters. Both runs of a pair have the same seed, so the
users type the same and the machine draws the same. The ratio of the pair's figures then comes from the parameters,
nearly free of chance. The spread of the runs as fitted is chance.

Spreads are those of logarithms, by Student's t: another run lies within t(K - 1) s sqrt(1 + 1/K) of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.records.conditions import has_open_load
from loadgo.records.interactions import CPU_NS, CYCLE_NS
from loadgo.records.phases import classified_in, stretch_of
from loadgo.records.prediction import ALL_COMMANDS, COMMAND_MEASURES, PREDICTED_QUANTILES, PredictedFigure
from loadgo.stats.resample import Floats, Interval
from loadgo.stats.student import student_reach

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_MEASURE_ORDER = ("response", *PREDICTED_QUANTILES, "cpu", "throughput")
"""The order of the figures of one command."""

FigureKey = tuple[str, str]
"""A command (empty for all) and a measure of comparisons. Times are in nanoseconds, throughput is per second."""
FiguresByKey = Mapping[FigureKey, float]


def figures_of(tables: Tables, phases: str) -> FiguresByKey:
    """The figures of a run's `phases`, `steady` or `all`. A figure that the run does not have is left out."""
    stretch = stretch_of(tables, phases)
    rows = classified_in(tables, stretch).with_columns(
        command=pl.col("command").cast(pl.String),
        cpu=CPU_NS.cast(pl.Float64),
        response=pl.col("response_ns").cast(pl.Float64),
        cycle=CYCLE_NS.cast(pl.Float64),
    )
    by_command = rows.group_by("command", maintain_order=True).agg(*(pl.col(name).mean() for name in COMMAND_MEASURES))
    figures = {
        (str(row["command"]), name): row[name] for row in by_command.iter_rows(named=True) for name in COMMAND_MEASURES
    }
    figures |= {(ALL_COMMANDS, name): rows[name].mean() for name in COMMAND_MEASURES}
    responses = rows["response"].fill_null(np.inf)
    figures |= {
        (ALL_COMMANDS, name): responses.quantile(share, "linear") for name, share in PREDICTED_QUANTILES.items()
    }
    cycle = rows["cycle"].mean()
    if has_open_load(tables.conditions):  # its users are there for a part of the time
        figures[ALL_COMMANDS, "throughput"] = stretch.per_second
    elif isinstance(cycle, float) and cycle > 0:
        figures[ALL_COMMANDS, "throughput"] = rows["user"].n_unique() * 1e9 / cycle
    return {key: value for key, value in figures.items() if isinstance(value, float) and 0 < value < np.inf}


def predicted_figures(fitted: Sequence[FiguresByKey], drawn: Sequence[FiguresByKey]) -> tuple[PredictedFigure, ...]:
    """Each figure that all runs have, from the runs as fitted and their partners with drawn parameters."""
    keys = [key for key in fitted[0] if all(key in figures for figures in (*fitted, *drawn))]
    keys.sort(key=lambda key: (key[0] != ALL_COMMANDS, _MEASURE_ORDER.index(key[1])))
    return tuple(
        _predicted_figure(key, *(np.array([figures[key] for figures in runs]) for runs in (fitted, drawn)))
        for key in keys
    )


def _predicted_figure(key: FigureKey, fitted: Floats, drawn: Floats) -> PredictedFigure:
    return PredictedFigure(
        command=key[0],
        measure=key[1],
        predicted=float(fitted.mean()),
        interval=_prediction_interval(np.log(drawn)),
        doubt=_prediction_interval(np.log(drawn / fitted)),
        chance=_prediction_interval(np.log(fitted / fitted.mean())),
    )


def _prediction_interval(logs: Floats) -> Interval:
    """The interval in which one more value is expected, from the logarithms of independent values."""
    count = len(logs)
    half = float(student_reach(count - 1) * logs.std(ddof=1) * np.sqrt(1 + 1 / count))
    middle = float(logs.mean())
    return Interval(float(np.exp(middle - half)), float(np.exp(middle + half)))
