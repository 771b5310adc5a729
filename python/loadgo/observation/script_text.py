"""The script of an observation: classes as a choice, commands as weighted stand-ins, jobs as lists of words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from statistics import fmean

import tomlkit

from loadgo.notation.figures import counted, digits, duration, in_words, people, seconds, setting
from loadgo.notation.laws import amount, number
from loadgo.observation.days_of_week import DAY_WORDS
from loadgo.observation.known_figures import days_in_words
from loadgo.observation.results import HourOfDay, Observation, ObservedCommand, OrderedCommand, UserGroup
from loadgo.observation.stand_in_jobs import READ_FILE_BYTES, StandInJob

_STAND_INS_FOLDER = Path(__file__).parent.parent / "data" / "stand_ins"
_FILES = ("stand-in.sh", "stand_in.py")
_STAND_IN_LINE = "sh stand-in.sh"
_COMMENT_CHARS = 116
_LEAST_CHARS_PER_SECOND, _MOST_CHARS_PER_SECOND = 0.01, 1e6
"""The bounds of a script's typing rate, in characters a second."""
_LEAST_TIMEOUT_NS, _MOST_TIMEOUT_NS = 300e9, 3.6e15
_WORDS_WITHOUT_BYTES = 6
_LEAST_PER_HOUR = 0.001
"""The least rate of arrivals over 0 that a script may have."""
_TIMEOUT_FACTOR = 10
"""A line may last so many times as long as the longest observed command, since the host may be loaded."""
_NOT_IN_LIST_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def script_text(observation: Observation) -> str:
    """The text of a script that types the observed commands as stand-ins.

    It has no schema line, which would name the folder of this installation, and with it perhaps a person.
    """
    return (
        "\n".join(
            [
                *_heading(observation),
                f"name    = {_quoted(observation.name)}",
                f"login   = {_quoted(_login(observation))}",
                *_think_lines(observation),
                *_typing_lines(observation),
                f'timeout = "{_timeout(observation)}"',
                f"needs   = [{', '.join(_quoted(name) for name in _needs(observation))}]",
                "",
                *_choice_lines(observation),
                "",
                *_arrival_lines(observation),
                *_file_lines(),
                *_word_lines(observation),
            ]
        ).rstrip("\n")
        + "\n"
    )


def _heading(observation: Observation) -> Iterator[str]:
    """Comments: the sources, what is known from which, and what is open."""
    kinds = " and ".join(dict.fromkeys(source.kind for source in observation.sources))
    commands = sum(group.commands for group in observation.groups)
    yield from _comments(
        f"Made by `loadgo observe` of {kinds}: {counted(commands, 'command')} in "
        f"{counted(observation.sessions, 'session')}, over {seconds(observation.span_s)}. Each line is a stand-in that "
        f"uses what a command used.{_equivalent(observation)} Nobody's arguments, paths or texts are in this file."
    )
    if observation.typed:
        names = in_words([row.command for row in observation.typed])
        yield from _comments(f"These run themselves, by lines that were given for them: {names}.")
    for figure in observation.known:
        source = f"from {figure.source}" if figure.source else "NOT KNOWN"
        yield from _comments(f"- {figure.figure}: {source}; {figure.remark}.")
    yield ""


def _login(observation: Observation) -> str:
    """The log-in command. If stand-ins read from storage, it makes the file that they read before the first prompt."""
    most_bytes = min(max((job.storage_read_bytes for job in _jobs(observation)), default=0.0), READ_FILE_BYTES)
    if most_bytes < 1:
        return "sh"
    return f"sh -c '{_STAND_IN_LINE} prepare {ceil(most_bytes)}; exec sh'"


def _needs(observation: Observation) -> tuple[str, ...]:
    moves_bytes = any(len(job.in_words().split()) > _WORDS_WITHOUT_BYTES for job in _jobs(observation))
    return ("python3", "sleep", *(("dd", "find") if moves_bytes else ()))


def _jobs(observation: Observation) -> list[StandInJob]:
    """The jobs of the commands that stand-ins stand for."""
    return [job for row in _list_names(observation) for job in row.jobs]


def _equivalent(observation: Observation) -> str:
    users = observation.equivalent_users
    return "" if users is None else f" {digits(users)} users of this script type as many commands in this time."


