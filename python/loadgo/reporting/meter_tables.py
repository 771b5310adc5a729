"""The tables of what the meters tell: faults, what is paged, primitives, and queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadgo.documents.table import Column, Table
from loadgo.measures.meters import EventTotals, MappingTotals, MetersOfPart, most_time_first
from loadgo.measures.summary import Summary
from loadgo.notation.figures import MOST_PATH_CHARS, duration, exact_share, number, path_end, share
from loadgo.reporting.processor_time_tables import by_user
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View

MOST_SEGMENTS = 12
MOST_PRIMITIVES = 12
MOST_OF_EACH = 5
"""Primitives of one command, or of one user."""


def meter_tables(summary: Summary, view: View, lengths_over_time: Mapping[str, str]) -> list[Table]:
    """All of them, those without rows left out; `lengths_over_time` is each ready length's picture."""
    found = (
        faults(summary),
        interrupts(summary, view),
        segments(summary, view),
        functions(summary, view),
        primitives(summary, view),
        faults_of_each(summary, view),
        primitives_of_each(summary, view),
        faults_of_command(summary),
        primitives_of_command(summary, view),
        ready_queue(summary),
        ready_lengths(summary, lengths_over_time),
        queues(summary),
        by_user(summary, view),
    )
    return [grid for grid in found if grid is not None]


def faults(summary: Summary) -> Table | None:
    """Faults by kind."""
    told = summary.meters.faults
    if not told:
        return None
    columns = (*_kinds(told, mean_spare=1, wait_spare=2), *_quantiles(told), *_of_all_cpu(summary, told))
    return Table("Faults", columns)


def _kinds(told: Sequence[EventTotals], *, mean_spare: int, wait_spare: int) -> tuple[Column, ...]:
    """Kinds of faults: how many, how long, and what each took."""
    return (
        Column("kind", tuple(row.name for row in told)),
        Column("count", tuple(number(row.count) for row in told)),
        Column("mean", tuple(duration(row.mean_ns) for row in told), mean_spare),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in told)),
        Column("wait each", tuple(duration(_each(row.wait_ns, row.count)) for row in told), wait_spare),
    )


def interrupts(summary: Summary, view: View) -> Table | None:
    """Interrupts by device, and soft interrupts by kind; None where they were not told apart."""
    every = summary.meters.interrupts
    told = every[: view.rows(MOST_SEGMENTS)]
    if not told:
        return None
    columns = (
        Column("interrupt", tuple(row.name for row in told)),
        Column("count", tuple(number(row.count) for row in told)),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in told)),
        *_quantiles(told),
        *_of_all_cpu(summary, told),
    )
    more = f" (the first {len(told)} of {len(every)})" if len(told) < len(every) else ""
    return Table(f"Interrupts{more}", columns)


def primitives(summary: Summary, view: View) -> Table | None:
    """What the system did, by name: what took the most time first."""
    told = summary.meters.primitives
    if not told:
        return None
    most = view.rows(MOST_PRIMITIVES)
    left_out = len(told) - most
    title = "What the supervisor did" if simulated(summary) else "Primitives: system calls"
    more = f" (the first {most} of {len(told)} by time)" if left_out > 0 else ""
    shown = told if simulated(summary) else most_time_first(told)[:most]
    names = (Column("what" if simulated(summary) else "primitive", tuple(row.name for row in shown)),)
    return Table(f"{title}{more}", (*names, *_calls(summary, shown, _whole_time(told))))


def faults_of_each(summary: Summary, view: View) -> Table | None:
    """Faults of each command or user; None unless asked for and told apart, and of one
    command alone, which has tables of its own.
    """
    rows = [(part, row) for part in summary.meters.parts[: view.rows(MOST_SEGMENTS)] for row in part.faults]
    if not rows or summary.meters.by is None or summary.meters.command is not None:
        return None
    told = tuple(row for _, row in rows)
    columns = (
        Column(summary.meters.by, tuple(part.whose for part, _ in rows)),
        Column("kind", tuple(row.name for row in told)),
        Column("count", tuple(number(row.count) for row in told)),
        Column("mean", tuple(duration(row.mean_ns) for row in told)),
        Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in told), spare=2),
        Column("wait each", tuple(duration(_each(row.wait_ns, row.count)) for row in told), spare=1),
    )
    return Table(f"Faults by {summary.meters.by}", columns)


