"""Checks claims against a document's printed numbers, within the rounding of their digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from loadgo.published.claims import (
    Claim,
    NumberRange,
    Reference,
    cannot_hold,
    evaluate,
    is_sum,
    references,
    surely_holds,
)
from loadgo.published.document import Figure
from loadgo.published.finding import Degree, Failure


@dataclass(frozen=True)
class Numbers:
    """The figures with which the claims of a document are evaluated."""

    figures: Mapping[str, Figure]
    truncated: frozenset[str] = frozenset()
    """The ids of figures that are assumed to be truncated rather than rounded."""
    corrected: tuple[tuple[str, Fraction], ...] = ()
    """Figures that are assumed to be misprinted, each with the number to use instead."""

    def exact(self, reference: Reference) -> NumberRange:
        """The printed number itself."""
        return self._sum(reference, rounded=False)

    def rounded(self, reference: Reference) -> NumberRange:
        """The range of numbers that round to the printed one."""
        return self._sum(reference, rounded=True)

    def _sum(self, reference: Reference, *, rounded: bool) -> NumberRange:
        ends = [self._cell(key, reference.end, rounded) for key in reference.cells]
        low, high = [end.low for end in ends], [end.high for end in ends]
        return NumberRange(
            None if None in low else sum((x for x in low if x is not None), Fraction(0)),
            None if None in high else sum((x for x in high if x is not None), Fraction(0)),
        )

    def _cell(self, key: str, end: str, rounded: bool) -> NumberRange:
        number = self.figures[key].number
        low = (number.high, number.high_half) if end == "high" else (number.low, number.low_half)
        high = (number.low, number.low_half) if end == "low" else (number.high, number.high_half)
        corrected = dict(self.corrected).get(key)
        exact = NumberRange(low[0] if corrected is None else corrected, high[0] if corrected is None else corrected)
        return self._with_rounding(key, exact, (low[1], high[1])) if rounded else exact

    def _with_rounding(self, key: str, exact: NumberRange, halves: tuple[Fraction, Fraction]) -> NumberRange:
        number = self.figures[key].number
        assert exact.low is not None
        assert exact.high is not None
        if key in self.truncated:
            return NumberRange(exact.low, exact.high + 2 * halves[1])
        low = None if number.bound == "at most" else max(exact.low - halves[0], Fraction(0))
        return NumberRange(low, None if number.bound == "at least" else exact.high + halves[1])


def failing_claims(claims: tuple[Claim, ...], numbers: Numbers) -> tuple[Failure, ...]:
    """The failures of those claims that do not hold."""
    return tuple(failure for claim in claims if (failure := failure_of(claim, numbers)) is not None)


def failure_of(claim: Claim, numbers: Numbers) -> Failure | None:
    """The failure of a claim. None if the claim holds."""
    degree = _degree(claim, numbers)
    if degree is None:
        return None
    sides = [evaluate(side, numbers.exact) for side in (claim.left, claim.right)]
    left, right = (float(side.low) if side.low is not None else float("inf") for side in sides)
    return Failure(claim, degree, left, right, figures_in(claim))


def is_sure(claim: Claim, numbers: Numbers, ours: Mapping[str, float]) -> bool:
    """Whether an inequality holds for all numbers that round to the printed ones, with our figures as they are.

    It is not sure if one of our figures that it names is not in `ours`.
    """

    def number_range(reference: Reference) -> NumberRange:
        if reference.end != "ours":
            return numbers.rounded(reference)
        exact = Fraction(ours[reference.cells[0]])
        return NumberRange(exact, exact)

    own = [r for side in (claim.left, claim.right) for r in references(side) if r.end == "ours"]
    if any(reference.cells[0] not in ours for reference in own):
        return False
    return surely_holds(evaluate(claim.left, number_range), evaluate(claim.right, number_range), claim.comparison)


def figures_in(claim: Claim) -> tuple[str, ...]:
    """The ids of the figures in a claim, each once."""
    cells = [key for side in (claim.left, claim.right) for reference in references(side) for key in reference.cells]
    return tuple(dict.fromkeys(cells))


def _degree(claim: Claim, numbers: Numbers) -> Degree | None:
    rounded = partial(evaluate, source=numbers.rounded)
    if cannot_hold(rounded(claim.left), rounded(claim.right), claim.comparison):
        return "contradiction"
    exact = partial(evaluate, source=numbers.exact)
    only_sums = claim.comparison == "=" and is_sum(claim.left) and is_sum(claim.right)
    return (
        "last digit"
        if only_sums and _same_places(claim, numbers) and cannot_hold(exact(claim.left), exact(claim.right), "=")
        else None
    )


def _same_places(claim: Claim, numbers: Numbers) -> bool:
    """Whether all numbers of a claim are printed to the same decimal place and none is marked approximate."""
    printed = [numbers.figures[key].number for key in figures_in(claim)]
    return len({number.low_half for number in printed}) == 1 and not any(number.approximate for number in printed)
