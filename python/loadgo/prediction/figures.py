"""What a prediction comes to: each figure with the interval of another run, and what part of it is the parameters'.

The machine is run K times as it was fitted and K times with parameters drawn anew, with the same seeds: a pair types
the same and draws the same, so that the ratio of its two figures is the parameters' doing, nearly free of chance. The
spread of the runs as fitted is chance. Spreads are of logarithms, and of so few runs Student's t: a further run lies
within t(K - 1) s sqrt(1 + 1/K) of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from loadgo.records.interactions import CPU_NS, CYCLE_NS
from loadgo.records.phases import classified_in, stretch_of
from loadgo.records.prediction import ALL, OF_COMMANDS, QUANTILES, Foreseen
from loadgo.stats.resample import INTERVAL_CONFIDENCE, Floats, Interval

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_LATE, _LAST = ("cpu", *QUANTILES), ("cpu", "throughput")
"""The mean response comes first, then its quantiles; what is not response comes last."""

Key = tuple[str, str]
"""A command and a measure, as comparisons call them: times in nanoseconds, throughput a second."""
Figures = Mapping[Key, float]


def figures_of(tables: Tables, phases: str) -> Figures:
    """The figures of a run: of its steady part, or of all of it; those that it does not have are left out."""
    stretch = stretch_of(tables, phases)
    rows = classified_in(tables, stretch).with_columns(
        command=pl.col("command").cast(pl.String),
        cpu=CPU_NS.cast(pl.Float64),
        response=pl.col("response_ns").cast(pl.Float64),
        cycle=CYCLE_NS.cast(pl.Float64),
    )
    each = rows.group_by("command", maintain_order=True).agg(*(pl.col(name).mean() for name in OF_COMMANDS))
    found = {(str(row["command"]), name): row[name] for row in each.iter_rows(named=True) for name in OF_COMMANDS}
    whole = {name: rows[name].mean() for name in OF_COMMANDS}
    answered = rows["response"].fill_null(np.inf)
    whole |= {name: answered.quantile(share, "linear") for name, share in QUANTILES.items()}
    cycle = rows["cycle"].mean()
    if isinstance(cycle, float) and cycle > 0:
        whole["throughput"] = rows["user"].n_unique() * 1e9 / cycle
    found |= {(ALL, name): value for name, value in whole.items()}
    return {key: value for key, value in found.items() if isinstance(value, float) and 0 < value < np.inf}


def foreseen_of(fitted: Sequence[Figures], drawn: Sequence[Figures]) -> tuple[Foreseen, ...]:
    """Each figure that all runs have, from those of the machine as fitted and of each one's partner as drawn."""
    everywhere = [key for key in fitted[0] if all(key in one for one in (*fitted, *drawn))]
    everywhere.sort(key=lambda key: (key[0] != ALL, key[1] in _LAST, key[1] in _LATE))
    return tuple(_foreseen(key, *(np.array([one[key] for one in of]) for of in (fitted, drawn))) for key in everywhere)


def _foreseen(key: Key, fitted: Floats, drawn: Floats) -> Foreseen:
    return Foreseen(
        command=key[0],
        measure=key[1],
        predicted=float(fitted.mean()),
        interval=_further(np.log(drawn)),
        doubt=_further(np.log(drawn / fitted)),
        chance=_further(np.log(fitted / fitted.mean())),
    )


def _further(logs: Floats) -> Interval:
    """In which one more of them would lie, as a factor."""
    from scipy import stats

    count = len(logs)
    half = float(stats.t.ppf((1 + INTERVAL_CONFIDENCE) / 2, count - 1) * logs.std(ddof=1) * np.sqrt(1 + 1 / count))
    middle = float(logs.mean())
    return Interval(float(np.exp(middle - half)), float(np.exp(middle + half)))
