"""The parts of a transfer's processor time: a part for each transfer, message, byte and fault, with intervals.

The parts are fitted by least squares over the transfers of one direction and method. Errors are relative to the sum of
the parts, for a constant coefficient of variation (McCullagh and Nelder 1989, chapter 8). No part is negative (Lawson
and Hanson 1974, chapter 23). Transfers are resampled for the intervals. Two quantities that are proportional in all
transfers cannot be separated: the first gets the part of both, and a sentence says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from loadgo.stats.resample import Floats, Interval, drawn, grouped, interval_of
from loadgo.transfers.csv_table import Observed

COST_PARTS = ("transfer", "message", "byte", "fault")
POOLED_DIRECTIONS = "sr"
"""The direction of parts over sends and receives together."""
_REPLICATES = 500
_FEWEST_LOADS_RANGE = 0.5
"""Smallest range of loads over which a regression is made. Chosen by hand."""
_PROPORTIONAL_COSINE_RATIO = 0.9995
"""Cosine of the angle between two columns above which they count as proportional. Chosen by hand."""
_TURNS = 6
_LEAST_EXPLAINED_SHARE = 1e-3
"""Smallest share of a transfer's time that its parts explain: a smaller share counts as this one."""
_RIDGE_FACTOR = 1e-12
"""Ridge term that keeps the least squares solvable for a resample with one kind of transfer."""


@dataclass(frozen=True)
class Part:
    """A part of the processor time: the time for each transfer, message, byte or fault (`of`)."""

    of: str
    each_s: float
    interval: Interval | None
    share: float
    """Share of the sum of all parts."""


@dataclass(frozen=True)
class Parts:
    """The parts of the processor time of one kind of transfers."""

    kind: str
    """`s`, `r`, `b`, or `sr` for both directions pooled; and the method if there is one."""
    transfers: int
    parts: tuple[Part, ...]
    untold: tuple[str, ...]
    """Sentences about parts that cannot be separated in these transfers."""
    off: float
    """Distance of a transfer's time from the sum of its parts: root of the mean squared relative error."""


@dataclass(frozen=True)
class Line:
    """The regression of a quantity on the load: `at_none + slope × load`, with intervals."""

    what: str
    transfers: int
    at_none: float
    at_none_interval: Interval | None
    slope: float
    slope_interval: Interval | None


def parts_of(transfers: Sequence[Observed]) -> list[Parts]:
    """The parts of each direction and method with at least two transfers."""
    kinds = sorted({_kind(transfer) for transfer in transfers}, reverse=True)
    measured = [transfer for transfer in transfers if transfer.cpu_s > 0]
    groups = {kind: [transfer for transfer in measured if _kind(transfer) == kind] for kind in kinds}
    return [_parts(kind, group) for kind, group in groups.items() if len(group) >= 2]


def pooled_parts_of(transfers: Sequence[Observed]) -> list[Parts]:
    """The parts of each method over sends and receives together, as RFC 392 has one price for both."""
    pooled = []
    for method in sorted({transfer.method for transfer in transfers}):
        ends = [t for t in transfers if t.method == method and t.direction in POOLED_DIRECTIONS and t.cpu_s > 0]
        if {transfer.direction for transfer in ends} == set(POOLED_DIRECTIONS):
            pooled.append(_parts(f"{POOLED_DIRECTIONS} {method}".strip(), ends))
    return pooled


def against_load(transfers: Sequence[Observed]) -> list[Line]:
    """Regressions on the load of processor time per bit, and of real time over processor time."""
    measured = [
        transfer
        for transfer in transfers
        if transfer.load is not None and transfer.real_s and transfer.cpu_s > 0 and transfer.bytes
    ]
    load = np.array([transfer.load for transfer in measured], dtype=float)
    if not len(load) or np.ptp(load) < _FEWEST_LOADS_RANGE:
        return []
    quantities: list[tuple[str, Callable[[Observed], float]]] = [
        ("processor time per bit, us", lambda transfer: 1e6 * transfer.cpu_s / transfer.bits),
        ("real over processor time", lambda transfer: (transfer.real_s or 0.0) / transfer.cpu_s),
    ]
    return [_line(name, load, np.array([quantity(transfer) for transfer in measured])) for name, quantity in quantities]


def _kind(transfer: Observed) -> str:
    return f"{transfer.direction} {transfer.method}".strip()


