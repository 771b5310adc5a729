"""What a report says of processors' time in sentences: what its lines mean, how fine they are, and what the laboratory
itself took.
"""

from __future__ import annotations

from loadgo.measures.summary import Summary
from loadgo.measures.total_time import TotalTime
from loadgo.measures.vocabulary import in_words_of
from loadgo.notation.figures import duration, exact_share, in_words, number
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View

OFF_AT_MOST = 1e-4
"""From this share of the wall time on, an exact account that is off is told at the top."""

PROCESSES_OFF_AT_MOST = 0.005
"""From this part of the busy time on, it is told why time by process adds up to another."""

_IDLE = {
    "idle zero": "nobody wanted a processor",
    "idle loading": "the next program was being brought in{loading}",
    "idle not eligible": "{not eligible}",
    "idle governed": "somebody was ready, but held back by a quota",
    "idle page wait": "somebody waited for a page",
    "idle disk wait": "somebody waited for another device",
    "idle dispatch": "somebody was woken, and did not run yet",
}
_ON_HOST = {
    "loading": " (a wait for a page or the disk in execve, or in a program's first 2 ms)",
    "not eligible": "somebody's group was over its memory.high, waited for memory to be reclaimed, or was frozen",
}
_ON_MACHINE = {
    "loading": "",
    "not eligible": "somebody was ready, but beyond the multiprogramming limit or the memory",
}
"""What differs in the words of `_IDLE`."""
_BUSY = {
    "primitive": "system calls",
    "segment fault": "first touches of a stretch of the address space, which made a page table",
    "bound fault": "growth of the heap and of the stack",
    "getwork": "choosing a process and switching to it",
    "kernel thread": "the kernel's own processes",
    "uncharged": "charged to nobody: begun before the meters",
    "meters": "the meters' own programs, by calibration",
}
"""What a host's categories mean that are not named for what they are."""


def without_load(summary: Summary) -> bool:
    """Whether a host was metered without users who load it; a command may have run meanwhile."""
    return summary.run.kind == "meter" and summary.total_time is not None


def metered_answer(summary: Summary) -> str:
    """What the command took, how busy the processors were, and what they waited for when they were not."""
    told = summary.total_time
    assert told is not None
    count = len(told.processors)
    who = "the processor was" if count == 1 else f"{count} processors were"
    idle = [
        (row.name.removeprefix("idle "), told.share_of(row.time_ns) or 0.0) for row in told.categories if not row.busy
    ]
    causes = [f"{exact_share(part)} {name}" for name, part in sorted(idle, key=lambda row: -row[1]) if part >= 0.0005]
    rest = f" Idle: {', '.join(causes)}." if causes and told.kind == "meters" else ""
    busy = f"{who} {exact_share(told.busy_share)} busy over {duration(told.span_ns)}."
    return f"{_command(summary)}{busy[0].upper()}{busy[1:]}{rest}"


def _command(summary: Summary) -> str:
    """What the command that was metered took; empty without one."""
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
    """The command's page faults, and its system calls where they were metered."""
    usage, itself = summary.everything.usage, summary.meters.command
    found = [("minor faults", usage.faults_minor), ("major faults", usage.faults_major)]
    if itself is not None and itself.primitives:
        found.append(("system calls", sum(row.count for row in itself.primitives)))
    return [f"{number(count)} {what}" for what, count in found if count is not None]


def _holds_the_meters(summary: Summary) -> bool:
    """Whether a command's processor time has the time in it of programs that run at each of its system calls."""
    return summary.run.meters.get("tier") == "exact" and bool(summary.everything.usage.cpu_ns)


def time_lines(summary: Summary, view: View) -> list[tuple[str, str]]:
    """A label and a sentence each, of the processors' time; none when it was not measured."""
    told = summary.total_time
    if told is None:
        return []
    lines = [("Processors", line) for line in (_account(told), _busy(told), _idle(told), _base(told))]
    lines += [("Processors", _under_way(summary, told))]
    lines += [("Laboratory", _laboratory(summary, told))]
    lines += _vocabulary(summary, told, view)
    lines += [("Meters", line) for line in (*_tier(summary), _of_command(summary), *_unclocked(summary))]
    lines += [("Meters", line) for line in (_by_user(summary), _not_apart(summary))]
    return [(label, line) for label, line in lines if line]


def account_warning(summary: Summary) -> str:
    """A warning where the categories do not add up to the wall time; empty where they do, and where nobody can tell."""
    told = summary.total_time
    if told is None or told.kind == "kernel's ticks" or not told.wall_ns:
        return ""
    off = told.total_ns / told.wall_ns - 1
    if abs(off) <= OFF_AT_MOST:
        return ""
    return (
        f"The processors' account does not add up: its categories are {100 * (1 + off):.3f} % of the wall time. "
        "Records are missing, or the meters are wrong: trust no share of processor time before that is explained."
    )


def _account(told: TotalTime) -> str:
    """How exact the account is, and what nobody is charged for."""
    wall = f"; the categories are {100 * told.total_ns / told.wall_ns:.3f} % of the wall time" if told.wall_ns else ""
    if told.kind == "machine":
        return "Time is exact."
    exact = told.kind == "meters"
    how = (
        "time is from the meters"
        if exact
        else f"the kernel counts in ticks, ± {duration(told.account.resolution_ns)} here"
    )
    if told.account.unattributed_ns is None:
        return f"{how[0].upper()}{how[1:]}{wall}."
    nobodys = (
        "Unattributed is busy time of nobody above: kernel workers that move terminal bytes, other people's processes"
    )
    return f"{nobodys}; {how}{wall}."


