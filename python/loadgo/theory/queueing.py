"""Queues with exact answers: one station, open or with a fixed number of users; operational laws and bounds.

Networks of stations are in `theory.networks`. Times are seconds, rates are customers a second. Each function names its
source; where a queue would grow without end, `ValueError` says by how much. R is the response time, Z the think time,
X the throughput, N the number of users, D a service demand, U a utilisation, scv a squared coefficient of variation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadgo.errors import BadArgument


@dataclass(frozen=True)
class Open:
    """An open queue in the steady state."""

    utilisation: float
    """Of each server."""
    waiting_s: float
    """Mean time before service begins (for sharing: response less service)."""
    response_s: float
    queue: float
    """Mean number there, those in service included."""


@dataclass(frozen=True)
class Closed:
    """A fixed number of users who think and then ask one station, in the steady state."""

    throughput: float
    """Interactions a second."""
    response_s: float
    utilisation: float
    """Of each server."""
    queue: float
    """Mean number of users who do not think."""


def mm1(rate: float, service_s: float) -> Open:
    """M/M/1, in any order that does not look at service times (Kleinrock, Queueing Systems I, 1975, 3.2)."""
    return mg1(rate, service_s, 1.0)


def mm1_quantile(rate: float, service_s: float, share: float) -> float:
    """The response time of M/M/1 in order of coming that `share` of the customers do not exceed: it is exponential."""
    return -mm1(rate, service_s).response_s * math.log1p(-share)


def mg1(rate: float, service_s: float, scv: float) -> Open:
    """M/G/1 in order of coming, by Pollaczek and Khinchine (Kleinrock, Queueing Systems I, 1975, 5.6)."""
    load = _stable(rate * service_s)
    return _open(rate, load, service_s, load * service_s * (1.0 + scv) / (2.0 * (1.0 - load)))


def mg1_sharing(rate: float, service_s: float) -> Open:
    """M/G/1 with the processor shared equally: the same for every law of service (Sakata, Noguchi and Oizumi 1971)."""
    load = _stable(rate * service_s)
    return _open(rate, load, service_s, service_s * load / (1.0 - load))


def mmc(rate: float, service_s: float, servers: int) -> Open:
    """M/M/c (Erlang 1917; Kleinrock, Queueing Systems I, 1975, 3.5)."""
    load = _stable(rate * service_s / servers)
    return _open(rate, load, service_s, erlang_c(servers, rate * service_s) * service_s / (servers * (1.0 - load)))


def erlang_b(servers: int, offered: float) -> float:
    """The share of calls that find all servers busy and are lost, of so many erlangs offered (Erlang 1917)."""
    blocked = 1.0
    for server in range(1, servers + 1):
        blocked = offered * blocked / (server + offered * blocked)
    return blocked


def erlang_c(servers: int, offered: float) -> float:
    """The share of calls that wait, of so many erlangs offered (Erlang 1917)."""
    blocked = erlang_b(servers, offered)
    return blocked / (1.0 - _stable(offered / servers) * (1.0 - blocked))


def mm1_full(rate: float, service_s: float, places: int) -> float:
    """The share of customers turned away by M/M/1 with so many places, the server's included (Kleinrock 1975, 3.6)."""
    load = rate * service_s
    return load**places / sum(load**n for n in range(places + 1))


def mm1_priorities(rates: Sequence[float], service_s: float, *, preemptive: bool) -> tuple[float, ...]:
    """Mean response of each class of M/M/1, the first class first (Cobham 1954; White and Christie 1958)."""
    _stable(sum(rates) * service_s)
    responses, ahead = [], 0.0
    for rate in rates:
        through = ahead + rate * service_s
        disturbing = through if preemptive else sum(rates) * service_s
        own = service_s / (1.0 - ahead) if preemptive else service_s
        responses.append(own + disturbing * service_s / ((1.0 - ahead) * (1.0 - through)))
        ahead = through
    return tuple(responses)


