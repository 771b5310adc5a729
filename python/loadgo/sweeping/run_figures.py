"""The figures of a point whose users type a script: from the steady phase of its run, with intervals.

As in a report, an interval is the wider of two: from resamples of users, and from resamples of stretches of time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from loadgo.errors import Refused
from loadgo.measures.total_time import total_time_of
from loadgo.measures.usage import outcomes_of
from loadgo.records.interactions import RESPONSE_OR_INFINITE_NS, span_in_waits
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.records.tables import tables
from loadgo.stats.quantiles import QUANTILE_REPLICATES, Response, Sample, responses
from loadgo.stats.resample import (
    FEWEST_UNITS,
    Floats,
    Integers,
    Interval,
    drawn,
    mean_interval,
    positive_interval,
    stretch_count,
    too_short,
    wider,
)
from loadgo.sweeping.columns import interval_columns

NS_PER_S = 1e9


def figures_of_run(folder: Path) -> dict[str, Any]:
    """The figures of the run in `folder`, by the columns of a sweep. A figure that it does not have is left out.

    Raises `Refused` if records of the run were lost.
    """
    measured = tables(folder)
    if len(measured.lost):
        raise Refused(f"records of a run were lost: {'; '.join(measured.lost['reason'].unique())}")
    stretch = stretch_of(measured)
    rows = classified_in(measured, stretch)
    row: dict[str, Any] = {
        "interactions": len(measured.interactions),
        "virtual_s": float(measured.conditions.get("wall_s") or stretch.end_ns / NS_PER_S),
    }
    if rows.is_empty():
        return row
    total = total_time_of(measured, stretch)
    busy = {} if total is None else {"busy": total.busy_share}
    return row | _response_figures(rows, stretch) | busy | {"errors": outcomes_of(rows).errors / len(rows)}


def _response_figures(rows: pl.DataFrame, stretch: Stretch) -> dict[str, Any]:
    waits = span_in_waits(rows, stretch.span_ns)
    is_judged = not too_short(1, waits)
    values = rows.select(RESPONSE_OR_INFINITE_NS).to_series().to_numpy()
    users = rows["user"].rank("dense").cast(pl.Int64).to_numpy() - 1
    stretches = stretch.indices_of(rows["sent_ns"], stretch_count(len(rows), waits))
    sample = Sample.resampled(values, users, stretches, judged=is_judged)
    response = responses(sample)
    figures = _quantiles(response)
    if response.mean_ns is not None:
        interval = _mean_interval(sample) if is_judged else None
        figures |= _in_seconds("mean_s", response.mean_ns, interval)
    return figures | _throughput(stretch, stretches, is_judged=is_judged)


def _quantiles(response: Response) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for quantile in response.quantiles:
        name = f"{quantile.name}_s"
        ends = (quantile.low_ns, quantile.high_ns)
        interval = None if ends[0] is None or ends[1] is None else Interval(ends[0], ends[1])
        if quantile.state == "never":
            figures[name] = float("inf")
        elif quantile.value_ns is not None:
            figures |= _in_seconds(name, quantile.value_ns, interval)
    return figures


def _in_seconds(name: str, value_ns: float, interval: Interval | None) -> dict[str, Any]:
    columns = interval_columns(name)
    ends = {} if interval is None else {columns[0]: interval.low, columns[1]: interval.high}
    return {key: value / NS_PER_S for key, value in ({name: value_ns} | ends).items()}


def _mean_interval(sample: Sample) -> Interval | None:
    """The interval of the mean of the answered lines."""
    is_answered = np.isfinite(sample.values_ns)
    values = sample.values_ns[is_answered]
    drawn_owners = ((sample.users, sample.user_draws), (sample.stretches, sample.stretch_draws))
    return wider(
        mean_interval(values, owners[is_answered], int(owners.max()) + 1, weights) for owners, weights in drawn_owners
    )


def _throughput(stretch: Stretch, stretches: Integers, *, is_judged: bool) -> dict[str, Any]:
    """Interactions a second, with an interval from resamples of stretches."""
    if stretch.per_second is None:
        return {}
    figures = {"throughput": stretch.per_second}
    counts: Floats = np.bincount(stretches).astype(np.float64)
    units = len(counts)
    if is_judged and units >= FEWEST_UNITS:
        weights = drawn(units, replicates=QUANTILE_REPLICATES)
        interval = positive_interval((weights @ counts) / (stretch.span_ns / NS_PER_S), units)
        if interval is not None:
            figures |= {"throughput_low": interval.low, "throughput_high": interval.high}
    return figures
