"""The rounds of a search over a limit: each tries the next value, until the answer is precise enough."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.search import KnobTrial, next_value, standing_of
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.trial_log import STOPPED_REASON, TrialLog
from loadgo.sizing.search.trials import CapacityTrial

RunKnobTrial = Callable[[float, int], CapacityTrial]
"""A function that runs a trial with a value of the limit; the second argument is the trial's index in its search."""


@dataclass(frozen=True)
class KnobRounds:
    """All trials of a search over a limit, and how it ended."""

    trials: tuple[KnobTrial, ...]
    """The trials that the answer uses: the valid ones, or without any, those that were complete."""
    left_out: tuple[KnobTrial, ...]
    """The others: trials that were not valid, or were interrupted."""
    given_up: tuple[str, ...] = ()
    """The values of which no trial is valid, each in words with the reason."""
    why: str = ""
    """The reason why the search ended before its answer was precise enough; else empty, also after an interrupt."""
    stopped: bool = False
    """Whether an interrupt ended the search."""

    @property
    def in_order(self) -> tuple[KnobTrial, ...]:
        """All trials, in the order in which they ran."""
        return tuple(sorted((*self.trials, *self.left_out), key=lambda each: each.trial.index))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the answer: which values could not be tried, and what ended the search early."""
        early = (f"The search ended early: {self.why}.",) if self.why else ()
        return (*(f"No trial {reason}." for reason in self.given_up), *early)


def run_knob_rounds(
    run_trial: RunKnobTrial,
    knob: Knob,
    goal: SearchGoal,
    stop: threading.Event,
    report: Callable[[KnobTrial], None] = lambda _: None,
) -> KnobRounds:
    """Runs trials until the answer is precise enough. `stop`, or an error of a trial, ends it with what is known.

    An error of the first trial is raised. `report` is called about each trial.
    """
    values: list[float] = []
    given_up: dict[float, str] = {}
    why = ""

    def run(value: float, index: int) -> CapacityTrial:
        values.append(value)
        return run_trial(value, index)

    def placed(trials: Sequence[CapacityTrial]) -> tuple[KnobTrial, ...]:
        return tuple(KnobTrial(values[trial.index], trial) for trial in trials)

    log = TrialLog(goal, stop, lambda trial: report(*placed([trial])))
    while not why and not log.is_full and not stop.is_set():
        used = placed(log.used)
        value = next_value(knob, used, standing_of(knob, used, goal), tuple(given_up))
        if value is None:
            break
        trial = log.valid_trial(partial(run, value), f"with {knob.option(value)}")
        if isinstance(trial, str):
            why = trial
        elif trial.valid:
            log.used.append(trial)
        else:
            given_up[value] = f"with {knob.option(value)} is valid: {trial.why}"
            why = f"{len(log.left_out)} trials were not valid" if log.has_many_invalid else ""
    stopped = why == STOPPED_REASON or stop.is_set()
    used, basis = placed(log.used), placed(log.basis)
    left_out = tuple(each for each in placed(log.left_out) if used or each.trial.interrupted)
    reasons = tuple(reason for value, reason in given_up.items() if all(each.value != value for each in used))
    return KnobRounds(basis, left_out, reasons, "" if stopped else why, stopped)
