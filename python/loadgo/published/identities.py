"""The identities of a total time table in a side of a user's own document, as relations.

The parts of the table are all of the time, and the idle parts are the idle time. The processor time that is charged is
at most the busy time. `[[relations]]` in the file are checked beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from loadgo.published.side_values import IDLE_TOTAL, TABLE_TOTAL, idle_names, part_names


def side_relations(sides: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The relations that hold for every side, in the form of `[[relations]]`."""
    return [relation for name, section in sides.items() for relation in _relations(name, section)]


def _relations(name: str, section: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    time = section.get("time", {})
    parts, idle = part_names(time), idle_names(time)
    if parts:
        whole = _term(time[TABLE_TOTAL]) if TABLE_TOTAL in time else "100"
        says = "add up to its total" if TABLE_TOTAL in time else "are all of the time, 100 %"
        yield {
            "name": f"total time of {name}",
            "says": f"The parts of the total time table of {name} {says}.",
            "claim": f"{_sum(time, parts)} = {whole}",
        }
    if IDLE_TOTAL in time and idle != [IDLE_TOTAL]:
        yield {
            "name": f"idle time of {name}",
            "says": f"The idle time of {name} is the sum of its causes.",
            "claim": f"{_term(time[IDLE_TOTAL])} = {_sum(time, idle)}",
        }
    if all(key in section for key in ("cpu_s", "elapsed_s", "processors")):
        idle_sum = _sum(time, idle) if len(idle) == 1 else f"({_sum(time, idle)})"
        busy = f" * (100 - {idle_sum}) / 100" if idle else ""
        several = "" if section["processors"] == 1 else f" * {_term(section['processors'])}"
        time_of_all = f"{_term(section['elapsed_s'])}{several}"
        when = "the processors were busy" if idle else "there is in the elapsed time of the processors"
        yield {
            "name": f"processor time of {name}",
            "says": f"The processor time of {name} is no more than {when}.",
            "claim": f"{_term(section['cpu_s'])} <= {time_of_all}{busy}",
        }


def _sum(time: Mapping[str, Any], names: list[str]) -> str:
    return " + ".join(_term(time[name]) for name in names)


def _term(expression: str | int | Decimal) -> str:
    """An expression of a side as a term of a claim."""
    if not isinstance(expression, str):
        return f"{expression:f}" if isinstance(expression, Decimal) else str(expression)
    is_single = expression.startswith("{") and expression.find("}") == len(expression) - 1
    return expression if is_single else f"({expression})"
