"""The tables of the meters: faults, mappings, system calls, and queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadgo.documents.table import Column, Table
from loadgo.measures.event_totals import EventTotals, most_time_first
from loadgo.measures.meters import CLOCKED_FAULTS, MappingTotals, MetersOfPart
from loadgo.measures.summary import Summary
from loadgo.notation.figures import MOST_PATH_CHARS, duration, exact_share, number, path_end, share
from loadgo.notation.terms import OPERATION_TERMS, fault_name, fault_term, operation_name
from loadgo.reporting.lock_tables import lock_waits
from loadgo.reporting.processor_time_tables import by_user
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View

SHOWN_SEGMENTS = 12
SHOWN_PRIMITIVES = 12
SHOWN_PRIMITIVES_EACH = 5
"""Rows of system calls for each command, or for each user."""


def meter_tables(summary: Summary, view: View, lengths_over_time: Mapping[str, str]) -> list[Table]:
    """All tables of the meters that have rows. `lengths_over_time` has a picture for each length of the run queue."""
    tables = (
        faults(summary),
        interrupts(summary, view),
        segments(summary, view),
        functions(summary, view),
        primitives(summary, view),
        faults_of_each(summary, view),
        primitives_of_each(summary, view),
        faults_of_command(summary),
        primitives_of_command(summary, view),
        lock_waits(summary, view),
        ready_queue(summary),
        ready_lengths(summary, lengths_over_time),
        queues(summary),
        by_user(summary, view),
    )
    return [table for table in tables if table is not None]


def faults(summary: Summary) -> Table | None:
    """Faults by kind."""
    rows = summary.meters.faults
    if not rows:
        return None
    kinds = _kinds(rows, summary.meters.fault_correction_ns, mean_spare=1, wait_spare=2)
    columns = (*kinds, *_quantiles(rows), *_of_all_cpu(summary, rows))
    return Table(f"Faults{_estimated(summary)}", columns, id="faults", charts=("faults",))


def _kinds(
    rows: Sequence[EventTotals], correction_ns: float | None, *, mean_spare: int, wait_spare: int
) -> tuple[Column, ...]:
    """Columns of faults by kind: their number, duration, processor time and wait."""
    corrected = tuple(duration(_corrected_ns(row, correction_ns)) for row in rows)
    return (
        _kind_column(rows),
        *_counts(rows),
        Column("mean", tuple(duration(row.mean_ns) for row in rows), mean_spare),
        *([] if correction_ns is None else [Column("corrected", corrected, mean_spare)]),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in rows)),
        Column("wait each", tuple(duration(_each(row.wait_ns, row.count)) for row in rows), wait_spare),
    )


def _estimated(summary: Summary) -> str:
    """A word in the titles of tables whose numbers windows estimate."""
    return "" if summary.meters.windows is None else ", estimated"


def _counts(rows: Sequence[EventTotals]) -> tuple[Column, ...]:
    """The number of events; where windows estimate it, with half of its 95 % interval."""
    count = Column("count", tuple(number(row.count) for row in rows))
    if all(row.count_error is None for row in rows):
        return (count,)
    errors = tuple("" if row.count_error is None else number(row.count_error) for row in rows)
    return (count, Column("±", errors))


def _corrected_ns(row: EventTotals, correction_ns: float | None) -> float | None:
    """The mean of a fault with what no program can clock; None where it was not clocked."""
    if row.mean_ns is None or correction_ns is None or row.name not in CLOCKED_FAULTS:
        return None
    return max(row.mean_ns + correction_ns, 0.0)


def _kind_column(rows: Sequence[EventTotals]) -> Column:
    """The kinds of faults in today's terms, with their meanings."""
    terms = [fault_term(row.name) for row in rows]
    return Column("kind", tuple(term.name for term in terms), kind="name", hints=tuple(term.sentence for term in terms))


def _call_column(summary: Summary, rows: Sequence[EventTotals]) -> Column:
    """The names of system calls, or the operations of a machine's supervisor with their meanings."""
    names = tuple(operation_name(row.name) for row in rows)
    if not simulated(summary):
        return Column("system call", names, kind="name")
    hints = (OPERATION_TERMS[row.name].sentence if row.name in OPERATION_TERMS else "" for row in rows)
    return Column("operation", names, kind="name", hints=tuple(hints))


