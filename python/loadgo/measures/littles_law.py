"""Little's law as an audit of the records: the users that were there against those that the interactions imply.

Closed load: N = X (R + Z), with X interactions a second, R mean response, Z mean think time with typing and lateness.
Open load: L = lambda W, with lambda log-ins a second and W the mean length of a session.
N comes from the table of sessions, X, R and Z from that of interactions. J. D. C. Little, Operations Research 9 (1961),
page 383.

Either end of the window cuts a cycle of every user, and a long cycle is cut more often than a short one: the mean of
those cut is E[C^2] / E[C]. The law may be off by two of them for every user, by the longest of all for one, or by 5 %,
whichever is most. It is too short to tell when that is more than half of the window, or when there are fewer than 30
interactions (log-ins, in an open load).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.records.interactions import CYCLE_NS, classes_of
from loadgo.records.phases import Stretch
from loadgo.stats.resample import Floats

TOLERANCE = 0.05
FEWEST = 30
"""Interactions, or log-ins of an open load; of fewer the audit tells nothing."""
_EDGES = 0.5
"""From this share of the window on, what its two ends cut leaves nothing to audit."""


@dataclass(frozen=True)
class Audit:
    """Little's law over the window of a report."""

    law: Literal["N = X (R + Z)", "L = lambda W"]
    span_s: float
    rate_per_s: float
    """X, or lambda."""
    response_s: float | None
    """R: mean wait for the system; None for the open law."""
    think_s: float | None
    """Z: thinking, typing and lateness; None for the open law."""
    stay_s: float | None
    """W; None for the closed law."""
    measured: float
    """Users there, on average, by the sessions."""
    computed: float
    """Users that the law asks for."""
    verdict: Literal["holds", "broken", "too short to tell"]

    @property
    def discrepancy(self) -> float:
        """(computed - measured) / measured; infinite when nobody was measured."""
        return (self.computed - self.measured) / self.measured if self.measured else float("inf")


def little_closed(rows: pl.DataFrame, sessions: pl.DataFrame, stretch: Stretch) -> Audit | None:
    """The audit of a closed load over `rows`, which come from `with_classes`; None for an empty window."""
    classes = classes_of(rows)
    if stretch.span_ns <= 0 or stretch.counted == 0:
        return None
    rate = stretch.counted / (stretch.span_ns / 1e9)
    response = classes.waiting_ns / stretch.counted / 1e9
    think = (classes.total_ns - classes.waiting_ns) / stretch.counted / 1e9
    measured, computed = _present(sessions, "ready_ns", stretch), rate * (response + think)
    return Audit(
        law="N = X (R + Z)",
        span_s=stretch.span_ns / 1e9,
        rate_per_s=rate,
        response_s=response,
        think_s=think,
        stay_s=None,
        measured=measured,
        computed=computed,
        verdict=_verdict(measured, computed, _cycles(rows), stretch),
    )


def little_open(sessions: pl.DataFrame, stretch: Stretch) -> Audit | None:
    """The audit of an open load; None when nobody logged in in the window."""
    begun = sessions.filter(pl.col("started_ns").is_between(stretch.start_ns, stretch.end_ns, closed="left"))
    if stretch.span_ns <= 0 or begun.is_empty():
        return None
    rate = len(begun) / (stretch.span_ns / 1e9)
    stays = (begun["ended_ns"].cast(pl.Int64) - begun["started_ns"].cast(pl.Int64)).to_numpy().astype(np.float64)
    stay = float(stays.mean()) / 1e9
    measured = _present(sessions, "started_ns", stretch)
    return Audit(
        law="L = lambda W",
        span_s=stretch.span_ns / 1e9,
        rate_per_s=rate,
        response_s=None,
        think_s=None,
        stay_s=stay,
        measured=measured,
        computed=rate * stay,
        verdict=_verdict(measured, rate * stay, stays, stretch),
    )


def _present(sessions: pl.DataFrame, since: str, stretch: Stretch) -> float:
    """Users there on average: what each session's time from `since` to its end shares with the window."""
    there = sessions.filter(pl.col(since).is_not_null())
    began = np.clip(there[since].cast(pl.Int64).to_numpy(), stretch.start_ns, stretch.end_ns)
    ended = np.clip(there["ended_ns"].cast(pl.Int64).to_numpy(), stretch.start_ns, stretch.end_ns)
    return float(np.maximum(ended - began, 0).sum()) / stretch.span_ns


def _cycles(rows: pl.DataFrame) -> Floats:
    """From each prompt to the next, in nanoseconds."""
    return rows.select(CYCLE_NS.cast(pl.Float64)).to_series().to_numpy()


def _verdict(
    measured: float, computed: float, cycles_ns: Floats, stretch: Stretch
) -> Literal["holds", "broken", "too short to tell"]:
    if len(cycles_ns) < FEWEST or not measured:
        return "too short to tell"
    cut = float(np.square(cycles_ns).sum()) / max(float(cycles_ns.sum()), 1.0)
    edges = max(2 * cut, float(cycles_ns.max()) / measured) / stretch.span_ns
    if edges > _EDGES:
        return "too short to tell"
    return "holds" if abs(computed - measured) <= max(TOLERANCE, edges) * measured else "broken"
