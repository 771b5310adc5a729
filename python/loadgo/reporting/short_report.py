"""The short report of a run: the tables that it has, cut where they are long, and its notes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from loadgo.documents.table import Table
from loadgo.measures.summary import Summary
from loadgo.notation.figures import counted, duration, number, share
from loadgo.notation.terms import category_name
from loadgo.reporting.host_table import DRIVERS_TABLE, HOSTS_LABEL, HOSTS_TABLE, hosts_line, unlike_hosts
from loadgo.reporting.limit_table import LIMITS_TABLE, cpu_wait_has_throttled
from loadgo.reporting.lock_tables import LOCKS_TABLE, lock_waits
from loadgo.reporting.meter_price import PRICE_LABEL
from loadgo.reporting.meter_tables import primitives, primitives_of_command
from loadgo.reporting.metered_host_table import METERED_HOSTS_TABLE
from loadgo.reporting.processor_time_tables import by_process
from loadgo.reporting.processor_time_words import (
    COVERAGE_LABEL,
    PROCESSORS_LABEL,
    SUMS_LABEL,
    breakdown_not_metered,
    covers_far_less_or_more,
    owners_line,
    without_load,
)
from loadgo.reporting.view import View
from loadgo.reporting.words import SPEED_LABEL, fine_print
from loadgo.reporting.working_set_table import FAULTS_AT_MEMORY_TABLE
from loadgo.stats.quantiles import Response

MOST_COMMANDS = 12
"""Rows of commands in the short report, so that it has at most 40 lines of 100 characters."""
_FEWEST_COMMANDS = 5
_COMMANDS_PER_WARNING = 2
"""A warning takes about two lines, so each takes the place of two commands."""
_MOST_CATEGORIES = 10
_MOST_CATEGORIES_BESIDE_PROCESSES = 6
_MOST_PROCESSES = 4
_MOST_CALLS = 5
_MOST_LOCKS = 5
_MOST_FACTS = 3

_TABLES_OF_TOP = ("processes", "interrupts", "segments", "functions", "system-calls", "users")
"""Tables whose length `--top` sets."""
_TABLES_OF_BY = ("faults-by", "system-calls-by", "faults-of-command", "system-calls-of-command")

Note = tuple[str, str]
"""A label and a line."""


def short_tables(summary: Summary, view: View, tables: Iterable[Table], warning_count: int) -> list[Table]:
    """All tables with their places. A table that is too long for the short report has a shorter one beside it."""
    shown, asked = _ids_in_short(summary, view), _ids_asked_for(view)
    placed: list[Table] = []
    for table in sorted(tables, key=lambda table: table.id not in asked):
        if table.id not in shown:
            placed.append(table.placed("full"))
            continue
        cut = _cut(summary, view, table, warning_count)
        placed += [table] if cut is None else [table.placed("full"), cut.placed("short")]
    return placed


def _ids_in_short(summary: Summary, view: View) -> set[str]:
    """The ids of the tables that the short report has: the main one, and those that an option asks for."""
    if without_load(summary):
        shown = {"processors-time", "system-calls-of-command", METERED_HOSTS_TABLE}
        shown |= {"system-calls"} if _has_estimated_calls(summary) else set()
        shown |= set() if _has_calls(summary) else {"processes"}
    else:
        shown = (
            {"predicted"}
            if summary.prediction is not None
            else {"response-time", HOSTS_TABLE, DRIVERS_TABLE, LIMITS_TABLE, FAULTS_AT_MEMORY_TABLE}
        )
    shown |= {LOCKS_TABLE} if summary.run.meters.get("tier") == "cheap,locks" else set()
    return shown | _ids_asked_for(view) | (set(_TABLES_OF_TOP) if view.top is not None else set())


def _ids_asked_for(view: View) -> set[str]:
    """The ids of the tables that an option asks for by itself. They stand before all others."""
    return ({"vocabulary"} if view.vocabulary != "today" else set()) | (set(_TABLES_OF_BY) if view.by else set())


def _cut(summary: Summary, view: View, table: Table, warning_count: int) -> Table | None:
    """The table with fewer rows; None if the short report has room for all."""
    most_commands = max(_FEWEST_COMMANDS, MOST_COMMANDS - _COMMANDS_PER_WARNING * warning_count)
    if table.id == "response-time":
        return _slowest_commands(summary, table, view.rows(most_commands))
    if table.id == HOSTS_TABLE:
        return _slowest_hosts(summary, table, view.rows(most_commands))
    if table.id == DRIVERS_TABLE:
        return _latest_drivers(summary, table, view.rows(most_commands))
    if table.id == "predicted":
        return _first_predictions(table, view.rows(most_commands))
    if table.id == "processors-time":
        is_beside = without_load(summary) and not _has_calls(summary)
        most = _MOST_CATEGORIES_BESIDE_PROCESSES if is_beside else _MOST_CATEGORIES
        return _largest_categories(summary, table, view.rows(most))
    if table.id == "processes" and view.top is None and len(summary.whose_time.processes) > _MOST_PROCESSES:
        return by_process(summary, View(top=_MOST_PROCESSES))
    if table.id == LOCKS_TABLE and view.top is None and len(table.rows()) > _MOST_LOCKS:
        return lock_waits(summary, View(top=_MOST_LOCKS))
    if table.id == "system-calls-of-command" and view.top is None and len(table.rows()) > _MOST_CALLS:
        return primitives_of_command(summary, View(top=_MOST_CALLS))
    if table.id == "system-calls" and view.top is None and len(table.rows()) > _MOST_CALLS:
        return primitives(summary, View(top=_MOST_CALLS))
    return None


def _has_calls(summary: Summary) -> bool:
    """Whether the short report of a metering has system calls, in place of the processes."""
    command = summary.meters.command
    return (command is not None and bool(command.primitives)) or _has_estimated_calls(summary)


def _has_estimated_calls(summary: Summary) -> bool:
    """Whether the sampled meters, which somebody has asked for, have estimates of system calls."""
    return summary.meters.windows is not None and bool(summary.meters.primitives)


def _slowest_commands(summary: Summary, table: Table, most: int) -> Table | None:
    """The rows of the commands with the longest p90, in the order of the script."""
    rows = summary.commands
    if len(rows) <= most:
        return None
    slowest_first = sorted(range(len(rows)), key=lambda row: -_slowness(rows[row].response))
    left_out = [rows[row] for row in slowest_first[most:]]
    errors = sum(row.outcomes.errors for row in left_out)
    failures = f", with {counted(errors, 'bad line')}" if errors else ""
    quantile = "p90" if all(row.response.quantile("p90").value_ns for row in left_out) else "times"
    which = f"{'that' if len(left_out) == 1 else 'those'} with the shortest {quantile}"
    foot = f"{len(left_out)} of {len(rows)} commands {_are(len(left_out))} left out{failures}: {which}."
    return table.with_rows(slowest_first[:most], foot)


def _slowest_hosts(summary: Summary, table: Table, most: int) -> Table | None:
    """The rows of the hosts that were lost, and of those with the longest p90."""
    rows = summary.hosts
    slowest_first = sorted(range(len(rows)), key=lambda row: (rows[row].lost is None, -_slowness(rows[row].response)))
    return _first_rows(table, slowest_first, most, "hosts", "those with the shortest p90")


def _latest_drivers(summary: Summary, table: Table, most: int) -> Table | None:
    """The rows of the drivers that were lost, and of those that were late most."""
    rows = summary.drivers
    latest_first = sorted(range(len(rows)), key=lambda row: (rows[row].lost is None, -(rows[row].lateness_p99_ns or 0)))
    return _first_rows(table, latest_first, most, "drivers", "those that were late least")


def _first_rows(table: Table, order: Sequence[int], most: int, kind: str, others: str) -> Table | None:
    """The `most` rows that are first in `order`, and below them which `others` are left out; None if there are none."""
    if len(order) <= most:
        return None
    left_out = len(order) - most
    foot = f"{left_out} of {len(order)} {kind} {_are(left_out)} left out: {others}."
    return table.with_rows(order[:most], foot)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _slowness(response: Response) -> float:
    """The p90 of response; the mean if there are too few samples for the p90."""
    p90 = response.quantile("p90")
    if p90.state == "never":
        return float("inf")
    return p90.value_ns if p90.value_ns is not None else response.mean_ns or 0.0


def _largest_categories(summary: Summary, table: Table, most: int) -> Table | None:
    assert summary.total_time is not None
    times = [row.time_ns for row in summary.total_time.categories]
    largest_first = sorted(range(len(times)), key=lambda row: -times[row])
    return _first_rows(table, largest_first, most, "categories", "the smallest")


def _first_predictions(table: Table, most: int) -> Table | None:
    left_out = len(table.rows()) - most
    if left_out <= 0:
        return None
    foot = f"{counted(left_out, 'prediction')} of single commands {_are(left_out)} left out."
    return table.with_rows(range(most), foot)


def short_notes(summary: Summary, view: View, run: str) -> list[Note]:
    """The notes of the short report: where the time went, and how to get the full report of `run`.

    Of the full report's notes it has those that say that something is wrong, and those that an option asks for.
    """
    return [
        *((HOSTS_LABEL, line) for line in [hosts_line(summary)] if line and not unlike_hosts(summary)),
        *_facts(summary),
        *_kept_notes(summary, view),
        *_limits(summary, view),
        ("More", _rest(run)),
    ]


def _facts(summary: Summary) -> list[Note]:
    """The owners of the processors' time, and the largest parts of it and of the response time, label by label."""
    if without_load(summary) or not summary.everything.response.count:
        return []
    facts = sorted([*_processor_facts(summary), *_wait_facts(summary)], key=lambda fact: -fact[0])[:_MOST_FACTS]
    owners = [(PROCESSORS_LABEL, line)] if (line := owners_line(summary)) else []
    labels = list(dict.fromkeys([*(label for label, _ in owners), *(label for _, label, _ in facts)]))
    facts.sort(key=lambda fact: labels.index(fact[1]))
    return [*owners, *((label, f"{share(part)} {line}") for part, label, line in facts if part > 0)]


