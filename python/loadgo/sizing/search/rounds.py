"""The rounds of a search: each runs the next trial, repeats it if necessary, and ends the search at an outcome."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from loadgo.notation.figures import counted, digits, people, seconds, share
from loadgo.sizing.search.outcomes import CapacityFound, NextTrial, NoNumberMeets, SearchGoal, SearchOutcome, Undecided
from loadgo.sizing.search.results import ReportProgress
from loadgo.sizing.search.search import next_step, outcome_so_far
from loadgo.sizing.search.standing import target_standing
from loadgo.sizing.search.steady_state import steadiness
from loadgo.sizing.search.time_left import TimeLeftLines
from loadgo.sizing.search.trial_log import REPEAT_PAUSES_S, STOPPED_REASON, TrialLog, basis_of
from loadgo.sizing.search.trials import CapacityTrial

FEWEST_CYCLES = 24.0
"""A trial is at least as long as this number of cycles of a user: six batches of four."""
WARM_UP_CYCLES = 3.0
"""Shortest warm-up of a trial, in cycles of a user: queues fill at the pace of the cycles."""
WARM_UP_SHARE = 0.1
"""The warm-up is also at least this share of the measured time."""
MOST_TRIAL_REPEATS = 2
"""A trial that drifts is repeated at most this often, each time twice as long."""
HOST_TRIALS_PER_REPEAT = 4
"""On a host, one of this many trials may repeat one that drifted: other work comes and goes there, so many drift."""


class RunTrial(Protocol):
    """A function that runs a trial with a seed and a length; the first trial of a search has no length."""

    def __call__(self, next_trial: NextTrial, seed: int, length: TrialLength | None, /) -> CapacityTrial: ...


@dataclass(frozen=True)
class TrialLength:
    """The warm-up and the length of a trial, on the system's clock."""

    warm_up_s: float
    seconds: float


@dataclass(frozen=True)
class TrialLengths:
    """The lengths of the shortest and the longest trial, on the system's clock."""

    shortest_s: float = 0.0
    longest_s: float = math.inf

    def search_in_words(self, most_trials: int) -> str:
        """The longest time of a search on a host: trials, warm-ups of at most their length, and pauses."""
        trial_s = 2 * self.longest_s + max(REPEAT_PAUSES_S)
        lengths = seconds(self.longest_s)
        if self.shortest_s < self.longest_s:
            lengths = f"{seconds(self.shortest_s)} to {lengths}"
        trials, most = counted(most_trials, "trial"), seconds(most_trials * trial_s)
        return f"at most {trials} of {lengths}, each after a warm-up: {most} at most, without log-ins and log-outs"


@dataclass(frozen=True)
class SearchResult:
    """All trials of a search, and its outcome."""

    trials: tuple[CapacityTrial, ...]
    """The trials that are valid and need no repetition."""
    left_out: tuple[CapacityTrial, ...]
    """The others: trials that drifted, were not valid, or were interrupted."""
    outcome: SearchOutcome
    stopped: bool = False
    """Whether an interrupt ended the search."""

    @property
    def basis(self) -> tuple[CapacityTrial, ...]:
        """The trials that the outcome is based on: `trials`, or without any, the complete ones that are left out."""
        return basis_of(self.trials, self.left_out)

    @property
    def in_order(self) -> tuple[CapacityTrial, ...]:
        """All trials, in the order in which they ran."""
        return tuple(sorted((*self.trials, *self.left_out), key=lambda trial: trial.index))


def run_search(
    run_trial: RunTrial,
    goal: SearchGoal,
    *,
    seed: int = 1,
    lengths: TrialLengths | None = None,
    progress: ReportProgress | None = None,
    stop: threading.Event | None = None,
) -> SearchResult:
    """Runs trials until there is an outcome. `stop`, or an error of a trial, ends the search with what is known.

    An error of the first trial is raised.
    """
    rounds = _Rounds(run_trial, goal, seed, lengths or TrialLengths(), progress, stop or threading.Event())
    return rounds.result()


