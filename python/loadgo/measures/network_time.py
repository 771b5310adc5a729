"""The network's part of response times: what a user waits, less what the shell there measures of the same line.

The shell's time begins when it has read the line, and ends with its prompt. Both are instants of its own clock, so the
offset of the hosts' clocks is in no figure. The rest is the network both ways, ssh and sshd, and both terminals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.records.interactions import RESPONSE_NS, span_in_waits
from loadgo.records.phases import Stretch
from loadgo.stats.resample import Floats, Interval, mean_interval, stretch_count, too_short, wider


@dataclass(frozen=True)
class NetworkTime:
    """Means over the interactions of which both times are known."""

    known: int
    """Number of these interactions."""
    answered: int
    """Number of all interactions that were answered."""
    response_ns: float
    """Mean response time at the user."""
    there_ns: float
    """Mean response time by the shell there."""
    network_ns: float
    """Mean difference of the two."""
    low_ns: float | None
    """The lower end of the difference's interval; None where the run is too short, or has too few users, for one."""
    high_ns: float | None


def network_time_of(rows: pl.DataFrame, stretch: Stretch) -> NetworkTime | None:
    """The network's part in the `rows` of a stretch; None where no shell has measured a line."""
    answered = rows.filter(pl.col("ready_ns").is_not_null())
    known = answered.filter(pl.col("response_there_ns").is_not_null()).with_columns(RESPONSE_NS)
    if known.is_empty():
        return None
    response, there = (known[name].cast(pl.Float64).to_numpy() for name in ("response_ns", "response_there_ns"))
    interval = _interval(known, response - there, stretch)
    return NetworkTime(
        known=len(known),
        answered=len(answered),
        response_ns=float(response.mean()),
        there_ns=float(there.mean()),
        network_ns=float((response - there).mean()),
        low_ns=None if interval is None else interval.low,
        high_ns=None if interval is None else interval.high,
    )


def _interval(known: pl.DataFrame, network_ns: Floats, stretch: Stretch) -> Interval | None:
    """The wider of the intervals by users and by stretches of time; None if either has too few."""
    waits = span_in_waits(known, stretch.span_ns)
    if too_short(1, waits):
        return None
    sent = known["sent_ns"].to_numpy().astype(np.float64)
    count = stretch_count(len(known), waits)
    share = (sent - sent.min()) / max(float(np.ptp(sent)), 1.0)
    stretches = np.minimum(share * count, count - 1).astype(np.int64)
    users = np.unique(known["user"].to_numpy(), return_inverse=True)[1].astype(np.int64)
    intervals = [mean_interval(network_ns, owners, int(owners.max()) + 1) for owners in (users, stretches)]
    return None if None in intervals else wider(intervals)
