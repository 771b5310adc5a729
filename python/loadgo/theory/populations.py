"""Closed queueing networks over all numbers of users at once: exact throughputs for whole curves and for mixes.

The same product-form networks as in `theory.networks`, and the same normalising constants; but where that convolves
the stations one with another, here each station is applied to the constants of all before it, which takes time in
proportion to the populations and not to their square. A station of c servers with the demands D of the classes has the
generating function sum of s^m / (min(1, c) ... min(m, c)) with s = sum of D z, which is (sum for m < c of
(1 - m / c) s^m / m!) / (1 - s / c): c - 1 shifts and one recursion, each of positive terms, so that nothing cancels.
The constants of smaller populations come out on the way (Buzen 1973; Reiser and Kobayashi 1975).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import BadArgument
from loadgo.theory.networks import Class, Station

Constants = NDArray[np.longdouble]

MOST_STEPS = 50_000_000
"""Populations, times the servers of all stations: some seconds of work."""
_MOST_THINKING = 10_000.0
"""Think time over the unit of time: e to this power must be a number that the machine has."""


@dataclass(frozen=True)
class Populations:
    """A network with every number of users of each class up to those given."""

    classes: tuple[Class, ...]
    stations: tuple[Station, ...]
    constants: Constants
    """By the users of each class."""
    unit_s: float

    def throughput(self, users: Sequence[int]) -> tuple[float, ...]:
        """Interactions a second of each class with so many users of each; 0 of a class without users."""
        here = tuple(users)
        found = []
        for index, count in enumerate(here):
            one_less = tuple(n - (axis == index) for axis, n in enumerate(here))
            found.append(float(self.constants[one_less] / self.constants[here]) / self.unit_s if count else 0.0)
        return tuple(found)

    def response_s(self, users: Sequence[int]) -> tuple[float, ...]:
        """The mean response of each class with so many users of each; 0 of a class without users."""
        rates = zip(users, self.throughput(users), self.classes, strict=True)
        return tuple(max(0.0, n / rate - one.think_s) if n else 0.0 for n, rate, one in rates)

    def utilisation(self, users: Sequence[int]) -> dict[str, float]:
        """Of each server of each station with so many users of each class."""
        rates = self.throughput(users)
        return {
            station.name: sum(x * d for x, d in zip(rates, station.demands_s, strict=True)) / station.servers
            for station in self.stations
        }


def populations(classes: Sequence[Class], stations: Sequence[Station]) -> Populations:
    """The network with up to `users` of each class.

    Raises `ValueError` for one that is too large, or without any service, or beyond the machine's arithmetic.
    """
    shape = tuple(one.users + 1 for one in classes)
    states = math.prod(shape)
    if states * sum(station.servers for station in stations) > MOST_STEPS:
        raise BadArgument(f"{states:,} populations are too many for exact mean values")
    busiest = max((demand / station.servers for station in stations for demand in station.demands_s), default=0.0)
    if busiest <= 0.0:
        raise BadArgument("no station gives any service")
    unit_s = max(busiest, sum(one.think_s for one in classes) / _MOST_THINKING)
    constants = _thinking(shape, [one.think_s / unit_s for one in classes])
    with np.errstate(over="ignore", invalid="ignore"):
        for station in stations:
            demands = [demand / unit_s for demand in station.demands_s]
            constants = _recursed(_shifted(constants, demands, station.servers), demands, station.servers)
    if not np.isfinite(constants).all() or (constants == 0.0).any():
        raise BadArgument("the numbers of this network are beyond the machine's arithmetic: fewer users, please")
    return Populations(tuple(classes), tuple(stations), constants, unit_s)


def _thinking(shape: tuple[int, ...], thinks: Sequence[float]) -> Constants:
    """Constants of those who think: the product of Z^n / n!."""
    whole: Constants = np.ones((), dtype=np.longdouble)
    for size, think in zip(shape, thinks, strict=True):
        factors = np.array([1.0, *(think / n for n in range(1, size))], dtype=np.longdouble)
        whole = np.multiply.outer(whole, np.multiply.accumulate(factors))
    return whole


def _shifted(constants: Constants, demands: Sequence[float], servers: int) -> Constants:
    """Times the sum for m < servers of (1 - m / servers) s^m / m!, the innermost term first."""
    whole = np.zeros_like(constants)
    for m in range(servers - 1, 0, -1):
        whole = _once(whole + np.longdouble(1.0 - m / servers) * constants, demands) / m
    return constants + whole


def _once(constants: Constants, demands: Sequence[float]) -> Constants:
    """Times s: each population has what those with one user less have, times the demand."""
    whole = np.zeros_like(constants)
    for axis, demand in enumerate(demands):
        if demand:
            to = tuple(slice(1, None) if axis == one else slice(None) for one in range(constants.ndim))
            since = tuple(slice(None, -1) if axis == one else slice(None) for one in range(constants.ndim))
            whole[to] += np.longdouble(demand) * constants[since]
    return whole


def _recursed(constants: Constants, demands: Sequence[float], servers: int) -> Constants:
    """Over 1 - s / servers: each population has its own, and what those with one user less have come to."""
    from scipy.signal import lfilter

    rates = [np.longdouble(demand) / servers for demand in demands]
    along = np.array([1.0, -rates[-1]], dtype=np.longdouble)
    whole = np.empty_like(constants)
    for place in itertools.product(*map(range, constants.shape[:-1])):
        row = constants[place].copy()
        for axis, rate in enumerate(rates[:-1]):
            if place[axis]:
                row += rate * whole[(*place[:axis], place[axis] - 1, *place[axis + 1 :])]
        whole[place] = lfilter(np.ones(1, dtype=np.longdouble), along, row)
    return whole
