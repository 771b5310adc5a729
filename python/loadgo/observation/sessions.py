"""Puts the processes of process accounting together: sessions at a terminal, and in each the commands that were typed.

A command is a process that the session's shell started, with all that it started itself. Records stand in the order in
which processes ended. A parent is known by its number, and by its record, which stands behind those of its children.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from loadgo.observation.accounting import TICK_NS, Records, counts
from loadgo.observation.program_names import LOG_IN_NAMES, SHELL_NAMES, SUBSHELL_NAME, KeepName, accounted_name

_FORKED_ONLY_FLAG = 0x01
"""The flag of a process that ran no program of its own: a part of its parent's."""
_NO_PARENT_INDEX = -1
_START_ERROR_S = 2
"""Beginnings are known to the second, so a child may seem to begin this much before its parent."""
_PAGE_KB = 4


@dataclass(frozen=True, slots=True)
class CommandUse:
    """One command that was typed, and what it used with all its processes. None is not known."""

    name: str
    user_ns: int | None = None
    system_ns: int | None = None
    faults_minor: int | None = None
    faults_major: int | None = None
    held_pages: int | None = None
    """Pages of the largest address space among its processes when it ended: more than it held in memory."""
    processes: int | None = None
    elapsed_ns: int | None = None
    queued_ns: int | None = None
    """Time for which its processes were ready and had no processor."""
    read_bytes: int | None = None
    """Bytes that it read by calls, from files, pipes and terminals."""
    written_bytes: int | None = None
    storage_read_bytes: int | None = None
    """Bytes that were read from storage for it; what was in memory already is not among them."""
    storage_written_bytes: int | None = None
    """Bytes that it left to be written to storage."""
    think_ns: int | None = None
    """The pause before it, if that was seen and is no absence."""

    @property
    def cpu_ns(self) -> int | None:
        """Processor time, of the user and of the system."""
        return None if self.user_ns is None or self.system_ns is None else self.user_ns + self.system_ns


@dataclass(frozen=True)
class ObservedSession:
    """A session of one person at one terminal."""

    person: int
    began_s: int
    ended_s: int
    commands: tuple[CommandUse, ...]


@dataclass(frozen=True)
class SessionsFound:
    """The sessions of process accounting, and what of its processes is in none."""

    sessions: tuple[ObservedSession, ...]
    orphans: int
    """Number of processes at a terminal whose session is not known, since their parent had ended."""
    idle_forks: int
    """Number of processes of a shell that ran no program and used no time, such as those of its prompt."""


@dataclass
class _ProcessTree:
    """The processes as lists, which Python reads faster than arrays."""

    uid: list[int]
    pid: list[int]
    parent_pid: list[int]
    terminal: list[int]
    began_s: list[int]
    ended_s: list[int]
    names: list[str]
    is_forked_only: list[bool]
    cpu_ns: list[int]
    parent: list[int] = field(default_factory=list)
    """The place of each process's parent in the lists, or `_NO_PARENT_INDEX`."""
    has_children: list[bool] = field(default_factory=list)


def find_sessions(
    records: Records, keep_name: KeepName, wanted: Collection[int], unwanted: Collection[int]
) -> SessionsFound:
    """The sessions of the people in `wanted`, or of all if it is empty, but of none in `unwanted`."""
    tree = _tree(records)
    shells, log_ins = _session_shells(tree)
    command_of, session_of, orphans = _owners(tree, shells, log_ins)
    uses, idle_forks = _command_uses(records, tree, command_of, keep_name)
    by_session: dict[int, list[int]] = defaultdict(list)
    for place in uses:
        by_session[session_of[place]].append(place)
    sessions = []
    for places in by_session.values():
        places.sort(key=lambda place: tree.began_s[place])
        person = tree.uid[places[0]]
        if (wanted and person not in wanted) or person in unwanted:
            continue
        ended_s = max(tree.ended_s[place] for place in places)
        commands = tuple(uses[place] for place in places)
        sessions.append(ObservedSession(person, tree.began_s[places[0]], ended_s, commands))
    return SessionsFound(tuple(sorted(sessions, key=lambda session: session.began_s)), orphans, idle_forks)


def _tree(records: Records) -> _ProcessTree:
    elapsed_s = (records["elapsed"].astype(np.float64) * TICK_NS / 1e9).astype(np.int64)
    began_s = records["began_s"].astype(np.int64)
    names = [accounted_name(command) for command in records["command"].tolist()]
    tree = _ProcessTree(
        uid=records["uid"].tolist(),
        pid=records["pid"].tolist(),
        parent_pid=records["ppid"].tolist(),
        terminal=records["tty"].tolist(),
        began_s=began_s.tolist(),
        ended_s=(began_s + elapsed_s).tolist(),
        names=names,
        is_forked_only=(records["flag"] & _FORKED_ONLY_FLAG != 0).tolist(),
        cpu_ns=((counts(records["user"]) + counts(records["system"])) * TICK_NS).tolist(),
    )
    _find_parents(tree)
    return tree


