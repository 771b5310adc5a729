"""The simulator against exact answers: 40 seeds each, no mean further from the truth than four of its standard errors.

A right simulator fails one such comparison in ten thousand; a response that is off by a percent is found by nearly all.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from loadgo.running.simulation import SimulatedFigure, Simulation, sweep
from loadgo.theory import queueing
from loadgo.theory.populations import Class, Station
from support import networks, queues
from support.model_machines import HEAD, central_server, open_queue, processors, repairman, terminals

SEEDS = 40
SIGMAS = 4.0

Figure = Callable[[Simulation], SimulatedFigure]


def runs(machine: str, interactions: int = 20_000, seeds: int = SEEDS) -> list[Simulation]:
    """The machine simulated with seeds 1, 2, ..."""
    return sweep([(machine, seed) for seed in range(1, seeds + 1)], until=f"interactions={interactions}")


def values(told: Sequence[Simulation], figure: Figure) -> np.ndarray:
    """The figure in each run."""
    found = [figure(one).value for one in told]
    assert None not in found, figure(told[0]).lacking
    return np.array(found, dtype=float)


def check(told: Sequence[Simulation], figure: Figure, exact: float) -> None:
    """The figure's mean over the runs is within four standard errors of the exact answer."""
    found = values(told, figure)
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() - exact) <= SIGMAS * error + 1e-9 * abs(exact), (
        f"{found.mean():.6g} for {exact:.6g}: {(found.mean() - exact) / error:+.1f} standard errors"
    )


def mean(one: Simulation) -> SimulatedFigure:
    """Mean response."""
    return one.response_s


def throughput(one: Simulation) -> SimulatedFigure:
    """Interactions a second."""
    return one.throughput


def by_law(one: Simulation) -> SimulatedFigure:
    """Mean response by N / X - Z."""
    return one.response_by_law_s


def busy(station: str) -> Figure:
    """Utilisation of a station."""

    def of(one: Simulation) -> SimulatedFigure:
        told = one.station(station).utilisation
        assert told is not None
        return told

    return of


def there(station: str) -> Figure:
    """Mean number at a station."""
    return lambda one: one.station(station).queue