def _parts(kind: str, group: Sequence[Observed]) -> Parts:
    columns, untold = _separable_columns(group)
    names = list(columns)
    cpu = np.array([transfer.cpu_s for transfer in group])
    matrix = np.stack([columns[name] for name in names], axis=1)
    each_s = _fitted(matrix, cpu)
    expected = matrix @ each_s[0]
    sums = matrix.sum(axis=0) * each_s[0]
    parts = [
        Part(
            name,
            float(each_s[0, index]),
            _non_negative_interval(each_s[:, index], len(group)),
            float(sums[index] / sums.sum()),
        )
        for index, name in enumerate(names)
    ]
    relative = cpu / np.maximum(expected, _LEAST_EXPLAINED_SHARE * cpu)
    return Parts(kind, len(group), tuple(parts), tuple(untold), float(np.sqrt(np.mean((relative - 1) ** 2))))


def _non_negative_interval(draws: Floats, units: int) -> Interval | None:
    interval = interval_of(draws, units)
    if interval is None:
        return None
    return Interval(min(max(0.0, interval.low), float(draws[0])), max(interval.high, float(draws[0])))


def _fitted(matrix: Floats, cpu: Floats) -> Floats:
    """The best parts: of all transfers in row 0, and then of each resample.

    A resample is a sum of the transfers' products, so a million transfers are resampled as fast as a hundred.
    """
    expected = _expected(matrix, cpu)
    relative, target = matrix / expected[:, None], cpu / expected
    lengths = np.linalg.norm(relative, axis=0)
    columns = relative / lengths
    count, width = columns.shape
    products = grouped((columns[:, :, None] * columns[:, None, :]).reshape(count, width * width))
    moments = grouped(columns * target[:, None])
    weights = drawn(count, replicates=_REPLICATES)
    solutions = [nnls(columns, target)[0]]
    for product, moment in zip(weights[1:] @ products, weights[1:] @ moments, strict=True):
        root = np.linalg.cholesky(product.reshape(width, width) + _RIDGE_FACTOR * np.eye(width))
        solutions.append(nnls(root.T, np.linalg.solve(root, moment))[0])
    return np.asarray(np.array(solutions) / lengths, dtype=float)


def _expected(matrix: Floats, cpu: Floats) -> Floats:
    """The sum of each transfer's parts, to which its error is relative. Sums and parts are computed in turns.

    Errors relative to the measured time would give the largest weight to transfers that happened to be short, and all
    parts would be too low.
    """
    expected: Floats = cpu
    for _ in range(_TURNS):
        relative = matrix / expected[:, None]
        lengths = np.linalg.norm(relative, axis=0)
        each_s = nnls(relative / lengths, cpu / expected)[0] / lengths
        expected = np.asarray(np.maximum(matrix @ each_s, _LEAST_EXPLAINED_SHARE * cpu), dtype=float)
    return expected


def _separable_columns(group: Sequence[Observed]) -> tuple[dict[str, Floats], list[str]]:
    """The columns that can be separated, and sentences about those that cannot."""
    columns = {
        "transfer": np.ones(len(group)),
        "byte": np.array([transfer.bytes for transfer in group], dtype=float),
    }
    untold = []
    counts_by_part = {
        "message": [transfer.messages for transfer in group],
        "fault": [transfer.faults for transfer in group],
    }
    for name, counts in counts_by_part.items():
        if None in counts:
            untold.append(f"{name}s are not in the table")
        else:
            columns[name] = np.array(counts, dtype=float)
    separable: dict[str, Floats] = {}
    for name in ("byte", "transfer", "message", "fault"):
        if name not in columns:
            continue
        proportional = [other for other, column in separable.items() if _are_proportional(columns[name], column)]
        if proportional:
            untold.append(f"a part for each {name} cannot be told from one for each {proportional[0]}")
        elif not columns[name].any():
            untold.append(f"there are no {name}s")
        else:
            separable[name] = columns[name]
    return {name: separable[name] for name in COST_PARTS if name in separable}, untold


def _are_proportional(column: Floats, other: Floats) -> bool:
    """Whether two columns are proportional: the cosine of the angle between them is near 1."""
    lengths = float(np.linalg.norm(column) * np.linalg.norm(other))
    return lengths > 0 and float(column @ other) / lengths > _PROPORTIONAL_COSINE_RATIO


def _line(name: str, load: Floats, values: Floats) -> Line:
    """The regression line of `values`, and of each resample."""
    middle = load.mean()
    x = load - middle
    sums = grouped(np.stack([np.ones_like(x), x, values, x * x, x * values], axis=1))
    n, sum_x, sum_y, sum_xx, sum_xy = (drawn(len(load), replicates=_REPLICATES) @ sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (sum_xy - sum_x * sum_y / n) / (sum_xx - sum_x * sum_x / n)
        at_none = (sum_y - slope * sum_x) / n - slope * middle
    units = len(load)
    return Line(name, units, float(at_none[0]), interval_of(at_none, units), float(slope[0]), interval_of(slope, units))
