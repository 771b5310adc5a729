"""The points and curves of the pictures of transfers, for charts and for text plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadgo.transfers.analysis import Apart
from loadgo.transfers.crossing import Crossing
from loadgo.transfers.csv_table import Observed
from loadgo.transfers.parts import POOLED_DIRECTIONS
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import BITS_PER_GIGABYTE, Row

DIRECTION_NOUNS = {"s": "sent", "r": "received", "b": "both ways"}
KIND_NOUNS = {**DIRECTION_NOUNS, POOLED_DIRECTIONS: "sent and received"}
DIRECTION_VERBS = {"s": "sends", "r": "receives"}
_CURVE_STEPS = 48
_MOST_POINTS = 4000
_FEWEST_AXIS_MARKS = 3


@dataclass(frozen=True)
class TransferPoint:
    """The median processor time per bit of `count` transfers of the same method, end and size."""

    method: str
    end: str
    """`sent`, `received` or `both ways`."""
    x: float
    """Bytes of a message, or of a transfer."""
    y: float
    """Seconds of processor time per bit."""
    bytes: int
    """Bytes of a transfer."""
    count: int

    @property
    def name(self) -> str:
        """Method and end in words."""
        return f"{self.method} {self.end}".strip()


def points_by_size(transfers: Sequence[Observed]) -> tuple[str, list[TransferPoint]]:
    """The title of the x axis, and the points: processor time per bit by the size of messages, else of transfers.

    A point is the median of the transfers of one method, end, size and message. Very many transfers are grouped by
    rounded sizes.
    """
    moved = [transfer for transfer in transfers if transfer.bytes and transfer.cpu_s > 0]
    of_messages = any(transfer.message or transfer.messages for transfer in moved)
    costs_by_point: dict[tuple[str, str, int, float], list[float]] = {}
    is_rounded = len(moved) > _MOST_POINTS
    for transfer in moved:
        x, size = _message_bytes(transfer) if of_messages else float(transfer.bytes), transfer.bytes
        if is_rounded:
            x, size = _nearest_size(x), round(_nearest_size(size))
        costs_by_point.setdefault((transfer.method, DIRECTION_NOUNS[transfer.direction], size, x), []).append(
            transfer.cpu_s / transfer.bits
        )
    points = [
        TransferPoint(method, end, x, median(costs), size, len(costs))
        for (method, end, size, x), costs in sorted(costs_by_point.items())
    ]
    return ("bytes a message" if of_messages else "bytes a transfer"), points


def _nearest_size(count: float) -> float:
    """Rounds a size to the nearest eighth of a power of two."""
    return float(2 ** (round(8 * math.log2(count)) / 8))


def thin_points(transfers: Sequence[Observed]) -> tuple[int, Sequence[Observed]]:
    """Every n-th transfer, so that a page can draw them all: n, and the transfers."""
    step = max(1, -(-len(transfers) // _MOST_POINTS))
    return step, transfers[::step]


def longest_transfers(points: Sequence[TransferPoint]) -> list[TransferPoint]:
    """For each method, end and x, the point of the longest transfers, where the cost of a transfer counts least."""
    longest: dict[tuple[str, float], TransferPoint] = {}
    for point in points:
        key = (point.name, point.x)
        if key not in longest or point.bytes > longest[key].bytes:
            longest[key] = point
    return [longest[key] for key in sorted(longest)]


def _message_bytes(transfer: Observed) -> float:
    """The bytes of a message: the requested size, or the mean size of the counted messages."""
    if transfer.message:
        return float(min(transfer.message, transfer.bytes))
    return transfer.bytes / transfer.messages if transfer.messages else float(transfer.bytes)


def name_of(kind: str) -> str:
    """A method and an end, such as `s bytes`, in words."""
    direction, _, method = kind.partition(" ")
    return f"{method} {KIND_NOUNS[direction]}".strip()


def price_curve(crossing: Crossing, sizes: Sequence[float], gigabytes: float = 1.0) -> list[tuple[float, float]]:
    """The processor's price of so many gigabytes by size, from the smallest of `sizes` to the largest."""
    low, high = math.log(min(sizes)), math.log(max(sizes))
    curve_sizes = [math.exp(low + (high - low) * step / _CURVE_STEPS) for step in range(_CURVE_STEPS + 1)]
    return [(size, crossing.gigabyte(size) * gigabytes) for size in curve_sizes]


def shared_crossings(breakdown: Apart) -> list[Crossing]:
    """The crossings that share a chart: those of messages, or without messages those of transfers."""
    of_messages = [crossing for crossing in breakdown.crossings if crossing.of == "message"]
    return of_messages or list(breakdown.crossings)


def price_sizes(breakdown: Apart) -> list[float]:
    """The sizes that a chart of prices covers: the smallest and the largest measured, and the crossings near them.

    They are sizes of messages or of transfers, as in `shared_crossings`.
    """
    crossings = shared_crossings(breakdown)
    of_messages = any(crossing.of == "message" for crossing in crossings)
    transfers = [transfer for transfer in breakdown.table.transfers if transfer.bytes]
    measured = [_message_bytes(transfer) if of_messages else float(transfer.bytes) for transfer in transfers]
    low, high = min(measured), max(measured)
    crossed = [crossing.size for crossing in crossings if crossing.size is not None]
    return [low, high, *(size for size in crossed if low / 100 <= size <= high * 100)]


def size_marks(sizes: Sequence[float]) -> list[float]:
    """The marks of an axis of sizes: powers of four, or powers of two on a short axis, or its two ends."""
    low, high = min(sizes), max(sizes)
    for base in (4.0, 2.0):
        marks = [base**power for power in range(-1, 64) if low <= base**power <= high]
        if len(marks) >= _FEWEST_AXIS_MARKS:
            return marks
    return [low, high]


@dataclass(frozen=True)
class PricedMethod:
    """The printed cost of one method at one end, in the currency of the prices: see `Prices.amounts`."""

    name: str
    end: str
    cost: float


def priced_methods(rows: Sequence[Row], prices: Prices) -> list[PricedMethod]:
    """Every row that moved bytes, the most expensive first.

    If both sides moved data in the same direction, the name of the far side's method has `there`.
    """
    ends = {(row.side, row.direction) for row in rows}
    has_same_directions = len({direction for _, direction in ends}) < len(ends)
    amounts = prices.amounts(rows)
    methods = [
        PricedMethod(
            f"{row.method}{' there' if has_same_directions and row.side == 'there' else ''}",
            DIRECTION_NOUNS[row.direction],
            cost * amounts.count("gigabyte"),
        )
        for row in rows
        if not row.broke_off and (cost := prices.host(row, BITS_PER_GIGABYTE)) is not None and cost > 0
    ]
    return sorted(methods, key=lambda method: -method.cost)
