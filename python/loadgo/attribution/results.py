"""A speed-up as the result of an analysis: the changes, the factor of each, and the decomposition by meters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadgo.decomposition.chains import Chain, RatioFactors
from loadgo.decomposition.roads import Road
from loadgo.documents.result import Result
from loadgo.measures.trust import NO_EVIDENCE, Evidence
from loadgo.stats.both_ways import FactorBothWays
from loadgo.stats.resample import Interval, inverse

INTERACTION_SHARE = 0.1
"""A change interacts with the others if its factors when made first and last differ by more than this share."""
NO_CHANGES = 0
"""The index of the machine with none of the changes."""
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Change:
    """A change by name, and the values of the machine's file, or conditions of measured runs, that make it."""

    name: str
    set: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause(FactorBothWays):
    """The effect of one change on a figure, as factors; above 1, the change reduces the figure."""

    name: str
    factor: float
    interval: Interval | None
    first: float
    """The factor when the change is made before all others."""
    last: float
    """The factor when the change is made after all others."""
    saved: float
    """The change's share of the difference, in the figure's unit, in proportion to the logarithms."""
    apart: Interval | None = None
    """The interval of `first / last`."""

    @property
    def interacts(self) -> bool:
        """Whether the effect depends on the other changes by more than chance."""
        chance = self.apart is not None and self.apart.holds(1.0)
        return abs(self.first / self.last - 1) > INTERACTION_SHARE and not chance

    @property
    def b_over_a_first(self) -> float:
        """The factor of B over A when the change is made before all others."""
        return inverse(self.first)

    @property
    def b_over_a_last(self) -> float:
        """The factor of B over A when the change is made after all others."""
        return inverse(self.last)


@dataclass(frozen=True)
class Pair(FactorBothWays):
    """Two changes that interact."""

    names: tuple[str, str]
    factor: float
    """The factor of both together over the product of their own factors; above 1, together they save more."""
    interval: Interval | None


@dataclass(frozen=True)
class Caused(RatioFactors):
    """A ratio, and the factors of the changes that multiply to it."""

    causes: tuple[Cause, ...]
    pair: Pair | None
    """The pair of changes that interacts most; None if there is only one change."""


@dataclass(frozen=True, repr=False)
class Speedup(Result, presented_by="loadgo.attribution.presentation:presentation"):
    """A speed-up, attributed to its changes."""

    title: str
    changes: tuple[Change, ...]
    runs: int
    """The number of runs of each machine."""
    seeds: tuple[int, ...]
    causes: tuple[Caused, ...]
    bookkeeping: tuple[Chain, ...]
    roads: tuple[Road, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """Problems of the runs, and differences that are no change. Reports show them before any figure."""
    measured: bool = False
    """Whether the runs existed before. Otherwise they were made for this analysis."""
    fit_warnings: tuple[str, ...] = ()
    """The warnings that are reasons to doubt the fit of a fitted machine."""
    evidence: Evidence = NO_EVIDENCE
    """The evidence of the runs for and against their figures."""
    conditions: str = ""
    """How long the users type, and the part of the runs that the figures are of; empty for runs that existed before."""
