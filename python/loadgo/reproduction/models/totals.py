"""Means by line and command, and totals, of a run: the quantities that the documents print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.errors import BadArgument
from loadgo.records.interactions import RESPONSE_NS

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class InteractionUse:
    """Mean use of one interaction, over `count` interactions. Times are in seconds."""

    count: int
    response_s: float
    think_s: float
    cpu_user_s: float
    """Processor time of the work itself."""
    cpu_system_s: float
    """The supervisor's processor time on its behalf."""
    faults: float
    """Number of page faults that needed a device."""
    paging_wait_s: float
    """Waiting time for pages. With swapping, it is the time in which the program is moved out and in."""
    bytes_out: float

    @property
    def cpu_s(self) -> float:
        """Processor time of the work and the supervisor."""
        return self.cpu_user_s + self.cpu_system_s


@dataclass(frozen=True)
class RunTotals:
    """A summary of a run with all interactions. The warm-up counts, since the documents leave nothing out."""

    users: int
    elapsed_s: float
    """Time from the first line sent to the last answer."""
    overall: InteractionUse
    """The mean over all interactions. Multiplied by `overall.count`, it is the total."""
    commands: Mapping[str, InteractionUse]
    """The mean by command, in the script's order."""
    lines: Mapping[tuple[int, int], InteractionUse]
    """The mean by pass and line of the script, both numbered from 1."""
    time_shares: Mapping[str, float]
    """Share of all processors' time by category. The shares add up to 1."""
    tables: Tables
    """The raw tables, for other quantities."""


def totals_of(tables: Tables) -> RunTotals:
    """The totals of a run's tables. Raises `ValueError` for a run without an answered interaction."""
    answered = tables.interactions.filter(pl.col("ready_ns").is_not_null())
    if answered.is_empty():
        raise BadArgument("the run has no answered interaction")
    by_line = answered.with_columns(pl.col("command").cast(pl.String)).sort("line", maintain_order=True)
    by_place = answered.sort("pass", "line", "user")
    first, last = answered["sent_ns"].to_numpy().min(), answered["ready_ns"].to_numpy().max()
    return RunTotals(
        users=answered["user"].n_unique(),
        elapsed_s=(int(last) - int(first)) / 1e9,
        overall=_use(answered),
        commands={str(name): _use(rows) for (name,), rows in by_line.group_by("command", maintain_order=True)},
        lines={
            (int(number), int(line)): _use(rows)
            for (number, line), rows in by_place.group_by("pass", "line", maintain_order=True)
        },
        time_shares=_shares(tables.time),
        tables=tables,
    )


def _use(rows: pl.DataFrame) -> InteractionUse:
    return InteractionUse(
        count=len(rows),
        response_s=_mean(rows.select(RESPONSE_NS), "response_ns") / 1e9,
        think_s=_mean(rows, "think_ns") / 1e9,
        cpu_user_s=_mean(rows, "cpu_user_ns") / 1e9,
        cpu_system_s=_mean(rows, "cpu_system_ns") / 1e9,
        faults=_mean(rows, "faults_major"),
        paging_wait_s=_mean(rows, "paging_wait_ns") / 1e9,
        bytes_out=_mean(rows, "bytes_out"),
    )


def _mean(rows: pl.DataFrame, column: str) -> float:
    """The mean of a column; 0 if the machine does not have it, such as page faults without paging."""
    measured = rows[column].drop_nulls().to_numpy()
    return float(measured.mean()) if len(measured) else 0.0


def _shares(time: pl.DataFrame) -> dict[str, float]:
    """The share of each category in the time of all processors."""
    by_processor = time.filter(pl.col("processor").is_not_null())
    rows = by_processor if len(by_processor) else time
    by_category = rows.group_by(pl.col("category").cast(pl.String)).agg(pl.col("time_ns").sum())
    sums = {str(name): int(ns) for name, ns in by_category.sort("category").rows()}
    total_ns = sum(sums.values())
    return {name: ns / total_ns for name, ns in sums.items()}
