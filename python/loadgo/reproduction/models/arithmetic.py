"""Figures that need no run: they follow from other figures by relations that the document itself states."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from fractions import Fraction

from loadgo.published.claims import Expression, NumberRange, Reference, evaluate, references
from loadgo.published.document import Document, Figure
from loadgo.reproduction.models.values import Mark, ReproducedValue, ReproducedValues

MOST_DERIVATION_ROUNDS = 8
"""Largest number of figures in a chain that follow from each other. Chosen by hand."""


def with_arithmetic(document: Document, values: ReproducedValues) -> ReproducedValues:
    """The values, with the figures that follow from them and from given figures. An existing value is kept.

    A figure that follows from a predicted figure is predicted, and from a fitted figure fitted. A figure that follows
    from given figures alone has the mark of the document's rule: given, or predicted by arithmetic.
    """
    all_values = dict(values)
    for _ in range(MOST_DERIVATION_ROUNDS):
        derived = _derived(document, all_values, values)
        if derived == {key: value for key, value in all_values.items() if key not in values}:
            break
        all_values = {**values, **derived}
    return all_values


def evaluate_with_ours(expression: Expression, figures: Mapping[str, Figure], values: ReproducedValues) -> float:
    """The value of the expression with our figures, or the printed figure where we have none."""
    low = evaluate(expression, lambda reference: _reference_value(reference, figures, values)).low
    return float("nan") if low is None else float(low)


def _derived(document: Document, values: ReproducedValues, own: ReproducedValues) -> dict[str, ReproducedValue]:
    """Each figure on a relation's left side, from its right side. A range has a claim for each end."""
    figures = document.figures
    ends: dict[str, dict[str, tuple[float, str, Mark]]] = {}
    for relation in (*document.derivations, *(relation for relation in document.relations if relation.derives)):
        for claim in relation.claims:
            if not isinstance(claim.left, Reference) or claim.left.cell in own:
                continue
            key = claim.left.cells[0]
            if key in own or (key in ends and claim.left.end in ends[key]):
                continue
            cells = [cell for reference in references(claim.right) for cell in reference.cells]
            if not all(cell in values or _is_given(document, cell) for cell in cells):
                continue
            value = evaluate_with_ours(claim.right, figures, values)
            mark = _mark(document, key, cells, values)
            ends.setdefault(key, {})[claim.left.end] = (value, relation.says, mark)
    return {key: _value(value_ends) for key, value_ends in ends.items()}


def _value(ends: Mapping[str, tuple[float, str, Mark]]) -> ReproducedValue:
    low, how, mark = ends.get("low") or ends.get("") or next(iter(ends.values()))
    return ReproducedValue(low, mark, how, high=ends["high"][0] if "high" in ends and "low" in ends else None)


def _mark(document: Document, key: str, cells: list[str], values: ReproducedValues) -> Mark:
    marks = {values[cell].mark for cell in cells if cell in values}
    if "predicted" in marks or "fitted" in marks:
        return "predicted" if "predicted" in marks else "fitted"
    return "given" if _is_given(document, key) else "predicted"


def _is_given(document: Document, key: str) -> bool:
    """Whether the printed figure itself may be used, which is forbidden for figures to be predicted."""
    return next(rule for rule in document.rules if fnmatch.fnmatchcase(key, rule.cells)).mark == "given"


def _reference_value(reference: Reference, figures: Mapping[str, Figure], values: ReproducedValues) -> NumberRange:
    total = sum((_cell_value(key, reference.end, figures, values) for key in reference.cells), Fraction(0))
    return NumberRange(total, total)


def _cell_value(key: str, end: str, figures: Mapping[str, Figure], values: ReproducedValues) -> Fraction:
    value = values.get(key)
    if value is None:
        number = figures[key].number
        return number.high if end == "high" else number.low
    ours = value.high if end == "high" and value.high is not None else value.value
    return Fraction(ours).limit_denominator(10**12)
