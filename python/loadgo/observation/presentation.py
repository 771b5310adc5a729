"""An observation in every format: its document with JSON, and its commands, classes and jobs as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.observation.document import JSON_KEYS, observation_document, observation_json
from loadgo.observation.results import HourOfDay, KnownFigure, Observation, ObservedCommand, UserGroup

_JOB_COLUMNS = (
    "group command user_ns=job.user_ns system_ns=job.system_ns faults=job.faults held_pages=job.held_pages "
    "processes=job.processes waiting_ns=job.waiting_ns read_bytes=job.read_bytes written_bytes=job.written_bytes "
    "storage_read_bytes=job.storage_read_bytes storage_written_bytes=job.storage_written_bytes "
    "processors=job.processors"
)
_FOLLOWING_COLUMNS = "group command following=after.command count=after.count weight=after.weight"
_PAUSE_COLUMNS = "group command=after.command pauses=after.pauses mean_ns=after.mean_ns law=after.law"


def presentation(observation: Observation) -> Presentation:
    """The parts of an observation."""
    jobs = [
        {"group": row.group, "command": row.command, "job": job} for row in observation.commands for job in row.jobs
    ]
    following = [
        {"group": order.group, "command": row.command, "after": after}
        for order in observation.orders
        for row in order.commands
        for after in row.following
    ]
    pauses = [
        {"group": pattern.group, "after": row} for pattern in observation.think_patterns for row in pattern.commands
    ]
    return Presentation(
        lambda: observation_document(observation),
        lambda: observation_json(observation),
        {
            "commands": lambda: frame_of(observation.commands, JSON_KEYS[ObservedCommand].removesuffix(" jobs")),
            "groups": lambda: frame_of(observation.groups, JSON_KEYS[UserGroup]),
            "hours": lambda: frame_of(observation.hours, JSON_KEYS[HourOfDay]),
            "jobs": lambda: frame_of(jobs, _JOB_COLUMNS),
            "orders": lambda: frame_of(following, _FOLLOWING_COLUMNS),
            "think_after": lambda: frame_of(pauses, _PAUSE_COLUMNS),
            "known": lambda: frame_of(observation.known, JSON_KEYS[KnownFigure]),
        },
    )
