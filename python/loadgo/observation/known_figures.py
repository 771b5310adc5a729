"""The list of what is known from which record, and of what no record has: it stays open in the script."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.notation.figures import counted, duration
from loadgo.observation.history import HistoryRead
from loadgo.observation.results import KnownFigure, ThinkTimes

_ACCOUNTING = "process accounting"
_HISTORY = "shell history"
_LIVE = "live observation"


def accounting_figures(think: ThinkTimes | None) -> tuple[KnownFigure, ...]:
    """The figures of a script from process accounting."""
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
        KnownFigure("elapsed time", _ACCOUNTING, "a stand-in waits for what is not processor time"),
        KnownFigure("sessions", _ACCOUNTING, "by person and terminal; each stage of a pipeline is a command"),
        _think_figure(think),
        KnownFigure("input and output", "", "Linux leaves these fields of process accounting at 0"),
        KnownFigure("major faults", _ACCOUNTING, "not in the stand-ins, which have no files to fault in"),
        *_never_known(),
    )


def history_figures(think: ThinkTimes | None, files: Sequence[HistoryRead]) -> tuple[KnownFigure, ...]:
    """The figures of a script from histories."""
    has_lengths = any(line.length_s is not None for file in files for line in file.lines)
    lengths = KnownFigure("elapsed time", _HISTORY, "in whole seconds; a stand-in waits as long")
    no_lengths = KnownFigure("elapsed time", "", "zsh keeps it, without INC_APPEND_HISTORY and SHARE_HISTORY")
    return (
        KnownFigure("commands", _HISTORY, "the first word of a line, where this host has a program of this name"),
        lengths if has_lengths else no_lengths,
        KnownFigure("sessions", _HISTORY, "lines without a pause over 5 minutes"),
        _think_figure(think),
        KnownFigure("processor time", "", "process accounting has it; stand-ins use next to none"),
        KnownFigure("page faults, memory, processes", "", "process accounting has them"),
        KnownFigure("input and output", "", "no record that loadgo reads has them"),
        *_never_known(),
    )


def live_figures(think: ThinkTimes | None, *, at_terminal: int, has_history: bool) -> tuple[KnownFigure, ...]:
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
        _think_figure(think) if has_history else _live_think_figure(think),
        KnownFigure("input and output", _LIVE, "bytes of calls; stand-ins read and write no files"),
        KnownFigure("major faults", _LIVE, "not in the stand-ins, which have no files to fault in"),
        *_never_known(),
    )


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


def _think_figure(think: ThinkTimes | None) -> KnownFigure:
    if think is None:
        return KnownFigure("think times", "", "a history with times has them (`--think-from`); or `run --think`")
    bound = ", with the response in them: an upper bound" if think.is_upper_bound else ""
    left_out = f"; {counted(think.absences, 'pause')} over 5 minutes left out" if think.absences else ""
    return KnownFigure("think times", _HISTORY, f"{counted(think.measured, 'pause')}{bound}{left_out}")


def _never_known() -> tuple[KnownFigure, ...]:
    return (
        KnownFigure("order of commands", "", "each is drawn anew, whatever came before"),
        KnownFigure("sessions by hour", "", "`run --arrivals` and `--users` say how many there are"),
    )
