"""What the pictures of transfers draw: points and curves by name, for charts and for signs alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadgo.transfers.analysis import Apart
from loadgo.transfers.crossing import Crossing
from loadgo.transfers.csv_table import Observed
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import BITS_PER_GIGABYTE, Row

WORDS = {"s": "sent", "r": "received", "b": "both ways"}
SENDS = {"s": "sends", "r": "receives"}
_STEPS = 48
_MOST_POINTS = 4000
_FEWEST_MARKS = 3


@dataclass(frozen=True)
class Point:
    """One point: of which method and end, where it is, and of what it is the median."""

    method: str
    end: str
    """`sent`, `received` or `both ways`."""
    x: float
    y: float
    bytes: int
    count: int

    @property
    def name(self) -> str:
        """Method and end in words."""
        return f"{self.method} {self.end}".strip()


def points_by_size(transfers: Sequence[Observed]) -> tuple[str, list[Point]]:
    """What x counts, and processor time a bit by the bytes of a message, or of a transfer where there are none.

    A point is the median of the transfers of one method, end, size and message; of very many, of about that size.
    """
    moved = [one for one in transfers if one.bytes and one.cpu_s > 0]
    of_messages = any(one.message or one.messages for one in moved)
    kinds: dict[tuple[str, str, int, float], list[float]] = {}
    many = len(moved) > _MOST_POINTS
    for one in moved:
        x, size = _message(one) if of_messages else float(one.bytes), one.bytes
        if many:
            x, size = _nearest(x), round(_nearest(size))
        kinds.setdefault((one.method, WORDS[one.direction], size, x), []).append(one.cpu_s / one.bits)
    found = [Point(method, end, x, median(of), size, len(of)) for (method, end, size, x), of in sorted(kinds.items())]
    return ("bytes a message" if of_messages else "bytes a transfer"), found


def _nearest(count: float) -> float:
    """The nearest size of eight to each doubling."""
    return float(2 ** (round(8 * math.log2(count)) / 8))


def every(transfers: Sequence[Observed]) -> tuple[int, Sequence[Observed]]:
    """Every so many-th of the transfers, so that a page can draw them: how many-th, and they."""
    step = max(1, -(-len(transfers) // _MOST_POINTS))
    return step, transfers[::step]


def longest(points: Sequence[Point]) -> list[Point]:
    """Of each method, end and place the point of the longest transfers, where a transfer's own part is least."""
    found: dict[tuple[str, float], Point] = {}
    for point in points:
        at = (point.name, point.x)
        if at not in found or point.bytes > found[at].bytes:
            found[at] = point
    return [found[at] for at in sorted(found)]


def _message(one: Observed) -> float:
    """The bytes that a message moved: as asked for, or as counted."""
    if one.message:
        return float(min(one.message, one.bytes))
    return one.bytes / one.messages if one.messages else float(one.bytes)


def name_of(crossing: Crossing) -> str:
    """The method and end of a crossing, in words."""
    way, _, method = crossing.kind.partition(" ")
    return f"{method} {WORDS[way]}".strip()


def price_curve(crossing: Crossing, sizes: Sequence[float]) -> list[tuple[float, float]]:
    """The processor's price of a gigabyte by size, from the least of `sizes` to the greatest."""
    low, high = math.log(min(sizes)), math.log(max(sizes))
    at = [math.exp(low + (high - low) * step / _STEPS) for step in range(_STEPS + 1)]
    return [(size, crossing.gigabyte(size)) for size in at]


def priced_alike(made: Apart) -> list[Crossing]:
    """The crossings that share a chart: those of messages, or where there are none of whole transfers."""
    of_messages = [one for one in made.crossings if one.of == "message"]
    return of_messages or list(made.crossings)


def price_sizes(made: Apart) -> list[float]:
    """The sizes that prices are drawn over, of messages or of whole transfers as `priced_alike` has them: those that
    were measured, and where prices cross if that is near.
    """
    crossings, moved = priced_alike(made), [one for one in made.table.transfers if one.bytes]
    of_messages = any(one.of == "message" for one in crossings)
    measured = [_message(one) if of_messages else float(one.bytes) for one in moved]
    low, high = min(measured), max(measured)
    near = [one.size for one in crossings if one.size is not None and low / 100 <= one.size <= high * 100]
    return [low, high, *near]


def size_marks(sizes: Sequence[float]) -> list[float]:
    """Where an axis of sizes is marked: powers of four, or of two where few of them are in it; else both its ends."""
    low, high = min(sizes), max(sizes)
    for base in (4.0, 2.0):
        marks = [base**power for power in range(-1, 64) if low <= base**power <= high]
        if len(marks) >= _FEWEST_MARKS:
            return marks
    return [low, high]


@dataclass(frozen=True)
class Priced:
    """What a gigabyte costs by one method at one end."""

    name: str
    end: str
    cost: float


def priced_methods(rows: Sequence[Row], prices: Prices) -> list[Priced]:
    """Every row that moved something, the dearest first; which side it was where the ends do not tell."""
    ends = {(row.side, row.direction) for row in rows}
    both = len({direction for _, direction in ends}) < len(ends)
    found = [
        Priced(f"{row.method}{' there' if both and row.side == 'there' else ''}", WORDS[row.direction], cost)
        for row in rows
        if not row.broke_off and (cost := prices.host(row, BITS_PER_GIGABYTE)) is not None and cost > 0
    ]
    return sorted(found, key=lambda one: -one.cost)
