"""Whether a price is fair: how much less is charged for the same work, against how much less the work takes.

Roach and Saltzer (Project MAC CSR RFC 20, 1973) put the ratio of two machines' charges beside the ratio of their
processor times: where the two are the same, a new machine's prices pass on what it does better, neither more nor less.
What B charges for the same performance is the ratio of performance over the ratio of charges: 1 is fair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from loadgo.costs.draws import Draws, constant, lots_of
from loadgo.costs.fairness_sides import Asked, Paid, Side, side_of
from loadgo.errors import BadArgument
from loadgo.measures.charges import rates_of
from loadgo.stats.resample import Interval

Verdict = Literal["fair", "dearer", "cheaper", "open"]
Measure = Literal["cpu", "response", "elapsed"]
MEASURES: tuple[Measure, ...] = ("cpu", "response", "elapsed")

FAIR = 0.05
"""A price so near to the fair one is fair."""


@dataclass(frozen=True)
class Ratio:
    """A figure of an interaction on both sides: A's over B's, above 1 where B takes less."""

    before: float
    after: float
    interval: Interval | None
    """95 %, by drawing users and stretches of time again, each side's apart; None where one side is too small."""

    @property
    def value(self) -> float:
        """A's over B's."""
        return self.before / self.after


@dataclass(frozen=True)
class Price:
    """One shift, or the one price of both sides."""

    shift: str
    """Empty where neither side has shifts."""
    charges: Ratio
    levels: dict[Measure, Ratio]
    """By measure of performance: what B charges for the same performance, of what A does, as A's over B's of charges
    over performance; `before` is the ratio of performance, `after` that of the charges."""

    def verdict(self, measure: Measure) -> Verdict:
        """Whether B is dearer or cheaper for what it does; open where the interval holds fair and unfair prices."""
        level = self.levels[measure]
        low, high = (level.value, level.value) if level.interval is None else (level.interval.low, level.interval.high)
        if low > 1 + FAIR:
            return "dearer"
        if high < 1 / (1 + FAIR):
            return "cheaper"
        return "fair" if low >= 1 / (1 + FAIR) and high <= 1 + FAIR else "open"


@dataclass(frozen=True)
class Differential:
    """How much more one shift costs than another, as a share, on both sides."""

    shifts: tuple[str, str]
    before: float
    after: float


@dataclass(frozen=True)
class Fairness:
    """B's prices held against A's."""

    a: Side
    b: Side
    measure: Measure
    """What the verdict is by."""
    performance: dict[Measure, Ratio]
    prices: tuple[Price, ...]
    differentials: tuple[Differential, ...]
    notes: tuple[str, ...]


def cost_against(
    a: Asked,
    b: Asked,
    *,
    tariff: str | None = None,
    against_tariff: str | None = None,
    measure: Measure | None = None,
    phases: Literal["auto", "all", "steady"] = "auto",
) -> Fairness:
    """Holds the charges of `b` against those of `a`: each a run, several of one script, or a column of a published
    document (`csr-rfc-20:645`), whose own charges count when no tariff is named for it.

    `against_tariff` is `b`'s, the same as `a`'s when nothing is said; without either each machine's own. `measure` is
    what the verdict is by: processor time where both sides tell it. Raises `ValueError` for what cannot be compared:
    two scripts, two currencies, shifts that only one side has, and what is charged for and not known.
    """
    left = side_of(a, tariff, phases)
    right = side_of(b, against_tariff if against_tariff is not None else tariff, phases)
    _same_work(left, right)
    performance = {name: ratio for name in MEASURES if (ratio := _performance(left, right, name)) is not None}
    if not performance:
        raise BadArgument(f"{left.name} and {right.name} have no figure in common: processor time, response or elapsed")
    chosen = measure or next(iter(performance))
    if chosen not in performance:
        raise BadArgument(f"{chosen} is not known on both sides; {', '.join(performance)} can be told")
    pairs = _pairs(left, right)
    return Fairness(
        a=left,
        b=right,
        measure=chosen,
        performance=performance,
        prices=tuple(_price(left, right, shift, paid, performance) for shift, *paid in pairs),
        differentials=_differentials(pairs),
        notes=_notes(left, right, [shift for shift, *_ in pairs]),
    )


