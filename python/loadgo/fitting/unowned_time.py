"""Processor time that no interaction was charged with, by regression, since no meter knows its owner.

Unowned time is busy time less the time that was charged to interactions. Every five seconds of a run are a point: the
rate of unowned time, and that of interactions that ended. The slope of a line through the points is the time of an
interaction. It is the median of the slopes of all pairs of points, since other programs come and go. Their bursts in a
quarter of the time hardly move it (H. Theil 1950; P. K. Sen, Journal of the American Statistical Association 63, 1968,
page 1379). The charged time of an interaction is spread evenly over its response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.fitting.reading import RunReading
from loadgo.measures.total_time import is_busy
from loadgo.records.phases import spans_in
from loadgo.stats.resample import Floats
from loadgo.stats.student import student_reach

_FEWEST_SPANS = 8
_SPANS_TOGETHER = 5
"""Spans of a second that make one point: long against a response, and short against what others do."""
_MOST_POINTS = 400
"""Points of all runs together, of which each pair has a slope."""
_MANY_DEGREES = 1000
_FEWEST_STANDARD_ERRORS = 2.0
"""A coefficient of fewer standard errors than this is taken as 0."""

MOST_OTHERS_SHARE = 0.3
"""If others use a larger share of the processors' time, the unowned time of an interaction is taken as 0.

How processor time depends on the users is then left out, too.
"""


@dataclass(frozen=True)
class UnownedTime:
    """Processor time that no interaction was charged with."""

    interaction_ns: float
    """Unowned time of each interaction; 0 where it is not significant."""
    error_ns: float
    """Standard error of `interaction_ns`."""
    background: float
    """Number of processors that are busy without any interaction."""
    spans: int


def fit_unowned_time(readings: Sequence[RunReading]) -> UnownedTime | None:
    """The regression over all spans of all runs; None with too few spans, or where total time was not metered."""
    if any(int(reading.conditions.get("usage", {}).get("every", 1)) > 1 for reading in readings):
        return None  # The usage of most interactions was not read.
    tables = [_span_table(reading) for reading in readings]
    measured = [table for table in tables if table is not None]
    spans = sum(map(len, measured))
    if spans < _FEWEST_SPANS:
        return None
    from scipy.stats import theilslopes

    together = max(1, min(_SPANS_TOGETHER, spans // _FEWEST_SPANS), spans // _MOST_POINTS)
    busy, ended = np.concatenate([_rates(table, together) for table in measured]).T
    if np.ptp(ended) <= 0:
        return UnownedTime(0.0, 0.0, float(busy.mean()), spans)
    with np.errstate(invalid="ignore"):
        found = theilslopes(busy, ended)
    error_ns = float(found.high_slope - found.low_slope) / (2 * student_reach(_MANY_DEGREES))
    if not np.isfinite(error_ns):  # so many points are equal that the rest do not show an error
        return UnownedTime(0.0, 0.0, float(busy.mean()), spans)
    interaction_ns = float(np.clip(found.slope, 0.0, busy.mean() / ended.mean()))
    background = float(max(busy.mean() - interaction_ns * ended.mean(), 0.0))
    # On a host that other programs keep busy, the unowned time of interactions displaces their time, not idle time.
    is_significant = (
        interaction_ns > _FEWEST_STANDARD_ERRORS * error_ns and background < MOST_OTHERS_SHARE * readings[0].processors
    )
    return UnownedTime(interaction_ns if is_significant else 0.0, error_ns, background, spans)


def _rates(table: Floats, together: int) -> Floats:
    """Unowned busy time, and interactions that ended, in each nanosecond, over so many spans together."""
    starts = np.arange(0, max(len(table) - together, 0) + 1, together)
    sums = np.add.reduceat(table, starts, axis=0)
    rates: Floats = sums[:, 1:] / sums[:, :1]
    return rates


def _span_table(reading: RunReading) -> Floats | None:
    """The spans of the meters in the stretch; columns: length, unowned busy time, interactions that ended."""
    time = spans_in(reading.tables.time, reading.stretch)
    if time.is_empty():
        return None
    by_processor = time.filter(pl.col("processor").is_not_null())
    names = [str(name) for name in time["category"].cast(pl.String).unique() if is_busy(str(name))]
    busy = (by_processor if len(by_processor) else time).filter(pl.col("category").cast(pl.String).is_in(names))
    ends = time.group_by(pl.col("at_ns").cast(pl.Float64)).agg(pl.col("span_ns").cast(pl.Float64).max()).sort("at_ns")
    used = busy.group_by(pl.col("at_ns").cast(pl.Float64)).agg(pl.col("time_ns").cast(pl.Float64).sum())
    table = ends.join(used, on="at_ns", how="left").fill_null(0.0).to_numpy()
    ends_ns, span = table[:, 0], table[:, 1]
    edges = np.concatenate([[ends_ns[0] - span[0]], ends_ns])
    charged, ended = _charged_by_span(reading.rows, edges)
    return np.column_stack([span, table[:, 2] - charged, ended])


def _charged_by_span(rows: pl.DataFrame, edges: Floats) -> tuple[Floats, Floats]:
    """The processor time that was charged to interactions in each span, and the interactions that ended in it."""
    sent, ready, cpu = (rows[name].to_numpy() for name in ("sent", "ready_at", "cpu"))
    length = np.maximum(ready - sent, 1.0)
    through = np.array([float((cpu * np.clip((edge - sent) / length, 0.0, 1.0)).sum()) for edge in edges])
    ended, _ = np.histogram(ready, edges)
    return np.diff(through), ended.astype(np.float64)
