"""The figures that cannot be compared, with the reasons, and the properties that an observed script does not model."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import polars as pl

from loadgo.notation.figures import counted, in_words
from loadgo.observation.figures_file import FiguresDescription
from loadgo.observation.likeness.results import ComparedBytes, Gap
from loadgo.observation.likeness.rows import NEVER_IN_RUNS, SideRows
from loadgo.observation.program_names import SHELL_NAMES

_COMPARED = {
    "processor time": "cpu_ns",
    "page faults": "faults",
    "major faults": "faults_major",
    "bytes read": "read_bytes",
    "bytes written": "written_bytes",
    "bytes read from storage": "storage_read_bytes",
    "bytes written to storage": "storage_written_bytes",
    "processes": "processes",
    "time ready without a processor": "ready_wait_ns",
    "time waiting for storage": "io_wait_ns",
    "response time": "elapsed_ns",
    "think time": "think_ns",
}
_LAST_EXEC = re.compile(r"\bexec\s+(\S+)\s*\Z")
"""The program that the commands of `sh -c` become at last."""
_NOT_COUNTED = "a run does not count them for each interaction"
_STORAGE_FIGURE = "bytes of storage"
"""The name of these bytes in the list of what an observation does not know."""


def not_compared(
    observed: SideRows,
    run: SideRows,
    description: FiguresDescription,
    moved: Sequence[ComparedBytes],
    *,
    is_simulated: bool,
    shell: str = "",
) -> tuple[Gap, ...]:
    """The figures that one side, or both, do not have.

    `moved` are the bytes that the run's script has, and `shell` is that of the run's users, if it is known.
    """
    return (
        *_unknown_figures(observed, run, description, moved, is_simulated),
        *_not_compared(observed, run, description),
        *_other_shell(description, shell),
    )


def run_shell(login: str) -> str:
    """The name of the shell that a log-in command of a run ends in: `sh` for `sh -c 'COMMANDS; exec sh'`.

    Empty where another program decides that, such as `su` and `ssh`.
    """
    try:
        words = shlex.split(login)
    except ValueError:
        return ""
    last = words[0].rpartition("/")[2] if words else ""
    if "-c" in words:
        replaced = _LAST_EXEC.search(words[-1])
        last = replaced[1].rpartition("/")[2] if replaced else ""
    return last if last in SHELL_NAMES else ""


def _other_shell(description: FiguresDescription, shell: str) -> Iterator[Gap]:
    """The shell's own work, where people typed to another shell than the run's users."""
    sessions = sum(count for _, count in description.shells)
    others = [(name, count) for name, count in description.shells if name != shell]
    if not shell or not others:
        return
    named = in_words([f"{name} ({count:,} of {counted(sessions, 'session')})" for name, count in others])
    yield Gap(
        "work of the shell itself",
        f"people typed to {named}, and the run's users to {shell}: what a shell itself uses for a line is in the run's "
        "figures, and in no observed one",
    )


def _unknown_figures(
    observed: SideRows,
    run: SideRows,
    description: FiguresDescription,
    moved: Sequence[ComparedBytes],
    is_simulated: bool,
) -> Iterator[Gap]:
    in_script = [row for row in moved if row.script is not None]
    for figure, column in _COMPARED.items():
        is_bytes = column.endswith("_bytes")
        if not observed.knows(column):
            yield Gap(figure, _why_not_observed(figure, description))
        elif is_bytes and is_simulated:
            yield Gap(figure, "a simulated machine moves no bytes: its file says what a command uses")
        elif is_bytes and in_script:
            yield Gap(figure, f"{_NOT_COUNTED}; the table of bytes has what its stand-ins are to move")
        elif not run.knows(column):
            yield Gap(figure, _NOT_COUNTED if column in NEVER_IN_RUNS else "this run has not measured it")
    own_lines = dict.fromkeys(row.command for row in moved if in_script and row.script is None)
    for command in own_lines:
        yield Gap(f"bytes of {command}", "the run's script types no stand-in for it")


def _not_compared(observed: SideRows, run: SideRows, description: FiguresDescription) -> Iterator[Gap]:
    for each in description.classes:
        rows = observed.rows.filter(pl.col("class") == each.name)
        if observed.knows("think_ns") and not rows["think_ns"].count():
            yield Gap(f"think time of {each.name} users", _why_not_observed("think time", description))
    if observed.knows("faults_major") and run.knows("faults_major"):
        yield Gap("major faults", "they depend on what the host has in memory, and the stand-ins have no files")
    if not description.is_ordered:
        yield Gap("order of commands", f"{description.kind} does not say which command came before which")
    if description.has_responses_in_think:
        yield Gap("think time without responses", "the observed pauses have the responses in them, as the script has")


def _why_not_observed(figure: str, description: FiguresDescription) -> str:
    if figure == "think time" and description.think_mean_ns is not None:
        return "they were observed in other records than the commands, of which only the law is kept"
    unknown = dict(text.split(": ", 1) for text in description.unknown if ": " in text)
    if figure.endswith("storage") and figure.startswith("bytes") and _STORAGE_FIGURE in unknown:
        return unknown[_STORAGE_FIGURE]
    return f"{description.kind} does not have it"


def not_modelled(description: FiguresDescription) -> tuple[Gap, ...]:
    """The properties of an observed load that its script leaves out."""
    return tuple(_not_modelled(description))


def _not_modelled(description: FiguresDescription) -> Iterator[Gap]:
    yield Gap("length of sessions", "each session types the mean number of commands of its class")
    yield Gap("absences", "pauses over 5 minutes are left out, so that a user of the script is always at work")
    if description.is_ordered:
        yield Gap("order", "what comes next depends on the last command alone, and not on earlier ones")
    yield Gap(
        "runs of one command", "what a run uses does not depend on the run before, nor on the think time before it"
    )
    yield Gap("typing within programs", "a stand-in waits as long as people typed to the program")
    yield Gap("days of the week", "an hour of the day has one rate; `observe --days` takes workdays or weekends alone")
    if all(each.name != "batch" for each in description.classes):
        yield Gap("batch jobs", "commands without a terminal are not in the script")
