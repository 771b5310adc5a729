"""A metered command in words: what it is, how long it took, and what it used."""

from __future__ import annotations

import shlex

from loadgo.measures.summary import Summary
from loadgo.measures.usage import Usage
from loadgo.notation.figures import as_code, duration, number, plain


def metered_command(summary: Summary) -> str:
    """The words of the metered command as a shell reads them, with quotes; empty where they are not known."""
    line = summary.run.command_line
    words = line[line.index("--") + 1 :] if "--" in line else ()
    is_whole = summary.run.kind == "meter" and " ".join(words) == summary.run.name
    return plain(shlex.join(words)) if words and is_whole else ""


def command_in_words(summary: Summary) -> str:
    """The time and use of the metered command; empty without one."""
    if not summary.commands:
        return ""
    (row, *_), usage = summary.commands, summary.everything.usage
    parts = [f"{duration(time)} {what}" for what, time in times_of_command(usage) if time]
    if parts and holds_the_meters(summary):
        parts[0] += " (with that of the exact meters)"
    parts += _counts(summary)
    name = as_code(metered_command(summary) or row.name)
    took = f"{name} took {duration(row.response.mean_ns)}{' and failed' if row.outcomes.errors else ''}"
    if row.response.mean_ns is None:
        took = f"{name} {'was ended by a signal' if row.outcomes.died else 'did not end while it was metered'}"
    return f"{': '.join(filter(None, [took, ', '.join(parts)]))}. "


def times_of_command(usage: Usage) -> list[tuple[str, float | None]]:
    """The processor time and the waits of a metered command, each with its words; None means not measured."""
    return [
        ("of processor time", usage.cpu_ns),
        ("waiting for a processor", usage.ready_wait_ns),
        ("waiting for pages", usage.paging_wait_ns),
        ("waiting for I/O", usage.io_wait_ns),
    ]


def _counts(summary: Summary) -> list[str]:
    """The command's page faults, and its system calls if they were metered."""
    usage, itself = summary.everything.usage, summary.meters.command
    counts = [("minor faults", usage.faults_minor), ("major faults", usage.faults_major)]
    if itself is not None and itself.primitives:
        counts.append(("system calls", sum(row.count for row in itself.primitives)))
    return [f"{number(count)} {what}" for what, count in counts if count is not None]


def holds_the_meters(summary: Summary) -> bool:
    """Whether a command's processor time includes the meters' programs at its system calls."""
    return summary.run.meters.get("tier") == "exact" and bool(summary.everything.usage.cpu_ns)
