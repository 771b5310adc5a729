"""Costs of the users' own limits in a run, as the kernel of a host counts them, or a simulated machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

_SUMS = ("cpu_ns", "periods", "throttled_periods", "throttled_ns", "memory_refusals", "memory_kills", "pids_refusals")


@dataclass(frozen=True)
class LimitCost:
    """Costs of the limits of one user, or of all users together, in the whole run. None was not counted."""

    user: int | None
    """The user; None for all users together."""
    cpu_ns: int | None
    """The processor time that the user's processes took."""
    periods: int | None
    """The periods of the quota in which they wanted a processor."""
    throttled_periods: int | None
    """The periods of the quota in which it was used up."""
    throttled_ns: int | None
    """The time for which they were held back, summed over processors."""
    memory_refusals: int | None
    """How often memory was wanted beyond the limit, so that pages were reclaimed."""
    memory_kills: int | None
    """Processes that the kernel killed for want of memory."""
    memory_peak_bytes: int | None
    """The most memory that a user held."""
    pids_refusals: int | None
    """How often a new process was refused."""

    @property
    def throttled_share(self) -> float | None:
        """The share of the quota's periods in which it was used up; None where nobody has a quota."""
        if not self.periods or self.throttled_periods is None:
            return None
        return self.throttled_periods / self.periods


@dataclass(frozen=True)
class LimitCosts:
    """Costs of the limits of each user, and of all users together."""

    users: tuple[LimitCost, ...]
    """In the order of the users' numbers."""
    everybody: LimitCost
    """The sums; the peak of memory is that of the user who held most."""


def limit_costs_of(tables: Tables) -> LimitCosts | None:
    """The costs in the whole run; None where users had no limits of their own."""
    rows = tables.user_limits
    if rows.is_empty():
        return None
    peak = pl.col("memory_peak_bytes").max()
    sums = [_sum(name) for name in _SUMS]
    by_user = rows.group_by("user").agg(*sums, peak).sort("user")
    users = tuple(LimitCost(**row) for row in by_user.iter_rows(named=True))
    everybody = rows.select(*sums, peak).row(0, named=True)
    return LimitCosts(users, LimitCost(user=None, **everybody))


def _sum(name: str) -> pl.Expr:
    """The sum of a column; null where no row has a value."""
    counted = pl.col(name).is_not_null().any()
    return pl.when(counted).then(pl.col(name).cast(pl.Int64).sum()).otherwise(None).alias(name)
