"""Values for a published document that are what it prints, for tests of reproductions."""

from __future__ import annotations

import fnmatch

from loadgo.published.document import Document
from loadgo.reproduction.models.values import Mark, ReproducedValue


def rule_mark(document: Document, key: str) -> str:
    """The mark of the rule for a figure."""
    return next(rule.mark for rule in document.rules if fnmatch.fnmatchcase(key, rule.cells))


def as_printed(document: Document, factor: float = 1.0) -> dict[str, ReproducedValue]:
    """Values for all figures that are to be predicted or fitted: what is printed, times `factor`."""
    marks: dict[str, Mark] = {"predicted": "predicted", "fitted": "fitted"}
    return {
        key: ReproducedValue(
            float(figure.number.low) * factor,
            marks[rule_mark(document, key)],
            "as printed",
            high=float(figure.number.high) * factor if figure.number.is_range else None,
        )
        for key, figure in document.figures.items()
        if rule_mark(document, key) in marks
    }