def _processor_facts(summary: Summary) -> list[tuple[float, str, str]]:
    total_time = summary.total_time
    if total_time is None:
        return []
    facts = []
    # The line on the owners has the idle time where its cause is not known.
    left_out = {"idle"} if owners_line(summary) else set()
    for row in (row for row in total_time.categories if row.name not in left_out):
        each = f" ({number(row.count)} of {duration(row.each_ns)} each)" if row.count and row.each_ns else ""
        of_idle = ", a part of the idle time" if left_out and row.name.startswith("idle ") else ""
        name = f"{category_name(row.name)}{of_idle}"
        facts.append((total_time.share_of(row.time_ns) or 0.0, PROCESSORS_LABEL, f"{name}{each}"))
    return facts


def _wait_facts(summary: Summary) -> list[tuple[float, str, str]]:
    response_ns, usage = summary.everything.response.mean_ns, summary.everything.usage
    if not response_ns:
        return []
    is_within_wait = cpu_wait_has_throttled(summary)
    for_processor = "waiting for a processor" + (" or throttled" if is_within_wait else "")
    waits = {
        for_processor: usage.ready_wait_ns,
        "waiting for a page": usage.paging_wait_ns,
        "waiting for the disk": usage.io_wait_ns,
        # It is summed over processors, and so may be longer than the response.
        "throttled by the user's quota": min(usage.throttled_ns or 0.0, response_ns),
    }
    apart_ns = [
        usage.ready_wait_ns,
        usage.paging_wait_ns,
        usage.io_wait_ns,
        0.0 if is_within_wait else usage.throttled_ns,
    ]
    together_ns = sum(wait_ns for wait_ns in apart_ns if wait_ns)
    summed = ", summed over the processes of a line" if together_ns > response_ns else ""
    return [
        (
            wait_ns / response_ns,
            "Response",
            f"{what}, {duration(wait_ns)} of {duration(response_ns)} on average{summed}",
        )
        for what, wait_ns in waits.items()
        if wait_ns
    ]


