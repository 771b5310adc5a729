"""A comparison made of signs: each row's change with its interval about nothing, and response times side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from loadgo.comparison.chart_data import DRAWN, Distribution, DrawnRow, distribution_of, drawn_rows
from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import cut, line, marks, place
from loadgo.notation.figures import NEVER, duration
from loadgo.notation.measures import name_of

_NAME = 24
_WIDEST = 72
"""How many signs an axis has at most."""
_FARTHEST = 2.0
"""A change of more than this, as a part of what was before, is drawn at the edge."""
_MOST_ROWS = 20
"""Of more rows a page of text draws sub-totals and the whole alone: its tables have them all."""
_IN_A_BIN = 12
"""Interactions of the side that has fewer, on average: of fewer the picture shows chance."""
_FEWEST_BINS = 12


def comparison_pictures(made: Comparison) -> tuple[SignPicture, ...]:
    """What there is to draw of it on a page of text."""
    found = []
    for measure in DRAWN:
        rows = _few([one for one in drawn_rows(made, measure) if one.told.relative is not None])
        if rows:
            title = f"How much {name_of(measure)} changed from A to B"
            found.append(SignPicture(title, partial(change_lines, rows)))
    told = distribution_of(made)
    if told is not None:
        found.append(SignPicture("How response is distributed", partial(distribution_lines, told)))
    return tuple(found)


def change_lines(rows: Sequence[DrawnRow], width: int) -> list[str]:
    """A row for each, of at most `width` signs: what its change is, and between what it may be."""
    said = [(cut(one.name, _NAME), change(one.told), one.told.verdict) for one in rows]
    sides = [max(len(row[column]) for row in said) for column in range(3)]
    axis = min(_WIDEST, width - sum(sides) - 6)
    reach = _reach(rows)
    lines = [
        f"{name:{sides[0]}}  {_change(one, reach, axis)}  {figure:>{sides[1]}}  {verdict}".rstrip()
        for one, (name, figure, verdict) in zip(rows, said, strict=True)
    ]
    between = ", ─ its 95 % interval" if any(one.told.interval for one in rows) else ""
    ends = f"{-100 * reach:.0f} % to +{100 * reach:.0f} %".replace("-", "−")
    legend = f"{ends}; │ no change, ● the change{between}"
    return [*lines, f"{' ' * max(0, min(sides[0] + 2, width - len(legend)))}{legend}"[:width]]


def _few(rows: list[DrawnRow]) -> list[DrawnRow]:
    return rows if len(rows) <= _MOST_ROWS else [one for one in rows if one.kind != "row"] or rows[:_MOST_ROWS]


def distribution_lines(told: Distribution, width: int) -> list[str]:
    """Two rows over one logarithmic axis of response time: the higher, the more interactions."""
    finite = [value for value in (*told.a_ns, *told.b_ns) if 0 < value < math.inf]
    if not finite:
        return ["nobody was answered"]
    low, high = min(finite), max(finite)
    bins = max(_FEWEST_BINS, min(_WIDEST, width - 3, min(told.counts) // _IN_A_BIN))
    wide = max(1, min(_WIDEST, width - 3) // bins)
    signs = wide * bins
    edges = np.geomspace(low, max(high, low * 1.01), bins + 1)
    shares = [_shares(values, told.probabilities, edges) for values in (told.a_ns, told.b_ns)]
    most = max(max(one) for one in shares) or 1.0
    rows = [line([share / most for share in one for _ in range(wide)]) for one in shares]
    ends = f"{duration(low)}{duration(high):>{max(1, signs - len(duration(low)))}}"
    lines = [f"A  {rows[0]}".rstrip(), f"B  {rows[1]}".rstrip(), f"   {ends}"]
    return [
        *lines,
        *(f"{letter}  {_quantiles(values, told)}"[:width] for letter, values in (("A", told.a_ns), ("B", told.b_ns))),
    ]


def _shares(
    values: Sequence[float], probabilities: Sequence[float], edges: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[float]:
    """The share of interactions between the edges, by the quantiles; none of times that are all the same."""
    places = np.maximum(values, 1.0)
    there = np.append(places[1:] > places[:-1], True)
    below = np.interp(np.log(edges), np.log(places[there]), np.array(probabilities)[there], left=0.0)
    return [float(share) for share in np.diff(below)]


def _quantiles(values: Sequence[float], told: Distribution) -> str:
    shown = {
        name: values[told.probabilities.index(at)]
        for name, at in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
    }
    return "  ".join(f"{name} {duration(value) if math.isfinite(value) else NEVER:>8}" for name, value in shown.items())


def _reach(rows: Sequence[DrawnRow]) -> float:
    """The axis is from minus this to plus this: what holds all changes and their intervals, in round figures."""
    ends = [0.01]
    for one in rows:
        ends.append(abs(one.told.relative or 0.0))
        if one.told.interval is not None and one.told.before:
            ends += [abs(one.told.interval.low / one.told.before), abs(one.told.interval.high / one.told.before)]
    most = min(max(ends), _FARTHEST)
    tens = 10.0 ** math.floor(math.log10(most))
    return next(step * tens for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * tens >= most * (1 - 1e-9))


def _change(one: DrawnRow, reach: float, width: int) -> str:
    def at(value: float) -> int:
        return place(value, -reach, reach, width)

    before, between = one.told.before or 1.0, None
    if one.told.interval is not None:
        between = at(one.told.interval.low / before), at(one.told.interval.high / before)
    crossed = between is not None and between[0] <= at(0.0) <= between[1]
    return marks(width, [(at(0.0), "┼" if crossed else "│"), (at(one.told.relative or 0.0), "●")], between)
