"""The table of waits for locks."""

from __future__ import annotations

from loadgo.documents.table import Column, Table
from loadgo.measures.summary import Summary
from loadgo.notation.figures import duration, exact_share, number
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.view import View

LOCKS_TABLE = "locks"
SHOWN_LOCKS = 12
"""Rows of locks in a report that is not full."""


def lock_waits(summary: Summary, view: View) -> Table | None:
    """Waits for locks by kind and place, the most time first; None if none was metered."""
    all_rows = summary.meters.locks
    rows = all_rows[: view.rows(SHOWN_LOCKS)]
    if not rows:
        return None
    by_users = not without_load(summary) and any(row.response_share is not None for row in rows)
    of_response = Column("of the response", tuple(exact_share(row.response_share) for row in rows))
    columns = (
        Column("lock", tuple(row.kind for row in rows), kind="name"),
        Column("place", tuple(row.place or "" for row in rows)),
        Column("waits", tuple(number(row.count) for row in rows)),
        Column("a second", tuple("" if row.a_second is None else number(row.a_second) for row in rows), spare=3),
        Column("time", tuple(duration(row.wait_ns) for row in rows)),
        Column("mean", tuple(duration(row.mean_ns) for row in rows)),
        Column("longest", tuple(duration(row.longest_ns) for row in rows), spare=2),
        *((of_response,) if by_users else ()),
    )
    more = f" (the first {len(rows)} of {len(all_rows):,} by time)" if len(rows) < len(all_rows) else ""
    return Table(f"Waits for locks{more}", columns, id=LOCKS_TABLE)
