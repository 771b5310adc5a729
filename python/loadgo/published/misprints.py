"""Searches for misprinted cells: those whose correction makes failing claims hold and breaks no other claim."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from loadgo.published.claims import Claim, Expression, Reference, evaluate
from loadgo.published.failures import Numbers, failure_of, figures_in
from loadgo.published.finding import Failure, Suspect

_MOST_STEPS = 40
"""Largest number of steps towards a corrected number. Chosen by hand."""


def suspect_cells(failures: tuple[Failure, ...], claims: tuple[Claim, ...], numbers: Numbers) -> tuple[Suspect, ...]:
    """The cells of each failing claim whose correction mends the most of `claims`, all claims of the document."""
    suspects: dict[str, Suspect] = {}
    for failure in failures:
        in_claim = [suspect for key in failure.figures if (suspect := _suspect(key, failure.claim, claims, numbers))]
        most = max((suspect.mended for suspect in in_claim), default=0)
        suspects |= {suspect.figure: suspect for suspect in in_claim if suspect.mended == most}
    return tuple(sorted(suspects.values(), key=lambda suspect: -suspect.mended))


def _suspect(key: str, claim: Claim, claims: tuple[Claim, ...], numbers: Numbers) -> Suspect | None:
    """The cell with a correction that makes its claim hold. None if there is none, or if it breaks another claim."""
    corrected = _solve(key, claim, numbers)
    if corrected is None:
        return None
    twins = _twins(key, claims, numbers)
    corrected_numbers = replace(numbers, corrected=tuple((twin, corrected) for twin in twins))
    mended = 0
    for affected in claims:
        if twins.intersection(figures_in(affected)):
            before, after = failure_of(affected, numbers), failure_of(affected, corrected_numbers)
            if after is not None and before is None:
                return None
            mended += before is not None and after is None
    printed = numbers.figures[key]
    return Suspect(key, printed.text, corrected, _decimals(printed.number.low_half), mended) if mended else None


def _twins(key: str, claims: tuple[Claim, ...], numbers: Numbers) -> frozenset[str]:
    """The cell, and the cells that the document says are equal to it and prints with the same number."""
    twins = {key}
    for claim in claims:
        if isinstance(claim.left, Reference) and isinstance(claim.right, Reference):
            equal = set(figures_in(claim))
            if twins & equal and len({numbers.figures[cell].number.low for cell in equal}) == 1:
                twins |= equal
    return frozenset(twins)


def _solve(key: str, claim: Claim, numbers: Numbers) -> Fraction | None:
    """The number that makes both sides equal, rounded to the printed place, by the secant method."""
    figure = numbers.figures[key].number
    if figure.is_range or not figure.low_half or not figure.low:
        return None

    def gap(value: Fraction) -> Fraction | None:
        source = replace(numbers, corrected=((key, value),))
        left, right = _value(claim.left, source), _value(claim.right, source)
        return None if left is None or right is None else left - right

    a, b = figure.low, figure.low * Fraction(101, 100)
    for _ in range(_MOST_STEPS):
        gap_a, gap_b = gap(a), gap(b)
        if gap_a is None or gap_b is None or gap_a == gap_b:
            return None
        a, b = b, (a * gap_b - b * gap_a) / (gap_b - gap_a)
        b = b.limit_denominator(10**9)
        if b <= 0:
            return None
        if abs(b - a) <= figure.low_half / 1000:
            break
    last_place = 2 * figure.low_half
    return round(b / last_place) * last_place


def _value(expression: Expression, numbers: Numbers) -> Fraction | None:
    return evaluate(expression, numbers.exact).low


def _decimals(half: Fraction) -> int:
    last_place, decimals = 2 * half, 0
    while last_place < 1:
        last_place, decimals = last_place * 10, decimals + 1
    return decimals
