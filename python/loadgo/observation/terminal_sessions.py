"""Puts the processes of process accounting together: sessions at a terminal, and in each the commands that were typed.

A command is a process that the session's shell started, with all that it started itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from loadgo.observation.accounting import Records
from loadgo.observation.process_trees import NO_PARENT_INDEX, ProcessTree, command_uses, process_tree
from loadgo.observation.program_names import LOG_IN_NAMES, SHELL_NAMES, KeepName
from loadgo.observation.sessions import ObservedSession


@dataclass(frozen=True)
class SessionsFound:
    """The sessions of process accounting, and what of its processes is in none."""

    sessions: tuple[ObservedSession, ...]
    orphans: int
    """Number of processes at a terminal whose session is not known, since their parent had ended."""
    idle_forks: int
    """Number of processes of a shell that ran no program and used no time, such as those of its prompt."""


def find_sessions(
    records: Records, keep_name: KeepName, wanted: Collection[int], unwanted: Collection[int]
) -> SessionsFound:
    """The sessions of the people in `wanted`, or of all if it is empty, but of none in `unwanted`."""
    tree = process_tree(records)
    shells, log_ins = _session_shells(tree)
    command_of, session_of, orphans = _owners(tree, shells, log_ins)
    uses, idle_forks = command_uses(records, tree, command_of, keep_name)
    by_session: dict[int, list[int]] = defaultdict(list)
    for place in uses:
        by_session[session_of[place]].append(place)
    sessions = []
    for shell, places in by_session.items():
        places.sort(key=lambda place: tree.began_s[place])
        person = tree.uid[places[0]]
        if (wanted and person not in wanted) or person in unwanted:
            continue
        ended_s = max(tree.ended_s[place] for place in places)
        commands = tuple(uses[place] for place in places)
        name = tree.names[shell] if shell > NO_PARENT_INDEX else ""
        sessions.append(ObservedSession(person, tree.began_s[places[0]], ended_s, commands, shell=name))
    return SessionsFound(tuple(sorted(sessions, key=lambda session: session.began_s)), orphans, idle_forks)


def _session_shells(tree: ProcessTree) -> tuple[set[int], set[int]]:
    """The shells that sessions began with, and the log-in programs before them, such as `su`.

    Such a shell is the first process at its terminal, or a log-in program is, and it has children there. Where the same
    parent started other programs at this terminal, the shell is a command of a shell that lives on.
    """
    openers = SHELL_NAMES | LOG_IN_NAMES
    others = {
        (tree.terminal[place], tree.parent_pid[place])
        for place, parent in enumerate(tree.parent)
        if parent == NO_PARENT_INDEX and tree.names[place] not in openers
    }
    shells, log_ins = set(), set()
    for place in range(len(tree.pid) - 1, -1, -1):
        parent = tree.parent[place]
        is_first = parent == NO_PARENT_INDEX and (tree.terminal[place], tree.parent_pid[place]) not in others
        if not (is_first or parent in log_ins) or not tree.has_children[place]:
            continue
        if tree.names[place] in LOG_IN_NAMES:
            log_ins.add(place)
        elif tree.names[place] in SHELL_NAMES:
            shells.add(place)
    return shells, _before(shells, tree) & log_ins


def _before(places: set[int], tree: ProcessTree) -> set[int]:
    """The parents of the processes, their parents, and so on."""
    found: set[int] = set()
    for place in places:
        parent = tree.parent[place]
        while parent != NO_PARENT_INDEX and parent not in found:
            found.add(parent)
            parent = tree.parent[parent]
    return found


def _owners(tree: ProcessTree, shells: set[int], log_ins: set[int]) -> tuple[list[int], dict[int, int], int]:
    """For each process the place of its command, or `NO_PARENT_INDEX`; for each command a number of its session.

    The number is the place of the session's shell, or, for a shell that lives on, one below `NO_PARENT_INDEX`. The
    third value is the number of processes whose session is not known.
    """
    command_of = [NO_PARENT_INDEX] * len(tree.pid)
    session_of: dict[int, int] = {}
    living: dict[tuple[int, int, int], int] = {}
    orphans = 0
    for place in range(len(tree.pid) - 1, -1, -1):
        parent = tree.parent[place]
        if place in shells or place in log_ins:
            continue
        if parent == NO_PARENT_INDEX and tree.parent_pid[place] <= 1:
            orphans += 1
        elif parent == NO_PARENT_INDEX:
            shell = (tree.uid[place], tree.terminal[place], tree.parent_pid[place])
            command_of[place], session_of[place] = place, living.setdefault(shell, NO_PARENT_INDEX - 1 - len(living))
        elif parent in shells:
            command_of[place], session_of[place] = place, parent
        else:
            command_of[place] = command_of[parent]
            orphans += command_of[place] == NO_PARENT_INDEX
    return command_of, session_of, orphans
