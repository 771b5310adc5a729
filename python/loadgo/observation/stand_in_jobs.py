"""The synthetic jobs that stand for the runs of a command: few rows of the joint distribution of what it used.

Up to 40 runs stand for themselves. Of more, those with and those without processor time are ordered apart. Both are
divided in equal parts, and each part is averaged. The processor times are then scaled to the mean of all runs. Source
of the method: Sreenivasan and Kleinman, CACM 17 (3), 1974, who made 88 jobs of 6000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.notation.laws import number
from loadgo.observation.sessions import CommandUse
from loadgo.stats.resample import Floats

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
    """Elapsed time without the processor time, and without the wait for a processor where that is known."""

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
    runs = np.array([_figures(use) for use in uses], np.float64)
    cpu_ns = runs[:, 0] + runs[:, 1]
    runs = runs[np.lexsort((runs[:, -1], cpu_ns))]
    if len(runs) > MOST_JOBS:
        runs = _representatives(runs, int((cpu_ns == 0).sum()), float(cpu_ns.mean()))
    return tuple(StandInJob(*map(float, run)) for run in runs)


def _figures(use: CommandUse) -> tuple[float, ...]:
    """The fields of `StandInJob`, in their order."""
    waiting_ns = max((use.elapsed_ns or 0) - (use.cpu_ns or 0) - (use.queued_ns or 0), 0)
    counts = (use.faults_minor or 0, use.held_pages or 0, use.processes or 1)
    return (use.user_ns or 0, use.system_ns or 0, *counts, waiting_ns)


def _representatives(ordered: Floats, idle_count: int, mean_cpu_ns: float) -> Floats:
    """The means of `MOST_JOBS` parts of the runs, the first `idle_count` of which have no processor time."""
    busy_count = len(ordered) - idle_count
    idle_parts = round(MOST_JOBS * idle_count / len(ordered))
    idle_parts = min(max(idle_parts, min(idle_count, 1)), MOST_JOBS - min(busy_count, 1))
    parts = [*_parts(ordered[:idle_count], idle_parts), *_parts(ordered[idle_count:], MOST_JOBS - idle_parts)]
    means = np.array([part.mean(axis=0) for part in parts])
    kept_cpu_ns = float((means[:, 0] + means[:, 1]).mean())
    if kept_cpu_ns:
        means[:, :2] *= mean_cpu_ns / kept_cpu_ns
    return means


def _parts(ordered: Floats, count: int) -> list[Floats]:
    """The runs in parts of nearly the same size; fewer than `count` where there are fewer runs."""
    count = min(count, len(ordered))
    return np.array_split(ordered, count) if count else []