def interrupts(summary: Summary, view: View) -> Table | None:
    """Interrupts by device, and soft interrupts by kind; None if they were not metered by source."""
    all_rows = summary.meters.interrupts
    shown_rows = all_rows[: view.rows(SHOWN_SEGMENTS)]
    if not shown_rows:
        return None
    columns = (
        Column("interrupt", tuple(fault_name(row.name) for row in shown_rows)),
        *_counts(shown_rows),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in shown_rows)),
        *_quantiles(shown_rows),
        *_of_all_cpu(summary, shown_rows),
    )
    more = f" (the first {len(shown_rows)} of {len(all_rows):,})" if len(shown_rows) < len(all_rows) else ""
    return Table(f"Interrupts{_estimated(summary)}{more}", columns, id="interrupts", charts=("interrupts",))


def primitives(summary: Summary, view: View) -> Table | None:
    """System calls, or a machine's supervisor operations, by name. The name with the most time is first."""
    rows = summary.meters.primitives
    if not rows:
        return None
    most_rows = view.rows(SHOWN_PRIMITIVES)
    left_out = len(rows) - most_rows
    title = "What the supervisor did" if simulated(summary) else f"System calls{_estimated(summary)}"
    more = f" (the first {most_rows} of {len(rows):,} by time)" if left_out > 0 else ""
    shown_rows = rows if simulated(summary) else most_time_first(rows)[:most_rows]
    columns = (_call_column(summary, shown_rows), *_calls(summary, shown_rows, _total_ns(rows)))
    is_constant = simulated(summary) and _is_constant(rows)
    foot = "Each of these operations always takes the same time, its CPU each." if is_constant else ""
    return Table(f"{title}{more}", columns, id="system-calls", charts=("primitives",), foot=foot)


def faults_of_each(summary: Summary, view: View) -> Table | None:
    """Faults of each command or user; None unless requested and metered.

    A single metered command has its own tables instead.
    """
    rows = [(part, row) for part in summary.meters.parts[: view.rows(SHOWN_SEGMENTS)] for row in part.faults]
    if not rows or summary.meters.by is None or summary.meters.command is not None:
        return None
    fault_rows = tuple(row for _, row in rows)
    columns = (
        Column(summary.meters.by, tuple(part.whose for part, _ in rows)),
        _kind_column(fault_rows),
        Column("count", tuple(number(row.count) for row in fault_rows)),
        Column("mean", tuple(duration(row.mean_ns) for row in fault_rows)),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in fault_rows), spare=2),
        Column("wait each", tuple(duration(_each(row.wait_ns, row.count)) for row in fault_rows), spare=1),
    )
    return Table(f"Faults by {summary.meters.by}", columns, id="faults-by")


def primitives_of_each(summary: Summary, view: View) -> Table | None:
    """The system calls with the most time of each command or user; None unless requested and metered.

    A single metered command has its own tables instead.
    """
    most_rows = view.rows(SHOWN_PRIMITIVES_EACH)
    parts = summary.meters.parts[: view.rows(SHOWN_SEGMENTS)]
    calls_by_part = [(part, most_time_first(part.primitives)[:most_rows]) for part in parts]
    rows: list[tuple[MetersOfPart, EventTotals]] = [(part, row) for part, calls in calls_by_part for row in calls]
    if not rows or summary.meters.by is None or summary.meters.command is not None:
        return None
    call_rows = tuple(row for _, row in rows)
    columns = (
        Column(summary.meters.by, tuple(part.whose for part, _ in rows)),
        _call_column(summary, call_rows),
        *_calls(summary, call_rows, _total_ns(summary.meters.primitives)),
    )
    what = "Operations" if simulated(summary) else "System calls"
    title = f"{what} by {summary.meters.by} (the first {most_rows} of each, by time)"
    return Table(title, columns, id="system-calls-by")


def faults_of_command(summary: Summary) -> Table | None:
    """Faults of a single metered command by kind; None if they were not metered."""
    command = summary.meters.command
    if command is None or not command.faults:
        return None
    order = [row.name for row in summary.meters.faults]
    rows = tuple(sorted(command.faults, key=lambda row: order.index(row.name) if row.name in order else len(order)))
    columns = _kinds(rows, summary.meters.fault_correction_ns, mean_spare=2, wait_spare=1)
    return Table("Faults of the command itself", columns, id="faults-of-command")


def primitives_of_command(summary: Summary, view: View) -> Table | None:
    """System calls of a single metered command, the most time first; None if they were not metered."""
    command = summary.meters.command
    if command is None or not command.primitives:
        return None
    all_rows = most_time_first(command.primitives)
    shown_rows = all_rows[: view.rows(SHOWN_PRIMITIVES)]
    more = f" (the first {len(shown_rows)} of {len(all_rows):,} by time)" if len(shown_rows) < len(all_rows) else ""
    columns = (_call_column(summary, shown_rows), *_calls(summary, shown_rows, _total_ns(command.primitives)))
    return Table(f"System calls of the command itself{more}", columns, id="system-calls-of-command")


