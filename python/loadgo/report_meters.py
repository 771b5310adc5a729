"""The tables of what the meters tell: faults, what is paged, what the supervisor does, and queues."""

from __future__ import annotations

from loadgo.meters import Metered
from loadgo.report_figures import duration, number, share
from loadgo.report_grid import Column, Grid
from loadgo.report_simulated import simulated
from loadgo.summary import Summary

MOST_SEGMENTS = 20


def meter_grids(summary: Summary) -> list[Grid]:
    """All of them, those without rows left out."""
    found = (faults(summary), segments(summary), primitives(summary), queues(summary))
    return [grid for grid in found if grid is not None]


def faults(summary: Summary) -> Grid | None:
    """Faults by kind."""
    told = summary.meters.faults
    waits = Column("wait each", tuple(duration(_each(row.wait_ns, row.count)) for row in told), spare=1)
    return _metered(summary, "Faults", "kind", told, waits)


def primitives(summary: Summary) -> Grid | None:
    """What the system did, by name."""
    return _metered(summary, "What the supervisor did", "what", summary.meters.primitives)


def segments(summary: Summary) -> Grid | None:
    """Faults by what is paged: on a simulated machine, by command, with the processor time between two of them."""
    told = summary.meters.segments[:MOST_SEGMENTS]
    if not told:
        return None
    names = tuple(row.name for row in told)
    majors = sum(row.faults_major or 0 for row in summary.meters.segments)
    columns = [
        Column("command" if simulated(summary) else "segment", names),
        Column("major faults", tuple(number(row.faults_major) for row in told)),
        Column("share", tuple(share((row.faults_major or 0) / majors if majors else None) for row in told)),
    ]
    if any(row.faults_minor for row in told):
        columns.append(Column("minor faults", tuple(number(row.faults_minor) for row in told)))
    if simulated(summary):
        columns.append(Column("headway", tuple(duration(_headway(summary, name)) for name in names)))
    return Grid(f"Faults by {columns[0].heading}", tuple(columns))


def queues(summary: Summary) -> Grid | None:
    """How long queues were, and how busy what serves them was."""
    told = summary.meters.queues
    if not told:
        return None
    columns = (
        Column("queue", tuple(row.name for row in told)),
        Column("mean length", tuple(_mean(row.length) for row in told)),
        Column("a second", tuple(number(row.a_second) for row in told)),
        Column("busy", tuple("" if row.busy is None else _mean(row.busy) for row in told)),
        Column("service", tuple("" if row.service_ns is None else duration(row.service_ns) for row in told), spare=1),
        Column("wait", tuple("" if row.wait_ns is None else duration(row.wait_ns) for row in told)),
    )
    return Grid("Queues", columns)


def _metered(summary: Summary, title: str, heading: str, told: tuple[Metered, ...], *more: Column) -> Grid | None:
    if not told:
        return None
    total = summary.total_time
    columns = (
        Column(heading, tuple(row.name for row in told)),
        Column("count", tuple(number(row.count) for row in told)),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in told)),
        *more,
        Column("p90 ≥", tuple(duration(row.p90_ns) for row in told), spare=2),
        Column("of all CPU time", tuple(share(total.share_of(row.cpu_ns) if total else None) for row in told), spare=3),
    )
    return Grid(title, columns)


def _headway(summary: Summary, command: str) -> float | None:
    """The processor time of the work between two page faults of a command."""
    usage = next((row.usage for row in summary.commands if row.name == command), None)
    if usage is None or not usage.faults_major or usage.cpu_user_ns is None:
        return None
    return usage.cpu_user_ns / usage.faults_major


def _each(time_ns: int | None, count: int) -> float | None:
    return None if time_ns is None or not count else time_ns / count


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
