"""Our figures that need no run: what follows from others, by the relations that the document itself states."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from fractions import Fraction

from loadgo.published.claims import Expression, NumberRange, Reference, evaluate, references
from loadgo.published.document import Document, Figure
from loadgo.reproduction.models.values import Mark, Value, Values

ROUNDS = 8
"""How long a chain of figures that follow from each other may be."""


def with_arithmetic(document: Document, values: Values) -> Values:
    """The values, and those that follow from them and from given figures; a value that is there is kept.

    A figure that follows from a predicted one is predicted, from a fitted one fitted. From given ones alone, it is what
    the document's rule for it says: predicted by arithmetic, or given.
    """
    found = dict(values)
    for _ in range(ROUNDS):
        derived = _derived(document, found, values)
        if derived == {key: value for key, value in found.items() if key not in values}:
            break
        found = {**values, **derived}
    return found


def ours_of(expression: Expression, figures: Mapping[str, Figure], values: Values) -> float:
    """The expression with our figures; printed ones where we have none."""
    low = evaluate(expression, lambda reference: _source(reference, figures, values)).low
    return float("nan") if low is None else float(low)


def _derived(document: Document, found: Values, own: Values) -> dict[str, Value]:
    """Each figure on a relation's left side, from its right side; ranges have a claim for each end."""
    figures = document.figures
    ends: dict[str, dict[str, tuple[float, str, Mark]]] = {}
    for said in (*document.derivations, *(r for r in document.relations if r.derives)):
        for claim in said.claims:
            if not isinstance(claim.left, Reference) or claim.left.cell in own:
                continue
            key = claim.left.cells[0]
            if key in own or (key in ends and claim.left.end in ends[key]):
                continue
            parts = [cell for part in references(claim.right) for cell in part.cells]
            if not all(part in found or _is_given(document, part) for part in parts):
                continue
            value = ours_of(claim.right, figures, found)
            mark = _mark(document, key, parts, found)
            ends.setdefault(key, {})[claim.left.end] = (value, said.says, mark)
    return {key: _value(told) for key, told in ends.items()}


def _value(told: Mapping[str, tuple[float, str, Mark]]) -> Value:
    low, how, mark = told.get("low") or told.get("") or next(iter(told.values()))
    return Value(low, mark, how, high=told["high"][0] if "high" in told and "low" in told else None)


def _mark(document: Document, key: str, parts: list[str], found: Values) -> Mark:
    marks = {found[part].mark for part in parts if part in found}
    if "predicted" in marks or "fitted" in marks:
        return "predicted" if "predicted" in marks else "fitted"
    return "given" if _is_given(document, key) else "predicted"


def _is_given(document: Document, key: str) -> bool:
    """Whether the printed figure itself may be used: never one that is to be predicted."""
    return next(rule for rule in document.rules if fnmatch.fnmatchcase(key, rule.cells)).mark == "given"


def _source(reference: Reference, figures: Mapping[str, Figure], values: Values) -> NumberRange:
    total = sum((_one(key, reference.end, figures, values) for key in reference.cells), Fraction(0))
    return NumberRange(total, total)


def _one(key: str, end: str, figures: Mapping[str, Figure], values: Values) -> Fraction:
    value = values.get(key)
    if value is None:
        number = figures[key].number
        return number.high if end == "high" else number.low
    ours = value.high if end == "high" and value.high is not None else value.value
    return Fraction(ours).limit_denominator(10**12)
