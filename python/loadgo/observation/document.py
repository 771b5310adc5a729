"""An observation as a document: the classes of users, their commands, and what is known from which record."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from shlex import quote

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import (
    counted,
    digits,
    duration,
    in_words,
    joined,
    number,
    people,
    plain,
    seconds,
    share,
    size,
)
from loadgo.observation.hour_table import hour_table
from loadgo.observation.results import (
    CommandOrder,
    DayKind,
    DaysOfWeek,
    FollowingCommand,
    HourOfDay,
    KnownFigure,
    Observation,
    ObservedCommand,
    OrderedCommand,
    PausesAfterCommand,
    SourceRead,
    ThinkPattern,
    ThinkTimes,
    TypedCommand,
    TypingTimes,
    UserGroup,
)
from loadgo.observation.source_files import SourceKind
from loadgo.observation.stand_in_jobs import StandInJob

FEWEST_SESSIONS = 10
"""Fewer sessions are a reason for doubt."""
_COARSE_SHARE = 0.1
"""Processor time that rounding may have hidden is a reason for doubt from this share on."""
_FIGURE_CHARS = 32
_NAMED_COMMANDS = 4
"""Number of commands that a row of the order names."""
_LEAST_MAX_USERS = 40
"""The least `--max-users` of the search for a capacity that the report names."""
_CPU_RANGE = "CPU is a mean: first the time that was counted, then that with all that rounding down may hide."
_CPU_MEAN = "CPU, faults and bytes are means of a command with all its processes."

_QUICK_NS = 1e9
"""Commands that take longer on an idle host, such as editors, say little about a target of 2 s."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
"""The name of a command that can stand in a target, as in `p90(ls) < 2s`."""

_RECORD_WORDS: dict[SourceKind, tuple[str, str, str]] = {
    "process accounting": ("process", "processes", "the others are shells, or the notes name them"),
    "shell history": ("timed line", "timed lines", ""),
    "sudo I/O log": ("session of sudo", "sessions of sudo", ""),
    "tlog recording": ("message", "messages", ""),
    "audit log": ("program", "programs", "the others were started by commands, or the notes name them"),
    "atuin history": ("line", "lines", ""),
    "live observation": ("typed line", "typed lines", "the notes name the others"),
}
"""The name of a record of each kind, alone and in the plural, and a phrase on the records that are no commands."""

JSON_KEYS: Keys = {
    Observation: (
        "path figures name sources people sessions span_s equivalent_users division groups commands typed orders "
        "think_patterns think typing hours days days_of_week known notes warnings is_stopped"
    ),
    SourceRead: "kind records left_out use",
    UserGroup: "name sessions people commands commands_per_session cpu_ns think think_mean_ns",
    ObservedCommand: (
        "group command count share cpu_ns cpu_most_ns cpu_p90_ns elapsed_ns faults_minor faults_major processes "
        "read_bytes written_bytes storage_read_bytes storage_written_bytes jobs"
    ),
    StandInJob: (
        "user_ns system_ns faults held_pages processes waiting_ns read_bytes written_bytes storage_read_bytes "
        "storage_written_bytes processors"
    ),
    ThinkTimes: "law measured mean_ns absences is_upper_bound first_key_ns",
    TypingTimes: "measured keys mean_ns",
    TypedCommand: "command line",
    CommandOrder: "group pairs p_value distance distance_without commands",
    OrderedCommand: "command first following",
    FollowingCommand: "command count weight",
    ThinkPattern: "group pauses p_value commands",
    PausesAfterCommand: "command pauses mean_ns law",
    HourOfDay: "hour observed_hours begun_per_hour open_at_once",
    DayKind: "kind observed_days sessions sessions_per_day hours",
    DaysOfWeek: "is_different p_value kinds",
    KnownFigure: "figure source remark",
}


def observation_json(observation: Observation) -> str:
    """The observation as one JSON object. Units are nanoseconds and counts; null is not known."""
    return json_document(members_of(observation, JSON_KEYS), JSON_KEYS)


