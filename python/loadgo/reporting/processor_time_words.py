"""Sentences of a report about processor time: the meaning of its lines, their precision, and loadgo's own time."""

from __future__ import annotations

from loadgo.measures.summary import Summary
from loadgo.measures.total_time import TotalTime
from loadgo.measures.vocabulary import in_words_of
from loadgo.notation.figures import duration, exact_share, in_words, number
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View

PROCESS_DIFFERENCE_SHARE = 0.005
"""A note explains why time by process differs from the busy time if it does by this share."""

_IDLE = {
    "idle zero": "nobody wanted a processor",
    "idle loading": "the next program was being brought in{loading}",
    "idle not eligible": "{not eligible}",
    "idle governed": "somebody was ready, but held back by a quota",
    "idle page wait": "somebody waited for a page",
    "idle disk wait": "somebody waited for another device",
    "idle dispatch": "somebody was ready, and no processor had taken it up yet",
}
_ON_HOST = {
    "loading": " (a wait for a page or the disk in execve, or in a program's first 2 ms)",
    "not eligible": "somebody's group was over its memory.high, waited for memory to be reclaimed, or was frozen",
}
_ON_MACHINE = {
    "loading": "",
    "not eligible": "somebody was ready, but beyond the multiprogramming limit or the memory",
}
"""The parts of `_IDLE` in braces, which differ between hosts and simulated machines."""
_BUSY = {
    "primitive": "system calls",
    "segment fault": "first touches of a stretch of the address space, which made a page table",
    "bound fault": "growth of the heap and of the stack",
    "getwork": "choosing a process and switching to it",
    "kernel thread": "the kernel's own processes",
    "uncharged": "charged to nobody: begun before the meters",
    "meters": "the meters' own programs, by calibration",
}
"""Meanings of a host's categories whose names do not say them."""


def without_load(summary: Summary) -> bool:
    """Whether a host was metered without a load of users, alone or beside a command."""
    return summary.run.kind == "meter" and summary.total_time is not None


def metered_answer(summary: Summary) -> str:
    """The answer of a metered host: the command's time, how busy the processors were, and idle time by cause."""
    total_time = summary.total_time
    assert total_time is not None
    count = len(total_time.processors)
    subject = "the processor was" if count == 1 else f"{count} processors were"
    idle = [
        (row.name.removeprefix("idle "), total_time.share_of(row.time_ns) or 0.0)
        for row in total_time.categories
        if not row.busy
    ]
    causes = [f"{exact_share(part)} {name}" for name, part in sorted(idle, key=lambda row: -row[1]) if part >= 0.0005]
    idle_sentence = f" Idle: {', '.join(causes)}." if causes and total_time.kind == "meters" else ""
    busy = f"{subject} {exact_share(total_time.busy_share)} busy over {duration(total_time.span_ns)}."
    return f"{_command(summary)}{busy[0].upper()}{busy[1:]}{idle_sentence}"


def _command(summary: Summary) -> str:
    """The time and use of the metered command; empty without one."""
    if not summary.commands:
        return ""
    (row, *_), usage = summary.commands, summary.everything.usage
    used = [
        ("of processor time", usage.cpu_ns),
        ("ready and waiting", usage.ready_wait_ns),
        ("waiting for pages", usage.paging_wait_ns),
        ("waiting for I/O", usage.io_wait_ns),
    ]
    parts = [f"{duration(time)} {what}" for what, time in used if time]
    if parts and _holds_the_meters(summary):
        parts[0] += " (the exact meters' own in it included: see Meters)"
    parts += _counts(summary)
    failed = " and failed" if row.outcomes.errors else ""
    return f"{row.name} took {duration(row.response.mean_ns)}{failed}{': ' if parts else ''}{', '.join(parts)}. "


def _counts(summary: Summary) -> list[str]:
    """The command's page faults, and its system calls if they were metered."""
    usage, itself = summary.everything.usage, summary.meters.command
    counts = [("minor faults", usage.faults_minor), ("major faults", usage.faults_major)]
    if itself is not None and itself.primitives:
        counts.append(("system calls", sum(row.count for row in itself.primitives)))
    return [f"{number(count)} {what}" for what, count in counts if count is not None]


