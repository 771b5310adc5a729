"""The audit of the driver and the records: whether the driver was the bottleneck, and what the records lost.

The p99 of lateness may be at most 1 ms, or 5 % of the target if that is less. On a host that it shares with the users,
the driver may use at most 5 % of all processors' time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.total_time import TotalTime
from loadgo.records.drivers import DRIVER_COLUMN, drivers_of_run
from loadgo.records.fleets import HOST_COLUMN, is_fleet_run
from loadgo.records.tolerated import tolerated_losses
from loadgo.stats.quantiles import sorted_quantile

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

MOST_P99_LATENESS_NS = 1e6
LATENESS_SHARE_OF_TARGET = 0.05
MOST_DRIVER_SHARE = 0.05
CUT_OFF_LOSSES = "What was lost is not known: the last second before the run was cut off may not have been written."
"""The sentence on the losses of a run that was killed."""

_REMOTE = ("ssh", "slogin", "mosh", "telnet", "rlogin", "tn3270", "x3270")


@dataclass(frozen=True)
class DriverAudit:
    """The driver's lateness and share of the host, with their limits."""

    lateness_p50_ns: float | None
    lateness_p99_ns: float | None
    lateness_max_ns: float | None
    """None for each of these when no line was sent."""
    lateness_limit_ns: float
    late_lines: int
    """Lines that were sent later than the limit."""
    host_share: float | None
    """Share of all processors' time; None when not measured, or when the users are on another machine."""
    host_share_limit: float
    scheduling: str
    proof: str
    notes: tuple[str, ...]
    processor: int | None = None
    """The processor that the driver keeps to; None if it may use all."""
    name: str = ""
    """The driver's name, if the run has several: these are the figures of the worst."""
    late_names: tuple[str, ...] = ()
    """The names of the drivers that were late, if the run has several."""

    @property
    def late(self) -> bool:
        """Whether the p99 of lateness exceeds its limit. One late line is no finding: with few lines it is the p99."""
        late = self.lateness_p99_ns is not None and self.lateness_p99_ns > self.lateness_limit_ns
        return late and self.late_lines > 1

    @property
    def takes_too_much(self) -> bool:
        """Whether the driver used too much of the host that it shares with the users."""
        return self.host_share is not None and self.host_share > self.host_share_limit

    @property
    def valid(self) -> bool:
        """Whether the run measures the system and not the driver."""
        return not self.late and not self.takes_too_much


@dataclass(frozen=True)
class Loss:
    """Events that the records lost, by table and reason."""

    what: str
    reason: str
    count: int
    tolerated: bool = False
    """Whether it belongs to a lost host without which the run was to count."""


@dataclass(frozen=True)
class SessionCounts:
    """Number of users, and of sessions by outcome."""

    users: int
    done: int
    died: int
    refused: int
    stopped: int


def driver_audit(rows: pl.DataFrame, total: TotalTime | None, tables: Tables, target_ns: float | None) -> DriverAudit:
    """The audit of the driver from `rows` with `lateness_ns`; `target_ns` is the target of the response time.

    Each of several drivers is judged by itself, and the worst counts.
    """
    limit_ns = min(MOST_P99_LATENESS_NS, LATENESS_SHARE_OF_TARGET * target_ns) if target_ns else MOST_P99_LATENESS_NS
    drivers = drivers_of_run(tables.conditions) if DRIVER_COLUMN in rows.columns else ()
    if not drivers:
        share = total.share_of(total.account.driver_ns) if total is not None and _loads_own_host(tables) else None
        return _audit_of(rows, limit_ns, share, tables.conditions.get("driver", {}))
    name = pl.col(DRIVER_COLUMN).cast(pl.String)
    audits = [
        replace(_audit_of(rows.filter(name == driver.name), limit_ns, None, driver.entry), name=driver.name)
        for driver in drivers
    ]
    worst = max(audits, key=lambda audit: (audit.late, audit.lateness_p99_ns or 0.0))
    return replace(worst, late_names=tuple(audit.name for audit in audits if audit.late))


def _audit_of(rows: pl.DataFrame, limit_ns: float, share: float | None, description: Mapping[str, Any]) -> DriverAudit:
    """The audit of one driver, which took this `share` of the host that it loads."""
    lateness = rows["lateness_ns"].cast(pl.Float64).sort().to_numpy()
    quantiles = [sorted_quantile(lateness, p) if len(lateness) else None for p in (0.5, 0.99, 1.0)]
    processor = description.get("bound_to_processor" if "first_user" in description else "processor")
    return DriverAudit(
        lateness_p50_ns=quantiles[0],
        lateness_p99_ns=quantiles[1],
        lateness_max_ns=quantiles[2],
        lateness_limit_ns=limit_ns,
        late_lines=int((lateness > limit_ns).sum()),
        host_share=share,
        host_share_limit=MOST_DRIVER_SHARE,
        scheduling=str(description.get("scheduling", "")),
        proof=str(description.get("proof", "")),
        notes=tuple(str(note) for note in description.get("notes", [])),
        processor=processor,
    )


def group_losses(lost: pl.DataFrame, conditions: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Sums the rows of `lost` that have the same table and reason, the largest sum first."""
    if lost.is_empty():
        return ()
    tolerated = pl.lit(False)
    allowed = tolerated_losses(conditions)
    for column, names in ((HOST_COLUMN, allowed.hosts), (DRIVER_COLUMN, allowed.drivers)):
        if column in lost.columns:
            tolerated |= pl.col(column).cast(pl.String).is_in(sorted(names)).fill_null(False)
    grouped = (
        lost.with_columns(pl.col("what").cast(pl.String), tolerated=tolerated)
        .group_by("what", "reason", "tolerated", maintain_order=True)
        .agg(pl.col("count").sum())
        .sort("count", descending=True, maintain_order=True)
    )
    return tuple(
        Loss(what=str(what), reason=str(reason or "no reason is recorded"), count=int(count), tolerated=tolerated)
        for what, reason, tolerated, count in grouped.rows()
    )


def count_sessions(sessions: pl.DataFrame) -> SessionCounts:
    """Counts the users and the outcomes of their sessions."""
    counts = dict(sessions.group_by(pl.col("outcome").cast(pl.String)).len().rows())
    return SessionCounts(
        users=sessions["user"].n_unique(),
        done=counts.get("done", 0),
        died=counts.get("died", 0),
        refused=counts.get("refused", 0),
        stopped=counts.get("stopped", 0),
    )


def _loads_own_host(tables: Tables) -> bool:
    """Whether the driver runs on the host that it loads, not on a simulated machine or across a network."""
    system = tables.conditions.get("system", {})
    return system.get("kind", "host") == "host" and not is_remote(tables.conditions)


def is_remote(conditions: Mapping[str, Any]) -> bool:
    """Whether users logged in to another machine, by a run's `run.toml`.

    A log-in by `ssh` that leads to the driver's own host is metered there, so the run has a source of processor time.
    """
    system = conditions.get("system", {})
    if str(system.get("name", "")).startswith(SSH_SCHEME) or is_fleet_run(conditions):
        return True
    return by_network(system) and not conditions.get("usage", {}).get("cpu")


def by_network(system: Mapping[str, Any]) -> bool:
    """Whether the command that logs users in is a client of a network, such as `ssh`, by `[system]` of `run.toml`."""
    words = str(system.get("login", "")).split()
    return bool(words) and words[0].rsplit("/", 1)[-1] in _REMOTE
