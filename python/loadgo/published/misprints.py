"""Which cell is likely misprinted? One of which a correction makes failing claims hold, and spoils none that hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from loadgo.published.claims import Claim, Expression, Reference, evaluate
from loadgo.published.failures import Numbers, failure_of, figures_in
from loadgo.published.finding import Failure, Suspect

STEPS = 40


def suspects_of(failures: tuple[Failure, ...], claims: tuple[Claim, ...], numbers: Numbers) -> tuple[Suspect, ...]:
    """The cells to suspect, of each failure those that set the most right; `claims` are all that the document makes."""
    found: dict[str, Suspect] = {}
    for failure in failures:
        mine = [suspect for key in failure.figures if (suspect := _suspect(key, failure.claim, claims, numbers))]
        best = max((suspect.mended for suspect in mine), default=0)
        found |= {suspect.figure: suspect for suspect in mine if suspect.mended == best}
    return tuple(sorted(found.values(), key=lambda suspect: -suspect.mended))


def _suspect(key: str, claim: Claim, claims: tuple[Claim, ...], numbers: Numbers) -> Suspect | None:
    """The cell `id` with what it must be for the claim to hold; None when no correction helps without harm."""
    corrected = _solve(key, claim, numbers)
    if corrected is None:
        return None
    twins = _twins(key, claims, numbers)
    other = replace(numbers, corrected=tuple((twin, corrected) for twin in twins))
    mended = 0
    for one in claims:
        if twins.intersection(figures_in(one)):
            before, after = failure_of(one, numbers), failure_of(one, other)
            if after is not None and before is None:
                return None
            mended += before is not None and after is None
    printed = numbers.figures[key]
    return Suspect(key, printed.text, corrected, _decimals(printed.number.low_half), mended) if mended else None


def _twins(key: str, claims: tuple[Claim, ...], numbers: Numbers) -> frozenset[str]:
    """The cell and those that the document says are the same, and prints alike."""
    found = {key}
    for claim in claims:
        if isinstance(claim.left, Reference) and isinstance(claim.right, Reference):
            same = set(figures_in(claim))
            if found & same and len({numbers.figures[one].number.low for one in same}) == 1:
                found |= same
    return frozenset(found)


def _solve(key: str, claim: Claim, numbers: Numbers) -> Fraction | None:
    """The number that makes the two sides equal, rounded to the printed place, by the rule of false position."""
    figure = numbers.figures[key].number
    if figure.is_range or not figure.low_half or not figure.low:
        return None

    def gap(value: Fraction) -> Fraction | None:
        source = replace(numbers, corrected=((key, value),))
        left, right = _value(claim.left, source), _value(claim.right, source)
        return None if left is None or right is None else left - right

    a, b = figure.low, figure.low * Fraction(101, 100)
    for _ in range(STEPS):
        here, there = gap(a), gap(b)
        if here is None or there is None or here == there:
            return None
        a, b = b, (a * there - b * here) / (there - here)
        b = b.limit_denominator(10**9)
        if b <= 0:
            return None
        if abs(b - a) <= figure.low_half / 1000:
            break
    place = 2 * figure.low_half
    return round(b / place) * place


def _value(expression: Expression, numbers: Numbers) -> Fraction | None:
    return evaluate(expression, numbers.exact).low


def _decimals(half: Fraction) -> int:
    place, count = 2 * half, 0
    while place < 1:
        place, count = place * 10, count + 1
    return count
