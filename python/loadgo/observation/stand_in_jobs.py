"""The synthetic jobs that stand for the runs of a command: few rows of the joint distribution of what it used.

Up to 40 runs stand for themselves. Of more, those with and those without processor time are ordered apart. Both are
divided in equal parts, and each part is averaged. The processor times are then scaled to the mean of all runs. Source
of the method: Sreenivasan and Kleinman, CACM 17 (3), 1974, who made 88 jobs of 6000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.notation.laws import number
from loadgo.observation.sessions import CommandUse

MOST_JOBS = 40


@dataclass(frozen=True)
class StandInJob:
    """The use of one synthetic job."""

    user_ns: float
    system_ns: float
    faults: float
    held_pages: float
    processes: float
    waiting_ns: float
    """Elapsed time without the processor time."""

    @property
    def cpu_ns(self) -> float:
        """Processor time, of the user and of the system."""
        return self.user_ns + self.system_ns

    def in_words(self) -> str:
        """The arguments of the stand-in: seconds and counts."""
        times = [f"{number(float(f'{ns / 1e9:.4g}'))}" for ns in (self.user_ns, self.system_ns)]
        pages = [str(round(self.faults)), str(round(self.held_pages)), str(max(round(self.processes), 1))]
        return " ".join([*times, *pages, number(float(f"{self.waiting_ns / 1e9:.4g}"))])


def stand_in_jobs(uses: Sequence[CommandUse]) -> tuple[StandInJob, ...]:
    """The jobs that stand for the runs of one command."""
    jobs = [_job(use) for use in uses]
    if len(jobs) <= MOST_JOBS:
        return tuple(sorted(jobs, key=_order))
    idle = sorted((job for job in jobs if job.cpu_ns == 0), key=_order)
    busy = sorted((job for job in jobs if job.cpu_ns > 0), key=_order)
    idle_parts = min(max(round(MOST_JOBS * len(idle) / len(jobs)), bool(idle)), MOST_JOBS - bool(busy))
    kept = [*_averages(idle, idle_parts), *_averages(busy, MOST_JOBS - idle_parts)]
    kept_mean = sum(job.cpu_ns for job in kept) / len(kept)
    factor = sum(job.cpu_ns for job in jobs) / len(jobs) / kept_mean if kept_mean else 1.0
    return tuple(_scaled(job, factor) for job in kept)


def _job(use: CommandUse) -> StandInJob:
    return StandInJob(
        user_ns=use.user_ns or 0,
        system_ns=use.system_ns or 0,
        faults=use.faults_minor or 0,
        held_pages=use.held_pages or 0,
        processes=use.processes or 1,
        waiting_ns=max((use.elapsed_ns or 0) - (use.cpu_ns or 0), 0),
    )


def _order(job: StandInJob) -> tuple[float, float]:
    return (job.cpu_ns, job.waiting_ns)


def _averages(ordered: Sequence[StandInJob], parts: int) -> list[StandInJob]:
    """The mean of each of so many parts, of nearly the same size; fewer where there are fewer jobs."""
    parts = min(parts, len(ordered))
    ends = [len(ordered) * part // parts for part in range(parts + 1)] if parts else []
    return [_mean(ordered[ends[part] : ends[part + 1]]) for part in range(parts)]


def _mean(jobs: Sequence[StandInJob]) -> StandInJob:
    def mean(field: str) -> float:
        return float(sum(getattr(job, field) for job in jobs) / len(jobs))

    return StandInJob(
        user_ns=mean("user_ns"),
        system_ns=mean("system_ns"),
        faults=mean("faults"),
        held_pages=mean("held_pages"),
        processes=mean("processes"),
        waiting_ns=mean("waiting_ns"),
    )


def _scaled(job: StandInJob, factor: float) -> StandInJob:
    return StandInJob(
        user_ns=job.user_ns * factor,
        system_ns=job.system_ns * factor,
        faults=job.faults,
        held_pages=job.held_pages,
        processes=job.processes,
        waiting_ns=job.waiting_ns,
    )
