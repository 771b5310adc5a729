"""Sides with different loads: other users, think times or scripts change every figure, whatever the system does.

Nothing is then called better or worse, since the difference is not the system's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched
from loadgo.records.conditions import SCRIPT_TEXT, DifferingCondition

UNLIKE_LOADS_DOUBT = "the loads differ, and no figure tells their effect from the system's"
"""The reason against the trust in such a comparison."""
_LOAD_CONDITIONS = ("users", "model", "arrivals_per_second", "arrivals_from", "think", "typing", SCRIPT_TEXT)


def unlike_loads(conditions: Sequence[DifferingCondition]) -> tuple[DifferingCondition, ...]:
    """The conditions of the load that differ, where both sides tell them. No typing at all is a load of its own.

    A script's name counts only where its text differs, too.
    """
    found = [
        condition
        for condition in conditions
        if condition.name in _LOAD_CONDITIONS and (condition.name == "typing" or (condition.before and condition.after))
    ]
    if any(condition.name == SCRIPT_TEXT for condition in found):
        return tuple(condition for condition in conditions if condition in found or condition.name == "script")
    return tuple(found)


def without_merit(matched: Matched) -> Matched:
    """The rows and the whole, in which no figure is better or worse."""
    rows = tuple(replace(row, measures=_without_merit(row.measures)) for row in matched.rows)
    return replace(matched, rows=rows, whole=_without_merit(matched.whole))


def _without_merit(measures: Mapping[str, Difference]) -> dict[str, Difference]:
    return {name: replace(difference, has_merit=False) for name, difference in measures.items()}
