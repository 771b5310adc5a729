"""Whose time it was: processor time, and waiting for a processor, by process and by user.

The table `processes` tells both where the meters follow every switch. Without them a user's time is that of the user's
interactions, and what ran between those is nobody's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.total_time import GROUPS
from loadgo.records.interactions import CPU_NS
from loadgo.records.phases import Stretch, interactions_in, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class Used:
    """What one process, or one user, used; None is not measured."""

    name: str
    cpu_ns: int | None
    ready_wait_ns: int | None
    """Ready to run, and no processor was free."""
    paging_wait_ns: int | None
    io_wait_ns: int | None


@dataclass(frozen=True)
class WhoseTime:
    """Everybody's time, the most first."""

    source: Literal["processes", "interactions"]
    """The table that the users' processor time and ready wait are from."""
    users: tuple[Used, ...]
    processes: tuple[Used, ...]
    """Processes of the same name together."""


def whose_time_of(tables: Tables, stretch: Stretch) -> WhoseTime:
    """The time of the stretch by process and by user; empty where it was not measured."""
    rows = spans_in(tables.processes, stretch).with_columns(pl.col("who").cast(pl.String))
    own = rows.filter(~pl.col("who").is_in(GROUPS))
    of_users = rows.filter(pl.col("user").is_not_null())
    of_groups = of_users.filter(pl.col("who") == "users")
    metered = of_groups if len(of_groups) else of_users
    typed = _of_interactions(tables, stretch)
    return WhoseTime(
        source="processes" if len(metered) else "interactions",
        users=_most_first(_of_both(metered, typed) if len(metered) else typed),
        processes=_most_first(_summed(own, "who").with_columns(paging=pl.lit(None), io=pl.lit(None))),
    )


def _summed(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Columns: name, cpu, ready."""
    return rows.group_by(pl.col(by).cast(pl.String).alias("name"), maintain_order=True).agg(
        _sum("cpu_ns").alias("cpu"), _sum("ready_wait_ns").alias("ready")
    )


def _of_interactions(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """Columns: name, cpu, ready, paging, io; empty where usage was read of some interactions only."""
    rows = interactions_in(tables.interactions, stretch)
    if int(tables.conditions.get("usage", {}).get("every", 1)) > 1:
        rows = rows.clear()
    return rows.group_by(pl.col("user").cast(pl.String).alias("name"), maintain_order=True).agg(
        _sum(CPU_NS).alias("cpu"),
        _sum("ready_wait_ns").alias("ready"),
        _sum("paging_wait_ns").alias("paging"),
        _sum("io_wait_ns").alias("io"),
    )


def _of_both(metered: pl.DataFrame, typed: pl.DataFrame) -> pl.DataFrame:
    """Processor time and ready wait from the meters, the other waits from the interactions."""
    return _summed(metered, "user").join(typed.select("name", "paging", "io"), on="name", how="left")


def _sum(column: str | pl.Expr) -> pl.Expr:
    """The sum of what was measured; null when nothing was."""
    values = pl.col(column) if isinstance(column, str) else column
    return pl.when(values.count() > 0).then(values.sum())


def _most_first(rows: pl.DataFrame) -> tuple[Used, ...]:
    measured = rows.filter(pl.any_horizontal(pl.exclude("name").is_not_null()))
    ordered = measured.sort("cpu", descending=True, nulls_last=True, maintain_order=True)
    return tuple(Used(*row) for row in ordered.select("name", "cpu", "ready", "paging", "io").rows())
