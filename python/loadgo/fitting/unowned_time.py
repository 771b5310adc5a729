"""The processor time that no interaction owns: regressed, since nobody meters whose it is.

In each span of the meters, busy time less what the interactions in it were charged is background, as long as the span,
and so much for each interaction that ended in it: C. L. Lawson and R. J. Hanson, Solving least squares problems, 1974,
chapter 23 (both are 0 or more). What is charged is spread evenly over its interaction's response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.fitting.reading import Reading
from loadgo.measures.total_time import is_busy
from loadgo.records.phases import spans_in

Floats = NDArray[np.float64]

_FEWEST_SPANS = 8
_SURE = 2.0
"""A coefficient of fewer standard errors than this is taken to be nothing."""

_SEEN = 0.3
"""Where others are busy for a greater part of the processors' time, what an interaction took unowned is not told."""


@dataclass(frozen=True)
class Unowned:
    """Processor time that no interaction was charged with."""

    interaction_ns: float
    """For each interaction; 0 where it cannot be told from nothing."""
    error_ns: float
    """Its standard error."""
    background: float
    """Processors that are busy without anybody's line."""
    spans: int


def unowned_in(readings: Sequence[Reading]) -> Unowned | None:
    """The regression over all spans of all runs; None where total time was not metered, or for too few spans."""
    if any(int(one.conditions.get("usage", {}).get("every", 1)) > 1 for one in readings):
        return None  # What most interactions were charged with was not read.
    parts = [_spans(one) for one in readings]
    spans = np.concatenate([part for part in parts if part is not None]) if any(p is not None for p in parts) else None
    if spans is None or len(spans) < _FEWEST_SPANS:
        return None
    from scipy.optimize import nnls

    length, busy, ended = spans.T
    scale = np.sqrt(length)
    design = np.column_stack([length, ended]) / scale[:, None]
    found, _ = nnls(design, np.maximum(busy, 0.0) / scale)
    residuals = busy / scale - design @ found
    noise = float(residuals @ residuals) / (len(spans) - 2)
    errors = np.sqrt(noise * np.diag(np.linalg.pinv(design.T @ design)))
    background, each = float(found[0]), float(found[1])
    # A host that others keep busy has no idle time to lose to an interaction: what it took cannot be seen.
    sure = each > _SURE * errors[1] and background < _SEEN * readings[0].processors
    return Unowned(each if sure else 0.0, float(errors[1]), background, len(spans))


def _spans(reading: Reading) -> Floats | None:
    """Length, unowned busy time, and interactions that ended, of each span of the meters in the stretch."""
    time = spans_in(reading.tables.time, reading.stretch)
    if time.is_empty():
        return None
    own = time.filter(pl.col("processor").is_not_null())
    names = [str(name) for name in time["category"].cast(pl.String).unique() if is_busy(str(name))]
    busy = (own if len(own) else time).filter(pl.col("category").cast(pl.String).is_in(names))
    ends = time.group_by(pl.col("at_ns").cast(pl.Float64)).agg(pl.col("span_ns").cast(pl.Float64).max()).sort("at_ns")
    used = busy.group_by(pl.col("at_ns").cast(pl.Float64)).agg(pl.col("time_ns").cast(pl.Float64).sum())
    table = ends.join(used, on="at_ns", how="left").fill_null(0.0).to_numpy()
    at, span = table[:, 0], table[:, 1]
    edges = np.concatenate([[at[0] - span[0]], at])
    charged, ended = _charged(reading.rows, edges)
    return np.column_stack([span, table[:, 2] - charged, ended])


def _charged(rows: pl.DataFrame, edges: Floats) -> tuple[Floats, Floats]:
    """What the interactions were charged with in each span, and how many ended in it."""
    sent, ready, cpu = (rows[name].to_numpy() for name in ("sent", "ready_at", "cpu"))
    length = np.maximum(ready - sent, 1.0)
    through = np.array([float((cpu * np.clip((edge - sent) / length, 0.0, 1.0)).sum()) for edge in edges])
    ended, _ = np.histogram(ready, edges)
    return np.diff(through), ended.astype(np.float64)