def _think_lines(observation: Observation) -> Iterator[str]:
    think = observation.think
    if think is None:
        has_jobs = any(group.think is not None for group in observation.groups)
        yield from _comments(
            f"think: not known{' of those who type' if has_jobs else ''}, so that nobody thinks. "
            "`loadgo run --think 'exponential(8s)'` sets one."
        )
        return
    kind = "pauses with the response in them" if think.is_upper_bound else "pauses without the response"
    yield f"# {think.measured:,} {kind}; mean {duration(think.mean_ns)}"
    yield f'think   = "{think.law}"'


def _typing_lines(observation: Observation) -> Iterator[str]:
    """The rate at which the line of a stand-in takes as long as the lines that were typed."""
    typing = observation.typing
    if typing is None or typing.mean_ns <= 0:
        return
    lists = _list_names(observation)
    counts = [row.count for row in observation.commands]
    typed = _typed_lines(observation)
    lengths = [
        len(typed[row.command])
        if row.command in typed
        else len(_STAND_IN_LINE) + (fmean(len(word) for word in _job_words(row)) + 1 if row in lists else 0)
        for row in observation.commands
    ]
    chars_per_second = fmean(lengths, counts) / (typing.mean_ns / 1e9)
    rate = min(max(chars_per_second, _LEAST_CHARS_PER_SECOND), _MOST_CHARS_PER_SECOND)
    yield f"# {typing.measured:,} lines; mean {setting(round(typing.keys, 1))} keys in {duration(typing.mean_ns)}"
    yield f'typing  = "{number(float(f"{rate:.3g}"))} chars/s"'


def _timeout(observation: Observation) -> str:
    longest_ns = max((job.waiting_ns + job.cpu_ns for row in observation.commands for job in row.jobs), default=0.0)
    timeout_ns = min(max(_LEAST_TIMEOUT_NS, _TIMEOUT_FACTOR * longest_ns), _MOST_TIMEOUT_NS)
    return amount(float(round(timeout_ns, -9)), timed=True)


def _choice_lines(observation: Observation) -> Iterator[str]:
    """One class: a repeated choice among its commands. Two: a choice of a class, then the same."""
    yield from _comments(f"{observation.division}.")
    if any(order.commands for order in observation.orders):
        yield from _comments(
            "weight: the sessions that began with a command. then: how often which command came next; after the last "
            "of a session, that is the first of another."
        )
    if any(pattern.commands for pattern in observation.think_patterns):
        yield from _comments("think_after: the think time after a command, in place of that of the class.")
    if len(observation.groups) == 1:
        group = observation.groups[0]
        yield "[[lines]]"
        yield f"repeat = {group.commands_per_session}"
        if observation.think is None and group.think is not None:
            yield f'think = "{group.think}"'
        yield "choose = ["
        yield from _command_lines(observation, group, "    ")
        yield "]"
        return
    yield "[[lines]]"
    yield "choose = ["
    for group in observation.groups:
        yield f"    # {group.name}: {counted(group.sessions, 'session')} of {people(group.people)}"
        think = f'think = "{group.think}", ' if group.think else ""
        yield f"    {{ weight = {group.sessions}, repeat = {group.commands_per_session}, {think}choose = ["
        yield from _command_lines(observation, group, "        ")
        yield "    ] },"
    yield "]"


def _command_lines(observation: Observation, group: UserGroup, indent: str) -> Iterator[str]:
    lists, themselves = _list_names(observation), _typed_lines(observation)
    order = next((order for order in observation.orders if order.group == group.name), None)
    ordered = {} if order is None else {row.command: row for row in order.commands}
    after = {
        row.command: f", think_after = {_quoted(row.law)}"
        for pattern in observation.think_patterns
        if pattern.group == group.name
        for row in pattern.commands
    }
    for row in observation.commands:
        if row.group != group.name:
            continue
        stand_in = _STAND_IN_LINE + (f" {{random:{lists[row]}}}" if row in lists else "")
        typed = themselves.get(row.command, stand_in)
        is_known = row.cpu_ns is not None or row.command in themselves
        comment = "" if is_known else "  # processor time not known"
        can_fail = row in lists and any(job.uses_storage for job in row.jobs)
        status = ", status = 0" if can_fail else ""
        weight, then = (row.count, "") if row.command not in ordered else _chain_words(ordered[row.command])
        line = f"weight = {weight}, type = {_quoted(typed)}, as = {_quoted(row.command)}"
        yield f"{indent}{{ {line}{status}{after.get(row.command, '')}{then} }},{comment}"


