"""Bounds against exact mean values: they hold for every network, and meet them where they must."""

from __future__ import annotations

import numpy as np
import pytest
from loadgo.theory.job_bounds import job_bounds
from loadgo.theory.populations import Class, Station, populations

SLACK = 1 + 1e-12


def test_the_bounds_hold_for_random_networks_with_one_and_many_servers() -> None:
    random = np.random.default_rng(1982)
    for _ in range(60):
        count = int(random.integers(1, 5))
        demands = [float(random.uniform(0.01, 1.0)) for _ in range(count)]
        servers = [int(random.choice([1, 1, 2, 4, 16])) for _ in range(count)]
        think_s, delay_s = float(random.choice([0.0, 1.0, 20.0])), float(random.choice([0.0, 0.7]))
        stations = [Station(f"s{i}", (d,), c) for i, (d, c) in enumerate(zip(demands, servers, strict=True))]
        exact = populations([Class("users", 120, think_s + delay_s)], stations)
        for users in (1, 2, 3, 7, 20, 60, 120):
            throughput = exact.throughput([users])[0]
            response_s = users / throughput - think_s
            bounds = job_bounds(users, think_s, demands, servers, delay_s)
            assert bounds.balanced_least <= throughput * SLACK
            assert throughput <= bounds.balanced_most * SLACK
            assert bounds.balanced_most <= bounds.most_throughput * SLACK
            assert bounds.least_response_s <= bounds.quickest_s * SLACK
            assert bounds.quickest_s <= response_s + 1e-9
            assert response_s <= bounds.slowest_s + 1e-9


def test_a_balanced_network_without_thinking_lies_on_its_bound() -> None:
    exact = populations([Class("users", 30, 0.0)], [Station(name, (0.4,)) for name in "abc"])
    for users in (1, 5, 30):
        bounds = job_bounds(users, 0.0, [0.4] * 3, [1] * 3)
        assert bounds.balanced_most == pytest.approx(exact.throughput([users])[0], rel=1e-12)
        assert bounds.balanced_least == pytest.approx(bounds.balanced_most, rel=1e-12)


def test_one_user_alone_meets_all_bounds() -> None:
    bounds = job_bounds(1, 10.0, [0.6, 0.2], [2, 1], 0.3)
    assert bounds.least_response_s == pytest.approx(1.1)
    assert bounds.quickest_s == pytest.approx(1.1)
    assert bounds.slowest_s == pytest.approx(1.1)
    assert bounds.balanced_least == pytest.approx(1 / 11.1)
