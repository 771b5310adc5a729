"""Values for a published document that are what it prints, for tests of reproductions."""

from __future__ import annotations

import fnmatch

from loadgo.published.document import Document
from loadgo.reproduction.models.values import Mark, ReproducedValue


def rule_mark(told: Document, key: str) -> str:
    """What is to become of a figure."""
    return next(rule.mark for rule in told.rules if fnmatch.fnmatchcase(key, rule.cells))


def as_printed(told: Document, factor: float = 1.0) -> dict[str, ReproducedValue]:
    """Values for all figures that are to be predicted or fitted: what is printed, times `factor`."""
    marks: dict[str, Mark] = {"predicted": "predicted", "fitted": "fitted"}
    return {
        key: ReproducedValue(
            float(figure.number.low) * factor,
            marks[rule_mark(told, key)],
            "as printed",
            high=float(figure.number.high) * factor if figure.number.is_range else None,
        )
        for key, figure in told.figures.items()
        if rule_mark(told, key) in marks
    }
