"""Hosts that were metered side by side without a load: their table, and the sentences on those that differ."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.documents.table import Column, Table
from loadgo.measures.metered_hosts import LEAST_DIFFERENCE, HostDifference, MeteredHost, MeteredHosts
from loadgo.measures.summary import Summary
from loadgo.measures.total_time import TotalTime
from loadgo.notation.figures import (
    NOT_MEASURED,
    as_code,
    counted,
    digits,
    duration,
    exact_share,
    in_words,
    number,
    plain,
    share,
)
from loadgo.reporting.host_table import loss_cell

METERED_HOSTS_TABLE = "metered-hosts"
_MOST_UNKNOWN_SHARE = 0.5
"""If more than this part of the busy time has no known program, the answer says so."""
_NAMED_PROCESSES = 3
_NAMED_PROCESS_SHARE = 0.01
"""Smallest share of the processors' time with which the answer names a process."""
_FIGURE_WORDS = {
    "busy": "its processors were {value} busy, those of the others {others}",
    "held up": "its processors were idle, with somebody waiting for a page or a disk, {value} of the time, those of "
    "the others {others}",
    "run queue": "{value} tasks waited for a processor there, and {others} on the others",
}


def metered_hosts_table(compared: MeteredHosts) -> Table:
    """The processors' time by host, and what differs."""
    rows = compared.hosts
    differing = {name: [row for row in compared.differences if row.host == name] for name in (row.name for row in rows)}
    lost = Column("lost", tuple(loss_cell(row.lost) for row in rows))
    columns = (
        Column("host", tuple(row.name for row in rows)),
        Column("processors", tuple(number(row.processors) for row in rows), spare=3),
        Column("busy", _shares(rows, lambda row: row.busy_share)),
        Column("user mode", _shares(rows, lambda row: row.user_share), spare=2),
        Column("held up", _shares(rows, lambda row: row.held_up_share)),
        Column("run queue", tuple(number(row.run_queue) for row in rows)),
        Column("most by", tuple(_most(row) for row in rows), spare=1),
        Column("differs in", tuple(in_words([row.figure for row in differing[host.name]]) for host in rows)),
        *([lost] if any(row.lost for row in rows) else []),
    )
    return Table("Processors' time by host", columns, id=METERED_HOSTS_TABLE)


def metered_hosts_answer(compared: MeteredHosts, span_ns: float) -> str:
    """The host that differs from the others and in what, or that none does, or why that is not known."""
    return f"{counted(len(compared.hosts), 'host')} over {duration(span_ns)}. {_verdict(compared)}{_lost(compared)}"


def _verdict(compared: MeteredHosts) -> str:
    if not compared.judged:
        return "Whether one differs from the others is not known: the metering is too short, or has too few rows."
    names = list(dict.fromkeys(row.host for row in compared.differences))
    if not names:
        least = f"{100 * LEAST_DIFFERENCE['busy']:g} % of the processors' time"
        return f"None surely differs from the others by {least}, or by a waiting task."
    by_name = {row.name: row for row in compared.hosts}
    return " ".join(_unlike(by_name[name], compared, is_first=not index) for index, name in enumerate(names))


def _unlike(host: MeteredHost, compared: MeteredHosts, *, is_first: bool) -> str:
    own = [row for row in compared.differences if row.host == host.name]
    parts = [f"{_figure_words(row)} ({_interval(row)})" for row in own]
    most = _most_used(host) if own[0].figure != "held up" else ""
    beside = "the others" if is_first else "the rest"
    return f"{host.name} surely differs from {beside}: {'; '.join(parts)}.{most}"


def _figure_words(row: HostDifference) -> str:
    show = _figure(row)
    return _FIGURE_WORDS[row.figure].format(value=show(row.value), others=show(row.others))


def _interval(row: HostDifference) -> str:
    """The interval of the difference, as `41.0 to 52.0 percentage points more`: per cent could be taken for a ratio."""
    low, high = sorted((abs(row.low), abs(row.high)))
    more = "more" if row.low > 0 else "less"
    if row.figure == "run queue":
        return f"{number(low)} to {number(high)} {more}"
    return f"{digits(100 * low)} to {digits(100 * high)} percentage points {more}"


def _figure(row: HostDifference) -> Callable[[float], str]:
    return number if row.figure == "run queue" else share


def _lost(compared: MeteredHosts) -> str:
    lost = [row.name for row in compared.hosts if row.lost is not None]
    return f" Lost before the end, and not compared: {in_words(lost)}." if lost else ""


def most_used(summary: Summary, total_time: TotalTime) -> str:
    """The processes that used most of the processors' time; empty where none used a noticeable share."""
    used = [
        (row.name, part)
        for row in summary.whose_time.processes
        if (part := total_time.share_of(row.cpu_ns) or 0.0) >= _NAMED_PROCESS_SHARE
    ]
    named = in_words([program_and_share(name, part) for name, part in used[:_NAMED_PROCESSES]])
    if not named:
        return ""
    known = total_time.share_of(sum(row.cpu_ns or 0 for row in summary.whose_time.processes)) or 0.0
    unknown = total_time.busy_share - known
    if unknown <= _MOST_UNKNOWN_SHARE * total_time.busy_share:
        return f" Most processor time was used by {named}."
    return f" Of the busy time, {exact_share(unknown)} is of no known program. Of the known ones, {named} used most."


def program_and_share(name: str, part: float) -> str:
    """A program with its share, as `sh (45.00 %)`. Of loadgo itself these are other processes than the meter."""
    return f"{as_code(name)} ({exact_share(part)}{'; other processes than this meter' if name == 'loadgo' else ''})"


def _shares(rows: tuple[MeteredHost, ...], part: Callable[[MeteredHost], float | None]) -> tuple[str, ...]:
    return tuple(NOT_MEASURED if (value := part(row)) is None else exact_share(value) for row in rows)


def _most(row: MeteredHost) -> str:
    if row.most is None or row.most_share is None:
        return NOT_MEASURED
    return f"{plain(row.most.name)} {share(row.most_share)}"


def _most_used(row: MeteredHost) -> str:
    """A sentence on the program that used most of a host's processors' time; empty where it is not known."""
    if row.most is None or row.most_share is None:
        return ""
    return f" Most processor time there was used by {as_code(row.most.name)} ({share(row.most_share)})."