def segments(summary: Summary, view: View) -> Table | None:
    """Faults and profile samples by mapping; for a simulated machine by command, with the CPU time between faults."""
    shown_rows, hidden_rows = _shown_segments(summary.meters.segments, view.rows(SHOWN_SEGMENTS))
    all_rows = (*shown_rows, *hidden_rows)
    if not shown_rows:
        return None
    counts = {
        "major faults": [row.faults_major for row in all_rows],
        "minor faults": [row.faults_minor for row in all_rows],
        "samples": [row.samples for row in all_rows],
    }
    counted = [_with_share(name, parts, len(shown_rows)) for name, parts in counts.items() if any(parts)]
    names = tuple(path_end(row.name) for row in shown_rows)
    columns = [Column("command" if simulated(summary) else "mapping", names)]
    columns += [column for pair in counted for column in pair]
    if simulated(summary):
        columns.append(Column("CPU between faults", tuple(duration(_headway(summary, row.name)) for row in shown_rows)))
    more = f" ({len(shown_rows)} of {len(all_rows):,})" if hidden_rows else ""
    title = f"{_table_subject(all_rows)} by {columns[0].heading}{more}"
    return Table(title, tuple(columns), name_width=MOST_PATH_CHARS, id="segments", charts=("segments", "profile"))


def _shown_segments(
    rows: tuple[MappingTotals, ...], most_rows: int
) -> tuple[tuple[MappingTotals, ...], tuple[MappingTotals, ...]]:
    """At most `most_rows` rows to show, in their order, and the hidden rows. Memory without a file is shown first."""
    fileless_rows = [row for row in rows if row.name in _FILELESS_MAPPINGS][:most_rows]
    file_rows = [row for row in rows if row.name not in _FILELESS_MAPPINGS]
    shown = {row.name for row in (*fileless_rows, *file_rows[: most_rows - len(fileless_rows)])}
    return tuple(row for row in rows if row.name in shown), tuple(row for row in rows if row.name not in shown)


_FILELESS_MAPPINGS = ("[anon]", "[heap]", "[kernel]")


def functions(summary: Summary, view: View) -> Table | None:
    """Samples of the clock profile by function; None without a profile."""
    shown_rows = summary.meters.functions[: view.rows(SHOWN_SEGMENTS)]
    if not shown_rows:
        return None
    columns = (
        Column("function", tuple(path_end(row.name) for row in shown_rows)),
        Column("samples", tuple(number(row.samples) for row in shown_rows)),
        Column("share", tuple(share(row.share) for row in shown_rows)),
    )
    more = f" (the first {len(shown_rows)})" if len(shown_rows) < len(summary.meters.functions) else ""
    return Table(f"Samples by function{more}", columns, name_width=MOST_PATH_CHARS, id="functions")


def ready_queue(summary: Summary) -> Table | None:
    """The run queue: its mean length, and its counts; None if it was not measured."""
    ready = summary.meters.ready
    if ready is None:
        return None
    counts = {
        "context switches": (ready.switches, "switches"),
        "preemptions": (ready.preemptions, "pre-emptions"),
        "interrupts": (ready.interruptions, "interruptions"),
    }
    known = {name: (count, stored) for name, (count, stored) in counts.items() if count is not None}
    columns = (
        Column("figure", ("mean length", "mean wait", *known)),
        Column("in all", (_mean(ready.mean), duration(ready.wait_ns), *(number(count) for count, _ in known.values()))),
        Column("a second", ("", "", *(number(ready.a_second[stored]) for _, stored in known.values()))),
    )
    return Table("Run queue", columns, id="run-queue", charts=("queue",))


def ready_lengths(summary: Summary, over_time: Mapping[str, str]) -> Table | None:
    """The time that the run queue had each length; None if that was not measured."""
    ready = summary.meters.ready
    if ready is None or not ready.lengths:
        return None
    names = [_length(row.low, row.high) for row in ready.lengths]
    pictures = tuple(over_time.get(name, "").ljust(max(map(len, over_time.values()))) for name in names if over_time)
    columns = (
        Column("tasks that wait", tuple(names)),
        Column("time", tuple(duration(row.time_ns) for row in ready.lengths)),
        Column("of the time", tuple(exact_share(row.share) for row in ready.lengths)),
        *([Column("over the run", pictures, spare=1)] if pictures else []),
    )
    return Table("How long the run queue was", columns, id="run-queue-lengths", charts=("lengths",))


