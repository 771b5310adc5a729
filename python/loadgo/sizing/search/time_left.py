"""The time that a search on a simulated machine still takes, as lines of its progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from loadgo.notation.figures import counted, seconds
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.results import ReportProgress
from loadgo.sizing.search.search import interactions_left
from loadgo.sizing.search.trials import CapacityTrial

LINE_PERIOD_S = 10.0
"""Time between two lines about the time left. A shorter search has none."""


def search_limits_in_words(goal: SearchGoal) -> str:
    """The limits of a search, for the time before the pace of the machine is known."""
    return (
        f"at most {counted(goal.most_trials, 'trial')}, each of at most {goal.most_interactions:,} interactions; the "
        "time left is shown as soon as the trials show where the limit is"
    )


def time_left_in_words(trials: Sequence[CapacityTrial], goal: SearchGoal, elapsed_s: float) -> str:
    """The estimated time left after `trials` that have taken `elapsed_s` of real time."""
    done, left = sum(trial.counted for trial in trials), interactions_left(trials, goal)
    if left is None or not done:
        return "the search: the time left is not known before the trials show where the limit is"
    return f"the search: about {seconds(elapsed_s * left / done)} left"


class TimeLeftLines:
    """Reports the time left of a search, at most every `LINE_PERIOD_S`."""

    def __init__(self, report: ReportProgress | None, goal: SearchGoal) -> None:
        self._report = None if goal.live else report
        self._goal = goal
        self._began_s = self._reported_s = time.monotonic()

    def after(self, trials: Sequence[CapacityTrial]) -> None:
        """Reports the time left after these trials, if a line is due."""
        now_s = time.monotonic()
        if self._report is not None and now_s - self._reported_s >= LINE_PERIOD_S:
            self._reported_s = now_s
            self._report(time_left_in_words(trials, self._goal, now_s - self._began_s))


class DrawnSearchLines:
    """Reports how many of the searches with drawn parameters are done, at most every `LINE_PERIOD_S`."""

    def __init__(self, report: ReportProgress | None, searches: int) -> None:
        self._report, self._searches, self._done = report, searches, 0
        self._began_s = self._reported_s = time.monotonic()
        self._lock = threading.Lock()

    def count_done(self) -> None:
        """Counts a search that has ended, on any thread."""
        with self._lock:
            self._done += 1
            now_s = time.monotonic()
            if self._report is None or now_s - self._reported_s < LINE_PERIOD_S or self._done == self._searches:
                return
            self._reported_s = now_s
            left_s = (now_s - self._began_s) * (self._searches - self._done) / self._done
            self._report(
                f"{self._done} of {self._searches} searches with drawn parameters: about {seconds(left_s)} left"
            )