def _kept_notes(summary: Summary, view: View) -> list[Note]:
    """The notes of the full report that the short one has too."""
    audit = summary.audit is not None and summary.audit.verdict == "broken"
    impossible = summary.usage_audit is not None and bool(summary.usage_audit.impossible)
    kept = {"Neighbours", "Network", PRICE_LABEL, SUMS_LABEL, view.vocabulary, *view.asked_notes}
    kept |= {"Driver"} if not summary.driver.valid and not without_load(summary) else set()
    kept |= {"Audit"} if audit or impossible else set()
    kept |= {"Lost"} if summary.losses else set()
    kept |= {SPEED_LABEL} if _has_changed_speed(summary) else set()
    kept |= {COVERAGE_LABEL} if covers_far_less_or_more(summary) else set()
    return [note for note in fine_print(summary, view) if note[0] in kept]


def _has_changed_speed(summary: Summary) -> bool:
    """Whether the processors' speed changed by more than chance, and by less than a warning says."""
    speed = summary.processor_speed
    return speed is not None and speed.has_changed and not speed.is_large


def _limits(summary: Summary, view: View) -> list[Note]:
    """Notes on what the figures leave out, and on what was not measured."""
    of_usage = [str(note) for note in summary.run.usage.get("notes", [])]
    notes = [note for note in summary.notes if note not in of_usage]
    if of_usage and _lacks_usage(summary):
        notes.append("Not all usage was measured: the full report says what is missing, and why.")
    notes += [line] if (line := breakdown_not_metered(summary)) and view.by is not None else []
    return [("Note", note) for note in notes]


def _lacks_usage(summary: Summary) -> bool:
    """Whether the processor time, the faults or a wait of the interactions is not known."""
    usage = summary.everything.usage
    return None in (usage.cpu_ns, usage.faults_minor, usage.ready_wait_ns, usage.paging_wait_ns, usage.io_wait_ns)


def _rest(run: str) -> str:
    return (
        f"`loadgo report {shlex.quote(run) if run else 'RUN'} --full` prints all tables and notes; "
        "with `--format html` it is a page with charts."
    )
