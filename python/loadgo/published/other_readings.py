"""Under which other reading would a relation hold that fails as the document states it?

Tried are: upside down (one over the right side), another unit (a factor between the two sides), a column that is cut
off rather than rounded, and these together. The simplest reading that makes the most claims hold is taken, if it is
half of all or more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from loadgo.published.claims import Claim, Operation, apart, evaluate, references
from loadgo.published.document import Relation
from loadgo.published.failures import Numbers
from loadgo.published.finding import Failure

FACTORS = {
    Fraction(1): "",
    Fraction(8): "bits where bytes are said",
    Fraction(60): "seconds where minutes are said",
    Fraction(100): "hundredths where wholes are said",
    Fraction(1000): "thousandths where wholes are said",
    Fraction(10**6): "millionths where wholes are said",
}
"""Between which units people slip."""

FEWEST = 2
"""Of how many claims a relation must be made to be read otherwise: one that fails alone is a misprint first."""

FEWEST_CUT = 10
"""Of how many, for a column to be taken as cut off: fewer would fit by chance."""


@dataclass(frozen=True)
class Reading:
    """Another reading: its words, and the claims and numbers as they are read then."""

    text: str
    changes: int
    held: int
    claims: tuple[Claim, ...]
    numbers: Numbers


@dataclass(frozen=True)
class _Change:
    """What is read otherwise."""

    upside_down: bool
    factor: Fraction
    cut: str
    """The column, as the last part of an id; empty when all are rounded."""

    @property
    def count(self) -> int:
        return self.upside_down + (self.factor != 1) + bool(self.cut)


def reading_of(relation: Relation, numbers: Numbers, failures: tuple[Failure, ...]) -> Reading | None:
    """The simplest reading under which the most claims hold; None when none is better than the document's own."""
    claims = tuple(claim for claim in relation.claims if claim.comparison == "=")
    if len(claims) < FEWEST:
        return None
    tried = [_read(claims, numbers, change) for change in _changes(claims)]
    best = max(tried, key=lambda reading: (reading.held, -reading.changes))
    own = len(relation.claims) - len(failures)
    return best if best.changes and best.held > own and 2 * best.held >= len(claims) else None


def _changes(claims: tuple[Claim, ...]) -> list[_Change]:
    found = [*references(claims[0].left), *references(claims[0].right)]
    cuts = [""]
    if len(claims) >= FEWEST_CUT:
        cuts += list(dict.fromkeys(part.cell.rpartition("/")[2] for part in found if "text/" not in part.cell))
    turned = (False, True) if isinstance(claims[0].right, Operation) else (False,)
    factors = [*FACTORS, *(1 / factor for factor in FACTORS if factor != 1)]
    return [_Change(upside, factor, cut) for upside in turned for factor in factors for cut in cuts]


def _read(claims: tuple[Claim, ...], numbers: Numbers, change: _Change) -> Reading:
    cut = frozenset(
        key for key in numbers.figures if change.cut and key.endswith(f"/{change.cut}") and "/text/" not in key
    )
    taken = replace(numbers, cut=cut)
    reread = tuple(_reread(claim, change) for claim in claims)
    return Reading(_words(change), change.count, _held(reread, taken), reread, taken)


def _held(claims: tuple[Claim, ...], numbers: Numbers) -> int:
    """How many claims hold; 0 as soon as more than half do not."""
    failed = 0
    for claim in claims:
        failed += apart(evaluate(claim.left, numbers.rounded), evaluate(claim.right, numbers.rounded), "=")
        if 2 * failed > len(claims):
            return 0
    return len(claims) - failed


def _reread(claim: Claim, change: _Change) -> Claim:
    right = claim.right
    if change.upside_down:
        right = Operation("/", Fraction(1), right)
    if change.factor != 1:
        right = Operation("*", right, change.factor)
    return replace(claim, right=right)


def _words(change: _Change) -> str:
    parts = []
    if change.upside_down:
        parts.append("the formula is upside down")
    if change.factor != 1:
        larger = change.factor > 1
        factor = change.factor if larger else 1 / change.factor
        side = "right" if larger else "left"
        parts.append(f"the {side} side lacks a factor of {int(factor):,} ({FACTORS[factor]})")
    if change.cut:
        parts.append(f"the column {change.cut} is cut off, not rounded")
    return ", and ".join(parts)