def audited(told: Sequence[Simulation]) -> None:
    """Laws that hold in every run: Little's law over all, and the processors' time adds up."""
    for one in told:
        assert one.little is not None
        assert one.little.counted == pytest.approx(one.little.computed, rel=0.01)
        assert sum(share.value or 0.0 for share in one.time.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("discipline", ["first-come", "sharing", "round-robin"])
def test_mm1_answers_in_five_services_in_any_order_that_does_not_look_at_them(discipline: str) -> None:
    quantum = "0.3s" if discipline == "round-robin" else ""
    simulations = runs(open_queue(0.8, "exponential(1s)", discipline=discipline, quantum=quantum), 40_000)
    exact = queues.mm1(0.8, 1.0)
    check(simulations, mean, exact.response_s)
    check(simulations, by_law, exact.response_s)
    check(simulations, there("processors"), exact.queue)
    check(simulations, busy("processors"), 0.8)
    check(simulations, throughput, 0.8)
    audited(simulations)


def test_quantiles_of_mm1_are_those_of_its_exponential_response() -> None:
    simulations = runs(open_queue(0.8, "exponential(1s)"), 100_000)
    for figure, share in (
        (lambda one: one.all.p50_s, 0.5),
        (lambda one: one.all.p90_s, 0.9),
        (lambda one: one.all.p95_s, 0.95),
    ):
        check(simulations, figure, queues.mm1_quantile(0.8, 1.0, share))


@pytest.mark.parametrize(("servers", "rate"), [(2, 1.6), (8, 7.0), (16, 15.0)])
def test_mmc_waits_as_erlang_says(servers: int, rate: float) -> None:
    simulations = runs(open_queue(rate, "exponential(1s)", count=servers), 40_000)
    exact = queues.mmc(rate, 1.0, servers)
    check(simulations, mean, exact.response_s)
    check(simulations, there("processors"), exact.queue)
    check(simulations, busy("processors"), exact.utilisation)
    audited(simulations)


@pytest.mark.parametrize(("cpu", "scv"), [("1s", 0.0), ("erlang(2, 1s)", 0.5), ("hyperexponential(1s, 4)", 4.0)])
def test_mg1_waits_by_the_variation_of_its_service(cpu: str, scv: float) -> None:
    simulations = runs(open_queue(0.8, cpu), 40_000)
    check(simulations, mean, queues.mg1(0.8, 1.0, scv).response_s)
    check(simulations, busy("processors"), 0.8)


@pytest.mark.parametrize("cpu", ["1s", "erlang(2, 1s)", "hyperexponential(1s, 4)", "pareto(1s, 2.5)"])
def test_sharing_does_not_look_at_the_law_of_service(cpu: str) -> None:
    check(runs(open_queue(0.8, cpu, discipline="sharing"), 40_000), mean, 5.0)


@pytest.mark.parametrize(
    ("users", "servers", "discipline", "quantum"),
    [
        (1, 1, "first-come", ""),
        (10, 1, "round-robin", "1s"),
        (34, 1, "round-robin", "0.05s"),
        (34, 1, "sharing", ""),
        (50, 1, "first-come", ""),
        (50, 2, "round-robin", "0.1s"),
        (50, 2, "sharing", ""),
        (100, 2, "round-robin", "0.5s"),
    ],
)
def test_the_repairman_answers_exactly_whatever_the_quantum(
    users: int, servers: int, discipline: str, quantum: str
) -> None:
    machine = repairman(users, "exponential(0.3s)", count=servers, discipline=discipline, quantum=quantum)
    simulations = runs(machine)
    exact = queueing.repairman(users, 10.0, 0.3, servers)
    check(simulations, mean, exact.response_s)
    check(simulations, by_law, exact.response_s)
    check(simulations, throughput, exact.throughput)
    check(simulations, busy("processors"), exact.utilisation)
    check(simulations, there("processors"), exact.queue)
    audited(simulations)


@pytest.mark.parametrize("users", [10, 19, 60])
def test_ctss_with_a_constant_service_answers_as_takacs_says(users: int) -> None:
    simulations = runs(repairman(users, "157ms"))
    exact = queues.mg1_finite(users, 10.0, 0.157, queues.constant(0.157))
    check(simulations, mean, exact.response_s)
    check(simulations, busy("processors"), exact.utilisation)


@pytest.mark.parametrize("users", [1, 10, 36, 50])
@pytest.mark.parametrize("discipline", ["round-robin", "sharing", "first-come"])
def test_the_central_server_keeps_the_exact_mean_values(users: int, discipline: str) -> None:
    simulations = runs(central_server(users, discipline=discipline))
    exact = networks.mean_values([Class("users", users, 10.0)], [Station("cpu", (0.6,), 2), Station("disk", (0.2,))])
    check(simulations, mean, exact.response_s[0])
    check(simulations, by_law, exact.response_s[0])
    check(simulations, throughput, exact.throughput[0])
    check(simulations, busy("processors"), exact.stations["cpu"].utilisation)
    check(simulations, there("processors"), exact.stations["cpu"].queue[0])
    check(simulations, busy("disk"), exact.stations["disk"].utilisation)
    check(simulations, there("disk"), exact.stations["disk"].queue[0])
    audited(simulations)


def test_two_classes_share_a_network_as_mean_values_say() -> None:
    machine = f"""{HEAD}
{processors(1, "sharing")}
[storage.disk]
kind = "server"
service = "exponential(0.2s)"
servers = 1

[commands.light]
route = [
  {{ at = "processor", service = "exponential(0.05s)", then = {{ 1 = 0.25, done = 0.75 }} }},
  {{ at = "disk", service = "exponential(0.2s)", then = {{ 0 = 1 }} }},
]
[commands.heavy]
route = [
  {{ at = "processor", service = "erlang(3, 1s)", then = {{ 1 = 0.5, done = 0.5 }} }},
  {{ at = "disk", service = "exponential(0.2s)", then = {{ 0 = 1 }} }},
]
{terminals(20, "light", 4.0, "light")}{terminals(5, "heavy", 12.0, "heavy")}"""
    exact = networks.mean_values(
        [Class("light", 20, 4.0), Class("heavy", 5, 12.0)],
        [Station("processors", (0.05 / 0.75, 2.0)), Station("disk", (0.2 / 3, 0.2))],
    )
    simulations = runs(machine)
    for index in range(2):
        check(simulations, lambda one, index=index: one.classes[index].mean_s, exact.response_s[index])
        check(simulations, lambda one, index=index: one.classes[index].throughput, exact.throughput[index])
    check(simulations, there("disk"), sum(exact.stations["disk"].queue))
    check(simulations, busy("processors"), exact.stations["processors"].utilisation)
    audited(simulations)


def test_a_delay_keeps_nobody_waiting() -> None:
    machine = central_server(50).replace("servers = 1", 'servers = "any"')
    exact = networks.mean_values([Class("users", 50, 10.2)], [Station("cpu", (0.6,), 2)])
    simulations = runs(machine)
    check(simulations, mean, exact.response_s[0] + 0.2)
    assert simulations[0].station("disk").servers is None


def test_round_robin_with_a_switch_cost_saturates_where_it_must() -> None:
    cpu = f"""{HEAD}
{processors(2, "round-robin", "0.1s", "0.02s")}
[commands.work]
cpu = "exponential(0.3s)"

{terminals(200, "work")}"""
    most = queues.round_robin_saturation(2, 1.0, 0.3, 0.1, 0.02)
    check(runs(cpu), throughput, most)


def test_a_swap_for_every_quantum_takes_its_part() -> None:
    machine = f"""{HEAD}
{processors(1, "round-robin", "0.1s")}
[memory]
residence = "swapping"
words = 32768
device = "drum"
onion_skin = false

[storage.drum]
kind = "server"
service = "10ms"
servers = 1

[commands.work]
cpu = "exponential(0.3s)"
image_words = 2000

{terminals(200, "work")}"""
    out_and_in_s = 0.02
    check(runs(machine), throughput, queues.round_robin_saturation(1, 1.0, 0.3, 0.1, out_and_in_s))


@pytest.mark.parametrize("limit", [2, 5, 10])
def test_a_limit_of_multiprogramming_with_a_lifetime_curve_is_its_markov_chain(limit: int) -> None:
    frames, curve_s, curve_pages, device_s = 150, 0.1, 40, 0.025
    machine = f"""{HEAD}
{processors(1, "sharing")}
[memory]
residence = "paging"
frames = {frames}
frame_words = 1024
wired = 0
replacement = "equal"
headway = {{ b = "{curve_s}s", c = {curve_pages} }}
dirty = 0.0
device = "drum"

[multiprogramming]
limit = {limit}

[storage.drum]
kind = "server"
service = "exponential({device_s}s)"
servers = 1

[commands.work]
cpu = "exponential(1s)"

{terminals(20, "work", 15.0)}"""
    faults = (1.0 + (curve_pages / (frames / limit)) ** 2) / (2.0 * curve_s)
    exact = limited_chain(20, 15.0, limit, 1.0 / (1.0 + faults), faults / (1.0 + faults), device_s)
    simulations = runs(machine, 4_000)
    check(simulations, throughput, exact)
    audited(simulations)


def limited_chain(
    users: int, think_s: float, limit: int, burst_s: float, fault_probability: float, device_s: float
) -> float:
    """Throughput of the chain by (users with a command, of these at the device); at most `limit` are let in.

    A burst ends with a fault with probability `again`, else the interaction is over; all times are exponential.
    """
    states = [(present, waiting) for present in range(users + 1) for waiting in range(min(present, limit) + 1)]
    place = {state: index for index, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    leaving = np.zeros(len(states))
    for (present, waiting), index in place.items():
        moves = {(present + 1, waiting): (users - present) / think_s}
        if min(present, limit) > waiting:
            moves[present, waiting + 1] = fault_probability / burst_s
            leaving[index] = (1.0 - fault_probability) / burst_s
        if waiting:
            moves[present, waiting - 1] = 1.0 / device_s
        for state, rate in moves.items():
            if rate:
                rates[index, place[state]] += rate
        if leaving[index]:
            rates[index, place[present - 1, waiting]] += leaving[index]
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[-1] = 1.0
    chances = np.linalg.solve(balance, np.append(np.zeros(len(states) - 1), 1.0))
    return float(chances @ leaving)


def test_equal_classes_merged_are_one() -> None:
    two = terminals(18, "transaction", name="a") + terminals(18, "transaction", name="b")
    simulations = runs(central_server(36, load=two))
    exact = networks.mean_values([Class("users", 36, 10.0)], [Station("cpu", (0.6,), 2), Station("disk", (0.2,))])
    for index in range(2):
        check(simulations, lambda one, index=index: one.classes[index].mean_s, exact.response_s[0])
    check(simulations, throughput, exact.throughput[0])


def test_times_a_thousandfold_give_times_a_thousandfold() -> None:
    short, long = runs(central_server(50), seeds=10), runs(central_server(50, scale=1024.0), seeds=10)
    assert values(long, mean).mean() / 1024.0 == pytest.approx(values(short, mean).mean(), rel=2e-3)
    assert values(long, throughput).mean() * 1024.0 == pytest.approx(values(short, throughput).mean(), rel=2e-3)


def test_short_quanta_become_sharing() -> None:
    long, short = (
        runs(open_queue(0.8, "hyperexponential(1s, 4)", discipline="round-robin", quantum=quantum))
        for quantum in ("8s", "0.02s")
    )
    check(short, mean, queues.mg1_sharing(0.8, 1.0).response_s)
    assert values(long, mean).mean() > 6.0, "long quanta are nearly the order of coming, which answers in 11 s"


def test_a_device_of_no_service_is_no_device() -> None:
    exact = queueing.repairman(50, 10.0, 0.6, 2)
    simulations = runs(central_server(50, discipline="first-come", disk_s=0.0))
    check(
        simulations, throughput, networks.mean_values([Class("u", 50, 10.0)], [Station("cpu", (0.6,), 2)]).throughput[0]
    )
    check(simulations, mean, exact.response_s)


def test_a_limit_of_all_users_is_no_limit() -> None:
    free = central_server(50)
    limited = free.replace("[storage.disk]", "[multiprogramming]\nlimit = 50\n\n[storage.disk]")
    assert limited != free
    for one, other in zip(runs(free, seeds=3), runs(limited, seeds=3), strict=True):
        assert (one.response_s, one.throughput, one.time) == (other.response_s, other.throughput, other.time)


def test_the_same_seed_gives_the_same_figures_and_another_seed_others() -> None:
    first, again = runs(central_server(50), seeds=2), runs(central_server(50), seeds=2)
    assert [one.response_s for one in first] == [one.response_s for one in again]
    assert first[0].response_s != first[1].response_s


def law_and_kelton(users: int, interactions: int, seed: int) -> float:
    """Mean response of Law and Kelton's time-shared computer (1982, section 2.4), simulated without loadgo."""
    draw, queue, mean_think_s, quantum_s, swap_s = random.Random(seed), deque[tuple[float, float]](), 25.0, 0.1, 0.015
    submits = [draw.expovariate(1 / mean_think_s) for _ in range(users)]
    heapq.heapify(submits)
    now, total_s, done = 0.0, 0.0, 0
    while done < interactions:
        now = now if queue else max(now, submits[0])
        while submits and submits[0] <= now:
            queue.append((heapq.heappop(submits), draw.expovariate(1 / 0.8)))
        submitted, left_s = queue.popleft()
        now += min(left_s, quantum_s) + swap_s
        while submits and submits[0] <= now:
            queue.append((heapq.heappop(submits), draw.expovariate(1 / 0.8)))
        if left_s > quantum_s:
            queue.append((submitted, left_s - quantum_s))
        else:
            total_s, done = total_s + now - submitted, done + 1
            heapq.heappush(submits, now + draw.expovariate(1 / mean_think_s))
    return total_s / done


def test_a_swap_at_each_quantum_is_law_and_keltons() -> None:
    machine = (
        f'{HEAD}\n{processors(1, "round-robin", "0.1s")}dispatch = "15ms"\n[commands.job]\ncpu = "exponential(0.8s)"\n'
        f"{terminals(20, 'job', 25.0)}"
    )
    here = values(runs(machine), mean)
    there_s = np.array([law_and_kelton(20, 20_000, seed) for seed in range(SEEDS)])
    error = math.sqrt((here.var(ddof=1) + there_s.var(ddof=1)) / SEEDS)
    assert abs(here.mean() - there_s.mean()) <= SIGMAS * error, (here.mean(), there_s.mean(), error)
    assert error < 0.01 * there_s.mean()