def observation_document(observation: Observation) -> Document:
    """The document of an observation."""
    return Document(
        title=f"observation: {observation.name}",
        answer=_answer(observation),
        trust=_trust(observation),
        warnings=observation.warnings,
        about=tuple(_source_line(source, _commands(observation)) for source in observation.sources),
        sections=(
            _group_table(observation),
            _command_table(observation),
            *([_order_table(observation)] if any(order.commands for order in observation.orders) else []),
            *([_think_table(observation)] if any(row.commands for row in observation.think_patterns) else []),
            *([hour_table(observation)] if observation.hours else []),
            _known_table(observation),
        ),
        notes=(*(("Left out", text) for text in observation.notes), *_next_notes(observation)),
    )


def _answer(observation: Observation) -> str:
    think = observation.think
    if think is None:
        thinking = _unknown_think_times(observation)
    else:
        thinking = f"Think time: {duration(think.mean_ns)} on average, from {counted(think.measured, 'pause')}."
    place = (
        "The script is in no file." if observation.path is None else f"The script is in {plain(str(observation.path))}."
    )
    return (
        f"{place} It is made from {counted(_commands(observation), 'command')} of {people(observation.people)} in "
        f"{counted(observation.sessions, 'session')} over {seconds(observation.span_s)}, in {observation.division}. "
        f"{thinking}{_equivalent(observation)}"
    ).rstrip()


def _unknown_think_times(observation: Observation) -> str:
    """A sentence on the classes without think times; empty if each has its own."""
    known = [group.name for group in observation.groups if group.think is not None]
    if len(known) == len(observation.groups):
        return ""
    return f"Think times are not known{f' but of {in_words(known)}' if known else ''}."


def _equivalent(observation: Observation) -> str:
    """A sentence on how many users of the script are as busy, if that is known."""
    users = observation.equivalent_users
    return "" if users is None else f" {digits(users)} users of the script type as many commands in this time."


def _next_notes(observation: Observation) -> tuple[tuple[str, str], ...]:
    """The commands that find how many such users a host holds, and how like people a run of the script is."""
    users = observation.equivalent_users
    like = _likeness_notes(observation)
    if observation.path is None or users is None or _hidden_share(observation) is None:
        return like
    most_users = max(_LEAST_MAX_USERS, 2 * ceil(users))
    script = plain(quote(str(observation.path)))
    command = f"loadgo capacity {script} --target '{_target(observation)}' --max-users {most_users}"
    return (("Next", f"`{command}` finds how many users of the script this host holds."), *like)


def _likeness_notes(observation: Observation) -> tuple[tuple[str, str], ...]:
    """The command that compares a run of the script with the figures that were kept, if they were."""
    if observation.path is None or observation.figures is None:
        return ()
    script = plain(quote(str(observation.path)))
    users = max(round(observation.equivalent_users or 1), 1)
    has_think = observation.think is not None or any(group.think is not None for group in observation.groups)
    think = "" if has_think else " --think 'exponential(8s)'"
    return (
        (
            "Next",
            f"`loadgo run {script} --users {users} --for 10min{think}` runs it, and then `loadgo likeness {script}` "
            "says how like what was observed that run is.",
        ),
    )


def _target(observation: Observation) -> str:
    """A target that one user alone meets: a stand-in waits for as long as somebody sat in an editor."""
    rows = observation.commands
    p90_ns = _idle_p90_ns(rows)
    if p90_ns < _QUICK_NS:
        return "p90 < 2s"
    for name in dict.fromkeys(row.command for row in sorted(rows, key=lambda row: -row.count)):
        if _PLAIN_NAME.fullmatch(name) and _idle_p90_ns([row for row in rows if row.command == name]) < _QUICK_NS:
            return f"p90({name}) < 2s"
    return f"p90 < {ceil(2 * p90_ns / 1e9)}s"


def _idle_p90_ns(rows: Sequence[ObservedCommand]) -> float:
    """The p90 of the times that the jobs of these commands take on an idle host."""
    jobs = sorted((job.cpu_ns + job.waiting_ns, row.count / len(row.jobs)) for row in rows for job in row.jobs)
    counts = list(accumulate(count for _, count in jobs))
    return jobs[bisect_left(counts, 0.9 * counts[-1])][0]


