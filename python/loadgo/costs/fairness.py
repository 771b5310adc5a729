"""Whether a price is fair: the ratio of two systems' charges for the same work, against the ratio of performance.

Roach and Saltzer (Project MAC CSR RFC 20, 1973) compared the ratio of two machines' charges with the ratio of their
processor times. If both are the same, the prices of the new machine pass on its higher speed in full.
The ratio of performance divided by the ratio of charges is B's charge for the same performance: 1 is fair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from loadgo.comparison.compare import SideSpec
from loadgo.costs.draws import Draws, constant, resample
from loadgo.costs.fairness_sides import ShiftCharge, Side, side_of
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.measures.charges import rates_of
from loadgo.stats.both_ways import RatioBothWays
from loadgo.stats.resample import Interval

Verdict = Literal["fair", "dearer", "cheaper", "open", "one price"]
Measure = Literal["cpu", "response", "elapsed"]
FAIRNESS_MEASURES: tuple[Measure, ...] = ("cpu", "response", "elapsed")

FAIR_PRICE_SHARE = 0.05
"""Largest difference from the fair price, as a share of it, at which a price is still called fair."""
_SAME_SHARE = 1e-9
"""A charge that is off the fair one by less than this is the same: the rest is rounding."""


@dataclass(frozen=True)
class Ratio(RatioBothWays):
    """A figure of an interaction on both sides, and the ratios A over B (`value`) and B over A."""

    before: float
    after: float
    interval: Interval | None
    """The 95 % interval, from resampling users and stretches of time of each side separately.

    None if a side has too few users and too few stretches.
    """

    @property
    def value(self) -> float:
        """The ratio A over B."""
        return self.before / self.after


@dataclass(frozen=True)
class Price:
    """The charges of both sides on one shift, or without shifts."""

    shift: str
    """The shift's name. Empty if neither side has shifts."""
    charges: Ratio
    levels: dict[Measure, Ratio]
    """B's charge for the same performance, as a multiple of A's, by measure of performance.

    `before` is the ratio of performance, `after` the ratio of charges.
    """
    has_one_tariff: bool = False
    """Whether both sides have the same tariff."""

    def verdict(self, measure: Measure) -> Verdict:
        """Whether B charges a fair price for its performance. `open` if the interval holds fair and unfair prices.

        `one price`: one tariff prices both sides by this measure, so the charges are as the performance whatever B is.
        """
        level = self.levels[measure]
        if self.has_one_tariff and math.isclose(level.value, 1.0, rel_tol=_SAME_SHARE):
            return "one price"
        low, high = (level.value, level.value) if level.interval is None else (level.interval.low, level.interval.high)
        if low > 1 + FAIR_PRICE_SHARE:
            return "dearer"
        if high < 1 / (1 + FAIR_PRICE_SHARE):
            return "cheaper"
        return "fair" if low >= 1 / (1 + FAIR_PRICE_SHARE) and high <= 1 + FAIR_PRICE_SHARE else "open"


@dataclass(frozen=True)
class Differential:
    """The increase from one shift's charge to another's, as a share, on both sides."""

    shifts: tuple[str, str]
    before: float
    after: float


@dataclass(frozen=True, repr=False)
class Fairness(Result, presented_by="loadgo.costs.presentation:fairness_presentation"):
    """Whether B's prices are fair when A's are taken as fair."""

    a: Side
    b: Side
    measure: Measure
    """The measure of performance that the verdict is based on."""
    performance: dict[Measure, Ratio]
    prices: tuple[Price, ...]
    differentials: tuple[Differential, ...]
    notes: tuple[str, ...]


def cost_against(
    a: SideSpec,
    b: SideSpec,
    *,
    tariff: str | None = None,
    against_tariff: str | None = None,
    measure: Measure | None = None,
    phases: Literal["auto", "all", "steady"] = "auto",
) -> Fairness:
    """Judges whether the price of a machine is fair: its charges and its performance against those of another machine.

    Args:
        a: The machine with the known price: a run, several runs of one script, or a column of a published document,
            such as `csr-rfc-20:645`, or a file of your own with printed figures. A column without a tariff keeps its
            printed charges.
        b: The machine whose price is judged.
        tariff: The tariff of `a`. By default each machine's own.
        against_tariff: The tariff of `b`. By default that of `a`, if it is given.
        measure: The measure of performance: `cpu`, `response` or `elapsed`. By default the first of these that both
            sides have.
        phases: `steady`, `all` or `auto`, as in `loadgo.compare`.

    Returns:
        `Fairness`. Each of its `prices` has, for one shift, the ratio of the charges and the verdict `fair`, `dearer`,
        `cheaper` or `open` with each measure.

    Raises:
        loadgo.errors.BadArgument: The sides differ in script, currency or shifts, have no measure in common, or are
            charged for an unknown quantity; it is a `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    The method is that of Roach and Saltzer, Project MAC CSR RFC 20 (1973).
    """
    side_a = side_of(a, tariff, phases)
    side_b = side_of(b, against_tariff if against_tariff is not None else tariff, phases)
    _check_same_work(side_a, side_b)
    ratios = {name: _performance(side_a, side_b, name) for name in FAIRNESS_MEASURES}
    performance = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    if not performance:
        raise BadArgument(
            f"{side_a.name} and {side_b.name} have no figure in common: processor time, response or elapsed"
        )
    chosen = measure or next(iter(performance))
    if chosen not in performance:
        raise BadArgument(f"{chosen} is not known on both sides; known are: {', '.join(performance)}")
    pairs = _pairs(side_a, side_b)
    return Fairness(
        a=side_a,
        b=side_b,
        measure=chosen,
        performance=performance,
        prices=tuple(_price(side_a, side_b, shift, charges, performance) for shift, *charges in pairs),
        differentials=_differentials(pairs),
        notes=_notes(side_a, side_b, [shift for shift, *_ in pairs]),
    )


