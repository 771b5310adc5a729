"""Rates of a user: commands a minute, processors used, and processes that run or want to run.

By Little's law a rate of a user is a mean of a command over the mean time from one command to the next. That is think
time, typing and elapsed time. So a user of the script is compared with a person at work, not with an idle session.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from loadgo.observation.likeness.compared import Place, compared_figure
from loadgo.observation.likeness.results import ComparedFigure, LoadOfSide, Measure
from loadgo.observation.likeness.rows import SideRows
from loadgo.stats.distances import DISTANCE_REPLICATES
from loadgo.stats.resample import Floats, drawn, grouped

_SEEDS = (1945, 1961)
_MINUTE_NS = 60e9


def compared_rates(user_class: str, observed: SideRows, run: SideRows, margin: float) -> list[ComparedFigure]:
    """The rates of a class's users, or of all; none without think times or elapsed times on both sides."""
    sides = [_of_class(side.rows, user_class) for side in (observed, run)]
    if any(rows.is_empty() for rows in sides):
        return []
    rates = [_rates(rows, seed) for rows, seed in zip(sides, _SEEDS, strict=True)]
    units = tuple(rows["session"].n_unique() for rows in sides)
    counts = (len(sides[0]), len(sides[1]))
    return [
        compared_figure(
            Place("host", user_class, "", measure),
            "mean",
            counts,
            (rates[0][measure], rates[0].get(f"{measure} at most", rates[0][measure]), rates[1][measure]),
            (units[0], units[1]),
            margin,
        )
        for measure in _MEASURES
        if measure in rates[0] and measure in rates[1]
    ]


_MEASURES: tuple[Measure, ...] = ("commands a minute", "processors used", "running or ready")


def _of_class(rows: pl.DataFrame, user_class: str) -> pl.DataFrame:
    return rows.filter(pl.col("class") == user_class) if user_class else rows


def _rates(rows: pl.DataFrame, seed: int) -> dict[str, Floats]:
    """The rates that are known, each in the sample and in the resamples of its sessions."""
    means = _means(rows, seed)
    if "think_ns" not in means or "elapsed_ns" not in means:
        return {}
    cycle_ns = means["think_ns"] + means["elapsed_ns"] + means.get("typing_ns", 0.0)
    if not np.all(cycle_ns > 0):
        return {}
    rates = {"commands a minute": _MINUTE_NS / cycle_ns}
    if "cpu_ns" in means:
        rates["processors used"] = means["cpu_ns"] / cycle_ns
        rates["processors used at most"] = means["cpu_most_ns"] / cycle_ns
    if "cpu_ns" in means and "ready_wait_ns" in means:
        rates["running or ready"] = (means["cpu_ns"] + means["ready_wait_ns"]) / cycle_ns
    return rates


def _means(rows: pl.DataFrame, seed: int) -> dict[str, Floats]:
    """The mean of each known figure. Sessions are drawn together for all figures, since a rate has several."""
    _, owners = np.unique(rows["session"].to_numpy(), return_inverse=True)
    units = int(owners.max()) + 1
    weights = drawn(units, seed, DISTANCE_REPLICATES)
    means = {}
    for name in ("think_ns", "elapsed_ns", "typing_ns", "cpu_ns", "cpu_most_ns", "ready_wait_ns"):
        if not rows[name].count():
            continue
        known = rows[name].is_not_null().to_numpy().astype(np.float64)
        sums, counts = (
            grouped(np.bincount(owners, part, units).astype(np.float64))
            for part in (rows[name].fill_null(0.0).to_numpy(), known)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            means[name] = (weights @ sums) / (weights @ counts)
    return means


def load_of(side: SideRows, users: float | None, sessions_an_hour: float | None) -> LoadOfSide:
    """The load of a side as a whole."""
    span_ns = side.span_s * 1e9
    cpu_ns, ready_ns = (side.rows[name].sum() if side.knows(name) else None for name in ("cpu_ns", "ready_wait_ns"))
    is_known = cpu_ns is not None and span_ns > 0
    return LoadOfSide(
        users=users,
        span_s=side.span_s,
        commands=len(side.rows),
        processors_used=float(cpu_ns) / span_ns if is_known and cpu_ns is not None else None,
        running_or_ready=(float(cpu_ns) + float(ready_ns)) / span_ns
        if is_known and cpu_ns is not None and ready_ns is not None
        else None,
        sessions_an_hour=sessions_an_hour,
    )