def _find_parents(tree: _ProcessTree) -> None:
    """Finds the parents from the last record to the first: a parent's record stands behind those of its children.

    Of several processes with the parent's number, the one that ended next after the child is its parent. If that one
    began later, the number was used again, and the parent has no record.
    """
    count = len(tree.pid)
    tree.parent, tree.has_children = [_NO_PARENT_INDEX] * count, [False] * count
    next_with_pid: dict[int, int] = {}
    for place in range(count - 1, -1, -1):
        parent = next_with_pid.get(tree.parent_pid[place], _NO_PARENT_INDEX)
        is_older = parent != _NO_PARENT_INDEX and tree.began_s[parent] <= tree.began_s[place] + _START_ERROR_S
        if is_older and tree.terminal[parent] == tree.terminal[place]:
            tree.parent[place] = parent
            tree.has_children[parent] = True
        next_with_pid[tree.pid[place]] = place


def _session_shells(tree: _ProcessTree) -> tuple[set[int], set[int]]:
    """The shells that sessions began with, and the log-in programs before them, such as `su`.

    Such a shell is the first process at its terminal, or a log-in program is, and it has children there. Where the same
    parent started other programs at this terminal, the shell is a command of a shell that lives on.
    """
    openers = SHELL_NAMES | LOG_IN_NAMES
    others = {
        (tree.terminal[place], tree.parent_pid[place])
        for place, parent in enumerate(tree.parent)
        if parent == _NO_PARENT_INDEX and tree.names[place] not in openers
    }
    shells, log_ins = set(), set()
    for place in range(len(tree.pid) - 1, -1, -1):
        parent = tree.parent[place]
        is_first = parent == _NO_PARENT_INDEX and (tree.terminal[place], tree.parent_pid[place]) not in others
        if not (is_first or parent in log_ins) or not tree.has_children[place]:
            continue
        if tree.names[place] in LOG_IN_NAMES:
            log_ins.add(place)
        elif tree.names[place] in SHELL_NAMES:
            shells.add(place)
    return shells, _before(shells, tree) & log_ins


def _before(places: set[int], tree: _ProcessTree) -> set[int]:
    """The parents of the processes, their parents, and so on."""
    found: set[int] = set()
    for place in places:
        parent = tree.parent[place]
        while parent != _NO_PARENT_INDEX and parent not in found:
            found.add(parent)
            parent = tree.parent[parent]
    return found


def _owners(tree: _ProcessTree, shells: set[int], log_ins: set[int]) -> tuple[list[int], dict[int, int], int]:
    """For each process the place of its command, or `_NO_PARENT_INDEX`; for each command a number of its session.

    The number is the place of the session's shell, or, for a shell that lives on, one below `_NO_PARENT_INDEX`. The
    third value is the number of processes whose session is not known.
    """
    command_of = [_NO_PARENT_INDEX] * len(tree.pid)
    session_of: dict[int, int] = {}
    living: dict[tuple[int, int, int], int] = {}
    orphans = 0
    for place in range(len(tree.pid) - 1, -1, -1):
        parent = tree.parent[place]
        if place in shells or place in log_ins:
            continue
        if parent == _NO_PARENT_INDEX and tree.parent_pid[place] <= 1:
            orphans += 1
        elif parent == _NO_PARENT_INDEX:
            shell = (tree.uid[place], tree.terminal[place], tree.parent_pid[place])
            command_of[place], session_of[place] = place, living.setdefault(shell, _NO_PARENT_INDEX - 1 - len(living))
        elif parent in shells:
            command_of[place], session_of[place] = place, parent
        else:
            command_of[place] = command_of[parent]
            orphans += command_of[place] == _NO_PARENT_INDEX
    return command_of, session_of, orphans


def _command_uses(
    records: Records, tree: _ProcessTree, command_of: Sequence[int], keep_name: KeepName
) -> tuple[dict[int, CommandUse], int]:
    """The use of each command, by its place; and the number of forks of a shell that are left out."""
    owners = np.asarray(command_of, dtype=np.int64)
    owned = owners >= 0
    places, rows = np.unique(owners[owned], return_inverse=True)

    def total(field_name: str, unit: int = 1) -> list[int]:
        summed = np.zeros(len(places), np.int64)
        np.add.at(summed, rows, counts(records[field_name][owned]) * unit)
        return [int(value) for value in summed]

    held_pages = np.zeros(len(places), np.int64)
    np.maximum.at(held_pages, rows, counts(records["memory"][owned]) // _PAGE_KB)
    user, system, minor, major = total("user", TICK_NS), total("system", TICK_NS), total("minor"), total("major")
    processes = np.bincount(rows, minlength=len(places)).tolist() if len(places) else []
    uses, idle_forks = {}, 0
    for row, place in enumerate(places.tolist()):
        is_fork = tree.is_forked_only[place]
        if is_fork and processes[row] == 1 and tree.cpu_ns[place] == 0:
            idle_forks += 1
            continue
        elapsed_ns = round(float(records["elapsed"][place]) * TICK_NS)
        uses[place] = CommandUse(
            name=SUBSHELL_NAME if is_fork else keep_name(tree.names[place]),
            user_ns=user[row],
            system_ns=system[row],
            faults_minor=minor[row],
            faults_major=major[row],
            held_pages=int(held_pages[row]),
            processes=processes[row],
            elapsed_ns=elapsed_ns,
        )
    return uses, idle_forks
