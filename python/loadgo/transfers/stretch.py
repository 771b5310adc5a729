"""Real time over processor time of transfers by load, as medians that a few very long transfers do not move.

A transfer's stretch has no upper limit: it also waits for the other host. So means and straight lines through stretches
follow the longest waits. The interval of a median is that of order statistics, which holds for any law (Conover,
Practical Nonparametric Statistics, 1999, chapter 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from scipy.stats import binom

from loadgo.stats.interval import Interval
from loadgo.transfers.csv_table import Observed

FEWEST_BAND_TRANSFERS = 9
"""Fewest transfers of a band: the interval of their median then leaves out the shortest and the longest."""
_TAIL_PROBABILITY = 0.025


@dataclass(frozen=True)
class StretchBand:
    """Transfers of both directions at neighbouring loads: the median of their real time over processor time."""

    method: str
    lowest_load: float
    highest_load: float
    transfers: int
    median: float
    interval: Interval
    """The 95 % interval of the median."""
    middle_half: Interval
    """The quartiles: half of the transfers lie between them."""


def stretch_by_load(transfers: Sequence[Observed]) -> list[StretchBand]:
    """The bands of each method, by load. A band has whole numbers of load, as many as its transfers need."""
    points: dict[str, list[tuple[float, float]]] = {}
    for transfer in transfers:
        if transfer.load is not None and transfer.real_s and transfer.cpu_s > 0 and transfer.bytes:
            points.setdefault(transfer.method, []).append((transfer.load, transfer.real_s / transfer.cpu_s))
    return [_band(method, band) for method, placed in sorted(points.items()) for band in _bands(sorted(placed))]


def _bands(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Ascending points in bands of neighbouring whole loads. Too few points give no band."""
    bands: list[list[tuple[float, float]]] = []
    for _, whole in groupby(points, lambda point: math.floor(point[0])):
        if bands and len(bands[-1]) < FEWEST_BAND_TRANSFERS:
            bands[-1] += whole
        else:
            bands.append(list(whole))
    if len(bands) > 1 and len(bands[-1]) < FEWEST_BAND_TRANSFERS:
        last = bands.pop()
        bands[-1] += last
    return [band for band in bands if len(band) >= FEWEST_BAND_TRANSFERS]


def _band(method: str, points: Sequence[tuple[float, float]]) -> StretchBand:
    stretches = sorted(stretch for _, stretch in points)
    return StretchBand(
        method,
        points[0][0],
        points[-1][0],
        len(points),
        _quantile(stretches, 0.5),
        median_interval(stretches),
        Interval(_quantile(stretches, 0.25), _quantile(stretches, 0.75)),
    )


def median_interval(ascending: Sequence[float]) -> Interval:
    """The interval between two order statistics that holds the median of any law with at least 95 %."""
    count = len(ascending)
    below = int(binom.ppf(_TAIL_PROBABILITY, count, 0.5))
    if binom.cdf(below, count, 0.5) > _TAIL_PROBABILITY:
        below -= 1
    if below < 0:
        raise ValueError(f"{count} values give no interval of a median: give at least 6")
    return Interval(ascending[below], ascending[count - 1 - below])


def _quantile(ascending: Sequence[float], probability: float) -> float:
    rank = probability * (len(ascending) - 1)
    low = math.floor(rank)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (rank - low) * (ascending[high] - ascending[low])
