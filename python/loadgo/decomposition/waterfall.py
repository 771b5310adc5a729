"""A ratio's factors one below the other, from the figure before to the figure after: what a waterfall chart shows.

Factors multiply, so that they are lengths on a logarithmic axis: each begins where the last one ended, and the last one
ends at the figure after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadgo.decomposition.chains import Chain, Whole
from loadgo.stats.resample import Interval

SMALLEST = 0.0005
"""A factor nearer to 1 than this is no step of its own."""
MOST_STEPS = 16
"""Of more, the smallest are one."""
TAKEN_APART = ("elapsed", "response")
"""The chains that are drawn: of the others their tables tell all."""


@dataclass(frozen=True)
class Step:
    """One factor, and the figure without it and with it."""

    name: str
    factor: float
    """Above 1: less is used after than before."""
    interval: Interval | None
    """Of the factor."""
    start: float
    end: float
    """`start / factor`."""


@dataclass(frozen=True)
class Waterfall(Whole):
    """A ratio as steps from `before` to `after`, in the figure's unit."""

    kind: Literal["causes", "bookkeeping"]
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """What it shows, in words."""
        if self.kind == "causes":
            return f"Causes: what each change did to {self.measure}"
        return f"Bookkeeping: what {self.measure} moved by, for one interaction"


def of_chains(chains: Sequence[Chain]) -> tuple[Waterfall, ...]:
    """Elapsed time and response down to the meters; what moved nothing is one step, and so are the smallest of
    many. A ratio of exactly 1, by itself, has none.
    """
    return tuple(_of_chain(chain) for chain in chains if chain.measure in TAKEN_APART and chain.factors)


def _of_chain(chain: Chain) -> Waterfall:
    by_size = sorted(chain.factors, key=lambda one: -abs(one.log))
    moved = [one for one in by_size if abs(one.factor - 1) >= SMALLEST]
    kept = moved if len(moved) <= MOST_STEPS else moved[: MOST_STEPS - 1]
    shown = [(one.name, one.factor, one.interval) for one in chain.factors if one in kept]
    left = [one for one in chain.factors if one not in kept]
    if left:
        said = "that moved less" if len(kept) < len(moved) else "that moved nothing"
        shown.append((f"{len(left)} {said}", math.exp(math.fsum(one.log for one in left)), None))
    return waterfall_of("bookkeeping", chain, shown)


def waterfall_of(
    kind: Literal["causes", "bookkeeping"], told: Whole, factors: Sequence[tuple[str, float, Interval | None]]
) -> Waterfall:
    """The waterfall of a ratio whose `factors` have a name and perhaps an interval each."""
    return Waterfall(
        measure=told.measure,
        unit=told.unit,
        before=told.before,
        after=told.after,
        ratio=told.ratio,
        interval=told.interval,
        kind=kind,
        steps=_steps(told.before, factors),
    )


def _steps(before: float, factors: Sequence[tuple[str, float, Interval | None]]) -> tuple[Step, ...]:
    found, at = [], before
    for name, factor, interval in factors:
        found.append(Step(name, factor, interval, at, at / factor))
        at /= factor
    return tuple(found)
