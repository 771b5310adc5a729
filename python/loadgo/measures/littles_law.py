"""Little's law as an audit of the records: the measured mean number of users against the one that the law computes.

Closed load: N = X (R + Z), with X interactions a second, R mean response, Z mean think time with typing and lateness.
Open load: L = lambda W, with lambda log-ins a second and W the mean length of a session.
N comes from the table of sessions, X, R and Z from that of interactions. J. D. C. Little, Operations Research 9 (1961),
page 383.

Each end of the window cuts a cycle of every user, and a long cycle is cut more often than a short one. The mean length
of a cut cycle is E[C^2] / E[C]. The two numbers may differ by the largest of three amounts: two cut cycles of every
user, the longest cycle of one user, or 5 %. If the cycles are more than half of the window, it is too short to tell. So
are fewer than 30 interactions, or log-ins in an open load. In a closed load, a slow first line of all users may be in
progress as the window begins, and no cycle has it. If a difference is no larger than that, it is too short to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.records.interactions import CYCLE_NS, classes_of
from loadgo.records.phases import Stretch
from loadgo.stats.resample import Floats

AUDIT_TOLERANCE = 0.05
FEWEST_AUDITED_INTERACTIONS = 30
"""Fewest interactions of a closed load, or log-ins of an open load, that the audit judges."""
MOST_TIMES_LONGEST = 10
"""A cycle at an end of the window that is not counted is taken to be at most so many times the longest counted one."""
_MOST_CUT_SHARE = 0.5
"""Largest share of the window that cut cycles at its two ends may take. A larger share makes it too short to tell."""


@dataclass(frozen=True)
class LittleAudit:
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
    """W: mean length of a session; None for the closed law."""
    measured: float
    """Mean number of users, from the sessions."""
    computed: float
    """Mean number of users, from the law."""
    verdict: Literal["holds", "broken", "too short to tell"]

    @property
    def discrepancy(self) -> float:
        """(computed - measured) / measured; infinite when no user was measured."""
        return (self.computed - self.measured) / self.measured if self.measured else float("inf")


def little_audit(rows: pl.DataFrame, sessions: pl.DataFrame, stretch: Stretch, *, is_open: bool) -> LittleAudit | None:
    """The audit of an open or a closed load; None as for each of them."""
    return little_open(sessions, stretch) if is_open else little_closed(rows, sessions, stretch)


def little_closed(rows: pl.DataFrame, sessions: pl.DataFrame, stretch: Stretch) -> LittleAudit | None:
    """The audit of a closed load over `rows`, which come from `with_classes`; None for an empty window."""
    classes = classes_of(rows)
    if stretch.span_ns <= 0 or stretch.counted == 0:
        return None
    rate = stretch.counted / (stretch.span_ns / 1e9)
    response = classes.waiting_ns / stretch.counted / 1e9
    think = (classes.total_ns - classes.waiting_ns) / stretch.counted / 1e9
    measured, computed = _mean_users_present(sessions, "ready_ns", stretch), rate * (response + think)
    return LittleAudit(
        law="N = X (R + Z)",
        span_s=stretch.span_ns / 1e9,
        rate_per_s=rate,
        response_s=response,
        think_s=think,
        stay_s=None,
        measured=measured,
        computed=computed,
        verdict=_verdict(measured, computed, _cycle_times_ns(rows), stretch, _uncounted_ns(rows, stretch)),
    )


def little_open(sessions: pl.DataFrame, stretch: Stretch) -> LittleAudit | None:
    """The audit of an open load; None when no user logged in in the window."""
    log_ins = sessions.filter(pl.col("started_ns").is_between(stretch.start_ns, stretch.end_ns, closed="left"))
    if stretch.span_ns <= 0 or log_ins.is_empty():
        return None
    rate = len(log_ins) / (stretch.span_ns / 1e9)
    stays_ns = (log_ins["ended_ns"].cast(pl.Int64) - log_ins["started_ns"].cast(pl.Int64)).to_numpy().astype(np.float64)
    stay = float(stays_ns.mean()) / 1e9
    measured = _mean_users_present(sessions, "started_ns", stretch)
    return LittleAudit(
        law="L = lambda W",
        span_s=stretch.span_ns / 1e9,
        rate_per_s=rate,
        response_s=None,
        think_s=None,
        stay_s=stay,
        measured=measured,
        computed=rate * stay,
        verdict=_verdict(measured, rate * stay, stays_ns, stretch),
    )


def _mean_users_present(sessions: pl.DataFrame, since: str, stretch: Stretch) -> float:
    """Mean number of users in the window; a user is present from the column `since` to the end of the session."""
    begun = sessions.filter(pl.col(since).is_not_null())
    began = np.clip(begun[since].cast(pl.Int64).to_numpy(), stretch.start_ns, stretch.end_ns)
    ended = np.clip(begun["ended_ns"].cast(pl.Int64).to_numpy(), stretch.start_ns, stretch.end_ns)
    return float(np.maximum(ended - began, 0).sum()) / stretch.span_ns


def _cycle_times_ns(rows: pl.DataFrame) -> Floats:
    """The time from each prompt to the next, in nanoseconds."""
    return rows.select(CYCLE_NS.cast(pl.Float64)).to_series().to_numpy()


def _uncounted_ns(rows: pl.DataFrame, stretch: Stretch) -> float:
    """The users' time between the ends of the window and their counted cycles, as far as it may be in other cycles.

    A load often begins with everybody's first line at once, on a system where nothing is in memory yet. These cycles
    are long, alike, and not counted.
    """
    longest_ns = min(rows.select(CYCLE_NS.max()).item() * MOST_TIMES_LONGEST, stretch.span_ns // 4)
    ends = (
        rows.filter(pl.col("ready_ns").is_not_null())
        .with_columns(CYCLE_NS, pl.col("ready_ns").cast(pl.Int64))
        .group_by("user")
        .agg(
            before=(pl.col("ready_ns") - pl.col("cycle_ns")).min() - stretch.start_ns,
            after=stretch.end_ns - pl.col("ready_ns").max(),
        )
    )
    return float(ends.select(pl.sum_horizontal(pl.col("before", "after").clip(0, longest_ns).sum())).item())


def _verdict(
    measured: float, computed: float, cycles_ns: Floats, stretch: Stretch, uncounted_ns: float = 0.0
) -> Literal["holds", "broken", "too short to tell"]:
    if len(cycles_ns) < FEWEST_AUDITED_INTERACTIONS or not measured:
        return "too short to tell"
    cut_ns = float(np.square(cycles_ns).sum()) / max(float(cycles_ns.sum()), 1.0)
    cut_share = max(2 * cut_ns, float(cycles_ns.max()) / measured) / stretch.span_ns
    if cut_share > _MOST_CUT_SHARE:
        return "too short to tell"
    allowed = max(AUDIT_TOLERANCE, cut_share) * measured
    if abs(computed - measured) <= allowed:
        return "holds"
    is_at_ends = abs(computed + uncounted_ns / stretch.span_ns - measured) <= allowed
    return "too short to tell" if is_at_ends else "broken"
