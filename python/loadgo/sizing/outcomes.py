"""What a search for the capacity is asked for, what it asks for next, and what it may come to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadgo.sizing.crossing import Crossing
from loadgo.sizing.curve import Target

SHORTEST = 200
SLOW_ONES = 20
"""A short trial is so long that this many interactions may be slow at the limit."""


@dataclass(frozen=True)
class Wanted:
    """What is searched for, and the limits of the search."""

    targets: tuple[Target, ...]
    max_users: int
    within: int | None
    """How many users the interval's ends may differ by; None: 2 % of the answer, and at least 1."""
    most_interactions: int
    """Of one trial."""
    most_trials: int
    live: bool

    @property
    def ceilings(self) -> tuple[int, ...]:
        """The places of those targets that more users come nearer to missing."""
        return tuple(place for place, target in enumerate(self.targets) if target.sense == "most")

    @property
    def shortest(self) -> int:
        """Interactions of a short trial."""
        shares = [target.share for target in self.targets if target.share is not None]
        return max(SHORTEST, math.ceil(SLOW_ONES / min(shares))) if shares else SHORTEST


@dataclass(frozen=True)
class Step:
    """A trial to be made."""

    users: int
    interactions: int


@dataclass(frozen=True)
class Found:
    """The answer: the most users, with its interval."""

    users: int
    low: int
    high: int
    binding: int
    """The place of the target that decides it."""
    enough: bool
    """The interval is as narrow as was asked for."""
    crossing: Crossing | None = None
    """Where the line crosses the limit; None where no line fits, and the number and the next were decided by trials."""


@dataclass(frozen=True)
class EveryNumber:
    """Up to the limit of users, all are held."""

    users: int


@dataclass(frozen=True)
class NoNumber:
    """Not even one user is held."""

    binding: int


@dataclass(frozen=True)
class Untold:
    """The limits of the search came before an answer: it lies between these."""

    low: int
    high: int | None
    why: str


Outcome = Found | EveryNumber | NoNumber | Untold
