"""The same ratio from independent figures: another meter, a measurement of the processor alone, or the charges.

Factors always multiply to their ratio, which proves nothing. A second figure that gives the same ratio does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.decomposition.chains import work_ns
from loadgo.decomposition.parts import busy_ns, per_interaction, run_weights
from loadgo.measures.account import RunAccount
from loadgo.stats.both_ways import RatioBothWays
from loadgo.stats.factors import exponential_interval
from loadgo.stats.resample import Floats, Interval, interval_of

DISAGREEMENT_SHARE = 0.05
"""Two estimates of a ratio agree if they differ by at most this share, or by no more than chance."""


@dataclass(frozen=True)
class Road(RatioBothWays):
    """An estimate of a ratio from one figure."""

    name: str
    to: str
    """The estimated ratio: of elapsed time, of all processor time, or of the work alone."""
    before: float
    after: float
    unit: str
    interval: Interval | None = None
    """95 % interval of the ratio. None with fewer than five runs a side."""
    apart: Interval | None = None
    """95 % interval of the ratio over the first estimate of it. None for the first estimate itself."""

    @property
    def ratio(self) -> float:
        """Before over after."""
        return self.before / self.after


@dataclass(frozen=True)
class Disagreement:
    """Two estimates of one ratio that differ."""

    first: Road
    other: Road
    surely: bool
    """Whether an interval shows the difference, not only the figures."""

    @property
    def apart(self) -> float:
        """The difference as a share of the first estimate. Above 0 if the other ratio is larger."""
        return self.other.ratio / self.first.ratio - 1

    @property
    def b_over_a_apart(self) -> float:
        """The difference as a share of the first estimate, of the ratios B over A."""
        return self.first.ratio / self.other.ratio - 1


_FigureOfRatio = tuple[str, str, str, Callable[[RunAccount], float]]
"""An estimate to make: its name, the ratio, the unit, and the figure that it comes from."""


def roads_of(a: Sequence[RunAccount], b: Sequence[RunAccount], *, paired: bool = False) -> tuple[Road, ...]:
    """All estimates of ratios, per interaction, for which both sides have figures.

    A host's own meters are left out, since they also count other programs. With `paired`, the runs of both sides are
    resampled in pairs.
    """
    if not a or not b:
        return ()
    weights = run_weights(a, b, paired=paired)
    estimates: list[Road] = []
    firsts: dict[str, Floats] = {}
    for name, to, unit, figure in _figures(a, b):
        before, after = (per_interaction(side, figure, weight) for side, weight in zip((a, b), weights, strict=True))
        if not all(np.isfinite(side).all() and (side > 0).all() for side in (before, after)):
            continue
        logs = np.log(before / after)
        runs = min(len(a), len(b))
        apart = exponential_interval(interval_of(logs - firsts[to], runs)) if to in firsts else None
        firsts.setdefault(to, logs)
        interval = exponential_interval(interval_of(logs, runs))
        estimates.append(Road(name, to, float(before[0]), float(after[0]), unit, interval, apart))
    return tuple(estimates)


def disagreeing(roads: Sequence[Road]) -> list[Disagreement]:
    """The pairs of estimates that differ by more than 5 %, and by more than chance.

    The first estimate of each ratio is compared with the others. Charges are left out, since they give the same ratio
    only at the same prices.
    """
    return [pair for pair in _pairs(roads) if abs(math.log1p(pair.apart)) > DISAGREEMENT_SHARE]


def slightly_apart(roads: Sequence[Road]) -> list[Disagreement]:
    """The pairs of estimates that differ by 0.5 to 5 %, and whose interval shows the difference."""
    lowest = DISAGREEMENT_SHARE / 10
    return [
        pair for pair in _pairs(roads) if pair.surely and lowest < abs(math.log1p(pair.apart)) <= DISAGREEMENT_SHARE
    ]


def _pairs(roads: Sequence[Road]) -> list[Disagreement]:
    pairs = []
    for to in dict.fromkeys(road.to for road in roads if road.unit == "ns"):
        first, *others = [road for road in roads if road.to == to and road.unit == "ns"]
        pairs += [Disagreement(first, other, other.apart is not None) for other in others if not _by_chance(other)]
    return pairs


def _by_chance(road: Road) -> bool:
    return road.apart is not None and road.apart.holds(1.0)


def _figures(a: Sequence[RunAccount], b: Sequence[RunAccount]) -> list[_FigureOfRatio]:
    accounts = (*a, *b)
    cpu = "all processor time"
    figures: list[_FigureOfRatio] = [
        ("processor time charged to interactions", cpu, "ns", lambda account: account.used.get("cpu", 0.0)),
    ]
    if all(account.alone for account in accounts):
        figures += [
            ("busy time by the meters", cpu, "ns", busy_ns),
            ("work by the meters", "work", "ns", work_ns),
        ]
    figures.append(
        ("user time of the interactions", "work", "ns", lambda account: account.used.get("programs", 0.0)),
    )
    currency = accounts[0].currency
    for name in dict.fromkeys(name for account in accounts for name in account.charges):
        figures.append((f"charges, {name}", cpu, currency, lambda account, key=name: account.charges.get(key, 0.0)))  # type: ignore[misc]
    for name in dict.fromkeys(name for account in accounts for name in account.roads):
        figures.append((name, "work", "ns", lambda account, key=name: account.roads.get(key, 0.0) * 1e9))  # type: ignore[misc]
    return figures
