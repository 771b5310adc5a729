"""Closed queueing networks with several classes of user: exact mean values of product-form networks.

Product form (Baskett, Chandy, Muntz and Palacios 1975) holds for stations where everybody is served at once (think
time, a delay), for processor sharing with any law of service, and for queues in order of coming with exponential
service that is the same for all classes; `servers` at a station serve min(n, servers) at once. The mean values are
those of exact mean-value analysis (Reiser and Lavenberg 1980), made here from normalising constants (Buzen 1973;
Reiser and Kobayashi 1975): every term is positive, so nothing cancels with many servers, where the recursion of the
mean values is known to lose all digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import BadArgument

Constants = NDArray[np.longdouble]
"""Normalising constants by the number of users of each class."""

_MOST_STATES = 20_000
"""Populations to go through; the work grows with its square."""


@dataclass(frozen=True)
class Station:
    """Where users are served."""

    name: str
    demands_s: tuple[float, ...]
    """Service that an interaction of each class asks for here, in all its visits."""
    servers: int = 1
    """How many are served at once, each at full speed."""


@dataclass(frozen=True)
class Class:
    """Users of a kind."""

    name: str
    users: int
    think_s: float


@dataclass(frozen=True)
class Visited:
    """What one station comes to."""

    utilisation: float
    """Of each server."""
    queue: tuple[float, ...]
    """Mean number of each class there, those in service included."""
    response_s: tuple[float, ...]
    """Time that an interaction of each class spends here, in all its visits."""


@dataclass(frozen=True)
class MeanValues:
    """A closed network in the steady state; tuples are in the order of the classes."""

    throughput: tuple[float, ...]
    response_s: tuple[float, ...]
    stations: dict[str, Visited]


def mean_values(classes: Sequence[Class], stations: Sequence[Station]) -> MeanValues:
    """The exact mean values; raises `ValueError` for a network that is too large, or without any service."""
    shape = tuple(one.users + 1 for one in classes)
    if int(np.prod(shape)) > _MOST_STATES:
        raise BadArgument(
            f"{int(np.prod(shape)):,} populations are too many for exact mean values: at most {_MOST_STATES:,}"
        )
    scale = max((demand for station in stations for demand in station.demands_s), default=0.0)
    if scale <= 0.0:
        raise BadArgument("no station gives any service")
    thinking = _served_at_once(shape, [one.think_s / scale for one in classes])
    each = [_served(shape, [demand / scale for demand in station.demands_s], station.servers) for station in stations]
    whole = reduce(_convolved, each, thinking)
    if not np.isfinite(whole).all() or whole[tuple(n - 1 for n in shape)] == 0.0:
        raise BadArgument("the numbers of this network are beyond the machine's arithmetic: fewer users, please")
    throughput = tuple(_throughput(whole, index) / scale for index in range(len(classes)))
    visited = {}
    for index, station in enumerate(stations):
        others = reduce(_convolved, [part for other, part in enumerate(each) if other != index], thinking)
        visited[station.name] = _visited(station, each[index], others, throughput)
    responses = tuple(
        one.users / rate - one.think_s if rate else 0.0 for one, rate in zip(classes, throughput, strict=True)
    )
    return MeanValues(throughput, responses, visited)


def _served_at_once(shape: tuple[int, ...], demands: Sequence[float]) -> Constants:
    """Constants of a station where everybody is served at once: the product of D^n / n!."""
    columns = []
    for size, demand in zip(shape, demands, strict=True):
        factors = np.array([1.0, *(demand / n for n in range(1, size))], dtype=np.longdouble)
        columns.append(np.multiply.accumulate(factors))
    return reduce(np.multiply.outer, columns)


def _served(shape: tuple[int, ...], demands: Sequence[float], servers: int) -> Constants:
    """Of a station of so many servers: the product of D^n / n!, times all! over the product of min(j, servers)."""
    together = np.add.reduce(np.indices(shape), axis=0)
    factors = np.array([1.0, *(n / min(n, servers) for n in range(1, int(together.max()) + 1))], dtype=np.longdouble)
    shared: Constants = np.multiply.accumulate(factors)[together] * _served_at_once(shape, demands)
    return shared


def _convolved(left: Constants, right: Constants) -> Constants:
    """The constants of two parts of a network together."""
    result = np.zeros_like(left)
    for place in itertools.product(*map(range, left.shape)):
        if left[place]:
            there = tuple(slice(n, None) for n in place)
            rest = tuple(slice(0, size - n) for n, size in zip(place, left.shape, strict=True))
            result[there] += left[place] * right[rest]
    return result


def _throughput(whole: Constants, index: int) -> float:
    """Of one class, with all users: the constant without one of its users over the constant."""
    if whole.shape[index] == 1:
        return 0.0
    one_less = tuple(size - 1 - (axis == index) for axis, size in enumerate(whole.shape))
    return float(whole[one_less] / whole[tuple(size - 1 for size in whole.shape)])


def _visited(station: Station, part: Constants, others: Constants, throughput: tuple[float, ...]) -> Visited:
    """One station, from the chance of each population there: its constant times that of the others with the rest."""
    turned = others[tuple(slice(None, None, -1) for _ in others.shape)]
    chances = part * turned
    chances = chances / chances.sum()
    queue = tuple(float((chances * places).sum()) for places in np.indices(part.shape))
    response = tuple(length / rate if rate else 0.0 for length, rate in zip(queue, throughput, strict=True))
    busy = sum(rate * demand for rate, demand in zip(throughput, station.demands_s, strict=True))
    return Visited(busy / station.servers, queue, response)
