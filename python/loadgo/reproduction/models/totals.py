"""What a run of a model comes to, in the words in which a document prints it: means by line and command, and totals."""

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
class Use:
    """What one interaction took, on average over `count` of them; times in seconds."""

    count: int
    response_s: float
    think_s: float
    cpu_user_s: float
    """The work itself."""
    cpu_system_s: float
    """The supervisor's processor time on its behalf."""
    faults: float
    """Page faults."""
    ready_wait_s: float
    paging_wait_s: float
    """Waiting for pages; with swapping, for the program to be moved out and in."""
    io_wait_s: float
    bytes_out: float

    @property
    def cpu_s(self) -> float:
        """Work and supervisor together."""
        return self.cpu_user_s + self.cpu_system_s


@dataclass(frozen=True)
class Totals:
    """A run summed up. All interactions count, those of the warm-up too: the documents leave none out."""

    users: int
    elapsed_s: float
    """From the first line sent until the last answer."""
    every: Use
    """The mean over all interactions; times `every.count` it is the total."""
    commands: Mapping[str, Use]
    """By the script's `as`, in its order."""
    lines: Mapping[tuple[int, int], Use]
    """By pass and line of the script, both from 1."""
    time: Mapping[str, float]
    """The total time meters: the share of all processors' time by category, which add up to 1."""
    tables: Tables
    """The raw tables, for what is not here."""


def totals_of(tables: Tables) -> Totals:
    """The totals of a run's tables; raises `ValueError` for a run in which nobody typed anything."""
    done = tables.interactions.filter(pl.col("ready_ns").is_not_null())
    if done.is_empty():
        raise BadArgument("the run has no interaction that was answered")
    named = done.with_columns(pl.col("command").cast(pl.String)).sort("line", maintain_order=True)
    in_order = done.sort("pass", "line", "user")
    first, last = done["sent_ns"].to_numpy().min(), done["ready_ns"].to_numpy().max()
    return Totals(
        users=done["user"].n_unique(),
        elapsed_s=(int(last) - int(first)) / 1e9,
        every=_use(done),
        commands={str(name): _use(part) for (name,), part in named.group_by("command", maintain_order=True)},
        lines={(int(a), int(b)): _use(part) for (a, b), part in in_order.group_by("pass", "line", maintain_order=True)},
        time=_shares(tables.time),
        tables=tables,
    )


def _use(rows: pl.DataFrame) -> Use:
    return Use(
        count=len(rows),
        response_s=_mean(rows.select(RESPONSE_NS), "response_ns") / 1e9,
        think_s=_mean(rows, "think_ns") / 1e9,
        cpu_user_s=_mean(rows, "cpu_user_ns") / 1e9,
        cpu_system_s=_mean(rows, "cpu_system_ns") / 1e9,
        faults=_mean(rows, "faults_major"),
        ready_wait_s=_mean(rows, "ready_wait_ns") / 1e9,
        paging_wait_s=_mean(rows, "paging_wait_ns") / 1e9,
        io_wait_s=_mean(rows, "io_wait_ns") / 1e9,
        bytes_out=_mean(rows, "bytes_out"),
    )


def _mean(rows: pl.DataFrame, column: str) -> float:
    """The mean of a column; 0 of one that the machine does not have, such as page faults without paging."""
    found = rows[column].drop_nulls().to_numpy()
    return float(found.mean()) if len(found) else 0.0


def _shares(time: pl.DataFrame) -> dict[str, float]:
    """By category, of all processors together."""
    own = time.filter(pl.col("processor").is_not_null())
    by = (own if len(own) else time).group_by(pl.col("category").cast(pl.String)).agg(pl.col("time_ns").sum())
    sums = {str(name): int(ns) for name, ns in by.sort("category").rows()}
    whole = sum(sums.values())
    return {name: ns / whole for name, ns in sums.items()}
