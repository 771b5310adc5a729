"""Searches for another reading under which a relation holds that fails as the document states it.

The right side may be inverted, the units of the sides may differ by a factor, or a column may be truncated rather than
rounded. Combinations of these are tried too. The simplest reading with the most claims that hold is taken, provided
that at least half of all claims hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from loadgo.published.claims import Claim, Operation, cannot_hold, evaluate, references
from loadgo.published.document import Relation
from loadgo.published.failures import Numbers
from loadgo.published.finding import Failure

UNIT_SLIPS = {
    Fraction(1): "",
    Fraction(8): "bits where bytes are said",
    Fraction(60): "seconds where minutes are said",
    Fraction(100): "hundredths where wholes are said",
    Fraction(1000): "thousandths where wholes are said",
    Fraction(10**6): "millionths where wholes are said",
}
"""Factors between units that people confuse, each with its description in words."""

FEWEST_REREAD_CLAIMS = 2
"""Fewest claims of a relation that is read differently. A single claim that fails is more likely a misprint."""

FEWEST_TRUNCATED_CLAIMS = 10
"""Fewest claims of a relation whose column is taken as truncated. Fewer could agree by chance."""


@dataclass(frozen=True)
class AlternativeReading:
    """Another reading: its description, and the claims and numbers under it."""

    text: str
    changes: int
    held: int
    claims: tuple[Claim, ...]
    numbers: Numbers


@dataclass(frozen=True)
class _Change:
    """The differences between a reading and the document's own."""

    is_inverted: bool
    factor: Fraction
    truncated_column: str
    """The truncated column, as the last part of an id. Empty if all columns are rounded."""

    @property
    def count(self) -> int:
        return self.is_inverted + (self.factor != 1) + bool(self.truncated_column)


def find_reading(relation: Relation, numbers: Numbers, failures: tuple[Failure, ...]) -> AlternativeReading | None:
    """The simplest reading under which the most claims hold. None if the document's own reading is as good."""
    claims = tuple(claim for claim in relation.claims if claim.comparison == "=")
    if len(claims) < FEWEST_REREAD_CLAIMS:
        return None
    readings = [_alternative(claims, numbers, change) for change in _changes(claims)]
    best = max(readings, key=lambda reading: (reading.held, -reading.changes))
    held_as_stated = len(relation.claims) - len(failures)
    return best if best.changes and best.held > held_as_stated and 2 * best.held >= len(claims) else None


def _changes(claims: tuple[Claim, ...]) -> list[_Change]:
    first_cells = [*references(claims[0].left), *references(claims[0].right)]
    columns = [""]
    if len(claims) >= FEWEST_TRUNCATED_CLAIMS:
        columns += dict.fromkeys(part.cell.rpartition("/")[2] for part in first_cells if "text/" not in part.cell)
    inversions = (False, True) if isinstance(claims[0].right, Operation) else (False,)
    factors = [*UNIT_SLIPS, *(1 / factor for factor in UNIT_SLIPS if factor != 1)]
    return [
        _Change(is_inverted, factor, column) for is_inverted in inversions for factor in factors for column in columns
    ]


def _alternative(claims: tuple[Claim, ...], numbers: Numbers, change: _Change) -> AlternativeReading:
    column = change.truncated_column
    truncated = frozenset(
        key for key in numbers.figures if column and key.endswith(f"/{column}") and "/text/" not in key
    )
    truncated_numbers = replace(numbers, truncated=truncated)
    reread = tuple(_reread(claim, change) for claim in claims)
    return AlternativeReading(_words(change), change.count, _held(reread, truncated_numbers), reread, truncated_numbers)


def _held(claims: tuple[Claim, ...], numbers: Numbers) -> int:
    """The number of claims that hold, or 0 if more than half of them fail."""
    failed = 0
    for claim in claims:
        failed += cannot_hold(evaluate(claim.left, numbers.rounded), evaluate(claim.right, numbers.rounded), "=")
        if 2 * failed > len(claims):
            return 0
    return len(claims) - failed


def _reread(claim: Claim, change: _Change) -> Claim:
    right = claim.right
    if change.is_inverted:
        right = Operation("/", Fraction(1), right)
    if change.factor != 1:
        right = Operation("*", right, change.factor)
    return replace(claim, right=right)


def _words(change: _Change) -> str:
    parts = []
    if change.is_inverted:
        parts.append("the formula is upside down")
    if change.factor != 1:
        larger = change.factor > 1
        factor = change.factor if larger else 1 / change.factor
        side = "right" if larger else "left"
        parts.append(f"the {side} side lacks a factor of {int(factor):,} ({UNIT_SLIPS[factor]})")
    if change.truncated_column:
        parts.append(f"the column {change.truncated_column} is cut off, not rounded")
    return ", and ".join(parts)
