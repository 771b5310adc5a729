"""The values of a side's expressions, such as `60 * {results/elapsed/645}`, from the document's figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadgo.published import claims
from loadgo.published.document import Document
from loadgo.published.failures import Numbers

IDLE_TOTAL, TABLE_TOTAL = "idle", "total"
"""The names in `[sides.NAME.time]` of printed totals: of the idle parts, and of all parts."""

_IDLE_PART_BEGINNINGS = (f"{IDLE_TOTAL} ", f"{IDLE_TOTAL}:")
"""The beginnings of the names of idle time with a cause, as tables and as pages have them."""


def value_of(document: Document, expression: str | float, numbers: Numbers) -> float:
    """The value of an expression of a side. Raises `ValueError` for one that cannot be read or has no value."""
    if not isinstance(expression, str):
        return float(expression)

    def find(pattern: str) -> tuple[str, ...]:
        key = f"{document.name}/{pattern}"
        return (key,) if key in document.figures else ()

    value = claims.evaluate(claims.resolve(claims.parse_expression(expression), find), numbers.exact).low
    if value is None:
        raise ValueError(f"{expression!r} has no value: it divides by 0, or subtracts what has no end")
    return float(value)


def part_names(time: Mapping[str, Any]) -> list[str]:
    """The categories of a total time table without its own totals, which repeat them."""
    has_idle_parts = any(name.startswith(_IDLE_PART_BEGINNINGS) for name in time)
    return [name for name in time if name != TABLE_TOTAL and not (name == IDLE_TOTAL and has_idle_parts)]


def idle_names(time: Mapping[str, Any]) -> list[str]:
    """The idle categories among the parts of a total time table."""
    return [name for name in part_names(time) if name == IDLE_TOTAL or name.startswith(_IDLE_PART_BEGINNINGS)]