def _commands(observation: Observation) -> int:
    return sum(group.commands for group in observation.groups)


def _source_line(source: SourceRead, commands: int) -> str:
    one, many, rest = _RECORD_WORDS[source.kind]
    counted_records = f"{number(source.records)} {one if source.records == 1 else many}"
    if source.use != "think times" and source.records != commands:
        counted_records += f", of which {number(commands)} are commands; {rest}" if rest else ""
    return f"The {source.use} are from {source.kind}: {counted_records}."


def _trust(observation: Observation) -> str:
    """The line on whether to believe the script."""
    against, grounds = [], []
    if observation.sessions < FEWEST_SESSIONS:
        against.append(f"{counted(observation.sessions, 'session')} may not be like others")
    hidden = _hidden_share(observation)
    if hidden is None:
        against.append("processor times are not known, so that the script uses next to none")
    elif _is_live(observation):
        grounds.append("the kernel measured the processor time of each process")
    elif hidden > _COARSE_SHARE:
        against.append(f"processes are counted in steps of 10 ms, so processor times may be {share(hidden)} larger")
    else:
        grounds.append(
            f"the kernel counted the processor times, and rounding hides at most {share(hidden)} of their sum"
        )
    if observation.think is None:
        against += ["think times are not known"] if _unknown_think_times(observation) else []
    elif observation.think.is_upper_bound:
        against.append("think times include the response times, so they are too long")
    found = observation.days_of_week
    if found is not None and found.is_different:
        against.append("workdays and weekends differ, and the script is a mean of both")
    return trust_in_words(Evidence(tuple(against), tuple(grounds)), is_warned=bool(observation.warnings))


def _is_live(observation: Observation) -> bool:
    return any(source.kind == "live observation" for source in observation.sources)


def _hidden_share(observation: Observation) -> float | None:
    """The largest share by which all processor time may be larger than its count; None if it is not known."""
    cpu_ns = sum((row.cpu_ns or 0) * row.count for row in observation.commands)
    most_ns = sum((row.cpu_most_ns or 0) * row.count for row in observation.commands)
    return most_ns / cpu_ns - 1 if cpu_ns else None


def _group_table(observation: Observation) -> Table:
    groups = observation.groups
    columns = (
        Column("class", tuple(group.name for group in groups)),
        Column("sessions", tuple(number(group.sessions) for group in groups)),
        Column("users", tuple(number(group.people) for group in groups)),
        Column("commands", tuple(number(group.commands) for group in groups)),
        Column("a session", tuple(number(group.commands_per_session) for group in groups)),
        Column("CPU a command", tuple(_group_cpu(observation, group) for group in groups)),
        *(
            [Column("think time", tuple(duration(group.think_mean_ns) for group in groups))]
            if any(group.think_mean_ns is not None for group in groups)
            else []
        ),
    )
    return Table("Classes", columns)


def _command_table(observation: Observation) -> Table:
    rows = observation.commands
    has_classes = len(observation.groups) > 1
    columns = (
        Column("command", tuple(row.command for row in rows), verbatim=True),
        *([Column("class", tuple(row.group for row in rows), kind="words")] if has_classes else []),
        Column("runs", tuple(number(row.count) for row in rows)),
        Column("share", tuple(share(row.share) for row in rows)),
        Column("CPU", tuple(_cpu(row) for row in rows)),
        Column("CPU p90", tuple(_cpu_p90(row) for row in rows), spare=1),
        Column("elapsed", tuple(duration(row.elapsed_ns) for row in rows), spare=2),
        Column("faults", tuple(number(row.faults_minor) for row in rows), spare=3),
        Column("processes", tuple(number(row.processes) for row in rows), spare=4),
        *_byte_columns(observation),
    )
    of_class = " share: of the commands of the class." if has_classes else ""
    return Table(
        "Commands",
        columns,
        foot=f"{_cpu_foot(observation)}{of_class}".strip(),
    )


