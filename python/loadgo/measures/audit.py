"""Whether a run can be trusted: was the driver the bottleneck, and what do the records not hold.

Limits: p99 lateness at most 1 ms, or 5 % of the target where that is less; on a host that the driver shares with the
users, at most 5 % of its time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.measures.total_time import TotalTime
from loadgo.stats.quantiles import sorted_quantile

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

LATENESS_LIMIT_NS = 1e6
TARGET_SHARE = 0.05
DRIVER_SHARE = 0.05

_REMOTE = ("ssh", "slogin", "mosh", "telnet", "rlogin", "tn3270", "x3270")


@dataclass(frozen=True)
class Driver:
    """The driver's verdict on itself."""

    lateness_p50_ns: float | None
    lateness_p99_ns: float | None
    lateness_max_ns: float | None
    """None of these when no line was sent."""
    lateness_limit_ns: float
    late_lines: int
    """Lines that were sent later than the limit."""
    host_share: float | None
    """Of all processors' time; None when not measured, or when the users are on another machine."""
    host_share_limit: float
    scheduling: str
    proof: str
    notes: tuple[str, ...]

    @property
    def late(self) -> bool:
        """Lines were sent too late; of fewer than 100 the p99 is the latest, and one line alone tells nothing."""
        late = self.lateness_p99_ns is not None and self.lateness_p99_ns > self.lateness_limit_ns
        return late and self.late_lines > 1

    @property
    def greedy(self) -> bool:
        """The driver took too much of the host that it shares."""
        return self.host_share is not None and self.host_share > self.host_share_limit

    @property
    def valid(self) -> bool:
        """Whether the run measures the system and not the driver."""
        return not self.late and not self.greedy


@dataclass(frozen=True)
class Loss:
    """Something that the records do not hold."""

    what: str
    reason: str
    count: int


@dataclass(frozen=True)
class Sessions:
    """How the users' stays ended."""

    users: int
    done: int
    died: int
    refused: int
    stopped: int


def driver_of(rows: pl.DataFrame, total: TotalTime | None, tables: Tables, target_ns: float | None) -> Driver:
    """The verdict over `rows` (with `lateness_ns`), for a response-time target in nanoseconds, if there is one."""
    lateness = rows["lateness_ns"].cast(pl.Float64).sort().to_numpy()
    told = tables.conditions.get("driver", {})
    quantiles = [sorted_quantile(lateness, p) if len(lateness) else None for p in (0.5, 0.99, 1.0)]
    limit = min(LATENESS_LIMIT_NS, TARGET_SHARE * target_ns) if target_ns else LATENESS_LIMIT_NS
    share = total.share_of(total.account.driver_ns) if total is not None and _shares_host(tables) else None
    return Driver(
        lateness_p50_ns=quantiles[0],
        lateness_p99_ns=quantiles[1],
        lateness_max_ns=quantiles[2],
        lateness_limit_ns=limit,
        late_lines=int((lateness > limit).sum()),
        host_share=share,
        host_share_limit=DRIVER_SHARE,
        scheduling=str(told.get("scheduling", "")),
        proof=str(told.get("proof", "")),
        notes=tuple(str(note) for note in told.get("notes", [])),
    )


def losses_of(lost: pl.DataFrame) -> tuple[Loss, ...]:
    """What is lost, the same reason counted together, most first."""
    grouped = (
        lost.with_columns(pl.col("what").cast(pl.String))
        .group_by("what", "reason", maintain_order=True)
        .agg(pl.col("count").sum())
        .sort("count", descending=True, maintain_order=True)
    )
    return tuple(
        Loss(what=str(what), reason=str(reason or "no reason is recorded"), count=int(count))
        for what, reason, count in grouped.rows()
    )


def sessions_of(sessions: pl.DataFrame) -> Sessions:
    """How many users there were, and how their sessions ended."""
    counts = dict(sessions.group_by(pl.col("outcome").cast(pl.String)).len().rows())
    return Sessions(
        users=sessions["user"].n_unique(),
        done=counts.get("done", 0),
        died=counts.get("died", 0),
        refused=counts.get("refused", 0),
        stopped=counts.get("stopped", 0),
    )


def _shares_host(tables: Tables) -> bool:
    """Whether the driver runs on the machine that it loads: not a simulated one, nor one across a network."""
    system = tables.conditions.get("system", {})
    return system.get("kind", "host") == "host" and not is_remote(str(system.get("login", "")))


def is_remote(login: str) -> bool:
    """Whether a command that logs in goes to another machine."""
    words = login.split()
    return bool(words) and words[0].rsplit("/", 1)[-1] in _REMOTE
