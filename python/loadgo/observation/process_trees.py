"""The processes of process accounting as trees, and what each command used with all that it started.

Records stand in the order in which processes ended. A parent is known by its number, and by its record, which stands
behind those of its children.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from loadgo.observation.accounting import TICK_NS, Records, counts
from loadgo.observation.program_names import SUBSHELL_NAME, KeepName, accounted_name
from loadgo.observation.sessions import CommandUse

_FORKED_ONLY_FLAG = 0x01
"""The flag of a process that ran no program of its own: a part of its parent's."""
NO_PARENT_INDEX = -1
_START_ERROR_S = 2
"""Beginnings are known to the second, so a child may seem to begin this much before its parent."""
_PAGE_KB = 4


@dataclass
class ProcessTree:
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
    """The place of each process's parent in the lists, or `NO_PARENT_INDEX`."""
    has_children: list[bool] = field(default_factory=list)


def process_tree(records: Records) -> ProcessTree:
    elapsed_s = (records["elapsed"].astype(np.float64) * TICK_NS / 1e9).astype(np.int64)
    began_s = records["began_s"].astype(np.int64)
    names = [accounted_name(command) for command in records["command"].tolist()]
    tree = ProcessTree(
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


def _find_parents(tree: ProcessTree) -> None:
    """Finds the parents from the last record to the first: a parent's record stands behind those of its children.

    Of several processes with the parent's number, the one that ended next after the child is its parent. If that one
    began later, the number was used again, and the parent has no record.
    """
    count = len(tree.pid)
    tree.parent, tree.has_children = [NO_PARENT_INDEX] * count, [False] * count
    next_with_pid: dict[int, int] = {}
    for place in range(count - 1, -1, -1):
        parent = next_with_pid.get(tree.parent_pid[place], NO_PARENT_INDEX)
        is_older = parent != NO_PARENT_INDEX and tree.began_s[parent] <= tree.began_s[place] + _START_ERROR_S
        if is_older and tree.terminal[parent] == tree.terminal[place]:
            tree.parent[place] = parent
            tree.has_children[parent] = True
        next_with_pid[tree.pid[place]] = place


def command_uses(
    records: Records, tree: ProcessTree, command_of: Sequence[int], keep_name: KeepName
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
