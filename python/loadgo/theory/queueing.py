"""A station with a fixed number of users, exactly, and bounds on any closed network.

Times are in seconds, rates in customers a second. Each function names its source.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Closed:
    """A fixed number of users who think and then use one station, in the steady state."""

    throughput: float
    """Interactions a second."""
    response_s: float
    utilisation: float
    """Utilisation of each server."""
    queue: float
    """Mean number of users at the station."""


def repairman(users: int, think_s: float, service_s: float, servers: int = 1) -> Closed:
    """M/M/c//N, exponential thinking and service: the machine repairman (Palm 1947; Scherr 1967 for time sharing)."""
    closed = closed_station(users, think_s, [min(n, servers) / service_s for n in range(1, users + 1)])
    return Closed(closed.throughput, closed.response_s, closed.throughput * service_s / servers, closed.queue)


def closed_station(users: int, think_s: float, rates: Sequence[float]) -> Closed:
    """Users with exponential think times, and a station that serves `rates[n - 1]` a second while n are there.

    The last rate holds for more users too. The rates may be the throughputs of a network at 1, 2, ... users. Then this
    is the flow-equivalent server of a multiprogramming limit (Chandy, Herzog and Woo 1975; Courtois 1977). The
    utilisation is the share of time in which at least one user is at the station.
    """
    weights = [1.0]
    for n in range(1, users + 1):
        weights.append(weights[-1] * (users - n + 1) / think_s / rates[min(n, len(rates)) - 1])
        if weights[-1] > 1e200:
            weights = [weight * 1e-200 for weight in weights]
    total = math.fsum(weights)
    thinking = math.fsum((users - n) * weight for n, weight in enumerate(weights)) / total
    throughput = thinking / think_s
    queue = math.fsum(n * weight for n, weight in enumerate(weights)) / total
    return Closed(throughput, queue / throughput, 1.0 - weights[0] / total, queue)


@dataclass(frozen=True)
class SingleServer:
    """A first-come-first-served server that a fixed number of users share, in the steady state."""

    waiting: float
    """Mean number of users who wait for it, without the one that it serves."""
    busy_at_arrival: float
    """Probability that a user who comes finds it busy."""


def single_server(users: int, think_s: float, service_s: float, variation: float = 1.0) -> SingleServer:
    """Users who think and then use one server whose service time has this coefficient of variation.

    Mean-value analysis with the mean residual of the service under way (Reiser 1979). It is exact for exponential
    service, whose variation is 1.
    """
    queue = busy = found_busy = 0.0
    for n in range(1, users + 1):
        found_busy = busy
        response_s = service_s * (1.0 + queue - busy + busy * (1.0 + variation**2) / 2.0)
        throughput = n / (think_s + response_s)
        queue, busy = throughput * response_s, min(throughput * service_s, 1.0)
    return SingleServer(max(queue - busy, 0.0), found_busy)


@dataclass(frozen=True)
class Bounds:
    """Bounds on a closed network that hold for any distribution of its times."""

    throughput: float
    """Upper bound."""
    response_s: float
    """Lower bound."""
    saturation_users: float
    """N*, the number of users at which the two asymptotes cross."""


def bounds(users: float, think_s: float, demands_s: Sequence[float], servers: Sequence[int] | None = None) -> Bounds:
    """Asymptotic bounds (Denning and Buzen 1978; Muntz and Wong 1974)."""
    largest_s = max(demand / count for demand, count in zip(demands_s, servers or [1] * len(demands_s), strict=True))
    total_s = sum(demands_s)
    throughput = min(1.0 / largest_s, users / (total_s + think_s))
    return Bounds(throughput, max(total_s, users * largest_s - think_s), (total_s + think_s) / largest_s)
