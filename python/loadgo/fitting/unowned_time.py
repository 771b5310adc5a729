"""Processor time that no interaction was charged with, by regression, since no meter knows its owner.

In each span of the meters, unowned time is busy time less the time that was charged to interactions. It is regressed on
the length of the span and the number of interactions that ended in it, with coefficients that are not negative:
C. L. Lawson and R. J. Hanson, Solving least squares problems, 1974, chapter 23. The charged time of an interaction is
spread evenly over its response.
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

_FEWEST_SPANS = 8
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
    spans = np.concatenate(measured) if measured else np.empty((0, 3))
    if len(spans) < _FEWEST_SPANS:
        return None
    from scipy.optimize import nnls

    # In seconds, since in nanoseconds the columns differ by so much that the covariance would lose the second one.
    length_s, busy, ended = spans[:, 0] / 1e9, spans[:, 1], spans[:, 2]
    scale = np.sqrt(length_s)
    design = np.column_stack([length_s, ended]) / scale[:, None]
    coefficients, _ = nnls(design, np.maximum(busy, 0.0) / scale)
    residuals = busy / scale - design @ coefficients
    noise = float(residuals @ residuals) / (len(spans) - 2)
    errors = np.sqrt(noise * np.diag(np.linalg.pinv(design.T @ design)))
    background, interaction_ns = float(coefficients[0]) / 1e9, float(coefficients[1])
    # On a host that other programs keep busy, the unowned time of interactions displaces their time, not idle time.
    is_significant = (
        interaction_ns > _FEWEST_STANDARD_ERRORS * errors[1] and background < MOST_OTHERS_SHARE * readings[0].processors
    )
    return UnownedTime(interaction_ns if is_significant else 0.0, float(errors[1]), background, len(spans))


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