def _typed_lines(observation: Observation) -> dict[str, str]:
    """The lines of the commands that run themselves, by their names."""
    return {row.command: row.line for row in observation.typed}


def _chain_words(row: OrderedCommand) -> tuple[int, str]:
    """The weight of a command as the first of a session, and the weights of what comes next."""
    weights = ", ".join(f"{_quoted(after.command)} = {_weight(after.weight)}" for after in row.following)
    return row.first, f", then = {{ {weights} }}"


def _weight(weight: float) -> str:
    """A weight: a count as it is, else four digits of it."""
    return number(weight if weight == round(weight) else float(f"{weight:.4g}"))


def _list_names(observation: Observation) -> dict[ObservedCommand, str]:
    """The list of jobs of each command that has any: the class and the command, or a number if that is taken."""
    names: dict[ObservedCommand, str] = {}
    typed = _typed_lines(observation)
    for row in observation.commands:
        if row.command in typed or (row.cpu_ns is None and row.elapsed_ns is None):
            continue
        name = f"{row.group}-{_NOT_IN_LIST_NAMES.sub('_', row.command)}"
        names[row] = name if name not in names.values() else f"{name}-{len(names)}"
    return names


def _arrival_lines(observation: Observation) -> Iterator[str]:
    """The rates of sessions by hour of the day; none if no session begins in an hour of the day."""
    hours, pattern = observation.hours, observation.days_of_week
    rates = {row.hour: _per_hour(row) for row in hours}
    if not any(rates.values()):
        return
    seen_h = {row.hour: row.observed_hours for row in hours}
    yield "[arrivals]"
    which = "all days" if observation.days == "all" else DAY_WORDS[observation.days]
    yield f"# Sessions that begin in an hour, as means of {which}: `loadgo run SCRIPT --arrivals 09:00 --for 1h`"
    if pattern is not None and pattern.is_different:
        yield from _comments(
            f"Workdays and weekends differ, and these rates are means of both: {days_in_words(pattern)}. "
            "`loadgo observe --days workdays` (or weekend) has the rates of one kind."
        )
    for hour in range(24):
        seen = f"seen for {digits(seen_h[hour])} h, with what began then" if hour in seen_h else "not seen"
        comment = "" if seen_h.get(hour, 0.0) >= 1 else f"  # {seen}"
        yield f'"{hour:02d}:00" = "{number(float(f"{rates.get(hour, 0.0):.3g}"))}/h"{comment}'
    yield ""


def _per_hour(row: HourOfDay) -> float:
    """The rate of an hour. Of a part of an hour, it is what began in the part, since a part begins with a session."""
    per_hour = row.begun_per_hour * min(row.observed_hours, 1.0)
    return per_hour if per_hour >= _LEAST_PER_HOUR else 0.0


def _file_lines() -> Iterator[str]:
    yield "[files]"
    for name in _FILES:
        content = (_STAND_INS_FOLDER / name).read_text(encoding="utf-8")
        yield f"{_quoted(name)} = '''\n{content}'''"


def _word_lines(observation: Observation) -> Iterator[str]:
    lists = _list_names(observation)
    if not lists:
        return
    yield ""
    yield "[words]"
    yield from _comments(
        "Each word is a job: seconds of user and of system time, page faults, pages held, processes, seconds to wait; "
        "then, if it has them, bytes read and written by calls, bytes read from storage and written to it, and "
        "processors used at once."
    )
    for row, name in lists.items():
        yield f"# {row.command}: {_means(row)}"
        yield f"{name} = ["
        yield from (f'    "{words}",' for words in _job_words(row))
        yield "]"


def _job_words(row: ObservedCommand) -> list[str]:
    """The jobs of a command in words; equal jobs are one."""
    jobs = [job.in_words() for job in row.jobs]
    return jobs[:1] if len(set(jobs)) == 1 else jobs


def _means(row: ObservedCommand) -> str:
    cpu = "processor time not known" if row.cpu_ns is None else f"CPU {duration(row.cpu_ns)}"
    elapsed = "" if row.elapsed_ns is None else f", elapsed {duration(row.elapsed_ns)}"
    return f"{counted(row.count, 'run')}, {digits(100 * row.share)} % of its class; mean {cpu}{elapsed}"


def _comments(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _COMMENT_CHARS, subsequent_indent="  ")]


def _quoted(text: str) -> str:
    return tomlkit.item(text).as_string()