def _holds_the_meters(summary: Summary) -> bool:
    """Whether a command's processor time includes the meters' programs at its system calls."""
    return summary.run.meters.get("tier") == "exact" and bool(summary.everything.usage.cpu_ns)


def time_lines(summary: Summary, view: View) -> list[tuple[str, str]]:
    """Notes on processor time as label and sentence; none if it was not measured."""
    total_time = summary.total_time
    if total_time is None:
        return []
    lines = [
        ("Processors", line)
        for line in (_account(total_time), _busy(total_time), _idle(total_time), _non_idle(total_time))
    ]
    lines += [("Processors", _process_difference(summary, total_time))]
    lines += [("Laboratory", _laboratory(summary, total_time))]
    lines += _vocabulary(summary, total_time, view)
    lines += [("Meters", line) for line in (*_tier(summary), _of_command(summary), *_unclocked(summary))]
    lines += [("Meters", line) for line in (_by_user(summary), _not_apart(summary))]
    return [(label, line) for label, line in lines if line]


def _account(total_time: TotalTime) -> str:
    """The precision of the account, and the meaning of unattributed time."""
    wall = (
        f"; the categories are {100 * total_time.total_ns / total_time.wall_ns:.3f} % of the wall time"
        if total_time.wall_ns
        else ""
    )
    if total_time.kind == "machine":
        return "Time is exact."
    exact = total_time.kind == "meters"
    how = (
        "time is from the meters"
        if exact
        else f"the kernel counts in ticks, ± {duration(total_time.account.resolution_ns)} here"
    )
    if total_time.account.unattributed_ns is None:
        return f"{how[0].upper()}{how[1:]}{wall}."
    unattributed = "Unattributed is the rest of the busy time: kernel workers that move terminal bytes, other processes"
    return f"{unattributed}; {how}{wall}."


def _busy(total_time: TotalTime) -> str:
    if total_time.kind != "meters":
        return ""
    meanings = [f"{row.name}, {_BUSY[row.name]}" for row in total_time.categories if row.name in _BUSY and row.time_ns]
    return f"Busy: {'; '.join(meanings)}." if meanings else ""


def _idle(total_time: TotalTime) -> str:
    """The meanings of the categories of idle time that occur."""
    words = _ON_MACHINE if total_time.kind == "machine" else _ON_HOST
    meanings = [
        f"{row.name.removeprefix('idle ')}, {_IDLE[row.name].format_map(words)}"
        for row in total_time.categories
        if row.name in _IDLE and row.time_ns
    ]
    return f"Idle by cause: {'; '.join(meanings)}." if meanings else ""


def _non_idle(total_time: TotalTime) -> str:
    """The categories that the percentage of non-idle time leaves out."""
    left_out = [row.name.removeprefix("idle ") for row in total_time.categories if not row.in_non_idle]
    return f"Of non-idle: of all time but {in_words(left_out)}." if left_out else ""


def _process_difference(summary: Summary, total_time: TotalTime) -> str:
    """The reason why time by process differs from the busy time by more than `PROCESS_DIFFERENCE_SHARE`."""
    by_process_ns = sum(row.cpu_ns or 0 for row in summary.whose_time.processes)
    busy_ns = total_time.account.busy_ns
    if total_time.kind != "meters" or not by_process_ns or abs(by_process_ns / busy_ns - 1) <= PROCESS_DIFFERENCE_SHARE:
        return ""
    return (
        f"Time by process adds up to {duration(by_process_ns)}, busy time to {duration(busy_ns)}: a process is charged "
        "when it leaves the processor, so its time at the end of a span counts in the next span."
    )


