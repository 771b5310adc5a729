"""Does a published document contradict itself? Everything that it says of its own numbers is worked out again.

A claim holds when its two sides can be equal within what the rounding of the printed digits hides. Where only cells
are added up, the digits must come out to the last. What does not hold is a finding, with the reading under which it
would hold (`consistency_reading`) and the cells of which a correction would set right all that speaks of them
(`consistency_suspect`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Literal

from loadgo.claims import Claim, Interval, Reference, apart, evaluate, is_sum, references
from loadgo.published import Document, Figure, Relation

MOST_SUSPECTED = 3
"""Of more failures than this in one relation it is not a misprint that is looked for."""

Degree = Literal["contradiction", "last digit"]


@dataclass(frozen=True)
class Suspect:
    """A cell of which a correction sets right claims that do not hold, and spoils none."""

    figure: str
    printed: str
    corrected: Fraction
    decimals: int
    mended: int
    """How many claims that did not hold then hold."""

    @property
    def text(self) -> str:
        """The corrected number with as many decimals as the printed one."""
        return f"{float(self.corrected):,.{self.decimals}f}"


@dataclass(frozen=True)
class Failure:
    """A claim that does not hold."""

    claim: Claim
    degree: Degree
    left: float
    right: float
    """What the two sides are by the printed numbers."""
    figures: tuple[str, ...]
    """The ids of the figures in it."""


@dataclass(frozen=True)
class Finding:
    """A relation that the document states and that its numbers do not bear out."""

    document: str
    relation: Relation
    failures: tuple[Failure, ...]
    reading: str
    """In words, how the relation must be read to hold in (nearly) all cases; empty when there is no such reading."""
    remaining: tuple[Failure, ...]
    """What does not hold even so; all failures when there is no reading."""
    suspects: tuple[Suspect, ...]
    """The cells that are most likely misprinted, the likeliest first."""

    @property
    def degree(self) -> Degree:
        """The worst of its failures."""
        return "contradiction" if any(f.degree == "contradiction" for f in self.failures) else "last digit"


@dataclass(frozen=True)
class Numbers:
    """A document's figures, as a source for claims."""

    figures: Mapping[str, Figure]
    cut: frozenset[str] = frozenset()
    """Figures that are taken to be cut off rather than rounded."""
    corrected: tuple[tuple[str, Fraction], ...] = ()
    """Figures that are taken to be another number than is printed."""

    def exact(self, reference: Reference) -> Interval:
        """The printed number itself."""
        return self._added(reference, rounded=False)

    def rounded(self, reference: Reference) -> Interval:
        """All numbers that are printed so."""
        return self._added(reference, rounded=True)

    def _added(self, reference: Reference, *, rounded: bool) -> Interval:
        ends = [self._ends(key, reference.end, rounded) for key in reference.cells]
        low, high = [end.low for end in ends], [end.high for end in ends]
        return Interval(
            None if None in low else sum((x for x in low if x is not None), Fraction(0)),
            None if None in high else sum((x for x in high if x is not None), Fraction(0)),
        )

    def _ends(self, key: str, end: str, rounded: bool) -> Interval:
        number = self.figures[key].number
        low = (number.high, number.high_half) if end == "high" else (number.low, number.low_half)
        high = (number.low, number.low_half) if end == "low" else (number.high, number.high_half)
        another = dict(self.corrected).get(key)
        exact = Interval(low[0] if another is None else another, high[0] if another is None else another)
        return self._widened(key, exact, (low[1], high[1])) if rounded else exact

    def _widened(self, key: str, exact: Interval, halves: tuple[Fraction, Fraction]) -> Interval:
        number = self.figures[key].number
        assert exact.low is not None
        assert exact.high is not None
        if key in self.cut:
            return Interval(exact.low, exact.high + 2 * halves[1])
        low = None if number.bound == "at most" else max(exact.low - halves[0], Fraction(0))
        return Interval(low, None if number.bound == "at least" else exact.high + halves[1])


@cache
def check(document: Document) -> tuple[Finding, ...]:
    """All that the document says of its numbers and that they do not bear out, in the order of its relations."""
    from loadgo.consistency_reading import reading_of
    from loadgo.consistency_suspect import suspects_of

    numbers = Numbers(document.figures)
    failing = [(relation, failures_of(relation.claims, numbers)) for relation in document.relations]
    found = []
    for relation, failures in failing:
        if not failures:
            continue
        reading = reading_of(relation, numbers, failures)
        others = [claim for other in document.relations if other is not relation for claim in other.claims]
        mine = relation.claims if reading is None else reading.claims
        taken = numbers if reading is None else reading.numbers
        remaining = failures if reading is None else failures_of(reading.claims, reading.numbers)
        suspects = suspects_of(remaining, (*mine, *others), taken) if len(remaining) <= MOST_SUSPECTED else ()
        text = "" if reading is None else reading.text
        found.append(Finding(document.name, relation, failures, text, remaining, suspects))
    return tuple(found)


def failures_of(claims: tuple[Claim, ...], numbers: Numbers) -> tuple[Failure, ...]:
    """Those of the claims that do not hold."""
    return tuple(failure for claim in claims if (failure := failure_of(claim, numbers)) is not None)


def failure_of(claim: Claim, numbers: Numbers) -> Failure | None:
    """How the claim fails; None when it holds."""
    degree = _degree(claim, numbers)
    if degree is None:
        return None
    sides = [evaluate(side, numbers.exact) for side in (claim.left, claim.right)]
    left, right = (float(side.low) if side.low is not None else float("inf") for side in sides)
    return Failure(claim, degree, left, right, figures_in(claim))


def figures_in(claim: Claim) -> tuple[str, ...]:
    """The ids of the figures that the claim speaks of, each once."""
    found = [*references(claim.left), *references(claim.right)]
    return tuple(dict.fromkeys(key for reference in found for key in reference.cells))


def _degree(claim: Claim, numbers: Numbers) -> Degree | None:
    rounded = partial(evaluate, source=numbers.rounded)
    if apart(rounded(claim.left), rounded(claim.right), claim.comparison):
        return "contradiction"
    exact = partial(evaluate, source=numbers.exact)
    added = claim.comparison == "=" and is_sum(claim.left) and is_sum(claim.right)
    return (
        "last digit"
        if added and _same_places(claim, numbers) and apart(exact(claim.left), exact(claim.right), "=")
        else None
    )


def _same_places(claim: Claim, numbers: Numbers) -> bool:
    """Whether all numbers of the claim are printed to the same decimal place, and none is called approximate."""
    found = [numbers.figures[key].number for key in figures_in(claim)]
    return len({number.low_half for number in found}) == 1 and not any(number.approximate for number in found)