def _order_table(observation: Observation) -> Table:
    """The commands with what follows them, in the classes that keep an order."""
    rows = [(order, row) for order in observation.orders for row in order.commands]
    has_classes = len(observation.groups) > 1
    columns = (
        Column("after", tuple(row.command for _, row in rows), verbatim=True),
        *([Column("class", tuple(order.group for order, _ in rows), kind="words")] if has_classes else []),
        Column("comes", tuple(_following(row) for _, row in rows), kind="words"),
        Column("first in sessions", tuple(number(row.first) for _, row in rows), spare=1),
    )
    return Table("What follows what", columns, foot="After the last command of a session comes the first of another.")


def _think_table(observation: Observation) -> Table:
    """The think times after commands, in the classes where they differ by the command."""
    rows = [(pattern.group, row) for pattern in observation.think_patterns for row in pattern.commands]
    has_classes = len(observation.groups) > 1
    columns = (
        Column("after", tuple(row.command for _, row in rows), verbatim=True),
        *([Column("class", tuple(group for group, _ in rows), kind="words")] if has_classes else []),
        Column("think time", tuple(duration(row.mean_ns) for _, row in rows)),
        Column("pauses", tuple(number(row.pauses) for _, row in rows), spare=1),
    )
    return Table("Think times by what was just done", columns, foot="After the other commands it is that of the class.")


def _following(row: OrderedCommand) -> str:
    """The commands that come next most often, with their shares."""
    total = sum(after.weight for after in row.following)
    parts = [f"{after.command} {share(after.weight / total)}" for after in row.following[:_NAMED_COMMANDS]]
    rest = len(row.following) - len(parts)
    return ", ".join([*parts, *([f"{rest} others"] if rest > 1 else ["another"] if rest else [])])


def _cpu_foot(observation: Observation) -> str:
    """A sentence on the processor times of the commands; none if they are not known."""
    if all(row.cpu_ns is None for row in observation.commands):
        return ""
    return _CPU_MEAN if _is_live(observation) else _CPU_RANGE


def _byte_columns(observation: Observation) -> tuple[Column, ...]:
    """Columns of bytes read and written, where they are known."""
    rows = observation.commands
    if all(row.read_bytes is None for row in rows):
        return ()
    return (
        Column("read", tuple(size(row.read_bytes) for row in rows), spare=5),
        Column("written", tuple(size(row.written_bytes) for row in rows), spare=6),
        Column("from storage", tuple(size(row.storage_read_bytes) for row in rows), spare=7),
        Column("to storage", tuple(size(row.storage_written_bytes) for row in rows), spare=8),
    )


def _cpu(row: ObservedCommand) -> str:
    if row.cpu_ns == row.cpu_most_ns:
        return duration(row.cpu_ns)
    return joined(duration(row.cpu_ns), duration(row.cpu_most_ns))


def _group_cpu(observation: Observation, group: UserGroup) -> str:
    """The mean processor time of a command of a class: the counted time, to that with what rounding may hide."""
    rows = [row for row in observation.commands if row.group == group.name and row.cpu_most_ns is not None]
    if group.cpu_ns is None or not rows or _is_live(observation):
        return duration(group.cpu_ns)
    most_ns = sum((row.cpu_most_ns or 0) * row.count for row in rows) / sum(row.count for row in rows)
    return joined(duration(group.cpu_ns), duration(max(most_ns, group.cpu_ns)))


def _cpu_p90(row: ObservedCommand) -> str:
    """The quantile; where nothing was counted, what rounding may hide."""
    if row.cpu_p90_ns == 0 and row.cpu_most_ns is not None and row.cpu_most_ns != row.cpu_ns:
        return f"< {duration(row.cpu_most_ns - (row.cpu_ns or 0))}"
    return duration(row.cpu_p90_ns)


def _known_table(observation: Observation) -> Table:
    known = observation.known
    columns = (
        Column("figure", tuple(figure.figure for figure in known)),
        Column("from", tuple(figure.source or "not known" for figure in known), kind="words"),
        Column("remark", tuple(figure.remark for figure in known), kind="words"),
    )
    return Table("What is known", columns, name_width=_FIGURE_CHARS)
