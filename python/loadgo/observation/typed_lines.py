"""Puts the lines of a live observation together: sessions with their commands, and the pauses before them.

A line is what one typed line started. Its think time lasts from the prompt until the line was typed to its end. Lines
that are no commands, such as those of a prompt's own programs, are left out. Their pause is a part of the next one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loadgo.observation.history import ABSENCE_S
from loadgo.observation.program_names import SUBSHELL_NAME, KeepName, accounted_name
from loadgo.observation.sessions import CommandUse, ObservedSession

_LEAST_SUBSHELL_CPU_NS = 10_000_000
"""Work of a shell without a program counts as a command from this processor time on. Prompts need less."""

TypedLine = dict[str, Any]
"""A line with the keys of `_loadgo.SessionObserver.gathered`."""


@dataclass(frozen=True)
class LinesFound:
    """The sessions of typed lines, and what is in none."""

    sessions: tuple[ObservedSession, ...]
    first_key_ns: tuple[int, ...]
    """The times from the prompt to the first key, of commands with a think time."""
    absences: int
    """Number of pauses that are too long for a think time."""
    idle_lines: int
    """Number of lines that ran no program and used next to no time."""
    shells_within: int
    """Number of lines in which another shell was typed to."""
    at_terminal: int
    """Number of commands that waited for somebody to type."""


def find_lines(lines: Sequence[TypedLine], keep_name: KeepName, epoch_ns: int) -> LinesFound:
    """The sessions of the lines. `epoch_ns` is the time of the lines' clock zero since 1970."""
    by_session: dict[int, list[TypedLine]] = defaultdict(list)
    for line in lines:
        by_session[line["session"]].append(line)
    sessions, first_keys, absences = [], [], 0
    for rows in by_session.values():
        commands, prompt_ns = [], None
        for row in rows:
            prompt_ns = row["prompt_ns"] if prompt_ns is None else prompt_ns
            if not _is_command(row):
                continue
            think_ns = max(row["typed_ns"] - prompt_ns, 0) if prompt_ns and row["first_key_ns"] else None
            if think_ns is not None and think_ns > ABSENCE_S * 1_000_000_000:
                think_ns, absences = None, absences + 1
            elif think_ns is not None:
                first_keys.append(max(row["first_key_ns"] - row["prompt_ns"], 0))
            commands.append(_use(row, think_ns, keep_name))
            prompt_ns = None
        if commands:
            began_s, ended_s = ((rows[0]["typed_ns"] + epoch_ns) // 10**9, (rows[-1]["ended_ns"] + epoch_ns) // 10**9)
            sessions.append(ObservedSession(rows[0]["user"], began_s, ended_s, tuple(commands)))
    return LinesFound(
        tuple(sorted(sessions, key=lambda session: session.began_s)),
        tuple(first_keys),
        absences,
        idle_lines=sum(not _is_command(row) and not row["has_shell_within"] for row in lines),
        shells_within=sum(row["has_shell_within"] for row in lines),
        at_terminal=sum(_is_command(row) and row["terminal_waits"] > 0 for row in lines),
    )


def _is_command(line: TypedLine) -> bool:
    return not line["has_shell_within"] and (bool(line["name"]) or line["cpu_ns"] >= _LEAST_SUBSHELL_CPU_NS)


def _use(line: TypedLine, think_ns: int | None, keep_name: KeepName) -> CommandUse:
    """The use of a line. The kernel's ticks divide the exact processor time in user and system time."""
    ticks_ns = line["user_ticks_ns"] + line["system_ticks_ns"]
    system_ns = line["cpu_ns"] * line["system_ticks_ns"] // ticks_ns if ticks_ns else 0
    return CommandUse(
        name=keep_name(accounted_name(line["name"])) if line["name"] else SUBSHELL_NAME,
        user_ns=line["cpu_ns"] - system_ns,
        system_ns=system_ns,
        faults_minor=line["faults_minor"],
        faults_major=line["faults_major"],
        held_pages=line["held_pages"],
        processes=line["processes"],
        elapsed_ns=line["ended_ns"] - line["typed_ns"],
        queued_ns=line["queued_ns"],
        read_bytes=line["read_bytes"],
        written_bytes=line["written_bytes"],
        storage_read_bytes=line["storage_read_bytes"] if line["has_storage_counts"] else None,
        storage_written_bytes=_stored_bytes(line) if line["has_storage_counts"] else None,
        think_ns=think_ns,
    )


def _stored_bytes(line: TypedLine) -> int:
    """The bytes written to storage, without those of files that the line removed before they were stored.

    A line that removes a file of another line has none.
    """
    stored_bytes: int = max(line["storage_written_bytes"] - line["storage_cancelled_bytes"], 0)
    return stored_bytes
