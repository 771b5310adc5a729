"""What a transfer's processor time is made of: a part for each transfer, message, byte and fault, with intervals.

Least squares of errors relative to what the parts come to (McCullagh and Nelder 1989, chapter 8: a constant coefficient
of variation) over the transfers of one direction and method, no part below nothing (Lawson and Hanson 1974, chapter
23); transfers are drawn again for the intervals. What all transfers have alike, or in one
proportion to something else, cannot be told from it, and is left to the first: the words say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from loadgo.stats.resample import Interval, drawn, grouped, interval_of
from loadgo.transfers.csv_table import Observed

Floats = NDArray[np.float64]

PARTS = ("transfer", "message", "byte", "fault")
_REPLICATES = 500
_LOADS_APART = 0.5
"""Loads that differ by less tell nothing."""
_ALIKE = 0.9995
"""Two columns that correlate more are one."""
_TURNS = 6
_LEAST = 1e-3
"""A transfer of which the parts explain less than a thousandth counts as if they explained that."""
_RIDGE = 1e-12
"""Of a drawing that has one kind of transfer alone."""


@dataclass(frozen=True)
class Part:
    """A part of the processor time: so much for each `of`."""

    of: str
    each_s: float
    interval: Interval | None
    share: float
    """Of what all parts come to."""


@dataclass(frozen=True)
class Parts:
    """The processor time of the transfers of a kind, taken apart."""

    kind: str
    """`s`, `r` or `b`, with the method where there is one."""
    transfers: int
    parts: tuple[Part, ...]
    untold: tuple[str, ...]
    """What cannot be told apart in these transfers, in words."""
    off: float
    """How far a transfer's time is from what its parts come to: root of the mean of the squared relative errors."""


@dataclass(frozen=True)
class Line:
    """A quantity against the load: `at_none + slope × load`, with intervals."""

    what: str
    transfers: int
    at_none: float
    at_none_interval: Interval | None
    slope: float
    slope_interval: Interval | None


def parts_of(transfers: Sequence[Observed]) -> list[Parts]:
    """The parts of each direction and method that has two transfers or more."""
    kinds = sorted({_kind(one) for one in transfers}, reverse=True)
    groups = {kind: [one for one in transfers if _kind(one) == kind and one.cpu_s > 0] for kind in kinds}
    return [_parts(kind, group) for kind, group in groups.items() if len(group) >= 2]


def against_load(transfers: Sequence[Observed]) -> list[Line]:
    """Processor time a bit, and the stretch of real time, against the load."""
    told = [one for one in transfers if one.load is not None and one.real_s and one.cpu_s > 0 and one.bytes]
    load = np.array([one.load for one in told], dtype=float)
    if not len(load) or np.ptp(load) < _LOADS_APART:
        return []
    asked: list[tuple[str, Callable[[Observed], float]]] = [
        ("processor time a bit, us", lambda one: 1e6 * one.cpu_s / one.bits),
        ("real over processor time", lambda one: (one.real_s or 0.0) / one.cpu_s),
    ]
    return [_line(what, load, np.array([value(one) for one in told])) for what, value in asked]


def _kind(one: Observed) -> str:
    return f"{one.direction} {one.method}".strip()


def _parts(kind: str, group: Sequence[Observed]) -> Parts:
    columns, untold = _told_apart(group)
    names = list(columns)
    cpu = np.array([one.cpu_s for one in group])
    matrix = np.stack([columns[name] for name in names], axis=1)
    each = _fitted(matrix, cpu)
    whole = matrix @ each[0]
    sums = matrix.sum(axis=0) * each[0]
    parts = [
        Part(name, float(each[0, at]), _not_below_nothing(each[:, at], len(group)), float(sums[at] / sums.sum()))
        for at, name in enumerate(names)
    ]
    relative = cpu / np.maximum(whole, _LEAST * cpu)
    return Parts(kind, len(group), tuple(parts), tuple(untold), float(np.sqrt(np.mean((relative - 1) ** 2))))


