"""Closed queueing networks with several classes of user, solved a second way: an oracle of curves and simulations.

The networks are those of `loadgo.theory.populations`, and their normalising constants are the same. Here the stations
are convolved with each other, in time proportional to the square of the number of populations. All terms are positive,
so nothing cancels. With many servers the recursion of mean values loses all digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from loadgo.theory.populations import Class, Constants, Station

_MOST_STATES = 20_000
"""Largest number of populations to compute. The work grows with its square. Chosen by hand."""


@dataclass(frozen=True)
class StationValues:
    """Mean values of one station."""

    utilisation: float
    """Utilisation of each server, from 0 to 1."""
    queue: tuple[float, ...]
    """Mean number of users of each class at the station, in the queue or in service."""
    response_s: tuple[float, ...]
    """Time that an interaction of each class spends at the station, all its visits together."""


@dataclass(frozen=True)
class MeanValues:
    """A closed network in the steady state; tuples are in the order of the classes."""

    throughput: tuple[float, ...]
    response_s: tuple[float, ...]
    stations: dict[str, StationValues]


def mean_values(classes: Sequence[Class], stations: Sequence[Station]) -> MeanValues:
    """Computes the exact mean values.

    Raises `ValueError` for a network that is too large, or in which no station serves anybody.
    """
    shape = tuple(user_class.users + 1 for user_class in classes)
    if int(np.prod(shape)) > _MOST_STATES:
        raise ValueError(
            f"{int(np.prod(shape)):,} populations are too many for exact mean values: at most {_MOST_STATES:,}"
        )
    scale = max((demand for station in stations for demand in station.demands_s), default=0.0)
    if scale <= 0.0:
        raise ValueError("no station gives any service")
    thinking = _delay_constants(shape, [user_class.think_s / scale for user_class in classes])
    parts = [
        _queue_constants(shape, [demand / scale for demand in station.demands_s], station.servers)
        for station in stations
    ]
    constants = reduce(_convolve, parts, thinking)
    if not np.isfinite(constants).all() or constants[tuple(n - 1 for n in shape)] == 0.0:
        raise ValueError("the constants of this network exceed the range of floating-point numbers: use fewer users")
    throughput = tuple(_class_throughput(constants, index) / scale for index in range(len(classes)))
    values_by_station = {}
    for index, station in enumerate(stations):
        others = reduce(_convolve, [part for other, part in enumerate(parts) if other != index], thinking)
        values_by_station[station.name] = _station_values(station, parts[index], others, throughput)
    responses = tuple(
        user_class.users / rate - user_class.think_s if rate else 0.0
        for user_class, rate in zip(classes, throughput, strict=True)
    )
    return MeanValues(throughput, responses, values_by_station)


def _delay_constants(shape: tuple[int, ...], demands: Sequence[float]) -> Constants:
    """Constants of a station that serves all users at once: the product of D^n / n! over the classes."""
    columns = []
    for size, demand in zip(shape, demands, strict=True):
        factors = np.array([1.0, *(demand / n for n in range(1, size))], dtype=np.longdouble)
        columns.append(np.multiply.accumulate(factors))
    return reduce(np.multiply.outer, columns)


def _queue_constants(shape: tuple[int, ...], demands: Sequence[float], servers: int) -> Constants:
    """Constants of a station with a number of servers.

    A constant is the product of D^n / n! over the classes, times N! over the product of min(j, servers) for j up to N.
    Here n is the number of users of a class, and N the number of all users.
    """
    together = np.add.reduce(np.indices(shape), axis=0)
    factors = np.array([1.0, *(n / min(n, servers) for n in range(1, int(together.max()) + 1))], dtype=np.longdouble)
    shared: Constants = np.multiply.accumulate(factors)[together] * _delay_constants(shape, demands)
    return shared


def _convolve(left: Constants, right: Constants) -> Constants:
    """The constants of two parts of a network combined."""
    result = np.zeros_like(left)
    for population in itertools.product(*map(range, left.shape)):
        if left[population]:
            larger = tuple(slice(n, None) for n in population)
            added = tuple(slice(0, size - n) for n, size in zip(population, left.shape, strict=True))
            result[larger] += left[population] * right[added]
    return result


def _class_throughput(constants: Constants, index: int) -> float:
    """Throughput of one class: the constant without one of its users, over the constant of all users."""
    if constants.shape[index] == 1:
        return 0.0
    one_less = tuple(size - 1 - (axis == index) for axis, size in enumerate(constants.shape))
    return float(constants[one_less] / constants[tuple(size - 1 for size in constants.shape)])


def _station_values(
    station: Station, part: Constants, others: Constants, throughput: tuple[float, ...]
) -> StationValues:
    """Mean values of one station.

    A population is at the station with a probability in proportion to two constants. They are the station's constant
    of this population, and the other stations' constant of all remaining users.
    """
    reversed_others = others[tuple(slice(None, None, -1) for _ in others.shape)]
    weights = part * reversed_others
    probabilities = weights / weights.sum()
    queue = tuple(float((probabilities * counts).sum()) for counts in np.indices(part.shape))
    response = tuple(length / rate if rate else 0.0 for length, rate in zip(queue, throughput, strict=True))
    busy = sum(rate * demand for rate, demand in zip(throughput, station.demands_s, strict=True))
    return StationValues(busy / station.servers, queue, response)
