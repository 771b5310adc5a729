"""The doubt that estimates of the time of a page fault bring into the comparison of two runs.

Random windows estimate that time (`--meters sampled`). It divides an interaction's processor time into that of page
faults and all else, so both parts have its doubt, and the whole has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched
from loadgo.comparison.side import Side
from loadgo.stats.resample import Interval

_DIVIDED = ("page", "work")
"""The measures that have the doubt."""


def with_estimated_faults(matched: Matched, a: Side, b: Side) -> Matched:
    """The rows, whose measures of page faults have the doubt of the estimates in their intervals and verdicts."""
    if not a.fault_error_share and not b.fault_error_share:
        return matched
    rows = tuple(replace(row, measures=_doubted(row.measures, a, b)) for row in matched.rows)
    return replace(matched, rows=rows, whole=_doubted(matched.whole, a, b))


def _doubted(measures: Mapping[str, Difference], a: Side, b: Side) -> Mapping[str, Difference]:
    page = measures.get("page")
    if page is None or page.before is None or page.after is None:
        return measures
    doubt = math.hypot(_error(page.before, a), _error(page.after, b))
    doubted = {name: _with_doubt(measures[name], doubt) for name in _DIVIDED if name in measures}
    return {**measures, **doubted}


def _error(page: float, side: Side) -> float:
    return page * side.fault_error_share if page else 0.0


def _with_doubt(difference: Difference, doubt: float) -> Difference:
    """The difference with a wider interval. None remains where the doubt is not known."""
    interval, change = difference.interval, difference.change
    if interval is None or change is None or not math.isfinite(doubt):
        return replace(difference, interval=None, estimate_doubt=doubt)
    low, high = (
        change + math.copysign(math.hypot(end - change, doubt), end - change) for end in (interval.low, interval.high)
    )
    return replace(difference, interval=Interval(max(low, -(difference.before or 0.0)), high), estimate_doubt=doubt)
