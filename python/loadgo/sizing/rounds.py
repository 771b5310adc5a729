"""The rounds of a search: each round runs the next trial with a suitable length, until there is an outcome."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from loadgo.notation.figures import people
from loadgo.sizing.outcomes import NextTrial, SearchGoal, SearchOutcome, Undecided
from loadgo.sizing.results import ReportProgress
from loadgo.sizing.search import next_step, target_standing
from loadgo.sizing.steady_state import steadiness
from loadgo.sizing.trials import CapacityTrial

FEWEST_CYCLES = 24.0
"""A trial is at least as long as this number of cycles of a user: six batches of four."""
WARM_UP_CYCLES = 3.0
"""The warm-up of a trial in cycles of a user, since queues fill at the pace of the cycles."""
WARM_UP_SHARE = 0.1
"""The warm-up is at least this share of the measured time."""
MOST_TRIAL_REPEATS = 2
"""A trial that drifts is repeated at most this number of times, each time twice as long."""


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


@dataclass(frozen=True)
class SearchResult:
    """All trials of a search, and its outcome."""

    trials: tuple[CapacityTrial, ...]
    """The trials that the outcome is based on."""
    left_out: tuple[CapacityTrial, ...]
    """Trials that drifted and were repeated, and a trial that is not valid."""
    outcome: SearchOutcome


def run_search(
    run_trial: RunTrial,
    goal: SearchGoal,
    *,
    seed: int = 1,
    lengths: TrialLengths | None = None,
    progress: ReportProgress | None = None,
    stop: threading.Event | None = None,
) -> SearchResult:
    """Runs trials until there is an outcome. `stop` ends the search with what is known by then."""
    trials: list[CapacityTrial] = []
    left_out: list[CapacityTrial] = []
    stopped = stop or threading.Event()
    while True:
        next_trial = next_step(trials, goal)
        if not isinstance(next_trial, NextTrial):
            return SearchResult(tuple(trials), tuple(left_out), next_trial)
        for repeat in range(MOST_TRIAL_REPEATS + 1):
            length = next_trial_length(next_trial, trials, lengths or TrialLengths(), 2.0**repeat)
            trial = run_trial(next_trial, seed + len(trials) + len(left_out), length)
            if progress is not None:
                progress(_trial_in_words(trial, goal))
            if stopped.is_set() or not trial.valid:
                reason = trial.why or "the search was stopped"
                return SearchResult(tuple(trials), (*left_out, trial), _undecided_so_far(trials, goal, reason))
            if repeat == MOST_TRIAL_REPEATS or is_final(trial, goal):
                trials.append(trial)
                break
            left_out.append(trial)


def _undecided_so_far(trials: Sequence[CapacityTrial], goal: SearchGoal, reason: str) -> Undecided:
    """The outcome of a search that ends early, from its trials so far."""
    stands = {trial.users: target_standing(trial.users, trials, goal) for trial in trials}
    missed = min((users for users, standing in stands.items() if standing == "missed"), default=None)
    met = [users for users, standing in stands.items() if standing == "met" and (missed is None or users < missed)]
    return Undecided(max(met, default=0), None if missed is None else missed - 1, reason)


def _trial_in_words(trial: CapacityTrial, goal: SearchGoal) -> str:
    """A line about one trial, for the progress of the search."""
    figures = []
    for target, tally in zip(goal.targets, trial.tallies, strict=True):
        if not tally.weight:
            figures.append(f"no interaction for {target.text}")
        elif target.share is not None:
            figures.append(f"{tally.ratio:.1%} slower than {target.limit:g} s")
        elif target.measure in ("errors", "busy"):
            figures.append(f"{target.measure} {tally.ratio:.1%}")
        else:
            figures.append(f"{target.measure} {tally.ratio:.3g}{'/s' if target.measure == 'throughput' else ' s'}")
    stands = target_standing(trial.users, [trial], goal)
    early = ", ended early" if trial.cut_short else ""
    load = f"{people(trial.users)}, {trial.seconds:,.0f} s, {trial.counted:,} interactions"
    return f"{load}: {', '.join(figures)}: {stands}{early}"


def is_final(trial: CapacityTrial, goal: SearchGoal) -> bool:
    """Whether a trial needs no repetition: it does not drift, or it decides the targets in spite of it."""
    return trial.cut_short or not steadiness(trial).drifts or target_standing(trial.users, [trial], goal) != "open"


def next_trial_length(
    next_trial: NextTrial, trials: Sequence[CapacityTrial], lengths: TrialLengths, factor: float = 1.0
) -> TrialLength | None:
    """The length of the next trial, from the cycle of a user in the nearest trial, in whole passes of the script.

    None for the first trial of a search, since no cycle is known yet.
    """
    if not trials:
        return None
    nearest = min(trials, key=lambda trial: (abs(trial.users - next_trial.users), -trial.counted))
    cycle = nearest.think_s + (nearest.response_s or 0.0)
    seconds = factor * max(next_trial.interactions * cycle / next_trial.users, FEWEST_CYCLES * cycle)
    lines = max(trials, key=lambda trial: trial.counted).lines_a_pass or 1.0
    a_pass = lines * cycle
    if lines > 1 and a_pass > 0:
        seconds = math.ceil(seconds / a_pass) * a_pass
    seconds = min(max(seconds, lengths.shortest_s), lengths.longest_s)
    return TrialLength(min(max(WARM_UP_CYCLES * cycle * factor, WARM_UP_SHARE * seconds), lengths.longest_s), seconds)
