"""The goal of a capacity search, its next trial, and its possible outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadgo.sizing.crossing import LimitCrossing
from loadgo.sizing.curve import Target
from loadgo.stats.student import INTERVAL_CONFIDENCE

SHORT_TRIAL_INTERACTIONS = 200
"""Fewest interactions of a short trial."""
SLOW_INTERACTIONS_WANTED = 20
"""A short trial is long enough for this number of slow interactions at the limit."""


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

    @property
    def ceilings(self) -> tuple[int, ...]:
        """The indices of the targets that are ceilings, which more users come nearer to."""
        return tuple(index for index, target in enumerate(self.targets) if target.sense == "most")

    @property
    def shortest(self) -> int:
        """Number of interactions of a short trial."""
        shares = [target.share for target in self.targets if target.share is not None]
        return (
            max(SHORT_TRIAL_INTERACTIONS, math.ceil(SLOW_INTERACTIONS_WANTED / min(shares)))
            if shares
            else SHORT_TRIAL_INTERACTIONS
        )


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
    """The index of the target that decides the answer."""
    enough: bool
    """Whether the interval is as narrow as the goal wants."""
    crossing: LimitCrossing | None = None
    """The crossing of the line; None where no line fits, and trials with adjacent numbers of users decided."""
    why: str = ""
    """The reason why the search ended before the interval was narrow enough; empty where it is."""


@dataclass(frozen=True)
class EveryNumberMeets:
    """All numbers of users up to the limit meet the targets."""

    users: int


@dataclass(frozen=True)
class NoNumberMeets:
    """Even one user misses a target."""

    binding: int


@dataclass(frozen=True)
class Undecided:
    """The limits of the search ended it before an answer, which lies between `low` and `high`."""

    low: int
    high: int | None
    why: str
    confidence: float = INTERVAL_CONFIDENCE
    """The confidence of both ends; 0 where they are only more likely than not."""


SearchOutcome = CapacityFound | EveryNumberMeets | NoNumberMeets | Undecided
