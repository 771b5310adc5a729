"""Finds the batch jobs in process accounting: what people ran without a terminal, by cron, ssh or a batch system.

A job is a process of a person whose parent is none, or is a program that starts jobs, with all that it started itself.
Programs that hardly use a processor, such as a message bus that waits all day, are services and no jobs. The jobs of a
person that follow each other without a pause over five minutes are a session, as lines at a terminal are. Jobs that ran
at the same time are in several sessions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from loadgo.observation.accounting import TICK_NS, Records
from loadgo.observation.logs.log_read import ABSENCE_NS
from loadgo.observation.process_trees import NO_PARENT_INDEX, ProcessTree, command_uses, process_tree
from loadgo.observation.program_names import JOB_STARTER_NAMES, SHELL_NAMES, KeepName
from loadgo.observation.sessions import CommandUse, ObservedSession

_PERSONS = range(1000, 60_000)
"""The numbers of people's accounts, as `login.defs` has them on most hosts; others run services."""
_LEAST_CPU_NS = 1_000_000_000
_LEAST_CPU_SHARE = 0.01
"""A job used a second of processor time, or this share of its elapsed time."""
_BEGIN_ERROR_S = 1
"""Beginnings are whole seconds, so a job may seem to begin this much before the end of the one that it followed."""


@dataclass(frozen=True)
class BatchFound:
    """The sessions of batch jobs, and what of the processes is in none."""

    sessions: tuple[ObservedSession, ...]
    processes: int
    """Number of processes in the jobs."""
    services: int
    """Number of programs of people without a terminal that hardly used a processor."""


@dataclass(frozen=True)
class _Job:
    began_s: float
    ended_s: float
    use: CommandUse


def find_batch_jobs(
    records: Records, keep_name: KeepName, wanted: Collection[int], unwanted: Collection[int]
) -> BatchFound:
    """The jobs of the people in `wanted`, or of all people if it is empty, but of none in `unwanted`.

    `records` are processes without a terminal.
    """
    tree = process_tree(records)
    job_of = _owners(tree, wanted, unwanted)
    uses, _ = command_uses(records, tree, job_of, lambda name: name)
    names = _names(tree, job_of)
    by_person: dict[int, list[_Job]] = defaultdict(list)
    processes = services = 0
    for place, use in uses.items():
        if not _works(use):
            services += 1
            continue
        processes += use.processes or 0
        began_s = float(tree.began_s[place])
        use = replace(use, name=keep_name(names[place]))
        by_person[tree.uid[place]].append(_Job(began_s, began_s + (use.elapsed_ns or 0) / 1e9, use))
    sessions = [session for person, jobs in by_person.items() for session in _sessions(person, jobs)]
    return BatchFound(tuple(sorted(sessions, key=lambda session: session.began_s)), processes, services)


def _works(use: CommandUse) -> bool:
    cpu_ns = use.cpu_ns or 0
    return cpu_ns >= _LEAST_CPU_NS or cpu_ns >= max(_LEAST_CPU_SHARE * (use.elapsed_ns or 0), TICK_NS)


def _owners(tree: ProcessTree, wanted: Collection[int], unwanted: Collection[int]) -> list[int]:
    """For each process the place of its job, or `NO_PARENT_INDEX`. A parent stands behind its children."""
    job_of = [NO_PARENT_INDEX] * len(tree.pid)
    for place in range(len(tree.pid) - 1, -1, -1):
        parent, person = tree.parent[place], tree.uid[place]
        if parent != NO_PARENT_INDEX and job_of[parent] != NO_PARENT_INDEX:
            job_of[place] = job_of[parent]
        elif tree.names[place] not in JOB_STARTER_NAMES and person in (wanted or _PERSONS) and person not in unwanted:
            job_of[place] = place
    return job_of


def _names(tree: ProcessTree, job_of: Sequence[int]) -> dict[int, str]:
    """The name of each job: its program's, or that of the only one that its shell started (`sh -c`, as cron does)."""
    children: dict[int, list[int]] = defaultdict(list)
    for place, parent in enumerate(tree.parent):
        if parent != NO_PARENT_INDEX and job_of[place] != place:
            children[parent].append(place)
    names = {}
    for job in {place for place in job_of if place != NO_PARENT_INDEX}:
        place = job
        while tree.names[place] in SHELL_NAMES and len(children[place]) == 1:
            (place,) = children[place]
        names[job] = tree.names[place]
    return names


def _sessions(person: int, jobs: Iterable[_Job]) -> Iterable[ObservedSession]:
    """The sessions of a person: each job follows the one that ended last before it, if that is not long ago."""
    sessions: list[list[_Job]] = []
    waiting: list[tuple[float, int]] = []
    """For each session that may go on: the end of its last job, and its place."""
    for job in sorted(jobs, key=lambda job: job.began_s):
        del waiting[: bisect_left(waiting, (job.began_s - ABSENCE_NS / 1e9, 0))]
        at = bisect_right(waiting, (job.began_s + _BEGIN_ERROR_S, len(sessions)))
        if at:
            ended_s, place = waiting.pop(at - 1)
            pause_ns = round(max(job.began_s - ended_s, 0.0) * 1e9)
            sessions[place].append(replace(job, use=replace(job.use, think_ns=pause_ns)))
        else:
            place = len(sessions)
            sessions.append([job])
        insort(waiting, (job.ended_s, place))
    for session in sessions:
        uses = tuple(job.use for job in session)
        yield ObservedSession(person, int(session[0].began_s), int(session[-1].ended_s), uses, is_batch=True)
