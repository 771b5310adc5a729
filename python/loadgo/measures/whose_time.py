"""Processor time and waits by process and by user.

The table `processes` has both if the meters follow every switch. Without it, a user's time is the time of the user's
interactions, without what ran between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.event_totals import measured_sum
from loadgo.measures.total_time import OWNER_GROUPS
from loadgo.records.interactions import CPU_NS
from loadgo.records.phases import Stretch, interactions_in, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class OwnerTime:
    """The time of one process name or one user; None means not measured."""

    name: str
    cpu_ns: int | None
    ready_wait_ns: int | None
    """Time in the run queue."""
    paging_wait_ns: int | None
    io_wait_ns: int | None


@dataclass(frozen=True)
class WhoseTime:
    """The time of all users and processes, the largest first."""

    source: Literal["processes", "interactions"]
    """The table that has the users' processor time and ready wait."""
    users: tuple[OwnerTime, ...]
    processes: tuple[OwnerTime, ...]
    """Processes by name; processes of the same name are summed."""


def whose_time_of(tables: Tables, stretch: Stretch) -> WhoseTime:
    """The time of the stretch by process and by user; empty where it was not measured."""
    rows = spans_in(tables.processes, stretch).with_columns(pl.col("who").cast(pl.String))
    process_rows = rows.filter(~pl.col("who").is_in(OWNER_GROUPS))
    user_rows = rows.filter(pl.col("user").is_not_null())
    user_totals = user_rows.filter(pl.col("who") == "users")
    metered = user_totals if len(user_totals) else user_rows
    interaction_use = _interaction_use(tables, stretch)
    return WhoseTime(
        source="processes" if len(metered) else "interactions",
        users=_owner_times(_join_waits(metered, interaction_use) if len(metered) else interaction_use),
        processes=_owner_times(_sum_by(process_rows, "who").with_columns(paging=pl.lit(None), io=pl.lit(None))),
    )


def _sum_by(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Sums of `rows` by the column `by`, as the columns name, cpu and ready."""
    return rows.group_by(pl.col(by).cast(pl.String).alias("name"), maintain_order=True).agg(
        measured_sum("cpu_ns").alias("cpu"), measured_sum("ready_wait_ns").alias("ready")
    )


def _interaction_use(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """Sums of interactions by user, with the columns name, cpu, ready, paging and io; empty where usage was sampled."""
    rows = interactions_in(tables.interactions, stretch)
    if int(tables.conditions.get("usage", {}).get("every", 1)) > 1:
        rows = rows.clear()
    return rows.group_by(pl.col("user").cast(pl.String).alias("name"), maintain_order=True).agg(
        measured_sum(CPU_NS).alias("cpu"),
        measured_sum("ready_wait_ns").alias("ready"),
        measured_sum("paging_wait_ns").alias("paging"),
        measured_sum("io_wait_ns").alias("io"),
    )


def _join_waits(metered: pl.DataFrame, from_interactions: pl.DataFrame) -> pl.DataFrame:
    """The use of each user: processor time and ready wait from the meters, other waits from the interactions."""
    return _sum_by(metered, "user").join(from_interactions.select("name", "paging", "io"), on="name", how="left")


def _owner_times(rows: pl.DataFrame) -> tuple[OwnerTime, ...]:
    measured = rows.filter(pl.any_horizontal(pl.exclude("name").is_not_null()))
    ordered = measured.sort("cpu", descending=True, nulls_last=True, maintain_order=True)
    return tuple(OwnerTime(*row) for row in ordered.select("name", "cpu", "ready", "paging", "io").rows())
