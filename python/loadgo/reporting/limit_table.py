"""The table of the limits for each user and their costs."""

from __future__ import annotations

from loadgo.documents.table import Column, Table
from loadgo.measures.limit_costs import LimitCost
from loadgo.measures.summary import Summary
from loadgo.notation.figures import duration, number, share, size

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


def _rank(row: LimitCost) -> tuple[int, int, int, int]:
    kills, refused = row.memory_kills or 0, row.pids_refusals or 0
    return (-(row.throttled_ns or 0), -kills, -refused, row.user or 0)
