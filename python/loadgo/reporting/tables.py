"""The report's tables: the list of all, and those of commands and users."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Column, Table
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.notation.figures import TOO_FEW_TEXT, duration, interval, money, number, quantile, share, size
from loadgo.reporting.host_table import drivers_table, hosts_table
from loadgo.reporting.limit_table import cpu_wait_has_throttled, limits_table
from loadgo.reporting.meter_tables import meter_tables
from loadgo.reporting.metered_host_table import metered_hosts_table
from loadgo.reporting.pictures import NO_PICTURES, SignPictures
from loadgo.reporting.prediction import prediction_table
from loadgo.reporting.processor_time_tables import time_tables
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View
from loadgo.reporting.working_set_table import working_set_tables
from loadgo.stats.quantiles import samples_needed

_SHOWN_QUANTILES = ("p50", "p90", "p99")
_CPU_WAIT_FOOT = "The CPU wait has the throttled time, too; with the kernel's meters it has not."
_SUMMED_FOOT = "CPU wait and throttled time are summed over the processes of a line."


def report_tables(summary: Summary, view: View | None = None, pictures: SignPictures = NO_PICTURES) -> list[Table]:
    """All tables of a report that have rows. On a page of text, `pictures` stand in some of them."""
    choices = view or View()
    tables: list[Table] = []
    if summary.everything.response.count and not without_load(summary):
        by_host = hosts_table(summary)
        drivers = drivers_table(summary)
        limits = limits_table(summary)
        of_load = (responses(summary), by_host, drivers, limits, usage(summary), classes(summary))
        first = (prediction_table(summary.prediction), *of_load)
        tables = [table for table in first if table] + working_set_tables(summary)
    elif not without_load(summary):
        return []
    if summary.metered_hosts is not None:
        return [metered_hosts_table(summary.metered_hosts)]
    tables += time_tables(summary, choices, pictures.categories)
    metered = meter_tables(summary, choices, pictures.lengths)
    return [*tables, *metered[:1], *([pictures.faults] if pictures.faults else []), *metered[1:]]


def responses(summary: Summary) -> Table:
    """Response times by command."""
    rows = _rows(summary)

    def quantiles(name: str) -> tuple[str, ...]:
        return tuple(quantile(row.response.quantile(name)) for row in rows)

    def intervals(name: str) -> tuple[str, ...]:
        return tuple(interval(row.response.quantile(name)) for row in rows)

    is_partial = any(row.response.answered < row.response.count for row in rows)
    mean_heading = "mean of answered" if is_partial else "mean"
    columns = (
        Column("command", _names(rows)),
        Column("count", tuple(number(row.response.count) for row in rows)),
        Column("p50", quantiles("p50")),
        Column("p50's 95 %", intervals("p50"), spare=7, of_previous=True),
        Column("p90", quantiles("p90")),
        Column("p90's 95 %", intervals("p90"), spare=2, of_previous=True),
        Column("p99", quantiles("p99"), spare=1),
        Column("p99's 95 %", intervals("p99"), spare=8, of_previous=True),
        Column(mean_heading, tuple(duration(row.response.mean_ns) for row in rows), spare=6),
        *_bad_outcomes(rows),
    )
    return Table(
        "Response time",
        columns,
        total_rows=1,
        id="response-time",
        charts=("response",),
        absent={TOO_FEW_TEXT: _few_meaning(rows)},
    )


def _few_meaning(rows: Sequence[CommandSummary]) -> str:
    """The meaning of `few`, with the number of answers that each quantile of the table with too few in a row needs."""
    quantiles = [quantile for row in rows for quantile in row.response.quantiles if quantile.name in _SHOWN_QUANTILES]
    few = sorted({quantile.probability for quantile in quantiles if quantile.state == "too few samples"})
    needs = [f"p{100 * probability:g} needs {samples_needed(probability)}" for probability in few]
    return ": ".join(filter(None, ("too few answers for this quantile", ", ".join(needs))))


def usage(summary: Summary) -> Table:
    """The average use of an interaction, by command."""
    rows = _rows(summary)
    scale = summary.cost.tariff.counted
    cost_heading = "cost" if scale == 1 else "cost/10⁶"
    faults = Column("faults", tuple(number(row.usage.faults_minor) for row in rows), spare=6)
    minor = () if simulated(summary) else (faults,)  # a machine has major faults only
    throttled = Column("throttled", tuple(duration(row.usage.throttled_ns) for row in rows))
    has_quotas = summary.everything.usage.throttled_ns is not None
    columns = (
        Column("command", _names(rows)),
        Column("CPU", tuple(duration(row.usage.cpu_ns) for row in rows)),
        Column("user mode", tuple(duration(row.usage.cpu_user_ns) for row in rows), spare=8),
        Column("system", tuple(duration(row.usage.cpu_system_ns) for row in rows), spare=8),
        Column("CPU wait", tuple(duration(row.usage.ready_wait_ns) for row in rows), spare=1),
        *((throttled,) if has_quotas else ()),
        Column("page wait", tuple(duration(row.usage.paging_wait_ns) for row in rows), spare=5),
        Column("disk wait", tuple(duration(row.usage.io_wait_ns) for row in rows), spare=3),
        *minor,
        Column("major", tuple(number(row.usage.faults_major) for row in rows), spare=4),
        Column("output", tuple(size(row.usage.bytes_out) for row in rows), spare=7),
        Column(cost_heading, tuple(money(row.cost, summary.cost.tariff.currency, scale) for row in rows), spare=2),
    )
    feet = [(_SUMMED_FOOT, has_quotas), (_CPU_WAIT_FOOT, cpu_wait_has_throttled(summary))]
    foot = " ".join(text for text, is_said in feet if is_said)
    return Table("Used by one interaction, on average", columns, total_rows=1, id="usage", foot=foot)


def classes(summary: Summary) -> Table | None:
    """All users' time, divided into thinking, typing, waiting and driver late; None if it is 0."""
    user_time = summary.classes
    if not user_time.total_ns:
        return None
    parts = [
        ("thinking", user_time.thinking_ns),
        ("typing", user_time.typing_ns),
        ("waiting for the system", user_time.waiting_ns),
        ("driver late", user_time.driver_ns),
        ("all", user_time.total_ns),
    ]
    columns = (
        Column("class", tuple(name for name, _ in parts)),
        Column("time", tuple(duration(part) for _, part in parts)),
        Column("share", tuple(share(part / user_time.total_ns) for _, part in parts)),
    )
    return Table("Users' time", columns, total_rows=1, id="users-time", charts=("users",))


def _rows(summary: Summary) -> list[CommandSummary]:
    return [*summary.commands, summary.everything]


def _names(rows: list[CommandSummary]) -> tuple[str, ...]:
    return (*(row.name for row in rows[:-1]), "all commands")


def _bad_outcomes(rows: list[CommandSummary]) -> list[Column]:
    """A column for each bad outcome that occurred."""
    counts = {
        "failed": [row.outcomes.failed for row in rows],
        "timeout": [row.outcomes.timeouts for row in rows],
        "died": [row.outcomes.died for row in rows],
        "unconf.": [row.outcomes.unconfirmed for row in rows],
    }
    shown = [Column(name, tuple(number(count) for count in column)) for name, column in counts.items() if column[-1]]
    return shown or [Column("failed", tuple(number(row.outcomes.errors) for row in rows))]
