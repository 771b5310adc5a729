"""The progress of a fit: nearly all of its time goes into trial runs, whose interactions are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import trial_interactions
from loadgo.running.prepared import RunProgress
from loadgo.running.worker_runs import RunCrew

ReportProgress = Callable[[dict[str, Any]], None]


def reported_crew(crew: RunCrew, loads: Sequence[RunReading], report: ReportProgress | None) -> RunCrew:
    """The crew, which reports the trial runs under these loads; the same crew if there is nothing to report to."""
    if report is None:
        return crew
    return replace(crew, drive=_TrialCount(crew, loads, report).drive)


class _TrialCount:
    """The trial runs of one fit: those that ended, and the interactions of all. Several threads make runs."""

    def __init__(self, crew: RunCrew, loads: Sequence[RunReading], report: ReportProgress) -> None:
        self._crew, self._report, self._lock = crew, report, Lock()
        self._trials, self._expected = len(loads), sum(map(trial_interactions, loads))
        self._done: dict[str, int] = {}
        """Interactions of each trial run by its folder."""
        self._ended = 0

    def drive(
        self, script: str, options: dict[str, Any], folder: str, go_on: Callable[[RunProgress], bool]
    ) -> RunProgress:
        """Makes one trial run, and reports it meanwhile."""

        def report(state: RunProgress) -> bool:
            self._count(folder, int(state.get("interactions") or 0))
            return go_on(state)

        result = self._crew.drive(script, options, folder, report)
        self._count(folder, int(result["interactions"]), ended=True)
        return result

    def _count(self, folder: str, interactions: int, *, ended: bool = False) -> None:
        with self._lock:
            self._ended += ended
            self._done[folder] = max(self._done.get(folder, 0), interactions)
            self._report(
                {
                    "trial": min(self._ended + 1, self._trials),
                    "trials": self._trials,
                    "interactions": min(sum(self._done.values()), self._expected),
                    "interactions_expected": self._expected,
                }
            )
