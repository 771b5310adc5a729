"""Closed queueing networks for all numbers of users at once: exact throughputs of curves and of mixes.

Product form (Baskett, Chandy, Muntz and Palacios 1975) holds for three kinds of stations:

- infinite servers, such as think time or another delay;
- processor sharing, with any distribution of service time;
- first-come first-served queues whose exponential service is the same for all classes.

A station with n users there serves min(n, servers) of them at once. The mean values equal those of exact mean-value
analysis (Reiser and Lavenberg 1980). They are computed from normalising constants (Buzen 1973; Reiser and Kobayashi
1975). Each station is applied in turn to the constants of the stations before it, in time proportional to the number
of populations.

The generating function of a station of c servers is the sum of s^m / (min(1, c) ... min(m, c)). In it s is the sum of
D z over the classes, with demands D. It equals (sum for m < c of (1 - m / c) s^m / m!) / (1 - s / c). So a station
takes c - 1 shifts and one recursion, all of positive terms, and nothing cancels. The constants of smaller populations
are computed on the way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.errors import BadArgument

Constants = NDArray[np.longdouble]
"""Normalising constants by the number of users of each class."""

MOST_STEPS = 50_000_000
"""Largest product of the number of populations and the servers of all stations: some seconds of work."""
_MOST_THINK_TIME_UNITS = 10_000.0
"""Largest think time in units of time: e to this power must be within the range of a long double."""


@dataclass(frozen=True)
class Station:
    """A station of the network, where users are served."""

    name: str
    demands_s: tuple[float, ...]
    """Service demand of an interaction of each class, all its visits together."""
    servers: int = 1
    """Number of users that are served at once, each at full speed."""


@dataclass(frozen=True)
class Class:
    """A class of users: their number, and the mean time that each thinks."""

    name: str
    users: int
    think_s: float


@dataclass(frozen=True)
class Populations:
    """A network solved for every number of users of each class, up to a largest one."""

    classes: tuple[Class, ...]
    stations: tuple[Station, ...]
    constants: Constants
    """Normalising constants by the number of users of each class."""
    unit_s: float

    def throughput(self, users: Sequence[int]) -> tuple[float, ...]:
        """Interactions a second of each class, by the number of users of each. 0 for a class without users."""
        population = tuple(users)
        rates = []
        for index, count in enumerate(population):
            one_less = tuple(n - (axis == index) for axis, n in enumerate(population))
            rates.append(float(self.constants[one_less] / self.constants[population]) / self.unit_s if count else 0.0)
        return tuple(rates)

    def response_s(self, users: Sequence[int]) -> tuple[float, ...]:
        """Mean response time of each class, by the number of users of each. 0 for a class without users."""
        rates = zip(users, self.throughput(users), self.classes, strict=True)
        return tuple(max(0.0, n / rate - user_class.think_s) if n else 0.0 for n, rate, user_class in rates)

    def utilisation(self, users: Sequence[int]) -> dict[str, float]:
        """Utilisation of each server by station, with a number of users of each class."""
        rates = self.throughput(users)
        return {
            station.name: sum(x * d for x, d in zip(rates, station.demands_s, strict=True)) / station.servers
            for station in self.stations
        }


def populations(classes: Sequence[Class], stations: Sequence[Station]) -> Populations:
    """Solves the network for all numbers of users up to those of `classes`.

    Raises `ValueError` for a network that is too large, that serves nobody, or whose constants overflow.
    """
    shape = tuple(user_class.users + 1 for user_class in classes)
    states = math.prod(shape)
    if states * sum(station.servers for station in stations) > MOST_STEPS:
        raise BadArgument(f"{states:,} populations are too many for exact mean values")
    busiest = max((demand / station.servers for station in stations for demand in station.demands_s), default=0.0)
    if busiest <= 0.0:
        raise BadArgument("no station gives any service")
    unit_s = max(busiest, sum(user_class.think_s for user_class in classes) / _MOST_THINK_TIME_UNITS)
    constants = _think_constants(shape, [user_class.think_s / unit_s for user_class in classes])
    with np.errstate(over="ignore", invalid="ignore"):
        for station in stations:
            demands = [demand / unit_s for demand in station.demands_s]
            constants = _divide(_multiply(constants, demands, station.servers), demands, station.servers)
    if not np.isfinite(constants).all() or (constants == 0.0).any():
        raise BadArgument("the constants of this network exceed the range of floating-point numbers: use fewer users")
    return Populations(tuple(classes), tuple(stations), constants, unit_s)


def _think_constants(shape: tuple[int, ...], thinks: Sequence[float]) -> Constants:
    """Constants of the users who think: the product of Z^n / n! over the classes."""
    constants: Constants = np.ones((), dtype=np.longdouble)
    for size, think in zip(shape, thinks, strict=True):
        factors = np.array([1.0, *(think / n for n in range(1, size))], dtype=np.longdouble)
        constants = np.multiply.outer(constants, np.multiply.accumulate(factors))
    return constants


def _multiply(constants: Constants, demands: Sequence[float], servers: int) -> Constants:
    """Multiplies by the sum for m < servers of (1 - m / servers) s^m / m!, the innermost term first."""
    terms = np.zeros_like(constants)
    for m in range(servers - 1, 0, -1):
        terms = _shift(terms + np.longdouble(1.0 - m / servers) * constants, demands) / m
    return constants + terms


def _shift(constants: Constants, demands: Sequence[float]) -> Constants:
    """Multiplies by s: each population gets the constants of those with one user less, times the demand."""
    shifted = np.zeros_like(constants)
    for axis, demand in enumerate(demands):
        if demand:
            larger = tuple(slice(1, None) if axis == other else slice(None) for other in range(constants.ndim))
            smaller = tuple(slice(None, -1) if axis == other else slice(None) for other in range(constants.ndim))
            shifted[larger] += np.longdouble(demand) * constants[smaller]
    return shifted


def _divide(constants: Constants, demands: Sequence[float], servers: int) -> Constants:
    """Divides by 1 - s / servers: each population adds the quotients of the populations with one user less."""
    rates = [np.longdouble(demand) / servers for demand in demands]
    quotient = np.empty_like(constants)
    for index in itertools.product(*map(range, constants.shape[:-1])):
        row = constants[index].copy()
        for axis, rate in enumerate(rates[:-1]):
            if index[axis]:
                row += rate * quotient[(*index[:axis], index[axis] - 1, *index[axis + 1 :])]
        quotient[index] = _with_all_smaller(row, rates[-1])
    return quotient


def _with_all_smaller(row: Constants, rate: np.longdouble) -> Constants:
    """Divides by 1 - x, where x shifts by one and multiplies by `rate`: 1 / (1 - x) = (1 + x)(1 + x^2)(1 + x^4) ...

    `scipy.signal.lfilter` does the same, but its import takes a second of processor time.
    """
    step = 1
    while step < len(row):
        row[step:] += rate * row[:-step]
        rate *= rate
        step *= 2
    return row
