"""Waterfalls: the factors of a ratio as steps from the figure before to the figure after.

Factors multiply, so they are lengths on a logarithmic axis. Each step begins where the one before it ended, and the
last step ends at the figure after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadgo.decomposition.chains import Chain, RatioFactors
from loadgo.decomposition.reading import measure_in_heading
from loadgo.notation.terms import factor_name
from loadgo.stats.both_ways import FactorBothWays
from loadgo.stats.factors import exponential
from loadgo.stats.resample import Interval

SMALLEST_STEP_RATIO = 0.0005
"""Smallest difference of a factor from 1 that is a step of its own. Chosen by hand."""
MOST_STEPS = 16
"""Largest number of steps. The smallest factors share the last step. Chosen by hand."""
WATERFALL_MEASURES = ("elapsed", "response")
"""The measures whose chains have a waterfall. For the others a table is enough."""


@dataclass(frozen=True)
class Step(FactorBothWays):
    """One factor, and the figure before and after it."""

    name: str
    factor: float
    """Above 1 if less is used after than before."""
    interval: Interval | None
    """95 % interval of the factor."""
    start: float
    end: float
    """`start / factor`."""


@dataclass(frozen=True)
class Waterfall(RatioFactors):
    """A ratio as steps from `before` to `after`, in the figure's unit."""

    kind: Literal["causes", "bookkeeping"]
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """The title of the waterfall."""
        if self.kind == "causes":
            return f"What each change did to {measure_in_heading(self)}"
        return f"Where the change of {measure_in_heading(self)} shows in the meters, for one interaction"

    def label(self, step: Step) -> str:
        """The displayed name of a step: a cause keeps the name that it was given."""
        return step.name if self.kind == "causes" else factor_name(step.name)


def chain_waterfalls(chains: Sequence[Chain]) -> tuple[Waterfall, ...]:
    """The waterfalls of elapsed time and response, down to the meters.

    Factors without effect share one step, and so do the smallest of many. A ratio without factors has no waterfall.
    """
    return tuple(_of_chain(chain) for chain in chains if has_waterfall(chain))


def has_waterfall(chain: Chain) -> bool:
    """Whether the chain has a waterfall: its measure is one of `WATERFALL_MEASURES`, and it has factors."""
    return chain.measure in WATERFALL_MEASURES and bool(chain.factors)


def waterfall_name(number: int) -> str:
    """The name of the chart of a page's waterfall with this number, from 1."""
    return f"waterfall-{number}"


def _of_chain(chain: Chain) -> Waterfall:
    by_size = sorted(chain.factors, key=lambda factor: -abs(factor.log))
    effective = [factor for factor in by_size if abs(factor.factor - 1) >= SMALLEST_STEP_RATIO]
    largest = effective if len(effective) <= MOST_STEPS else effective[: MOST_STEPS - 1]
    shown = [(factor.name, factor.factor, factor.interval) for factor in chain.factors if factor in largest]
    others = [factor for factor in chain.factors if factor not in largest]
    if others:
        phrase = "with less effect" if len(largest) < len(effective) else "without effect"
        shown.append((f"{len(others)} {phrase}", exponential(math.fsum(factor.log for factor in others)), None))
    return waterfall_of("bookkeeping", chain, shown)


def waterfall_of(
    kind: Literal["causes", "bookkeeping"], ratio: RatioFactors, factors: Sequence[tuple[str, float, Interval | None]]
) -> Waterfall:
    """The waterfall of a ratio. Each factor has a name, a value, and an interval or None."""
    return Waterfall(
        measure=ratio.measure,
        unit=ratio.unit,
        before=ratio.before,
        after=ratio.after,
        ratio=ratio.ratio,
        interval=ratio.interval,
        kind=kind,
        steps=_steps(ratio.before, factors),
    )


def _steps(before: float, factors: Sequence[tuple[str, float, Interval | None]]) -> tuple[Step, ...]:
    steps, start = [], before
    for name, factor, interval in factors:
        steps.append(Step(name, factor, interval, start, start / factor))
        start /= factor
    return tuple(steps)
