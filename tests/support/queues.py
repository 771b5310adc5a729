"""Queues with exact solutions, as oracles of the simulator: one station, open or closed, and operational laws.

Networks of stations are in `networks.py`. Times are in seconds, rates in customers a second. Each function names its
source, and raises `ValueError` for a queue that would grow without end.

R is the response time, Z the think time, X the throughput, N the number of users. D is a service demand, U a
utilisation, scv a squared coefficient of variation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadgo.theory.queueing import Closed


@dataclass(frozen=True)
class Open:
    """An open queue in the steady state."""

    utilisation: float
    """Utilisation of each server."""
    waiting_s: float
    """Mean time before service begins (for sharing: response less service)."""
    response_s: float
    queue: float
    """Mean number of customers in the queue and in service."""


def mm1(rate: float, service_s: float) -> Open:
    """M/M/1, in any order that does not depend on service times (Kleinrock, Queueing Systems I, 1975, 3.2)."""
    return mg1(rate, service_s, 1.0)


def mm1_quantile(rate: float, service_s: float, share: float) -> float:
    """Response time of a first-come first-served M/M/1 that `share` of the customers do not exceed: exponential."""
    return -mm1(rate, service_s).response_s * math.log1p(-share)


def mg1(rate: float, service_s: float, scv: float) -> Open:
    """M/G/1, first come first served, by Pollaczek and Khinchine (Kleinrock, Queueing Systems I, 1975, 5.6)."""
    load = _stable(rate * service_s)
    return _open(rate, load, service_s, load * service_s * (1.0 + scv) / (2.0 * (1.0 - load)))


def mg1_sharing(rate: float, service_s: float) -> Open:
    """M/G/1 with processor sharing: the same for every distribution of service (Sakata, Noguchi and Oizumi 1971)."""
    load = _stable(rate * service_s)
    return _open(rate, load, service_s, service_s * load / (1.0 - load))


def mmc(rate: float, service_s: float, servers: int) -> Open:
    """M/M/c (Erlang 1917; Kleinrock, Queueing Systems I, 1975, 3.5)."""
    load = _stable(rate * service_s / servers)
    return _open(rate, load, service_s, erlang_c(servers, rate * service_s) * service_s / (servers * (1.0 - load)))


def erlang_b(servers: int, offered: float) -> float:
    """Share of calls that are lost, since all servers are busy, at a load of `offered` erlangs (Erlang 1917)."""
    blocked = 1.0
    for server in range(1, servers + 1):
        blocked = offered * blocked / (server + offered * blocked)
    return blocked


def erlang_c(servers: int, offered: float) -> float:
    """Share of calls that wait, with `offered` erlangs (Erlang 1917)."""
    blocked = erlang_b(servers, offered)
    return blocked / (1.0 - _stable(offered / servers) * (1.0 - blocked))


def mm1_full(rate: float, service_s: float, places: int) -> float:
    """Share of customers that M/M/1 with `places`, the server's included, refuses (Kleinrock 1975, 3.6)."""
    load = rate * service_s
    return load**places / sum(load**n for n in range(places + 1))


def mm1_priorities(rates: Sequence[float], service_s: float, *, preemptive: bool) -> tuple[float, ...]:
    """Mean response of each class of M/M/1; the first class has priority (Cobham 1954; White and Christie 1958)."""
    _stable(sum(rates) * service_s)
    responses, load_before = [], 0.0
    for rate in rates:
        load_with = load_before + rate * service_s
        delaying_load = load_with if preemptive else sum(rates) * service_s
        own_s = service_s / (1.0 - load_before) if preemptive else service_s
        responses.append(own_s + delaying_load * service_s / ((1.0 - load_before) * (1.0 - load_with)))
        load_before = load_with
    return tuple(responses)


def constant(service_s: float) -> Callable[[float], float]:
    """The Laplace transform of a constant service time."""
    return lambda s: math.exp(-s * service_s)


def exponential(service_s: float) -> Callable[[float], float]:
    """The Laplace transform of an exponential service time."""
    return lambda s: 1.0 / (1.0 + s * service_s)


def mg1_finite(users: int, think_s: float, service_s: float, transform: Callable[[float], float]) -> Closed:
    """M/G/1//N, first come first served, with exponential think times and any service time (Takacs 1962, chapter 5).

    `transform` is the Laplace transform of the service time: M/D/1//N is `mg1_finite(N, Z, D, constant(D))`.
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
    """Largest throughput of round robin: a visit takes a geometric number of quanta, each with one switch.

    Visits have exponential service with mean `visit_s`; an interaction makes `visits` of them.
    """
    turns = 1.0 / -math.expm1(-quantum_s / visit_s)
    return servers / (visits * (visit_s + turns * switch_s))


def response_law(users: float, throughput: float, think_s: float) -> float:
    """R = N / X - Z (Denning and Buzen, Computing Surveys 10, 1978)."""
    return users / throughput - think_s


def little(throughput: float, time_s: float) -> float:
    """Mean number of customers in a system: L = lambda W (Little 1961)."""
    return throughput * time_s


def utilisation_law(throughput: float, demand_s: float, servers: int = 1) -> float:
    """Utilisation of each server: U = X D / c (Denning and Buzen 1978)."""
    return throughput * demand_s / servers


def _stable(load: float) -> float:
    if not load < 1.0:
        raise ValueError(f"the queue grows without end: its servers would need a utilisation of {load:.4g}")
    return load


def _open(rate: float, load: float, service_s: float, waiting_s: float) -> Open:
    return Open(load, waiting_s, waiting_s + service_s, rate * (waiting_s + service_s))