class _Rounds:
    """The trials of a search, and the goal of those that follow."""

    def __init__(
        self,
        run_trial: RunTrial,
        goal: SearchGoal,
        seed: int,
        lengths: TrialLengths,
        progress: ReportProgress | None,
        stop: threading.Event,
    ) -> None:
        self._run_trial, self._goal, self._seed, self._lengths = run_trial, goal, seed, lengths
        self._progress, self._stop = progress, stop
        self._log = TrialLog(goal, stop, self._report)
        self._time_left = TimeLeftLines(progress, goal)
        self._lowered_goal = goal
        """The goal with a limit of users below the numbers with which no trial is valid."""
        self._lowered_reason = ""
        """The reason why this limit was lowered; empty if it was not."""

    def result(self) -> SearchResult:
        """Runs the rounds until there is an outcome."""
        reason = ""
        while not reason:
            step = next_step(self._log.used, self._lowered_goal, len(self._log.left_out))
            if not isinstance(step, NextTrial):
                return self._result_with(self._outcome_for_all(step))
            self._time_left.after(self._log.used)
            reason = STOPPED_REASON if self._stop.is_set() else self._run_until_usable(step)
        outcome = outcome_so_far(self._log.basis, self._goal, reason)
        return self._result_with(outcome, stopped=reason == STOPPED_REASON)

    def _result_with(self, outcome: SearchOutcome, *, stopped: bool = False) -> SearchResult:
        return SearchResult(tuple(self._log.used), tuple(self._log.left_out), outcome, stopped)

    def _outcome_for_all(self, outcome: SearchOutcome) -> SearchOutcome:
        """The outcome for the goal itself; it differs if the outcome depends on the lowered limit of users."""
        if not self._lowered_reason or _has_end_below(outcome, self._lowered_goal.max_users):
            return outcome
        return outcome_so_far(self._log.used, self._goal, self._lowered_reason)

    def _run_until_usable(self, step: NextTrial) -> str:
        """Runs a trial, and repeats it if it is not valid or drifts. Returns the reason if the search ends here."""
        drifts = 0
        while True:
            trial = self._log.valid_trial(partial(self._run, step, drifts), f"with {people(step.users)}")
            if isinstance(trial, str):
                return trial
            if not trial.valid:
                return self._lower_users(trial)
            is_last = self._log.count + 1 >= self._goal.most_trials
            if is_last or drifts == MOST_TRIAL_REPEATS or not self._may_repeat() or is_final(trial, self._goal):
                self._log.used.append(trial)
                return ""
            self._log.left_out.append(trial)
            if self._stop.is_set():
                return STOPPED_REASON
            drifts += 1

    def _may_repeat(self) -> bool:
        """Whether the search may repeat one more trial that drifted."""
        repeated = sum(trial.valid and not trial.interrupted for trial in self._log.left_out)
        return not self._goal.live or repeated < self._goal.most_trials // HOST_TRIALS_PER_REPEAT

    def _run(self, step: NextTrial, drifts: int, index: int) -> CapacityTrial:
        if drifts and not self._log.used:
            drifting = [trial for trial in self._log.left_out if trial.valid][-1]
            length: TrialLength | None = _double_length(drifting, self._lengths)
        else:
            length = next_trial_length(step, self._log.used, self._lengths, 2.0**drifts)
        return self._run_trial(step, self._seed + index, length)

    def _report(self, trial: CapacityTrial) -> None:
        if self._progress is not None:
            self._progress(_trial_in_words(trial, self._goal))

    def _lower_users(self, trial: CapacityTrial) -> str:
        """Limits the next trials to fewer users than this invalid one had, or returns the reason to end the search."""
        reason = f"with {people(trial.users)} no trial is valid ({trial.why})"
        if self._log.is_full or trial.users <= self._goal.fewest_users or self._log.has_many_invalid:
            return reason
        if trial.users > max((tried.users for tried in self._log.used), default=0):
            self._lowered_goal, self._lowered_reason = replace(self._lowered_goal, max_users=trial.users - 1), reason
        return ""


def _has_end_below(outcome: SearchOutcome, max_users: int) -> bool:
    """Whether the outcome has an upper end that does not come from the limit of users."""
    if isinstance(outcome, CapacityFound | Undecided):
        return outcome.high is not None and outcome.high < max_users
    return isinstance(outcome, NoNumberMeets)


def _trial_in_words(trial: CapacityTrial, goal: SearchGoal) -> str:
    """A line about one trial, for the progress of the search."""
    figures = []
    for target, tally in zip(goal.targets, trial.tallies, strict=True):
        if not tally.weight:
            figures.append(f"no interaction for {target.text}")
        elif target.share is not None:
            figures.append(f"{share(tally.ratio)} slower than {seconds(target.limit)}")
        elif target.measure in ("errors", "busy"):
            figures.append(f"{target.measure} {share(tally.ratio)}")
        else:
            figures.append(f"{target.measure} {digits(tally.ratio)}{'/s' if target.measure == 'throughput' else ' s'}")
    stands = target_standing(trial.users, [trial], goal)
    early = ", ended early" if trial.cut_short else ", interrupted" if trial.interrupted else ""
    early += "" if trial.valid else f"; not valid: {trial.why}"
    early += "" if trial.others is None else f"; other work {share(trial.others)}"
    lines = f"{trial.counted:,} interaction{'' if trial.counted == 1 else 's'}"
    load = f"{people(trial.users)}, {trial.seconds:,.0f} s, {lines}"
    return f"{load}: {', '.join(figures)}: {stands}{early}"


def is_final(trial: CapacityTrial, goal: SearchGoal) -> bool:
    """Whether a trial needs no repetition: it does not drift, or it meets or misses the targets all the same."""
    return trial.cut_short or not steadiness(trial).drifts or target_standing(trial.users, [trial], goal) != "open"


def _double_length(drifting: CapacityTrial, lengths: TrialLengths) -> TrialLength:
    """Twice the length of a trial that drifted, as far as the longest trial permits."""
    cycle_s = drifting.think_s + (drifting.response_s or 0.0)
    length_s = min(2 * drifting.seconds, lengths.longest_s)
    return TrialLength(min(max(WARM_UP_CYCLES * cycle_s, WARM_UP_SHARE * length_s), lengths.longest_s), length_s)


def next_trial_length(
    next_trial: NextTrial, trials: Sequence[CapacityTrial], lengths: TrialLengths, factor: float = 1.0
) -> TrialLength | None:
    """The length of the next trial, from the cycle of a user in the nearest trial, in whole passes of the script.

    None without an earlier trial, since no cycle is known then.
    """
    if not trials:
        return None
    nearest = min(trials, key=lambda trial: (abs(trial.users - next_trial.users), -trial.counted))
    cycle = nearest.think_s + (nearest.response_s or 0.0)
    length_s = factor * max(next_trial.interactions * cycle / next_trial.users, FEWEST_CYCLES * cycle)
    lines = max(trials, key=lambda trial: trial.counted).lines_a_pass or 1.0
    a_pass = lines * cycle
    if lines > 1 and a_pass > 0:
        length_s = math.ceil(length_s / a_pass) * a_pass
    length_s = min(max(length_s, lengths.shortest_s), lengths.longest_s)
    return TrialLength(min(max(WARM_UP_CYCLES * cycle * factor, WARM_UP_SHARE * length_s), lengths.longest_s), length_s)
