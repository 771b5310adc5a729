"""Savings of other ways to move the same bytes: each method compared with a byte a call and with blocked records.

Ratios of processor time per bit are computed round by round, so that drift of the host affects both sides. With three
rounds or more, Student's t gives an interval for the mean logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadgo.stats.resample import Interval
from loadgo.stats.student import student_reach
from loadgo.transfers.compared import Times
from loadgo.transfers.rounds import by_method_and_end
from loadgo.transfers.row import Row

BASE_METHODS = ("bytes", "records")
"""The methods of the programs of RFC 392: BIN and BOUT move a byte, or records with headers in blocks."""
_FEWEST_ROUNDS = 3


@dataclass(frozen=True)
class Saving:
    """A method at one end, and the ratio of each base method's processor time per bit to its own."""

    method: str
    side: str
    direction: str
    rounds: int
    cpu_s_per_bit: float
    """The geometric mean of the rounds."""
    over: Mapping[str, Times]
    """Ratios by base method. A base that was not measured is left out."""


def savings(rows: Sequence[Row]) -> list[Saving]:
    """The saving of each method and end. Empty if no base was measured, or only one method.

    They are ordered by direction and cost, the most expensive first.
    """
    logs = {
        end: [math.log(row.cpu_s_per_bit) if not row.broke_off and row.cpu_s_per_bit else math.nan for row in end_rows]
        for end, end_rows in by_method_and_end(rows).items()
    }
    measured = {end: end_logs for end, end_logs in logs.items() if any(map(math.isfinite, end_logs))}
    methods = {method for method, _, _ in measured}
    if not methods & set(BASE_METHODS) or len(methods) < 2:
        return []
    unsorted = []
    for (method, side, direction), end_logs in measured.items():
        bases = {base: measured[base, side, direction] for base in BASE_METHODS if (base, side, direction) in measured}
        over = {base: ratio_of_rounds(base_logs, end_logs) for base, base_logs in bases.items() if base != method}
        complete = [log for log in end_logs if math.isfinite(log)]
        cost = math.exp(sum(complete) / len(complete))
        known_over = {base: times for base, times in over.items() if times is not None}
        unsorted.append(Saving(method, side, direction, len(complete), cost, known_over))
    return sorted(unsorted, key=lambda saving: (saving.direction != "s", saving.side, -saving.cpu_s_per_bit))


def ratio_of_rounds(base: Sequence[float], other: Sequence[float]) -> Times | None:
    """The ratio of `base` to `other`, from the logarithms of the rounds that both completed."""
    pairs = zip(base, other, strict=False)
    logs = [base_log - other_log for base_log, other_log in pairs if math.isfinite(base_log - other_log)]
    if not logs:
        return None
    count, mean = len(logs), sum(logs) / len(logs)
    if count < _FEWEST_ROUNDS:
        return Times(math.exp(mean), None)
    spread = math.sqrt(sum((log - mean) ** 2 for log in logs) / (count - 1))
    half = student_reach(count - 1) * spread / math.sqrt(count)
    return Times(math.exp(mean), Interval(math.exp(mean - half), math.exp(mean + half)))
