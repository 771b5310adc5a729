"""The neighbours of a search's users: the share of the processors' time that others took, and what it would be without.

The capacity of a quiet host is predicted only if the trials differ enough in their neighbours (`host_line`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from loadgo.measures.total_time import OTHERS_WARNING_SHARE
from loadgo.notation.figures import people, share
from loadgo.sizing.near_line import quiet_crossing
from loadgo.sizing.outcomes import CapacityFound, SearchGoal, SearchOutcome
from loadgo.sizing.results import Neighbours, QuietCapacity
from loadgo.sizing.trials import CapacityTrial


def neighbours_of(trials: Sequence[CapacityTrial]) -> Neighbours | None:
    """The neighbours' share over these trials; None where no trial measured it."""
    measured = [(trial.others, trial.seconds) for trial in trials if trial.others is not None]
    all_seconds = sum(seconds for _, seconds in measured)
    if not all_seconds:
        return None
    shares = [part for part, _ in measured]
    mean = sum(part * seconds for part, seconds in measured) / all_seconds
    return Neighbours(mean, min(shares), max(shares))


def with_quiet_capacity(
    neighbours: Neighbours | None, outcome: SearchOutcome, trials: Sequence[CapacityTrial], goal: SearchGoal
) -> Neighbours | None:
    """The neighbours with the prediction for a quiet host, where they matter and the trials tell it."""
    if neighbours is None or neighbours.most <= OTHERS_WARNING_SHARE or not isinstance(outcome, CapacityFound):
        return neighbours
    if outcome.crossing is None or (crossing := quiet_crossing(trials, goal, outcome.crossing.users)) is None:
        return neighbours
    ends = (crossing.users, crossing.low, crossing.high)
    return replace(neighbours, quiet=QuietCapacity(*(max(math.floor(users), 0) for users in ends)))


def neighbours_in_words(neighbours: Neighbours | None) -> str:
    """Sentences on the neighbours; empty where they took next to nothing."""
    if neighbours is None or neighbours.most <= OTHERS_WARNING_SHARE:
        return ""
    least, most = share(neighbours.least), share(neighbours.most)
    between = f" ({least} to {most} from trial to trial)" if least != most else ""
    quiet = "The trials do not tell what it would be on a quiet host: for that, search when it is quiet."
    if neighbours.quiet is not None:
        ends = f"{neighbours.quiet.low:,} to {neighbours.quiet.high:,}, with 95 % confidence"
        quiet = (
            f"On a quiet host it would be {people(neighbours.quiet.users)} ({ends}): a prediction, from how the trials "
            "differ with their neighbours."
        )
    return f"That is with neighbours taking {share(neighbours.mean)} of the processors{between}. {quiet}"