def primitives_of_each(summary: Summary, view: View) -> Table | None:
    """The primitives of each command or user that took the most time; None unless asked for and told apart, and of one
    command alone, which has tables of its own.
    """
    most = view.rows(MOST_OF_EACH)
    parts = summary.meters.parts[: view.rows(MOST_SEGMENTS)]
    told_apart = [(part, most_time_first(part.primitives)[:most]) for part in parts]
    rows: list[tuple[MetersOfPart, EventTotals]] = [(part, row) for part, mine in told_apart for row in mine]
    if not rows or summary.meters.by is None or summary.meters.command is not None:
        return None
    told = tuple(row for _, row in rows)
    columns = (
        Column(summary.meters.by, tuple(part.whose for part, _ in rows)),
        Column("primitive", tuple(row.name for row in told)),
        *_calls(summary, told, _whole_time(summary.meters.primitives)),
    )
    return Table(f"Primitives by {summary.meters.by} (of each the first {most} by time)", columns)


def faults_of_command(summary: Summary) -> Table | None:
    """Faults of the one command that was metered without a load, by kind; None where they were not metered."""
    command = summary.meters.command
    if command is None or not command.faults:
        return None
    order = [row.name for row in summary.meters.faults]
    told = tuple(sorted(command.faults, key=lambda row: order.index(row.name) if row.name in order else len(order)))
    return Table("Faults of the command itself", _kinds(told, mean_spare=2, wait_spare=1))


def primitives_of_command(summary: Summary, view: View) -> Table | None:
    """System calls of the one command that was metered without a load, the most time first; None without."""
    command = summary.meters.command
    if command is None or not command.primitives:
        return None
    every = most_time_first(command.primitives)
    told = every[: view.rows(MOST_PRIMITIVES)]
    more = f" (the first {len(told)} of {len(every)} by time)" if len(told) < len(every) else ""
    names = Column("primitive", tuple(row.name for row in told))
    columns = (names, *_calls(summary, told, _whole_time(command.primitives)))
    return Table(f"Primitives of the command itself{more}", columns)


def segments(summary: Summary, view: View) -> Table | None:
    """Faults and profile samples by what is paged; of a simulated machine's commands, the CPU between two faults."""
    told, rest = _shown_segments(summary.meters.segments, view.rows(MOST_SEGMENTS))
    every = (*told, *rest)
    if not told:
        return None
    counts = {
        "major faults": [row.faults_major for row in every],
        "minor faults": [row.faults_minor for row in every],
        "samples": [row.samples for row in every],
    }
    counted = [_with_share(name, parts, len(told)) for name, parts in counts.items() if any(parts)]
    names = tuple(path_end(row.name) for row in told)
    columns = [Column("command" if simulated(summary) else "segment", names)]
    columns += [column for pair in counted for column in pair]
    if simulated(summary):
        columns.append(Column("headway", tuple(duration(_headway(summary, row.name)) for row in told)))
    more = f" ({len(told)} of {len(every)})" if rest else ""
    return Table(f"{_what_of(every)} by {columns[0].heading}{more}", tuple(columns), name_width=MOST_PATH_CHARS)


def _shown_segments(
    every: tuple[MappingTotals, ...], most: int
) -> tuple[tuple[MappingTotals, ...], tuple[MappingTotals, ...]]:
    """The first `most` in their order, but what is memory of no file among them; and the rest."""
    of_no_file = [row for row in every if row.name in _NO_FILE][:most]
    others = [row for row in every if row.name not in _NO_FILE]
    shown = {row.name for row in (*of_no_file, *others[: most - len(of_no_file)])}
    return tuple(row for row in every if row.name in shown), tuple(row for row in every if row.name not in shown)


_NO_FILE = ("[anon]", "[heap]", "[kernel]")


def functions(summary: Summary, view: View) -> Table | None:
    """Where the clock found the processors, function by function; None without a profile."""
    told = summary.meters.functions[: view.rows(MOST_SEGMENTS)]
    if not told:
        return None
    columns = (
        Column("function", tuple(path_end(row.name) for row in told)),
        Column("samples", tuple(number(row.samples) for row in told)),
        Column("share", tuple(share(row.share) for row in told)),
    )
    more = f" (the first {len(told)})" if len(told) < len(summary.meters.functions) else ""
    return Table(f"Samples by function{more}", columns, name_width=MOST_PATH_CHARS)


def ready_queue(summary: Summary) -> Table | None:
    """The processors' queue: its mean, and what was counted; None when it was not measured."""
    told = summary.meters.ready
    if told is None:
        return None
    counts = {
        "switches": told.switches,
        "pre-emptions": told.preemptions,
        "interruptions": told.interruptions,
    }
    known = {name: count for name, count in counts.items() if count is not None}
    columns = (
        Column("what", ("mean length", "wait for a dispatch", *known)),
        Column("in all", (_mean(told.mean), duration(told.wait_ns), *(number(count) for count in known.values()))),
        Column("a second", ("", "", *(number(told.a_second[name]) for name in known))),
    )
    return Table("Ready queue", columns)