def _check_same_work(a: Side, b: Side) -> None:
    if a.lines and b.lines and a.lines != b.lines:
        raise BadArgument(
            f"{a.name} and {b.name} have not typed the same script: a price is fair for the same work; "
            "run one script on both"
        )
    if a.currency != b.currency:
        raise BadArgument(
            f"{a.name} is charged in {a.currency} and {b.name} in {b.currency}: name tariffs in one currency"
        )


def _pairs(a: Side, b: Side) -> list[tuple[str, ShiftCharge, ShiftCharge]]:
    """The shifts with A's charge and B's charge. A single charge of one side is paired with each shift of the other."""
    if len(a.paid) == 1 or len(b.paid) == 1:
        has_b_shifts = len(b.paid) > 1
        return [(after.shift if has_b_shifts else before.shift, before, after) for before in a.paid for after in b.paid]
    b_charges = {charge.shift: charge for charge in b.paid}
    pairs = [(charge.shift, charge, b_charges[charge.shift]) for charge in a.paid if charge.shift in b_charges]
    if not pairs:
        shifts = [", ".join(charge.shift for charge in side.paid) for side in (a, b)]
        raise BadArgument(
            f"{a.name} has the shifts {shifts[0]} and {b.name} {shifts[1]}: name one of each, with `tariff=NAME:SHIFT` "
            "and `against_tariff=NAME:SHIFT`"
        ).about("tariff", "against_tariff")
    return sorted(pairs, key=lambda pair: pair[0])


def _price(a: Side, b: Side, shift: str, charges: Sequence[ShiftCharge], performance: dict[Measure, Ratio]) -> Price:
    before, after = _cost(a, charges[0], 1), _cost(b, charges[1], 2)
    charge_ratio = _ratio(before, after)
    levels = {}
    for name, ratio in performance.items():
        draws = _figures(a, name, 1).over(_figures(b, name, 2)).over(before.over(after))
        # A time without an interval is known once: the interval of the charge alone would be too narrow.
        levels[name] = Ratio(ratio.value, charge_ratio.value, draws.interval if ratio.interval else None)
    has_one_tariff = charges[0].tariff is not None and charges[0].tariff == charges[1].tariff
    return Price(shift, charge_ratio, levels, has_one_tariff)


def _cost(side: Side, charge: ShiftCharge, seed: int) -> Draws:
    """The cost of an interaction, with its resamples."""
    if side.use is None or charge.tariff is None:
        return constant(charge.each)
    resampled_use = resample(side.use, seed)
    return resampled_use.ratio(resampled_use.cells, rates_of(charge.tariff, side.use.held))


def _performance(a: Side, b: Side, measure: Measure) -> Ratio | None:
    figures = _figures(a, measure, 1), _figures(b, measure, 2)
    return _ratio(*figures) if all(figure.value for figure in figures) else None


def _figures(side: Side, measure: Measure, seed: int) -> Draws:
    """The measure of performance of a mean interaction, in nanoseconds, with its resamples."""
    if side.use is not None and measure != "elapsed":
        return resample(side.use, seed).mean({"cpu": "cpu_ns", "response": "response_ns"}[measure])
    return constant(side.means.get(measure, math.nan))


def _ratio(before: Draws, after: Draws) -> Ratio:
    assert before.value is not None, "A's figure of a ratio is not known"
    assert after.value is not None, "B's figure of a ratio is not known"
    return Ratio(before.value, after.value, before.over(after).interval)


def _differentials(pairs: Sequence[tuple[str, ShiftCharge, ShiftCharge]]) -> tuple[Differential, ...]:
    """The differences between each shift and the next one."""
    differentials = []
    for (shift, before, after), (other, before_next, after_next) in pairwise(pairs):
        differentials.append(
            Differential((shift, other), before.each / before_next.each - 1, after.each / after_next.each - 1)
        )
    return tuple(differentials)


def _notes(a: Side, b: Side, shifts: Sequence[str]) -> tuple[str, ...]:
    notes = [note for side in (a, b) for note in side.notes]
    if (a.use is None) != (b.use is None):
        notes.append("One side is printed: loadgo cannot check that both did the same work.")
    for side in (a, b):
        unpaired = [charge.shift for charge in side.paid if charge.shift and charge.shift not in shifts]
        if unpaired:
            names = ", ".join(unpaired)
            notes.append(f"Shifts that only {side.name} has are left out: {names}.")
    charges = [charge for side in (a, b) for charge in side.paid]
    if any(charge.tariff is not None and charge.tariff.machine_hour for charge in charges):
        notes.append(
            "A machine that is rented whole is worth its price only when it is full: compare runs in which each "
            "machine has as many users as it holds."
        )
    return tuple(dict.fromkeys(notes))
