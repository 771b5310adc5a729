"""Exact throughputs over all numbers of users: the printed digits, and those of the networks solved one by one."""

from __future__ import annotations

import numpy as np
import pytest
from loadgo.theory import queueing
from loadgo.theory.populations import Class, Station, populations
from support import networks

DIGITS = 1e-13

CENTRAL_SERVER = [
    (1, 0.0925925925925926, 0.8),
    (10, 0.919724096405893, 0.872825925816337),
    (30, 2.58809435800348, 1.59154028029438),
    (36, 2.95421852748634, 2.18596378874901),
    (50, 3.31405733545761, 5.08724651955847),
    (80, 3.33333313673154, 14.000001415533),
]
"""Two processors, a demand of 0.6 s; a disk, 0.2 s; think time 10 s: users, throughput, response."""


def test_one_solution_has_the_printed_figures_of_every_number_of_users() -> None:
    solved = populations([Class("users", 80, 10.0)], [Station("processor", (0.6,), 2), Station("disk", (0.2,))])
    for users, throughput, response_s in CENTRAL_SERVER:
        assert solved.throughput([users])[0] == pytest.approx(throughput, rel=DIGITS)
        assert solved.response_s([users])[0] == pytest.approx(response_s, rel=1e-12)


def test_every_population_of_a_random_network_is_that_of_the_network_solved_alone() -> None:
    random = np.random.default_rng(1975)
    for _ in range(12):
        sizes = random.integers(1, 8, size=random.integers(1, 4))
        classes = [Class(f"c{i}", int(n), float(random.uniform(0.0, 9.0))) for i, n in enumerate(sizes)]
        stations = [
            Station(f"s{i}", tuple(map(float, random.uniform(0.0, 1.5, len(classes)))), int(random.integers(1, 5)))
            for i in range(random.integers(1, 4))
        ]
        whole = populations(classes, stations)
        here = [int(random.integers(0, one.users + 1)) for one in classes]
        here[0] = max(1, here[0])
        alone = networks.mean_values(
            [Class(one.name, n, one.think_s) for one, n in zip(classes, here, strict=True)], stations
        )
        assert whole.throughput(here) == pytest.approx(alone.throughput, rel=DIGITS)
        assert whole.utilisation(here) == pytest.approx(
            {name: visited.utilisation for name, visited in alone.stations.items()}, rel=DIGITS
        )


def test_many_servers_and_many_users_lose_no_digits() -> None:
    many = populations([Class("users", 2000, 10.0)], [Station("processor", (1.0,), 64)])
    for users in (1, 300, 704, 2000):
        repairman = queueing.repairman(users, 10.0, 1.0, 64)
        assert many.throughput([users])[0] == pytest.approx(repairman.throughput, rel=DIGITS)


def test_a_mix_of_three_classes_and_two_hundred_users_is_solved_whole() -> None:
    classes = [Class("heavy", 20, 4.0), Class("ordinary", 60, 12.0), Class("light", 120, 10.0)]
    stations = [Station("processor", (0.2, 0.5, 0.1), 2), Station("disk", (0.15, 0.4, 0.1))]
    solved = populations(classes, stations)
    rates, responses = solved.throughput([20, 60, 120]), solved.response_s([20, 60, 120])
    for one, rate, response_s in zip(classes, rates, responses, strict=True):
        assert rate * (one.think_s + response_s) == pytest.approx(one.users, rel=1e-12)
    assert solved.utilisation([20, 60, 120])["disk"] < 1.0 + 1e-12
    merged = populations([Class("all", 200, 10.0)], [Station("processor", (0.3,), 2), Station("disk", (0.2,))])
    alike = [Class("a", 50, 10.0), Class("b", 150, 10.0)]
    split = populations(alike, [Station("processor", (0.3, 0.3), 2), Station("disk", (0.2, 0.2))])
    assert sum(split.throughput([50, 150])) == pytest.approx(merged.throughput([200])[0], rel=1e-12)


def test_nobody_of_a_class_has_no_throughput_and_no_response() -> None:
    solved = populations([Class("a", 3, 5.0), Class("b", 2, 5.0)], [Station("processor", (0.3, 0.6))])
    assert solved.throughput([3, 0])[1] == 0.0
    assert solved.response_s([3, 0])[1] == 0.0


def test_what_cannot_be_solved_says_so() -> None:
    with pytest.raises(ValueError, match="no station gives any service"):
        populations([Class("a", 1, 1.0)], [Station("processor", (0.0,))])
    with pytest.raises(ValueError, match="too many"):
        populations([Class("a", 9999, 1.0), Class("b", 9999, 1.0)], [Station("processor", (1.0, 1.0))])
    with pytest.raises(ValueError, match="exceed the range of floating-point numbers"):
        populations([Class("a", 100_000, 10.0)], [Station("processor", (0.0005,), 4)])