def _of_command(summary: Summary) -> str:
    """The parts of the time and the tables of a single metered command."""
    if not (summary.run.kind == "meter" and summary.commands and _holds_the_meters(summary)):
        return ""
    return (
        "The command's processor time includes the meters' programs, which run at each of its system calls and faults: "
        "it takes less without them, or with --meters cheap. Its system calls and its own tables count from the fork "
        "of its process, its time and its faults above from the loading of the program, some dozens of faults later."
    )


def _unclocked(summary: Summary) -> tuple[str, ...]:
    """Explanations of unclocked faults and interrupts, if there are any."""
    kinds = [row.name for row in summary.meters.faults if row.name.endswith(" unclocked") and row.count]
    interrupts = [kind for kind in kinds if "interrupt" in kind]
    return (
        (_UNCLOCKED_FAULTS if len(kinds) > len(interrupts) else ""),
        (_UNCLOCKED_INTERRUPTS if interrupts else ""),
    )


_UNCLOCKED_FAULTS = (
    "Unclocked faults were made by the kernel within a system call for its caller (arguments of execve, buffers of "
    "direct I/O, locked memory), or their event was lost: they are counted, and their time is not known."
)
_UNCLOCKED_INTERRUPTS = (
    "Unclocked interrupts came while the kernel ran no program of the meters: the kernel itself counted them, and "
    "their time is in that of the interrupted work."
)


def _laboratory(summary: Summary, total_time: TotalTime) -> str:
    """Loadgo's own time in a line."""
    used = total_time.account
    if simulated(summary):
        return "None of the machine's time: it is metered from outside of it."
    if used.laboratory_ns is None:
        return "Its own time was not measured."
    parts = [
        ("driver", used.driver_ns),
        ("sampling and writing", used.meters_ns),
        ("the meters' programs in the kernel (calibrated)", used.instrument_ns),
    ]
    shares_text = ", ".join(
        f"{name} {exact_share(total_time.share_of(time))}" for name, time in parts if time is not None
    )
    at_most = " at most, since the programs' time in its own threads counts twice" if used.instrument_ns else ""
    own_share = exact_share(total_time.share_of(used.laboratory_ns))
    return f"{own_share} of all time was the laboratory's own{at_most}: {shares_text}."


def _vocabulary(summary: Summary, total_time: TotalTime, view: View) -> list[tuple[str, str]]:
    """The meanings of a document's words in today's words, and remarks on the printed figures."""
    if view.vocabulary == "today":
        return []
    document = in_words_of(view.vocabulary, total_time, summary.meters)
    lines = "; ".join(f"{line.name}: {line.means}" for line in document.lines)
    without = ", ".join(line.name for line in document.homeless)
    homeless = [f"No line in {document.year}: {without}."] if without else []
    return [(document.year, line) for line in (f"{lines}.", *homeless, *document.remarks)]


def _tier(summary: Summary) -> list[str]:
    """The meters of the run: exact, estimated with the method, and missing with the reason."""
    meters_section = summary.run.meters
    if not meters_section:
        return []
    exact, notes = meters_section.get("exact", []), [str(note) for note in meters_section.get("notes", [])]
    lines = (
        [f"Of the {meters_section.get('tier', '')} meters, exact: {in_words([str(name) for name in exact])}."]
        if exact
        else []
    )
    lines += [f"Estimated: {name}, {how}." for name, how in meters_section.get("estimated", {}).items()]
    lines += [f"Not here: {name}, {why}." for name, why in meters_section.get("not_here", {}).items()]
    return [*lines, *notes]


def _by_user(summary: Summary) -> str:
    """The source of the users' times."""
    if not summary.whose_time.users or summary.run.kind == "meter":
        return ""
    if summary.whose_time.source == "interactions":
        return "Time by user is that of the users' interactions, without what ran between them."
    return (
        "CPU and ready wait by user cover all that the user's processes did; the other waits cover interactions only."
    )


def _not_apart(summary: Summary) -> str:
    """A note that the requested breakdown was not metered."""
    by = summary.meters.by
    if by is None or summary.meters.parts:
        return ""
    return f"This run's meters did not count faults and primitives by {by}."
