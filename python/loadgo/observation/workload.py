"""The commands of each class of users: how often, what they used, and the synthetic jobs that stand for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from loadgo.observation.accounting import TICK_NS
from loadgo.observation.classes import SessionClass
from loadgo.observation.program_names import OTHER_NAME
from loadgo.observation.results import ObservedCommand, ThinkTimes, TypingTimes, UserGroup
from loadgo.observation.sessions import CommandUse
from loadgo.observation.stand_in_jobs import stand_in_jobs
from loadgo.observation.think_times import law_of_pauses

MOST_COMMANDS = 40
"""The largest number of commands of a class. The rarest beyond are together one, called `other`."""


def user_groups(classes: Sequence[SessionClass]) -> tuple[UserGroup, ...]:
    """The classes of users with their figures."""
    groups = []
    for each_class in classes:
        uses = _uses(each_class)
        think = law_of_pauses([use.think_ns for use in uses if use.think_ns is not None], absences=0)
        groups.append(
            UserGroup(
                name=each_class.name,
                sessions=len(each_class.sessions),
                people=len({session.person for session in each_class.sessions}),
                commands=len(uses),
                commands_per_session=commands_per_session(each_class),
                cpu_ns=_mean([use.cpu_ns for use in uses]),
                think=None if think is None else think.law,
                think_mean_ns=None if think is None else think.mean_ns,
            )
        )
    return tuple(groups)


def observed_commands(classes: Sequence[SessionClass], rounded_steps: int) -> tuple[ObservedCommand, ...]:
    """The commands of each class, the most frequent first.

    `rounded_steps` is the number of steps of 10 ms by which the time of a process may be too small.
    """
    return tuple(row for each_class in classes for row in _commands_of(each_class, rounded_steps))


def equivalent_users(
    groups: Sequence[UserGroup],
    commands: Sequence[ObservedCommand],
    think: ThinkTimes | None,
    typing: TypingTimes | None,
    span_s: float,
) -> float | None:
    """The number of users of the script who type as many commands in `span_s` as people typed.

    By Little's law: commands a second times the mean time from one command of a user to the next. None if a class has
    no think times, or if the records last no time.
    """
    if span_s <= 0:
        return None
    typing_ns = 0.0 if typing is None else typing.mean_ns
    user_ns = sum(row.count * ((row.elapsed_ns or 0.0) + typing_ns) for row in commands)
    for group in groups:
        think_ns = group.think_mean_ns if think is None or group.think_mean_ns is not None else think.mean_ns
        if think_ns is None:
            return None
        user_ns += group.commands * think_ns
    return user_ns / 1e9 / span_s


def commands_per_session(each_class: SessionClass) -> int:
    """The mean number of commands of a session, as a whole number."""
    return max(round(len(_uses(each_class)) / len(each_class.sessions)), 1)


def listed_names(each_class: SessionClass) -> dict[str, str]:
    """The name under which each command is listed: its own, or `other` if it is one of the rarest."""
    names = Counter(use.name for use in _uses(each_class)).most_common()
    return {name: name if place < MOST_COMMANDS - 1 else OTHER_NAME for place, (name, _) in enumerate(names)}


def _commands_of(each_class: SessionClass, rounded_steps: int) -> list[ObservedCommand]:
    uses, names = _uses(each_class), listed_names(each_class)
    by_name: dict[str, list[CommandUse]] = defaultdict(list)
    for use in uses:
        by_name[names[use.name]].append(use)
    ordered = sorted(by_name.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [_command(each_class.name, name, runs, len(uses), rounded_steps) for name, runs in ordered]


def _command(group: str, name: str, uses: Sequence[CommandUse], all_count: int, rounded_steps: int) -> ObservedCommand:
    cpu_ns, processes = _mean([use.cpu_ns for use in uses]), _mean([use.processes for use in uses])
    return ObservedCommand(
        group=group,
        command=name,
        count=len(uses),
        share=len(uses) / all_count,
        cpu_ns=cpu_ns,
        cpu_most_ns=None if cpu_ns is None else cpu_ns + rounded_steps * TICK_NS * (processes or 1),
        cpu_p90_ns=None if cpu_ns is None else float(np.quantile([use.cpu_ns or 0 for use in uses], 0.9)),
        elapsed_ns=_mean([use.elapsed_ns for use in uses]),
        faults_minor=_mean([use.faults_minor for use in uses]),
        faults_major=_mean([use.faults_major for use in uses]),
        processes=processes,
        read_bytes=_mean([use.read_bytes for use in uses]),
        written_bytes=_mean([use.written_bytes for use in uses]),
        jobs=stand_in_jobs(uses),
    )


def _uses(each_class: SessionClass) -> list[CommandUse]:
    return [use for session in each_class.sessions for use in session.commands]


def _mean(values: Sequence[int | None]) -> float | None:
    """The mean of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
