"""The trials that would narrow an answer that is wider than wanted: how many, of what length, with how many users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.notation.figures import people, seconds
from loadgo.sizing.search.fit_doubt import FitDoubt
from loadgo.sizing.search.outcomes import CapacityFound, SearchGoal, SearchOutcome, Undecided
from loadgo.sizing.search.search import wanted_half_width
from loadgo.sizing.search.trials import CapacityTrial

_TRIALS_A_HALVING = 2
"""Trials for each halving of a range: two, since trials of a host differ."""
_LAST_TRIALS = 3
"""The proposed trials are as long as the longest of this many last trials."""
LATE_DRIVER_REMEDY = (
    "More trials from here would be late, too: start loadgo on another machine, with `--on ssh://HOST`. "
    "`loadgo doctor` shows what makes this one late."
)
"""The remedy where the driver cannot keep up."""
MOST_PROPOSED_TRIALS = 100
"""Instead of more trials than this, the answer proposes a quieter host or a wider interval."""


@dataclass(frozen=True)
class Narrowing:
    """More trials that would narrow the answer."""

    trials: int
    """The estimated number of further trials."""
    seconds: float
    """The length of each trial."""
    least_users: int
    most_users: int

    @property
    def in_words(self) -> str:
        """The proposal in one or two sentences."""
        users = people(self.least_users)
        if self.most_users > self.least_users:
            users = f"{self.least_users:,} to {people(self.most_users)}"
        if self.trials > MOST_PROPOSED_TRIALS:
            return (
                f"It would take over {MOST_PROPOSED_TRIALS} more trials with {users} to narrow it. A quieter host, or "
                "a wider interval (--within), helps more."
            )
        trials = "one more trial" if self.trials == 1 else f"about {self.trials} more trials"
        return f"To narrow it: {trials} of {seconds(self.seconds)} with {users}."


def narrowing_of(
    outcome: SearchOutcome, trials: Sequence[CapacityTrial], goal: SearchGoal, shortest_s: float = 0.0
) -> Narrowing | None:
    """The trials that would narrow this outcome, each of at least `shortest_s`.

    None where the outcome is narrow enough, where more trials would not help, and without any trial.
    """
    if not trials:
        return None
    length_s = max(shortest_s, *(trial.seconds for trial in trials[-_LAST_TRIALS:]))
    if isinstance(outcome, CapacityFound) and not outcome.enough:
        least, most = max(outcome.low, 1), max(outcome.high, 1)
        if outcome.crossing is None:
            return Narrowing(_halvings(least, most), length_s, least, most)
        near = sum(least <= trial.users <= most for trial in trials)
        ratio = (outcome.crossing.high - outcome.crossing.low) / 2 / wanted_half_width(outcome.users, goal)
        return Narrowing(math.ceil(max(near, 2) * max(ratio**2 - 1, 0.25)), length_s, least, most)
    if isinstance(outcome, Undecided):
        least = min(outcome.low + 1, goal.max_users)
        most = goal.max_users if outcome.high is None else max(outcome.high, 1)
        return Narrowing(_halvings(min(least, most), most), length_s, min(least, most), most)
    return None


def remedy_of(outcome: SearchOutcome, invalid: Sequence[CapacityTrial], doubt: FitDoubt | None) -> str:
    """A sentence on what would narrow the outcome where more trials would not; empty where they would.

    They would not where the driver of the `invalid` trials cannot keep up, nor where the fit makes the interval wide.
    """
    if isinstance(outcome, Undecided) and outcome.high is None:
        # Trials with no more users than the lower end are no hindrance: the end above is what is looked for.
        beyond = [trial for trial in invalid if trial.users > outcome.low or not outcome.confidence]
        if beyond and all(trial.invalidity is not None and trial.invalidity.of_driver for trial in beyond):
            return LATE_DRIVER_REMEDY
    return "" if doubt is None or not isinstance(outcome, CapacityFound) else doubt.remedy


def _halvings(least: int, most: int) -> int:
    return _TRIALS_A_HALVING * max(1, math.ceil(math.log2(most - least + 2)))
