"""The goal of a capacity search, its next trial, and its possible outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadgo.sizing.curve import Target
from loadgo.sizing.search.crossing import LimitCrossing
from loadgo.stats.student import INTERVAL_CONFIDENCE

SHORT_TRIAL_INTERACTIONS = 200
"""Fewest interactions of a short trial."""
SLOW_INTERACTIONS_WANTED = 20
"""A short trial is long enough for this number of slow interactions, if as many are slow as the target allows."""
LONGEST_TRIALS_REASON = "the longest trials do not decide it"
"""The reason why an interval stays wider than wanted although no limit of the search was reached."""


@dataclass(frozen=True)
class SearchGoal:
    """The targets and the limits of a search."""

    targets: tuple[Target, ...]
    max_users: int
    within: int | None
    """Largest width of the answer's interval in users; None means 2 % of the answer, and at least 1."""
    most_interactions: int
    """Most interactions of one trial."""
    most_trials: int
    live: bool
    fewest_users: int = 1
    """The fewest users of a trial: on several hosts, each has a user."""

    @property
    def ceilings(self) -> tuple[int, ...]:
        """The indices of the targets that are ceilings."""
        return tuple(index for index, target in enumerate(self.targets) if target.sense == "most")

    @property
    def short_interactions(self) -> int:
        """Number of interactions of a short trial."""
        shares = [target.share for target in self.targets if target.share is not None]
        return max([SHORT_TRIAL_INTERACTIONS, *(math.ceil(SLOW_INTERACTIONS_WANTED / share) for share in shares)])


@dataclass(frozen=True)
class NextTrial:
    """The trial that the search needs next."""

    users: int
    interactions: int


@dataclass(frozen=True)
class CapacityFound:
    """The largest number of users that meets all ceilings, with its interval."""

    users: int
    low: int
    high: int
    binding: int
    """The index of the target that is missed first."""
    enough: bool
    """Whether the interval is as narrow as the goal wants."""
    crossing: LimitCrossing | None = None
    """The crossing of the line; None where no line fits, and adjacent numbers of users decided."""
    why: str = ""
    """The reason why the search ended before the interval was narrow enough; else empty."""


@dataclass(frozen=True)
class EveryNumberMeets:
    """All numbers of users up to the limit meet the targets."""

    users: int


@dataclass(frozen=True)
class NoNumberMeets:
    """Even the fewest users miss a target."""

    binding: int
    """The index of this target."""


@dataclass(frozen=True)
class Undecided:
    """The search ended before it had an answer. The capacity lies between `low` and `high`; None is no known end."""

    low: int
    high: int | None
    why: str
    confidence: float = INTERVAL_CONFIDENCE
    """The confidence of both ends; 0 where they follow from the measured figures alone."""


SearchOutcome = CapacityFound | EveryNumberMeets | NoNumberMeets | Undecided