def _not_below_nothing(draws: Floats, units: int) -> Interval | None:
    found = interval_of(draws, units)
    if found is None:
        return None
    return Interval(min(max(0.0, found.low), float(draws[0])), max(found.high, float(draws[0])))


def _fitted(matrix: Floats, cpu: Floats) -> Floats:
    """The parts that fit best: of all transfers in row 0, then of each drawing.

    A drawing is a sum of the transfers' products, so that a million of them are drawn as fast as a hundred.
    """
    expected = _expected(matrix, cpu)
    relative, target = matrix / expected[:, None], cpu / expected
    lengths = np.linalg.norm(relative, axis=0)
    columns = relative / lengths
    count, width = columns.shape
    products = grouped((columns[:, :, None] * columns[:, None, :]).reshape(count, width * width))
    moments = grouped(columns * target[:, None])
    weights = drawn(count, replicates=_REPLICATES)
    found = [nnls(columns, target)[0]]
    for product, moment in zip(weights[1:] @ products, weights[1:] @ moments, strict=True):
        root = np.linalg.cholesky(product.reshape(width, width) + _RIDGE * np.eye(width))
        found.append(nnls(root.T, np.linalg.solve(root, moment))[0])
    return np.asarray(np.array(found) / lengths, dtype=float)


def _expected(matrix: Floats, cpu: Floats) -> Floats:
    """The time that each transfer's error is a part of: what its parts come to, found by turns with the parts.

    Of its own time it would not do: the transfers that happened to be short would count most, and all parts be too low.
    """
    expected: Floats = cpu
    for _ in range(_TURNS):
        relative = matrix / expected[:, None]
        lengths = np.linalg.norm(relative, axis=0)
        each = nnls(relative / lengths, cpu / expected)[0] / lengths
        expected = np.asarray(np.maximum(matrix @ each, _LEAST * cpu), dtype=float)
    return expected


def _told_apart(group: Sequence[Observed]) -> tuple[dict[str, Floats], list[str]]:
    """The columns that can be told from each other, and words about those that cannot."""
    columns = {"transfer": np.ones(len(group)), "byte": np.array([one.bytes for one in group], dtype=float)}
    untold = []
    counts = {"message": [one.messages for one in group], "fault": [one.faults for one in group]}
    for name, told in counts.items():
        if None in told:
            untold.append(f"{name}s are not in the table")
        else:
            columns[name] = np.array(told, dtype=float)
    kept: dict[str, Floats] = {}
    for name in ("byte", "transfer", "message", "fault"):
        if name not in columns:
            continue
        like = [other for other, column in kept.items() if _alike(columns[name], column)]
        if like or not columns[name].any():
            told_of = (
                f"a part for each {name} cannot be told from one for each {like[0]}"
                if like
                else f"there are no {name}s"
            )
            untold.append(told_of)
        else:
            kept[name] = columns[name]
    return {name: kept[name] for name in PARTS if name in kept}, untold


def _alike(one: Floats, other: Floats) -> bool:
    """True when the two are in one proportion: the cosine of the angle between them is near 1."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return lengths > 0 and float(one @ other) / lengths > _ALIKE


def _line(what: str, load: Floats, values: Floats) -> Line:
    """The straight line through `values`, and through those of each drawing."""
    middle = load.mean()
    x = load - middle
    sums = grouped(np.stack([np.ones_like(x), x, values, x * x, x * values], axis=1))
    one, of_x, of_y, of_xx, of_xy = (drawn(len(load), replicates=_REPLICATES) @ sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (of_xy - of_x * of_y / one) / (of_xx - of_x * of_x / one)
        at_none = (of_y - slope * of_x) / one - slope * middle
    units = len(load)
    return Line(what, units, float(at_none[0]), interval_of(at_none, units), float(slope[0]), interval_of(slope, units))