def queues(summary: Summary) -> Table | None:
    """The lengths of queues, and how busy their servers were."""
    rows = summary.meters.queues
    if all(row.name == "processors" for row in rows):
        return None  # the table of the run queue has more
    columns = (
        Column("queue", tuple(row.name for row in rows)),
        Column("mean length", tuple(_mean(row.length) for row in rows)),
        Column("a second", tuple(number(row.a_second) for row in rows)),
        Column("servers busy", tuple("" if row.busy is None else _mean(row.busy) for row in rows)),
        Column("service", tuple("" if row.service_ns is None else duration(row.service_ns) for row in rows), spare=1),
        Column("wait", tuple("" if row.wait_ns is None else duration(row.wait_ns) for row in rows)),
    )
    return Table("Queues", columns, id="queues")


def _calls(summary: Summary, rows: tuple[EventTotals, ...], total_ns: int) -> tuple[Column, ...]:
    """The columns of system calls after their names. `total_ns` is the time of all system calls."""
    failed = any(row.errors is not None for row in rows)
    errors = Column("errors", tuple("" if row.errors is None else number(row.errors) for row in rows), spare=3)
    of_time = Column("of their time", tuple(share(_share_of(row.time_ns, total_ns)) for row in rows), spare=2)
    faulted = any(row.faults is not None for row in rows)
    with_cpu = any(row.cpu_ns is not None for row in rows)
    each = Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in rows))
    mean = Column("mean", tuple(duration(row.mean_ns) for row in rows), spare=1)
    faults_each = Column("faults each", tuple(_faults_each(row) for row in rows), spare=5)
    return (
        *_counts(rows),
        *((each,) if with_cpu else ()),
        *(() if simulated(summary) or summary.meters.windows is not None else (mean,)),
        *(() if simulated(summary) and _is_constant(rows) else _quantiles(rows)),
        *((errors,) if failed else ()),
        *((faults_each,) if faulted else ()),
        *(_of_all_cpu(summary, rows) if with_cpu else (of_time,)),
    )


def _is_constant(rows: tuple[EventTotals, ...]) -> bool:
    """Whether each kind of event took one time, as far as the histograms tell: its quantiles then say nothing."""
    clocked = [row for row in rows if row.p90_ns is not None]
    return bool(clocked) and all(row.p50_ns == row.p99_ns for row in clocked)


def _quantiles(rows: tuple[EventTotals, ...]) -> tuple[Column, ...]:
    """The columns of quantiles; empty if no durations were recorded."""
    if all(row.p90_ns is None for row in rows):
        return ()
    return (
        Column("p50 ≥", tuple(duration(row.p50_ns) for row in rows), spare=5),
        Column("p90 ≥", tuple(duration(row.p90_ns) for row in rows), spare=3),
        Column("p99 ≥", tuple(duration(row.p99_ns) for row in rows), spare=6),
    )


def _of_all_cpu(summary: Summary, rows: tuple[EventTotals, ...]) -> tuple[Column, ...]:
    total = summary.total_time
    parts = tuple(share(total.share_of(row.cpu_ns) if total else None) for row in rows)
    return (Column("of all CPU time", parts, spare=4),)


def _with_share(name: str, counts: list[int | None], shown: int) -> tuple[Column, Column]:
    total = sum(count or 0 for count in counts)
    return (
        Column(name, tuple(number(count) for count in counts[:shown])),
        Column("share", tuple(share((count or 0) / total if total else None) for count in counts[:shown]), spare=1),
    )


def _table_subject(rows: tuple[MappingTotals, ...]) -> str:
    faulted = any(row.faults_major or row.faults_minor for row in rows)
    sampled = any(row.samples for row in rows)
    return "Faults and samples" if faulted and sampled else "Samples" if sampled else "Faults"


def _headway(summary: Summary, command: str) -> float | None:
    """Mean processor time between two page faults of a command, in nanoseconds."""
    usage = next((row.usage for row in summary.commands if row.name == command), None)
    if usage is None or not usage.faults_major or usage.cpu_user_ns is None:
        return None
    return usage.cpu_user_ns / usage.faults_major


def _total_ns(rows: tuple[EventTotals, ...]) -> int:
    return sum(row.time_ns or 0 for row in rows)


def _share_of(part_ns: int | None, total_ns: int) -> float | None:
    return part_ns / total_ns if part_ns is not None and total_ns else None


def _length(low: int, high: int | None) -> str:
    return f"{low}-" if high is None else f"{low}" if low == high else f"{low}-{high}"


def _each(time_ns: int | None, count: int) -> float | None:
    return None if time_ns is None or not count else time_ns / count


def _faults_each(row: EventTotals) -> str:
    return "" if row.faults is None or not row.count else f"{row.faults / row.count:.2f}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
