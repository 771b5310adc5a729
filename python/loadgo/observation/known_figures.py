"""The list of what is known from which record, and of what no record has: it stays open in the script."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.notation.figures import counted, digits, duration, in_words, setting, share
from loadgo.notation.laws import number
from loadgo.observation.command_order import FEWEST_PAIRS
from loadgo.observation.days_of_week import DAY_WORDS
from loadgo.observation.logs.log_read import LogRead
from loadgo.observation.results import (
    CommandOrder,
    DayKind,
    Days,
    DaysOfWeek,
    HourOfDay,
    KnownFigure,
    ThinkPattern,
    ThinkTimes,
    TypingTimes,
)
from loadgo.observation.sessions import ObservedSession
from loadgo.observation.source_files import SourceKind

_ACCOUNTING = "process accounting"
_LIVE = "live observation"
_ORDER = "order of commands"
_DAYS = "days of the week"
_THINK_AFTER = "think times by command"
_COMMANDS: dict[SourceKind, str] = {
    "shell history": "the first word of a line, where this host has a program of this name",
    "atuin history": "the first word of a line, where this host has a program of this name",
    "tlog recording": "the first word typed at a prompt and echoed, where this host has a program of this name",
    "sudo I/O log": "the program that sudo started; lines at a shell's prompt have the shell's name",
    "audit log": "programs by name; what a shell does by itself (cd, echo) begins no program",
}
_TERMINAL_ELAPSED = "from Enter to the last output before the next line; what was typed to the program is in it"
_ELAPSED: dict[SourceKind, str] = {
    "shell history": "in whole seconds; a stand-in waits as long",
    "atuin history": "a stand-in waits as long",
    "tlog recording": _TERMINAL_ELAPSED,
    "sudo I/O log": _TERMINAL_ELAPSED,
}
_NO_ELAPSED: dict[SourceKind, str] = {
    "shell history": "zsh keeps it, without INC_APPEND_HISTORY and SHARE_HISTORY",
    "audit log": "auditd is told when a program begins, and not when it ends",
}
_SESSIONS: dict[SourceKind, str] = {
    "shell history": "lines without a pause over 5 minutes",
    "atuin history": "lines of one shell without a pause over 5 minutes",
    "tlog recording": "a recording is a session",
    "sudo I/O log": "a run of sudo is a session",
    "audit log": "by the number of the log-in, and by terminal; each stage of a pipeline is a command",
}
_WITH_TYPING: tuple[SourceKind, ...] = ("shell history", "atuin history")
"""The kinds whose pauses have the typing of the next line in them."""


def accounting_figures(
    think: ThinkTimes | None,
    typing: TypingTimes | None,
    think_logs: Sequence[LogRead],
    hours: Sequence[HourOfDay],
    sessions: Sequence[ObservedSession],
) -> tuple[KnownFigure, ...]:
    """The figures of a script from process accounting."""
    jobs = sum(len(session.commands) for session in sessions if session.is_batch)
    return (
        KnownFigure(
            "commands", _ACCOUNTING, "programs by name; what a shell does by itself (cd, echo) is no process of its own"
        ),
        KnownFigure(
            "processor time",
            _ACCOUNTING,
            "in steps of 10 ms, rounded down for each process; a stand-in with none of it uses about 2 ms",
        ),
        KnownFigure("page faults", _ACCOUNTING, "minor ones; a stand-in touches as many pages"),
        KnownFigure("memory", _ACCOUNTING, "only as address space at the end: an upper bound of the pages held"),
        KnownFigure("processes", _ACCOUNTING, "a stand-in starts as many, one after the other"),
        KnownFigure(
            "elapsed time",
            _ACCOUNTING,
            "a stand-in waits for what is not processor time, also for what was a wait for a busy processor; it uses "
            "several processors if that is more",
        ),
        KnownFigure("sessions", _ACCOUNTING, "by person and terminal; each stage of a pipeline is a command"),
        *_time_figures(think, typing, think_logs),
        KnownFigure(
            "batch jobs",
            _ACCOUNTING,
            f"{counted(jobs, 'job')} without a terminal, with the pauses between them",
        )
        if jobs
        else KnownFigure("batch jobs", _ACCOUNTING, "none that used a hundredth of its time on a processor"),
        KnownFigure("input and output", "", "Linux leaves these fields of process accounting at 0"),
        KnownFigure("major faults", _ACCOUNTING, "not in the stand-ins, which have no files to fault in"),
        _hours_figure(_ACCOUNTING, hours),
    )


def log_figures(
    logs: Sequence[LogRead],
    think: ThinkTimes | None,
    typing: TypingTimes | None,
    think_logs: Sequence[LogRead],
    hours: Sequence[HourOfDay],
) -> tuple[KnownFigure, ...]:
    """The figures of a script from logs of one kind."""
    kind = logs[0].kind
    has_lengths = any(
        command.elapsed_ns is not None for log in logs for session in log.sessions for command in session.commands
    )
    return (
        KnownFigure("commands", kind, _COMMANDS[kind]),
        KnownFigure("elapsed time", kind, _ELAPSED[kind])
        if has_lengths
        else KnownFigure("elapsed time", "", _NO_ELAPSED.get(kind, "no command in these records has an end")),
        KnownFigure("sessions", kind, _SESSIONS[kind]),
        *_time_figures(think, typing, think_logs),
        KnownFigure("processor time", "", "process accounting has it; stand-ins use next to none"),
        KnownFigure("page faults, memory, processes", "", "process accounting has them"),
        KnownFigure("input and output", "", "no record that loadgo reads has them"),
        _hours_figure(kind, hours),
    )


def live_figures(
    think: ThinkTimes | None,
    typing: TypingTimes | None,
    think_logs: Sequence[LogRead],
    hours: Sequence[HourOfDay],
    sessions: Sequence[ObservedSession],
    *,
    at_terminal: int,
) -> tuple[KnownFigure, ...]:
    """The figures of a script from sessions that were watched. `at_terminal` is the number of commands that asked."""
    asked = (
        f"; {counted(at_terminal, 'command')} waited for somebody to type, and stand-ins wait as long"
        if at_terminal
        else "; a stand-in waits for what is neither processor time nor waiting for a processor"
    )
    return (
        KnownFigure("commands", _LIVE, "the first program of a line, by name; what a shell does by itself is none"),
        KnownFigure("processor time", _LIVE, "exact for each process; user and system time by the kernel's ticks"),
        KnownFigure("page faults, memory, processes", _LIVE, "minor faults; the pages that the largest process held"),
        KnownFigure("elapsed time", _LIVE, f"from the end of the line to the next prompt{asked}"),
        KnownFigure("sessions", _LIVE, "shells at a terminal; a pipeline is one command"),
        *(_time_figures(think, typing, think_logs) if think_logs else (_live_think_figure(think),)),
        KnownFigure("bytes by calls", _LIVE, "of files, pipes and terminals; stand-ins read and write memory"),
        _storage_figure(sessions),
        KnownFigure("major faults", _LIVE, "not in the stand-ins, which map no files"),
        _hours_figure(_LIVE, hours),
    )


def _storage_figure(sessions: Sequence[ObservedSession]) -> KnownFigure:
    """The bytes of storage, which some kernels do not count."""
    if all(use.storage_read_bytes is None for session in sessions for use in session.commands):
        return KnownFigure("bytes of storage", "", "this kernel does not count them (CONFIG_TASK_IO_ACCOUNTING)")
    return KnownFigure("bytes of storage", _LIVE, "stand-ins read as many, and write as many, in files of the home")


def _live_think_figure(think: ThinkTimes | None) -> KnownFigure:
    if think is None:
        return KnownFigure("think times", "", "no line had a prompt and a key; `run --think` sets one")
    first_key = "" if think.first_key_ns is None else f"; the first key came after {duration(think.first_key_ns)}"
    left_out = f"; {counted(think.absences, 'pause')} over 5 minutes left out" if think.absences else ""
    return KnownFigure(
        "think times",
        _LIVE,
        f"{counted(think.measured, 'pause')} from the prompt to the end of the line{first_key}{left_out}",
    )


def _time_figures(
    think: ThinkTimes | None, typing: TypingTimes | None, think_logs: Sequence[LogRead]
) -> tuple[KnownFigure, ...]:
    return (
        _think_figure(think, in_words(list(dict.fromkeys(log.kind for log in think_logs if log.pauses.spans_ns)))),
        _typing_figure(typing, in_words(list(dict.fromkeys(log.kind for log in think_logs if log.typing.lines)))),
    )


def _think_figure(think: ThinkTimes | None, source: str) -> KnownFigure:
    if think is None:
        return KnownFigure(
            "think times", "", "a history with times or a log of keystrokes has them (`--think-from`); or `run --think`"
        )
    has_typing = any(kind in source for kind in _WITH_TYPING)
    parts = [*(["response"] if think.is_upper_bound else []), *(["typing"] if has_typing else [])]
    within = f", with the {' and the '.join(parts)} in them" if parts else ""
    bound = ": an upper bound" if think.is_upper_bound else ""
    left_out = f"; {counted(think.absences, 'pause')} over 5 minutes left out" if think.absences else ""
    return KnownFigure("think times", source, f"{counted(think.measured, 'pause')}{within}{bound}{left_out}")


def _typing_figure(typing: TypingTimes | None, source: str) -> KnownFigure:
    if typing is None:
        return KnownFigure("typing", "", "sudo's and tlog's logs have the keystrokes' times; or `run --typing`")
    return KnownFigure(
        "typing",
        source,
        f"{setting(round(typing.keys, 1))} keys in {duration(typing.mean_ns)} on average of "
        f"{counted(typing.measured, 'line')}; the line of a stand-in takes as long",
    )


def order_figure(orders: Sequence[CommandOrder], source: str) -> KnownFigure:
    """The order of commands, by class. `source` has the commands."""
    if not orders:
        return KnownFigure(
            _ORDER, "", "these records do not say which command came before which; each is drawn anew, by weight"
        )
    is_told = any(order.p_value is not None for order in orders)
    remarks = [(f"{order.group}: " if len(orders) > 1 else "") + _order_remark(order) for order in orders]
    return KnownFigure(_ORDER, source if is_told else "", "; ".join(remarks))


def think_figures(patterns: Sequence[ThinkPattern], source: str) -> tuple[KnownFigure, ...]:
    """Whether think times depend on what was just done, by class; none if no pause has a command before it.

    `source` has the pauses.
    """
    if not patterns:
        return ()
    remarks = [(f"{row.group}: " if len(patterns) > 1 else "") + _think_remark(row) for row in patterns]
    is_told = any(row.p_value is not None for row in patterns)
    return (KnownFigure(_THINK_AFTER, source if is_told else "", "; ".join(remarks)),)


def day_figures(days: Days, pattern: DaysOfWeek | None, source: str) -> tuple[KnownFigure, ...]:
    """Whether workdays and weekends differ; none for records without both. `source` has the sessions."""
    if days != "all":
        return (KnownFigure(_DAYS, source, f"{DAY_WORDS[days]} alone"),)
    if pattern is None:
        return ()
    if pattern.p_value is None:
        return (KnownFigure(_DAYS, "", "there are too few days to tell workdays from weekends; it takes two weeks"),)
    if not pattern.is_different:
        return (KnownFigure(_DAYS, source, "workdays and weekends do not show that sessions begin at other rates"),)
    return (
        KnownFigure(
            _DAYS,
            source,
            f"{days_in_words(pattern)}; the rates by hour are means of both: `observe --days workdays` makes a script "
            "of workdays alone",
        ),
    )


def days_in_words(pattern: DaysOfWeek) -> str:
    """The sessions a day of workdays and of weekends, each with the hour in which most begin."""
    workdays, weekend = pattern.kinds
    return f"workdays have {_kind_in_words(workdays, ' sessions a day')}, and weekends {_kind_in_words(weekend)}"


def _kind_in_words(kind: DayKind, unit: str = "") -> str:
    whole = [row for row in kind.hours if row.observed_hours >= 1 and row.begun_per_hour > 0]
    most = f", most at {max(whole, key=lambda row: row.begun_per_hour).hour:02d}:00" if whole else ""
    return f"{digits(kind.sessions_per_day)}{unit}{most}"


def _think_remark(pattern: ThinkPattern) -> str:
    pauses = counted(pattern.pauses, "pause")
    if pattern.commands:
        return f"after {counted(len(pattern.commands), 'command')} they have a law of their own, from {pauses}"
    if pattern.p_value is None:
        return f"{pauses} are too few to tell, or follow a single command"
    return f"{pauses} do not show that they depend on the command before"


def _order_remark(order: CommandOrder) -> str:
    pairs = counted(order.pairs, "pair")
    if order.p_value is None and order.pairs >= FEWEST_PAIRS:
        return "there is a single command, or a session of the script has a single one"
    if order.p_value is None:
        return f"{pairs} of commands are too few to tell; each is drawn anew, by weight"
    if order.distance is None:
        return f"each is drawn anew, by weight: {pairs} of commands do not show that the one before matters"
    return (
        f"each is drawn by the one before, from {pairs}; {share(order.distance)} of the script's pairs are others than "
        f"those seen, and {share(order.distance_without)} would be without an order"
    )


def _hours_figure(source: str, hours: Sequence[HourOfDay]) -> KnownFigure:
    """The busiest hour, and how a run has as many sessions."""
    if not hours:
        return KnownFigure(
            "sessions by hour",
            "",
            "it takes dates of two hours or more; `run --users` or `--arrivals` sets how many users there are",
        )
    whole = [row for row in hours if row.observed_hours >= 1]  # a part begins or ends with a session, always
    busiest = max(whole, key=lambda row: row.begun_per_hour)
    if not busiest.begun_per_hour:
        return KnownFigure("sessions by hour", source, "none began in an hour that the records have whole")
    rate = number(float(f"{busiest.begun_per_hour:.3g}"))
    return KnownFigure(
        "sessions by hour",
        source,
        f"rates for the hours of the day; most begin at {busiest.hour:02d}:00, {rate} in an hour, with "
        f"{digits(busiest.open_at_once)} open at once: `run --arrivals {busiest.hour:02d}:00 --for 1h`",
    )