def _same_work(a: Side, b: Side) -> None:
    if a.lines and b.lines and a.lines != b.lines:
        raise BadArgument(
            f"{a.name} and {b.name} have not typed the same script: a price is fair for the same work; "
            "run one script on both"
        )
    if a.currency != b.currency:
        raise BadArgument(
            f"{a.name} is charged in {a.currency} and {b.name} in {b.currency}: name tariffs in one currency"
        )


def _pairs(a: Side, b: Side) -> list[tuple[str, Paid, Paid]]:
    """The prices that are held against each other: of the same shift; one price for all against every shift."""
    if len(a.paid) == 1 or len(b.paid) == 1:
        return [(other.shift if len(b.paid) > 1 else one.shift, one, other) for one in a.paid for other in b.paid]
    after = {paid.shift: paid for paid in b.paid}
    found = [(one.shift, one, after[one.shift]) for one in a.paid if one.shift in after]
    if not found:
        told = [", ".join(paid.shift for paid in side.paid) for side in (a, b)]
        raise BadArgument(
            f"{a.name} has the shifts {told[0]} and {b.name} {told[1]}: name one of each, with `tariff=NAME:SHIFT` "
            "and `against_tariff=NAME:SHIFT`"
        ).about("tariff", "against_tariff")
    return sorted(found, key=lambda one: one[0])


def _price(a: Side, b: Side, shift: str, paid: Sequence[Paid], performance: dict[Measure, Ratio]) -> Price:
    before, after = paid
    charged = _charged(a, before, 1), _charged(b, after, 2)
    charges = _ratio(*charged)
    levels = {}
    for name, ratio in performance.items():
        draws = _figures(a, name, 1).over(_figures(b, name, 2)).over(charged[0].over(charged[1]))
        levels[name] = Ratio(ratio.value, charges.value, draws.interval)
    return Price(shift, charges, levels)


def _charged(side: Side, paid: Paid, seed: int) -> Draws:
    """The cost of an interaction."""
    if side.use is None or paid.tariff is None:
        return constant(paid.each)
    lots = lots_of(side.use, seed)
    return lots.ratio(lots.cells, rates_of(paid.tariff, side.use.held))


def _performance(a: Side, b: Side, measure: Measure) -> Ratio | None:
    figures = _figures(a, measure, 1), _figures(b, measure, 2)
    return _ratio(*figures) if all(one.value for one in figures) else None


def _figures(side: Side, measure: Measure, seed: int) -> Draws:
    """The measure of an interaction, in nanoseconds."""
    if side.use is not None and measure != "elapsed":
        return lots_of(side.use, seed).mean({"cpu": "cpu_ns", "response": "response_ns"}[measure])
    return constant(side.means.get(measure, math.nan))


def _ratio(before: Draws, after: Draws) -> Ratio:
    assert before.value is not None, "what is not known is held against nothing"
    assert after.value is not None, "what is not known is held against nothing"
    return Ratio(before.value, after.value, before.over(after).interval)


def _differentials(pairs: Sequence[tuple[str, Paid, Paid]]) -> tuple[Differential, ...]:
    """Each shift against the next."""
    found = []
    for (shift, before, after), (other, before_next, after_next) in pairwise(pairs):
        found.append(Differential((shift, other), before.each / before_next.each - 1, after.each / after_next.each - 1))
    return tuple(found)


def _notes(a: Side, b: Side, shifts: Sequence[str]) -> tuple[str, ...]:
    found = [note for side in (a, b) for note in side.notes]
    if (a.use is None) != (b.use is None):
        found.append("One side is printed: that both did the same work is for you to know.")
    for side in (a, b):
        left = [paid.shift for paid in side.paid if paid.shift and paid.shift not in shifts]
        if left:
            found.append(f"{side.name} has shifts that the other side has not: {', '.join(left)}; they are left out.")
    if any(paid.tariff is not None and paid.tariff.machine_hour for side in (a, b) for paid in side.paid):
        found.append(
            "A machine that is rented whole gives its speed back only when it is full: hold runs with as many users "
            "as each holds against each other."
        )
    return tuple(dict.fromkeys(found))
