"""The standing of targets with a number of users, and the range of the capacity that follows from all trials.

On a host, a trial's own effect widens each interval (`host_line`). There, trials may also contradict each other: fewer
users miss a target that more users meet. The range then contains both numbers. Without a valid trial, the range comes
from the invalid ones: it shows the side of the measured figures, and has no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from loadgo.sizing.curve import TargetStanding
from loadgo.sizing.search.crossing import LimitExcess, excess_of
from loadgo.sizing.search.host_line import trial_effect
from loadgo.sizing.search.outcomes import SearchGoal, Undecided
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.stats.student import INTERVAL_CONFIDENCE

RANGE_CONFIDENCES = (INTERVAL_CONFIDENCE, 0.8)
"""Confidences of a range. The first that gives both ends is taken, or else the first that gives one end."""
_ZERO_CONFIDENCE = 0.0
"""Where no confidence gives an end, only the side counts on which the measured figure of each target lies."""


def excess_with(target_index: int, trials: Sequence[CapacityTrial], goal: SearchGoal) -> LimitExcess | None:
    """The excess of a target in these trials, which have one number of users."""
    target = goal.targets[target_index]
    return excess_of(target, tallies_of(target_index, trials), trial_effect(target) if goal.live else 0.0)


def tallies_of(target_index: int, trials: Iterable[CapacityTrial]) -> list[BatchSums]:
    """The sums of a target in each trial."""
    return [trial.tallies[target_index] for trial in trials]


def target_standing(users: int, trials: Iterable[CapacityTrial], goal: SearchGoal) -> TargetStanding:
    """The standing of all ceilings in the trials with `users` users: missed if a single ceiling is missed."""
    return _standing([trial for trial in trials if trial.users == users], goal, RANGE_CONFIDENCES[0])


def _standing(same_users: Sequence[CapacityTrial], goal: SearchGoal, confidence: float) -> TargetStanding:
    if any(trial.refused for trial in same_users):
        return "missed"
    if confidence > _ZERO_CONFIDENCE and not all(trial.valid for trial in same_users):
        return "open"
    excesses = [excess_with(index, same_users, goal) for index in goal.ceilings]
    sides = [None if excess is None else excess.certainty(confidence) for excess in excesses]
    if any(side is not None and side > 1 for side in sides):
        return "missed"
    return "met" if all(side is not None and side < -1 for side in sides) else "open"


def known_range(trials: Sequence[CapacityTrial], goal: SearchGoal, why: str) -> Undecided:
    """The range of the capacity from all trials, with its confidence; `why` is the reason why it is not narrower."""
    confidences = RANGE_CONFIDENCES if any(trial.valid for trial in trials) else ()
    ranges = [Undecided(*_range_with(trials, goal, level), why, level) for level in (*confidences, _ZERO_CONFIDENCE)]
    with_both_ends = [known for known in ranges[:-1] if known.low and known.high is not None]
    with_an_end = [known for known in ranges if known.low or known.high is not None]
    return next(iter([*with_both_ends, *with_an_end]), Undecided(0, None, why, _ZERO_CONFIDENCE))


def _range_with(trials: Sequence[CapacityTrial], goal: SearchGoal, confidence: float) -> tuple[int, int | None]:
    """The ends of the range: the most users below all misses that meet the targets, and the end above, or None."""
    tried = sorted({trial.users for trial in trials})
    stands = {users: _standing([t for t in trials if t.users == users], goal, confidence) for users in tried}
    met = [users for users in tried if stands[users] == "met"]
    missed = [users for users in tried if stands[users] == "missed"]
    low = max((users for users in met if users < min(missed, default=math.inf)), default=0)
    high = min((users for users in missed if users > max(met, default=0)), default=None)
    return low, None if high is None else high - 1


def trials_with(users: int, trials: Sequence[CapacityTrial]) -> list[CapacityTrial]:
    """The trials with `users` users."""
    return [trial for trial in trials if trial.users == users]


def measured_excess(target_index: int, users: int, trials: Sequence[CapacityTrial], goal: SearchGoal) -> float:
    """The excess of a target with `users` users; minus infinity if no interaction was slow, 0 if it is not known."""
    same_users = trials_with(users, trials)
    if not any(trial.tallies[target_index].numerators.any() for trial in same_users):
        return -math.inf
    excess = excess_with(target_index, same_users, goal)
    return 0.0 if excess is None else excess.value


def worst_target(users: int, trials: Sequence[CapacityTrial], goal: SearchGoal) -> int:
    """The index of the ceiling with the largest excess with `users` users."""
    same_users = trials_with(users, trials)
    values = {
        target_index: excess.value
        for target_index in goal.ceilings
        if (excess := excess_with(target_index, same_users, goal))
    }
    return max(values, key=values.__getitem__) if values else goal.ceilings[0]
