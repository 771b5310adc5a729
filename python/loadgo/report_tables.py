"""The report's tables as rows of text."""

from __future__ import annotations

from loadgo.report_figures import NOT_MEASURED, duration, interval, money, money_scale, number, quantile, share, size
from loadgo.report_grid import Column, Grid
from loadgo.report_meters import meter_grids
from loadgo.report_simulated import simulated
from loadgo.report_words import account
from loadgo.summary import Command, Summary


def grids(summary: Summary) -> list[Grid]:
    """All tables of a report, those without rows left out."""
    if not summary.everything.response.count:
        return []
    found = (responses(summary), usage(summary), classes(summary), processors(summary), accounts(summary))
    return [grid for grid in found if grid] + meter_grids(summary)


def responses(summary: Summary) -> Grid:
    """Response times by command."""
    rows = _rows(summary)

    def quantiles(name: str) -> tuple[str, ...]:
        return tuple(quantile(row.response.quantile(name)) for row in rows)

    def intervals(name: str) -> tuple[str, ...]:
        return tuple(interval(row.response.quantile(name)) for row in rows)

    columns = (
        Column("command", _names(rows)),
        Column("count", tuple(number(row.response.count) for row in rows)),
        Column("p50", quantiles("p50")),
        Column("95 % interval", intervals("p50"), spare=7),
        Column("p90", quantiles("p90")),
        Column("95 % interval", intervals("p90"), spare=2),
        Column("p99", quantiles("p99"), spare=1),
        Column("95 % interval", intervals("p99"), spare=8),
        Column("mean", tuple(duration(row.response.mean_ns) for row in rows), spare=6),
        *_troubles(rows),
    )
    return Grid("Response time", columns, total_rows=1)


def usage(summary: Summary) -> Grid:
    """What an interaction used, on average, by command."""
    rows = _rows(summary)
    scale = money_scale([row.cost for row in rows])
    each = {1: "cost", 10**3: "cost/10³", 10**6: "cost/10⁶", 10**9: "cost/10⁹"}[scale]
    faults = Column("faults", tuple(number(row.usage.faults_minor) for row in rows), spare=6)
    minor = () if simulated(summary) else (faults,)  # a machine has major faults only
    columns = (
        Column("command", _names(rows)),
        Column("CPU", tuple(duration(row.usage.cpu_ns) for row in rows)),
        Column("user", tuple(duration(row.usage.cpu_user_ns) for row in rows), spare=8),
        Column("system", tuple(duration(row.usage.cpu_system_ns) for row in rows), spare=8),
        Column("ready wait", tuple(duration(row.usage.ready_wait_ns) for row in rows), spare=1),
        Column("paging wait", tuple(duration(row.usage.paging_wait_ns) for row in rows), spare=5),
        Column("I/O wait", tuple(duration(row.usage.io_wait_ns) for row in rows), spare=3),
        *minor,
        Column("major", tuple(number(row.usage.faults_major) for row in rows), spare=4),
        Column("output", tuple(size(row.usage.bytes_out) for row in rows), spare=7),
        Column(each, tuple(money(row.cost, summary.cost.tariff.currency, scale) for row in rows), spare=2),
    )
    return Grid("Used by one interaction, on average", columns, total_rows=1)


def classes(summary: Summary) -> Grid | None:
    """Users' time by class; None when there is none."""
    told = summary.classes
    if not told.total_ns:
        return None
    parts = [
        ("thinking", told.thinking_ns),
        ("typing", told.typing_ns),
        ("waiting for the system", told.waiting_ns),
        ("driver late", told.driver_ns),
        ("all", told.total_ns),
    ]
    columns = (
        Column("class", tuple(name for name, _ in parts)),
        Column("time", tuple(duration(part) for _, part in parts)),
        Column("share", tuple(share(part / told.total_ns) for _, part in parts)),
    )
    return Grid("Users' time", columns, total_rows=1)


def processors(summary: Summary) -> Grid | None:
    """Processors' time by category; None when not measured."""
    told = summary.total_time
    if told is None or not told.total_ns:
        return None
    shown = told.processors if len(told.processors) <= 8 else ()
    totals = [sum(category.by_processor_ns[i] for category in told.categories) for i in range(len(told.processors))]
    own = [
        Column(
            f"processor {name}" if name != "all" else "all",
            (
                *(
                    share(category.by_processor_ns[i] / totals[i] if totals[i] else None)
                    for category in told.categories
                ),
                share(1),
            ),
            spare=1,
        )
        for i, name in enumerate(shown)
        if len(told.processors) > 1
    ]
    columns = (
        Column("category", (*(category.name for category in told.categories), "all")),
        Column("time", (*(duration(category.time_ns) for category in told.categories), duration(told.total_ns))),
        Column("share", (*(share(told.share_of(category.time_ns)) for category in told.categories), share(1))),
        *own,
    )
    return Grid("Processors' time", columns, total_rows=1)


def accounts(summary: Summary) -> Grid | None:
    """Who used the busy time; None when not measured."""
    lines = account(summary)
    told = summary.total_time
    if told is None or not lines:
        return None
    columns = (
        Column("who", tuple(who for who, _ in lines)),
        Column("time", tuple(_signed(time) for _, time in lines)),
        Column("of all time", tuple(share(told.share_of(time)) for _, time in lines)),
    )
    return Grid("Who used the processors", columns, total_rows=1)


def _rows(summary: Summary) -> list[Command]:
    return [*summary.commands, summary.everything]


def _names(rows: list[Command]) -> tuple[str, ...]:
    return (*(row.name for row in rows[:-1]), "all commands")


def _troubles(rows: list[Command]) -> list[Column]:
    """A column for each way to end badly that anything took."""
    counts = {
        "failed": [row.outcomes.failed for row in rows],
        "timeout": [row.outcomes.timeouts for row in rows],
        "died": [row.outcomes.died for row in rows],
        "unconf.": [row.outcomes.unconfirmed for row in rows],
    }
    shown = [Column(name, tuple(number(count) for count in found)) for name, found in counts.items() if found[-1]]
    return shown or [Column("failed", tuple(number(row.outcomes.errors) for row in rows))]


def _signed(time: int | None) -> str:
    if time is None:
        return NOT_MEASURED
    return f"−{duration(-time)}" if time < 0 else duration(time)