def repairman(users: int, think_s: float, service_s: float, servers: int = 1) -> Closed:
    """M/M/c//N, exponential thinking and service: the machine repairman (Palm 1947; Scherr 1967 for time sharing)."""
    closed = closed_station(users, think_s, [min(n, servers) / service_s for n in range(1, users + 1)])
    return Closed(closed.throughput, closed.response_s, closed.throughput * service_s / servers, closed.queue)


def closed_station(users: int, think_s: float, rates: Sequence[float]) -> Closed:
    """Users who think exponentially, and a station that serves `rates[n - 1]` a second while n are there.

    The last rate holds for more. With the throughputs of a network at 1, 2, ... users as its rates this is the
    flow-equivalent server of a limit of multiprogramming (Chandy, Herzog and Woo 1975; Courtois 1977). Its utilisation
    is the share of time that anybody is there.
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


def constant(service_s: float) -> Callable[[float], float]:
    """The Laplace transform of a service that is always the same."""
    return lambda s: math.exp(-s * service_s)


def exponential(service_s: float) -> Callable[[float], float]:
    """The Laplace transform of an exponential service."""
    return lambda s: 1.0 / (1.0 + s * service_s)


def mg1_finite(users: int, think_s: float, service_s: float, transform: Callable[[float], float]) -> Closed:
    """M/G/1//N in order of coming: exponential thinking, any service by its Laplace transform (Takacs 1962, chapter 5).

    M/D/1//N is `mg1_finite(N, Z, D, constant(D))`.
    """
    total, product = 1.0, 1.0
    for r in range(1, users):
        value = transform(r / think_s)
        product *= (users - r) / r * (1.0 - value) / value
        total += product
    busy = users * service_s / think_s * total
    utilisation = busy / (1.0 + busy)
    throughput = utilisation / service_s
    response_s = response_law(users, throughput, think_s)
    return Closed(throughput, response_s, utilisation, throughput * response_s)


def round_robin_saturation(servers: int, visits: float, visit_s: float, quantum_s: float, switch_s: float) -> float:
    """The throughput that round robin cannot exceed: a visit takes a geometric number of quanta, and a switch each.

    Visits have exponential service with mean `visit_s`; an interaction makes `visits` of them.
    """
    turns = 1.0 / -math.expm1(-quantum_s / visit_s)
    return servers / (visits * (visit_s + turns * switch_s))


@dataclass(frozen=True)
class Bounds:
    """Between what a closed network's figures must lie, whatever its laws."""

    throughput: float
    """At most."""
    response_s: float
    """At least."""
    saturation_users: float
    """N*, where the two lines cross."""


def bounds(users: float, think_s: float, demands_s: Sequence[float], servers: Sequence[int] | None = None) -> Bounds:
    """Asymptotic bounds (Denning and Buzen 1978; Muntz and Wong 1974)."""
    most = max(demand / count for demand, count in zip(demands_s, servers or [1] * len(demands_s), strict=True))
    total = sum(demands_s)
    throughput = min(1.0 / most, users / (total + think_s))
    return Bounds(throughput, max(total, users * most - think_s), (total + think_s) / most)


def response_law(users: float, throughput: float, think_s: float) -> float:
    """R = N / X - Z (Denning and Buzen, Computing Surveys 10, 1978)."""
    return users / throughput - think_s


def little(throughput: float, time_s: float) -> float:
    """The mean number of customers there: L = lambda W (Little 1961)."""
    return throughput * time_s


def utilisation_law(throughput: float, demand_s: float, servers: int = 1) -> float:
    """The utilisation of each server: U = X D / c (Denning and Buzen 1978)."""
    return throughput * demand_s / servers


def _stable(load: float) -> float:
    if not load < 1.0:
        raise BadArgument(f"the queue grows without end: its servers are asked for {load:.4g} of what they can do")
    return load


def _open(rate: float, load: float, service_s: float, waiting_s: float) -> Open:
    return Open(load, waiting_s, waiting_s + service_s, rate * (waiting_s + service_s))