def ready_lengths(summary: Summary, over_time: Mapping[str, str]) -> Table | None:
    """How long the ready queue was of each length; None when that was not measured."""
    told = summary.meters.ready
    if told is None or not told.lengths:
        return None
    names = [_length(row.low, row.high) for row in told.lengths]
    pictures = tuple(over_time.get(name, "").ljust(max(map(len, over_time.values()))) for name in names if over_time)
    columns = (
        Column("ready", tuple(names)),
        Column("time", tuple(duration(row.time_ns) for row in told.lengths)),
        Column("of the time", tuple(exact_share(row.share) for row in told.lengths)),
        *([Column("over the run", pictures, spare=1)] if pictures else []),
    )
    return Table("How long the ready queue was", columns)


def queues(summary: Summary) -> Table | None:
    """How long queues were, and how busy what serves them was."""
    told = summary.meters.queues
    if all(row.name == "processors" for row in told):
        return None  # the table of the ready queue says more
    columns = (
        Column("queue", tuple(row.name for row in told)),
        Column("mean length", tuple(_mean(row.length) for row in told)),
        Column("a second", tuple(number(row.a_second) for row in told)),
        Column("busy", tuple("" if row.busy is None else _mean(row.busy) for row in told)),
        Column("service", tuple("" if row.service_ns is None else duration(row.service_ns) for row in told), spare=1),
        Column("wait", tuple("" if row.wait_ns is None else duration(row.wait_ns) for row in told)),
    )
    return Table("Queues", columns)


def _calls(summary: Summary, told: tuple[EventTotals, ...], whole_ns: int) -> tuple[Column, ...]:
    """The columns of primitives after their names."""
    failed = any(row.errors is not None for row in told)
    errors = Column("errors", tuple("" if row.errors is None else number(row.errors) for row in told), spare=3)
    of_time = Column("of their time", tuple(share(_of(row.time_ns, whole_ns)) for row in told), spare=2)
    faulted = any(row.faults is not None for row in told)
    with_cpu = any(row.cpu_ns is not None for row in told)
    each = Column("CPU each", tuple(duration(_each(row.cpu_ns, row.count)) for row in told))
    mean = Column("mean", tuple(duration(row.mean_ns) for row in told), spare=1)
    faults_each = Column("faults each", tuple(_faults_each(row) for row in told), spare=5)
    return (
        Column("count", tuple(number(row.count) for row in told)),
        *((each,) if with_cpu else ()),
        *(() if simulated(summary) else (mean,)),
        *_quantiles(told),
        *((errors,) if failed else ()),
        *((faults_each,) if faulted else ()),
        *(_of_all_cpu(summary, told) if with_cpu else (of_time,)),
    )


def _quantiles(told: tuple[EventTotals, ...]) -> tuple[Column, ...]:
    """Empty where no durations were kept."""
    if all(row.p90_ns is None for row in told):
        return ()
    return (
        Column("p50 ≥", tuple(duration(row.p50_ns) for row in told), spare=5),
        Column("p90 ≥", tuple(duration(row.p90_ns) for row in told), spare=3),
        Column("p99 ≥", tuple(duration(row.p99_ns) for row in told), spare=6),
    )


def _of_all_cpu(summary: Summary, told: tuple[EventTotals, ...]) -> tuple[Column, ...]:
    total = summary.total_time
    parts = tuple(share(total.share_of(row.cpu_ns) if total else None) for row in told)
    return (Column("of all CPU time", parts, spare=4),)


def _with_share(name: str, counts: list[int | None], shown: int) -> tuple[Column, Column]:
    whole = sum(count or 0 for count in counts)
    return (
        Column(name, tuple(number(count) for count in counts[:shown])),
        Column("share", tuple(share((count or 0) / whole if whole else None) for count in counts[:shown]), spare=1),
    )


def _what_of(every: tuple[MappingTotals, ...]) -> str:
    faulted = any(row.faults_major or row.faults_minor for row in every)
    sampled = any(row.samples for row in every)
    return "Faults and samples" if faulted and sampled else "Samples" if sampled else "Faults"


def _headway(summary: Summary, command: str) -> float | None:
    """The processor time of the work between two page faults of a command."""
    usage = next((row.usage for row in summary.commands if row.name == command), None)
    if usage is None or not usage.faults_major or usage.cpu_user_ns is None:
        return None
    return usage.cpu_user_ns / usage.faults_major


def _whole_time(told: tuple[EventTotals, ...]) -> int:
    return sum(row.time_ns or 0 for row in told)


def _of(part_ns: int | None, whole_ns: int) -> float | None:
    return part_ns / whole_ns if part_ns is not None and whole_ns else None


def _length(low: int, high: int | None) -> str:
    return f"{low}-" if high is None else f"{low}" if low == high else f"{low}-{high}"


def _each(time_ns: int | None, count: int) -> float | None:
    return None if time_ns is None or not count else time_ns / count


def _faults_each(row: EventTotals) -> str:
    return "" if row.faults is None or not row.count else f"{row.faults / row.count:.2f}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
