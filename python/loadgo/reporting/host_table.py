"""The hosts and the drivers of a run with several, in tables, and whether a host is surely slower than the others."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Column, Table
from loadgo.measures.drivers import DriverFigures
from loadgo.measures.hosts import HostFigures, HostLost
from loadgo.measures.summary import Summary
from loadgo.notation.figures import (
    NOT_MEASURED,
    counted,
    duration,
    in_words,
    interval,
    number,
    quantile,
    setting,
    share,
)

HOSTS_TABLE = "hosts"
HOSTS_LABEL = "Hosts"
DRIVERS_TABLE = "drivers"
_MOST_NAMED_HOSTS = 6


def hosts_table(summary: Summary) -> Table | None:
    """Response by host; None for a run on one host."""
    rows = summary.hosts
    if not rows:
        return None
    lost = Column("lost", tuple(loss_cell(row.lost) for row in rows))
    columns = (
        Column("host", tuple(row.name for row in rows)),
        Column("users", tuple(_users(row) for row in rows)),
        Column("p90", tuple(quantile(row.response.quantile("p90")) for row in rows)),
        Column("p90's 95 %", tuple(interval(row.response.quantile("p90")) for row in rows), spare=2, of_previous=True),
        Column("against others", tuple(_ratio(row) for row in rows)),
        Column("ratio's 95 %", tuple(_ratio_interval(row) for row in rows), spare=1, of_previous=True),
        Column("p50", tuple(quantile(row.response.quantile("p50")) for row in rows)),
        Column("count", tuple(number(row.response.count) for row in rows), spare=3),
        Column("CPU", tuple(duration(row.usage.cpu_ns) for row in rows), spare=4),
        Column("busy", tuple(_share(row.busy_share) for row in rows), spare=5),
        *([lost] if any(row.lost for row in rows) else []),
    )
    return Table("Response time by host", columns, id=HOSTS_TABLE, foot=_without_interval(rows))


def drivers_table(summary: Summary) -> Table | None:
    """The drivers; None for a run with one."""
    rows = summary.drivers
    if not rows:
        return None
    lost = Column("lost", tuple(loss_cell(row.lost) for row in rows))
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


def _without_interval(rows: Sequence[HostFigures]) -> str:
    """Why hosts that others are compared with have no interval themselves. Empty if all have one, or none."""
    lacking = [row.name for row in rows if row.ratio is not None and row.ratio_low is None]
    if not lacking or all(row.ratio_low is None for row in rows):
        return ""
    return f"{in_words(lacking)}: no interval of the ratio, since the run has too few users or stretches of time there."


def hosts_line(summary: Summary) -> str:
    """Whether a host is surely slower than the others, or faster; empty for a run on one host."""
    rows = summary.hosts
    if not rows:
        return ""
    if all(row.ratio_low is None for row in rows):
        return (
            "Whether a host is slower than the others is not known: the run is too short, or has too few users a host."
        )
    unlike = unlike_hosts(summary)
    if not unlike:
        return "No host is surely slower than the others: each 95 % interval of p90 ÷ the others' p90 includes 1."
    return f"{unlike} In about 95 of 100 runs the intervals of all hosts are right at once."


def unlike_hosts(summary: Summary) -> str:
    """The sentence on hosts that are surely slower than the others, or else faster; empty if there is none."""
    slower = [row for row in summary.hosts if row.verdict == "slower"]
    # Beside a slow host the others are fast, which says the same again.
    named = slower or [row for row in summary.hosts if row.verdict == "faster"]
    parts = [
        f"{row.name} is surely {row.verdict} than the others: its p90 is {_times(row)} theirs"
        for row in sorted(named, key=lambda row: row.ratio or 0.0, reverse=True)
    ]
    return f"{'; '.join(parts)}." if parts else ""


def names_of_hosts(names: Sequence[str]) -> str:
    """The names of hosts, of many the first."""
    more = [counted(len(names) - _MOST_NAMED_HOSTS, "more host")] if len(names) > _MOST_NAMED_HOSTS else []
    return in_words([*names[:_MOST_NAMED_HOSTS], *more])


def _share(value: float | None) -> str:
    return NOT_MEASURED if value is None else share(value)


def _users(row: HostFigures | DriverFigures) -> str:
    return number(row.users) if row.users == 1 else f"{row.first_user}–{row.last_user}"


def _ratio(row: HostFigures) -> str:
    return NOT_MEASURED if row.ratio is None else f"×{_figure(row.ratio)}"


def _ratio_interval(row: HostFigures) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        return ""
    return f"{_figure(row.ratio_low)} to {_figure(row.ratio_high)}"


def _times(row: HostFigures) -> str:
    return f"{_figure(row.ratio or 0.0)} times ({_ratio_interval(row)})"


def _figure(ratio: float) -> str:
    return setting(float(f"{ratio:.3g}"))


def loss_cell(lost: HostLost | None) -> str:
    """When a host was lost, in seconds of the run; empty for one that was not."""
    if lost is None:
        return ""
    return "yes" if lost.at_s is None else f"after {duration(lost.at_s * 1e9)}"
