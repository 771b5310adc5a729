"""The log of a search's trials: those that its answer uses, those that it leaves out, and how a trial is repeated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from loadgo.errors import LoadgoError, error_in_words
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.results import TrialRecord
from loadgo.sizing.search.standing import target_standing
from loadgo.sizing.search.trials import CapacityTrial

REPEAT_PAUSES_S = (5.0, 15.0)
"""Pauses before the repetitions of a trial that is not valid, on a host. If all fail, the search goes on elsewhere."""
MOST_INVALID_TRIALS = 6
"""The search ends with what is known after this many invalid trials, once the last one is not repeated any more."""
STOPPED_REASON = "the search was stopped"
"""The reason why a search ends after an interrupt."""


class TrialLog:
    """The trials of a search so far. The search itself adds those that its answer uses."""

    def __init__(
        self, goal: SearchGoal, stop: threading.Event, report: Callable[[CapacityTrial], None] = lambda _: None
    ) -> None:
        """An empty log; `report` is called about each trial."""
        self._goal, self._stop, self._report = goal, stop, report
        self.used: list[CapacityTrial] = []
        """The trials that are valid and need no repetition."""
        self.left_out: list[CapacityTrial] = []
        """The others: trials that drifted, were not valid, or were interrupted."""

    @property
    def count(self) -> int:
        """The number of trials."""
        return len(self.used) + len(self.left_out)

    @property
    def is_full(self) -> bool:
        """Whether the search has run as many trials as it may."""
        return self.count >= self._goal.most_trials

    @property
    def has_many_invalid(self) -> bool:
        """Whether so many trials were not valid that the search ends."""
        return sum(not trial.valid for trial in self.left_out) >= MOST_INVALID_TRIALS

    @property
    def basis(self) -> tuple[CapacityTrial, ...]:
        """The trials that an outcome is based on: `used`, or without any, the complete ones that are left out."""
        return basis_of(self.used, self.left_out)

    def valid_trial(self, run: Callable[[int], CapacityTrial], load: str) -> CapacityTrial | str:
        """A trial by `run`, which is given its index. While it is not valid, it is repeated after a pause.

        The last one is returned even if it is not valid; the log has it among those left out. Returns the reason if the
        search ends with this trial. An error of the first trial is raised. `load` are the words after *a trial*.
        """
        pauses_s = REPEAT_PAUSES_S if self._goal.live else (0.0,) * len(REPEAT_PAUSES_S)
        for pause_s in (*pauses_s, None):
            trial = self._run(run, load)
            if isinstance(trial, str) or trial.valid:
                return trial
            self.left_out.append(trial)
            if pause_s is None or self.is_full:
                return trial
            if self._stop.wait(pause_s):
                return STOPPED_REASON
        raise AssertionError("the last attempt has no pause after it")

    def _run(self, run: Callable[[int], CapacityTrial], load: str) -> CapacityTrial | str:
        """A complete trial, or the reason why the search ends with it."""
        try:
            trial = replace(run(self.count), index=self.count)
        except (LoadgoError, OSError) as error:
            if not self.count:
                raise
            return f"a trial {load} failed: {error_in_words(error)}"
        except KeyboardInterrupt:
            if not (self.count and self._stop.is_set()):
                raise
            return STOPPED_REASON
        if self._stop.is_set() and trial.cut_short:
            trial = replace(trial, cut_short=False, interrupted=True)
        self._report(trial)
        if not trial.interrupted:
            return trial
        self.left_out.append(trial)
        return STOPPED_REASON


def basis_of(used: Sequence[CapacityTrial], left_out: Sequence[CapacityTrial]) -> tuple[CapacityTrial, ...]:
    """The trials `used`, or without any, the complete ones that are left out."""
    return tuple(used) or tuple(trial for trial in left_out if not trial.interrupted)


def trial_record(trial: CapacityTrial, goal: SearchGoal, *, is_used: bool) -> TrialRecord:
    """The record of a trial in the result of its search."""
    return TrialRecord(
        users=trial.users,
        name=trial.name,
        seconds=trial.seconds,
        interactions=trial.counted,
        standing=target_standing(trial.users, [trial], goal),
        others=trial.others,
        used=is_used,
        valid=trial.valid,
        why=trial.why,
        cut_short=trial.cut_short,
        interrupted=trial.interrupted,
        censored=trial.censored,
        late=trial.late,
        unclear=trial.unclear,
    )
