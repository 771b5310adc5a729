"""The drivers of a run with several, in a table: how late each was, and how busy its host."""

from __future__ import annotations

from loadgo.documents.table import Column, Table
from loadgo.measures.drivers import DriverFigures
from loadgo.measures.summary import Summary
from loadgo.notation.figures import NOT_MEASURED, duration, number, share

DRIVERS_TABLE = "drivers"


def drivers_table(summary: Summary) -> Table | None:
    """The drivers; None for a run with one."""
    rows = summary.drivers
    if not rows:
        return None
    lost = Column("lost", tuple(_loss(row) for row in rows))
    columns = (
        Column("driver", tuple(row.name for row in rows)),
        Column("users", tuple(_users(row) for row in rows)),
        Column("lines", tuple(number(row.lines) for row in rows), spare=2),
        Column("late at p99", tuple(duration(row.lateness_p99_ns) for row in rows)),
        Column("at most", tuple(duration(row.lateness_max_ns) for row in rows), spare=3),
        Column("loadgo took", tuple(_share(row.driver_share) for row in rows), spare=1),
        Column("busy", tuple(_share(row.busy_share) for row in rows)),
        Column("clock within", tuple(duration(row.clock_bound_ns) for row in rows), spare=4),
        *([lost] if any(row.lost for row in rows) else []),
    )
    return Table("Drivers", columns, id=DRIVERS_TABLE)


def _share(value: float | None) -> str:
    return NOT_MEASURED if value is None else share(value)


def _users(row: DriverFigures) -> str:
    return number(row.users) if row.users == 1 else f"{row.first_user}–{row.last_user}"


def _loss(row: DriverFigures) -> str:
    if row.lost is None:
        return ""
    return "yes" if row.lost.at_s is None else f"after {duration(row.lost.at_s * 1e9)}"
