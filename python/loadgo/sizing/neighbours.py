"""The share of other work in the processors' time during the trials of a search, and the capacity without it.

The capacity of a quiet host is predicted only if the share differs enough from trial to trial (`host_line`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from loadgo.measures.other_work import BUSY_SHARE, OtherWork, shows_programs_on
from loadgo.notation.figures import people, share
from loadgo.sizing.near_line import quiet_crossing
from loadgo.sizing.outcomes import CapacityFound, SearchGoal, SearchOutcome
from loadgo.sizing.results import Neighbours, QuietCapacity, TrialRecord
from loadgo.sizing.trials import CapacityTrial


def neighbours_of(trials: Sequence[CapacityTrial] | Sequence[TrialRecord]) -> Neighbours | None:
    """The share of other work over these trials; None where no trial measured it."""
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
    """`neighbours` with the prediction for a quiet host, if other work took much and the trials permit a prediction."""
    if neighbours is None or is_quiet(neighbours) or not isinstance(outcome, CapacityFound):
        return neighbours
    if outcome.crossing is None or (crossing := quiet_crossing(trials, goal, outcome.crossing.users)) is None:
        return neighbours
    ends = (crossing.users, crossing.low, crossing.high)
    return replace(neighbours, quiet=QuietCapacity(*(max(math.floor(users), 0) for users in ends)))


def neighbours_in_words(neighbours: Neighbours | None) -> str:
    """Sentences on other work; empty where it took little."""
    if neighbours is None or is_quiet(neighbours):
        return ""
    least, most = share(neighbours.least), share(neighbours.most)
    between = f" ({least} to {most} from trial to trial)" if least != most else ""
    quiet = "A quiet host may support more users: to find out, search again when it is quiet."
    if neighbours.quiet is not None:
        ends = f"{neighbours.quiet.low:,} to {neighbours.quiet.high:,}, with 95 % confidence"
        quiet = (
            f"For a quiet host, the prediction is {people(neighbours.quiet.users)} ({ends}), from the differences "
            "between trials with more and with less other work."
        )
    return f"During the search, other work took {share(neighbours.mean)} of the processors' time{between}. {quiet}"


def is_quiet(neighbours: Neighbours) -> bool:
    """Whether other work took little in each trial."""
    return OtherWork(neighbours.most).level == "quiet"


def busy_warning(neighbours: Neighbours | None, on: str) -> list[str]:
    """The warning about the host `on` that was busy with other things over all trials; empty for any other host."""
    if neighbours is None or neighbours.mean <= BUSY_SHARE:
        return []
    return [
        f"The host was busy with other things: {share(neighbours.mean)} of its processors' time over all trials, up to "
        f"{share(neighbours.most)} in one. The answer is for the host in that state: search again when it is quiet. "
        f"{shows_programs_on(on)}"
    ]


def other_work_doubts(neighbours: Neighbours | None, on: str, *, is_warned: bool) -> list[str]:
    """The reason against trust that other programs on a host give, unless the warning about them has it already."""
    if neighbours is None:
        return ["what other programs took of the host was not measured"]
    if is_quiet(neighbours) or (is_warned and busy_warning(neighbours, on)):
        return []
    return [f"other programs took up to {share(neighbours.most)} of the processors' time in a trial"]
