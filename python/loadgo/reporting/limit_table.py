"""The table of the limits for each user and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadgo.documents.table import Column, Table
from loadgo.measures.limit_costs import LimitCost
from loadgo.measures.summary import Summary
from loadgo.notation.figures import counted, duration, in_words, number, share, size

LIMITS_TABLE = "limits-for-each-user"
_MOST_USERS = 20


def limits_table(summary: Summary) -> Table | None:
    """The costs by user, those first who were held back longest; None without limits for each user."""
    costs = summary.limit_costs
    if costs is None:
        return None
    ranked = sorted(costs.users, key=_rank)
    rows = [*ranked[:_MOST_USERS], costs.everybody]
    columns = (
        Column("user", tuple("all" if row.user is None else number(row.user) for row in rows)),
        Column("CPU", tuple(duration(row.cpu_ns) for row in rows)),
        Column("throttled", tuple(duration(row.throttled_ns) for row in rows)),
        Column("of periods", tuple(share(row.throttled_share) for row in rows), spare=3),
        Column("memory at most", tuple(size(row.memory_peak_bytes) for row in rows), spare=4),
        Column("reclaims", tuple(number(row.memory_refusals) for row in rows), spare=5),
        Column("memory kills", tuple(number(row.memory_kills) for row in rows)),
        Column("forks refused", tuple(number(row.pids_refusals) for row in rows)),
    )
    hidden = len(ranked) - _MOST_USERS
    foot = f"{hidden} of {len(ranked)} users are left out: those who were held back least." if hidden > 0 else ""
    return Table("Limits for each user", columns, total_rows=1, id=LIMITS_TABLE, foot=foot)


def cpu_wait_has_throttled(summary: Summary) -> bool:
    """Whether the time under the users' quotas is also in their CPU wait, as in the kernel's own accounts of tasks."""
    is_known = summary.everything.usage.throttled_ns is not None
    return is_known and summary.run.usage.get("waits") in ("taskstats", "schedstat")


def limits_sentence(summary: Summary) -> str:
    """The sentence on what the limits cost the users; empty without limits for each user."""
    costs = summary.limit_costs
    if costs is None:
        return ""
    held = [row for row in costs.users if _costs_of(row)]
    if not held:
        return f"The limits held nobody back{_doubt(costs.everybody, summary.run.limit_each)}."
    which = f"{number(len(held))} of {counted(len(costs.users), 'user')}"
    return f"The limits held back {which}: {in_words(_costs_of(costs.everybody))}."


def _doubt(everybody: LimitCost, limit: Mapping[str, Any]) -> str:
    """The remark that the cost of one of these limits was not counted; empty where all were."""
    memory, peak = limit.get("memory_bytes"), everybody.memory_peak_bytes
    is_below = memory is not None and peak is not None and peak < memory
    counts = (
        ("cpus", everybody.throttled_ns),
        ("memory_bytes", everybody.memory_kills),
        ("memory_bytes", peak if is_below else everybody.memory_refusals),
        ("pids", everybody.pids_refusals),
        *((name, None) for name in _UNCOUNTED_LIMITS),
    )
    is_uncounted = any(name in limit and count is None for name, count in counts)
    return ", as far as it was counted" if is_uncounted else ""


_UNCOUNTED_LIMITS = ("swap_bytes", "io_bytes_per_s", "nice", "single")
"""Limits whose costs no counter has."""


def _costs_of(row: LimitCost) -> list[str]:
    """The costs of a user, or of all, that are not 0."""
    periods = "" if row.throttled_share is None else f" ({share(row.throttled_share)} of the periods with work)"
    kills, forks, reclaims = row.memory_kills or 0, row.pids_refusals or 0, row.memory_refusals or 0
    phrases = (
        f"the processor quota was used up for {duration(row.throttled_ns)}{periods}" if row.throttled_ns else "",
        f"memory was reclaimed {counted(reclaims, 'time')}" if reclaims else "",
        f"{number(kills)} process{'' if kills == 1 else 'es'} killed for want of memory" if kills else "",
        f"{counted(forks, 'fork')} refused" if forks else "",
    )
    return [phrase for phrase in phrases if phrase]


def _rank(row: LimitCost) -> tuple[int, int, int, int]:
    kills, refused = row.memory_kills or 0, row.pids_refusals or 0
    return (-(row.throttled_ns or 0), -kills, -refused, row.user or 0)
