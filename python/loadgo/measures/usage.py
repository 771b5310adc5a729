"""The usage of interactions and of their typing, the audit of impossible usage, and the outcomes, from the rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from loadgo.measures.usage_figures import NOT_FOUND_STATUS as NOT_FOUND_STATUS
from loadgo.measures.usage_figures import Outcomes as Outcomes
from loadgo.measures.usage_figures import TypingUsage as TypingUsage
from loadgo.measures.usage_figures import Usage as Usage
from loadgo.measures.usage_figures import UsageAudit as UsageAudit
from loadgo.notation.figures import share
from loadgo.records.interactions import IS_UNSEEN, USAGE_COLUMNS

_LOSING_KERNEL = (6, 12)
"""From this version on, Linux loses the beginning of some waits (crates/host/src/usage/taskstats.rs)."""

USAGE_MEANS = (
    *(pl.col(name).cast(pl.Float64).mean() for name in USAGE_COLUMNS),
    pl.col("cpu_user_ns").count().alias("measured"),
)
"""The aggregates of interactions that `usage_in` reads."""
OUTCOME_COUNTS = (
    *(
        (pl.col("outcome").cast(pl.String) == name.replace("timeouts", "timeout")).sum().alias(name)
        for name in ("ok", "failed", "timeouts", "died", "unconfirmed")
    ),
    (pl.col("exit_status") == NOT_FOUND_STATUS).sum().alias("not_found"),
    IS_UNSEEN.sum().alias("unseen"),
)
"""The aggregates of interactions that `outcomes_in` reads."""


def usage_of(rows: pl.DataFrame) -> Usage:
    """The mean use of an interaction of `rows`, which have the columns of the table `interactions`."""
    return usage_in(rows.select(USAGE_MEANS).row(0, named=True))


def usage_in(aggregates: Mapping[str, Any]) -> Usage:
    """The mean use of an interaction from `USAGE_MEANS`."""
    return Usage(**{name: aggregates[name] for name in ("measured", *USAGE_COLUMNS)})


def typing_usage_of(rows: pl.DataFrame) -> TypingUsage | None:
    """The mean use of typing a line of `rows`; None if no line was typed key by key, or none was measured."""
    names = [name for name in TypingUsage.__dataclass_fields__ if name != "measured"]
    means = rows.select(pl.col(f"typing_{name}").cast(pl.Float64).mean().alias(name) for name in names)
    measured = int(rows["typing_cpu_ns"].count())
    return TypingUsage(measured=measured, **means.row(0, named=True)) if measured else None


def unknown_waits_note(rows: pl.DataFrame, system: Mapping[str, Any], *, has_meters: bool = False) -> str:
    """A note on page and disk waits that are known for a part of the metered interactions; empty if for all or none.

    `has_meters` says whether the run had the kernel's meters. They are the remedy where it had none.
    """
    metered = rows.filter(pl.col("ready_wait_ns").is_not_null())
    known = int(metered["io_wait_ns"].count())
    if not 0 < known < len(metered):
        return ""
    known_share = f"{known:,} of {len(metered):,} interactions ({share(known / len(metered))})"
    version = re.match(r"(\d+)\.(\d+)", str(system.get("kernel", "")))
    why = "the kernel did not tell those of the others."
    if version and (int(version[1]), int(version[2])) >= _LOSING_KERNEL:
        why = (
            "since version 6.12 the kernel loses the beginning of some waits when processors are contended. The others "
            "did wait, so the means are too low. A wait that ends while its process is still in the run queue counts "
            "as 0, also in the known ones, which makes the means lower still."
        )
        if not has_meters:
            why += " `--meters cheap` measures all waits."
    return f"Page waits and disk waits are known for {known_share}: {why}"


def audit_usage(rows: pl.DataFrame) -> UsageAudit | None:
    """The audit of the rows' processor time; None if no row could be judged."""
    excess = rows["cpu_excess_ns"].drop_nulls().cast(pl.Int64)
    if excess.is_empty():
        return None
    return UsageAudit(judged=len(excess), impossible=int((excess > 0).sum()), excess_ns=int(excess.sum()))


def outcomes_of(rows: pl.DataFrame) -> Outcomes:
    """The outcomes of the interactions of `rows`."""
    return outcomes_in(rows.select(OUTCOME_COUNTS).row(0, named=True))


def outcomes_in(aggregates: Mapping[str, Any]) -> Outcomes:
    """The outcomes of interactions from `OUTCOME_COUNTS`."""
    return Outcomes(**{name: aggregates[name] for name in Outcomes.__dataclass_fields__})