def _busy(told: TotalTime) -> str:
    if told.kind != "meters":
        return ""
    found = [f"{row.name}, {_BUSY[row.name]}" for row in told.categories if row.name in _BUSY and row.time_ns]
    return f"Busy: {'; '.join(found)}." if found else ""


def _idle(told: TotalTime) -> str:
    """What the categories of idle time mean that are there."""
    words = _ON_MACHINE if told.kind == "machine" else _ON_HOST
    found = [
        f"{row.name.removeprefix('idle ')}, {_IDLE[row.name].format_map(words)}"
        for row in told.categories
        if row.name in _IDLE and row.time_ns
    ]
    return f"Idle by cause: {'; '.join(found)}." if found else ""


def _base(told: TotalTime) -> str:
    """What percent of non-idle leaves out."""
    left_out = [row.name.removeprefix("idle ") for row in told.categories if not row.in_non_idle]
    return f"Of non-idle: of all time but {in_words(left_out)}." if left_out else ""


def _under_way(summary: Summary, told: TotalTime) -> str:
    """Why time by process is not the busy time, where the two differ by more than `PROCESSES_OFF_AT_MOST`."""
    by_process_ns = sum(row.cpu_ns or 0 for row in summary.whose_time.processes)
    busy_ns = told.account.busy_ns
    if told.kind != "meters" or not by_process_ns or abs(by_process_ns / busy_ns - 1) <= PROCESSES_OFF_AT_MOST:
        return ""
    return (
        f"Time by process adds up to {duration(by_process_ns)}, busy time to {duration(busy_ns)}: a process is charged "
        "when it leaves the processor, so that what is under way at the end of a span is in the next."
    )


def _of_command(summary: Summary) -> str:
    """What is in the time of the one command that was metered."""
    if not (summary.run.kind == "meter" and summary.commands and _holds_the_meters(summary)):
        return ""
    return (
        "The command's processor time has that of the meters' programs in it, which run at each of its system calls "
        "and faults: it takes less without them, and with --meters cheap. Its system calls and its own tables "
        "begin at the fork of its process, its time and its faults above when the program is loaded, some dozens of "
        "faults later."
    )


def _unclocked(summary: Summary) -> tuple[str, ...]:
    """What unclocked faults and interrupts are, where there are such."""
    kinds = [row.name for row in summary.meters.faults if row.name.endswith(" unclocked") and row.count]
    interrupts = [kind for kind in kinds if "interrupt" in kind]
    return (
        (_UNCLOCKED_FAULTS if len(kinds) > len(interrupts) else ""),
        (_UNCLOCKED_INTERRUPTS if interrupts else ""),
    )


_UNCLOCKED_FAULTS = (
    "Unclocked faults were made by the kernel within a system call for its caller (arguments of execve, buffers of "
    "direct I/O, locked memory), or the event of them was lost: they are counted, and their time is not told apart."
)
_UNCLOCKED_INTERRUPTS = (
    "Unclocked interrupts came while the kernel ran no program of the meters: the kernel itself counted them, and "
    "their time is in that of whatever they interrupted."
)


def _laboratory(summary: Summary, told: TotalTime) -> str:
    """The laboratory's own time in one line."""
    used = told.account
    if simulated(summary):
        return "None of the machine's time: it is metered from outside of it."
    if used.laboratory_ns is None:
        return "Its own time was not measured."
    parts = [
        ("driver", used.driver_ns),
        ("sampling and writing", used.meters_ns),
        ("the meters' programs in the kernel (calibrated)", used.instrument_ns),
    ]
    told_parts = ", ".join(f"{name} {exact_share(told.share_of(time))}" for name, time in parts if time is not None)
    at_most = " at most, since the programs run in its threads' time too" if used.instrument_ns else ""
    return (
        f"{exact_share(told.share_of(used.laboratory_ns))} of all time was the laboratory's own{at_most}: {told_parts}."
    )


def _vocabulary(summary: Summary, told: TotalTime, view: View) -> list[tuple[str, str]]:
    """Which words of today's a document's words stand for, and what to know beside the printed ones."""
    if view.vocabulary == "today":
        return []
    found = in_words_of(view.vocabulary, told, summary.meters)
    lines = "; ".join(f"{line.name}: {line.means}" for line in found.lines)
    without = ", ".join(line.name for line in found.homeless)
    homeless = [f"No line in {found.year}: {without}."] if without else []
    return [(found.year, line) for line in (f"{lines}.", *homeless, *found.remarks)]


def _tier(summary: Summary) -> list[str]:
    """Which meters there were: what is exact, what is estimated and how, what is not here and why."""
    told = summary.run.meters
    if not told:
        return []
    exact, notes = told.get("exact", []), [str(note) for note in told.get("notes", [])]
    lines = (
        [f"Of the {told.get('tier', '')} meters, exact: {in_words([str(name) for name in exact])}."] if exact else []
    )
    lines += [f"Estimated: {name}, {how}." for name, how in told.get("estimated", {}).items()]
    lines += [f"Not here: {name}, {why}." for name, why in told.get("not_here", {}).items()]
    return [*lines, *notes]


def _by_user(summary: Summary) -> str:
    """Where the users' times are from."""
    if not summary.whose_time.users or summary.run.kind == "meter":
        return ""
    if summary.whose_time.source == "interactions":
        return "Time by user is that of the users' interactions; what ran between them is not in it."
    return "CPU and ready wait by user are of all that the user's processes did, the other waits of interactions."


def _not_apart(summary: Summary) -> str:
    """That what was asked for is not there."""
    by = summary.meters.by
    if by is None or summary.meters.parts:
        return ""
    return f"This run's meters did not tell faults and primitives apart by {by}."
