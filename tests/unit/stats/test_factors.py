"""Ratios taken apart: identities on random draws, closed formulas, and the factors of a printed comparison."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.stats.factors import Link, decompose, log_mean, meter, product, total
from loadgo.stats.resample import Floats, drawn, grouped, interval_of
from loadgo.stats.shapley import effects, strongest_interaction

above_0 = st.floats(1e-6, 1e6)
at_least_0 = st.one_of(st.just(0.0), above_0)


def one(value: float) -> Floats:
    return np.array([value])


@st.composite
def overheads(draw: st.DrawFn) -> Link:
    """A chain of work, a sum of meters and products, and idle time."""
    parts = [meter("itself", one(1.0), one(1.0))]
    for number in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            counts = [one(draw(above_0)), one(draw(above_0))]
            each = [one(draw(above_0)), one(draw(above_0))]
            parts.append(product(f"p{number}", (meter(f"n{number}", *counts), meter(f"c{number}", *each))))
        else:
            parts.append(meter(f"m{number}", one(draw(at_least_0)), one(draw(at_least_0))))
    work = meter("work", one(draw(above_0)), one(draw(above_0)))
    return product("elapsed", (work, total("overhead", tuple(parts)), meter("idle", one(draw(above_0)), one(1.0))))


def swapped(link: Link) -> Link:
    return Link(link.name, link.after, link.before, link.kind, tuple(map(swapped, link.parts)), link.description)


@given(overheads())
def test_the_factors_multiply_to_the_whole(whole: Link) -> None:
    logs = [float(share.log[0]) for share in decompose(whole)]
    ratio = math.log(float(whole.before[0]) / float(whole.after[0]))
    assert abs(math.fsum(logs) - ratio) <= 1e-12 * (1 + sum(map(abs, logs)))


@given(overheads())
def test_the_other_way_round_each_factor_is_one_over_itself(whole: Link) -> None:
    there = {(share.of, share.name): float(share.log[0]) for share in decompose(whole)}
    back = {(share.of, share.name): float(share.log[0]) for share in decompose(swapped(whole))}
    assert there.keys() == back.keys()
    assert all(math.isclose(there[key], -back[key], rel_tol=1e-9, abs_tol=1e-9) for key in there)


@given(above_0, above_0)
def test_a_logarithmic_mean_lies_between_the_geometric_and_the_arithmetic(a: float, b: float) -> None:
    mean = float(log_mean(one(a), one(b))[0])
    assert math.sqrt(a * b) * (1 - 1e-9) <= mean <= (a + b) / 2 * (1 + 1e-9)


def test_what_is_0_on_one_side_is_not_split_and_the_factors_still_multiply() -> None:
    gone = product("drum", (meter("how many", one(3.0), one(0.0)), meter("how long", one(0.1), one(0.1))))
    shares = decompose(total("overhead", (meter("itself", one(1.0), one(1.0)), gone)))
    assert [share.name for share in shares] == ["itself", "drum"]
    assert shares[1].factor[0] == pytest.approx(1.3, rel=1e-12)


def test_a_whole_of_nothing_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="elapsed is 0 on one side"):
        decompose(product("elapsed", (meter("work", one(0.0), one(1.0)), meter("idle", one(1.0), one(1.0)))))


@given(st.integers(1, 4), st.data())
def test_the_causes_multiply_to_the_whole_and_are_means_over_all_orders(count: int, data: st.DataObject) -> None:
    logs = np.array([[data.draw(st.floats(-5, 5))] for _ in range(1 << count)])
    change_effects = effects(logs)
    assert math.isclose(
        math.fsum(float(x.log[0]) for x in change_effects), float(logs[0, 0] - logs[-1, 0]), abs_tol=1e-12
    )
    for change in range(count):
        steps = []
        for order in permutations(range(count)):
            before = sum(1 << made for made in order[: order.index(change)])
            steps.append(float(logs[before, 0] - logs[before | 1 << change, 0]))
        assert math.isclose(float(change_effects[change].log[0]), math.fsum(steps) / len(steps), abs_tol=1e-12)


def test_a_change_that_does_nothing_has_the_factor_1_and_interacts_with_none() -> None:
    logs = np.array([[3.0], [2.5], [3.0], [2.5]])
    processor, nothing = effects(logs)
    assert (processor.log[0], nothing.log[0]) == (0.5, 0.0)
    pair = strongest_interaction(logs)
    assert pair is not None
    assert pair.log[0] == 0


def test_the_pair_that_interacts_most_is_found() -> None:
    factors = {0: 2.0, 1: 1.5, 2: 1.2}
    logs = np.zeros((8, 1))
    for choice in range(8):
        made = [i for i in factors if choice >> i & 1]
        together = 1.3 if {0, 2} <= set(made) else 1.0
        logs[choice] = -math.log(together * math.prod(factors[i] for i in made))
    pair = strongest_interaction(logs)
    assert pair is not None
    assert pair.pair == (0, 2)
    assert math.exp(-pair.log[0]) == pytest.approx(1.3)
    assert list(combinations(factors, 2)).index(pair.pair) == 1


@pytest.mark.parametrize(("units", "least"), [(5, 0.93), (8, 0.93), (20, 0.93), (100, 0.93)])
def test_an_interval_of_a_mean_holds_the_truth_as_often_as_it_says(units: int, least: float) -> None:
    """Normal values of mean 10: of 1000 intervals 93 to 98 % must hold it, three standard errors below 95 %."""
    random = np.random.default_rng(units)
    weights = drawn(units)
    held = 0
    for _ in range(1000):
        values = random.normal(10, 3, units)
        interval = interval_of(weights @ values / weights.sum(axis=1), units)
        assert interval is not None
        held += interval.holds(10)
    assert least <= held / 1000 <= 0.98


def test_fewer_than_five_units_give_no_interval() -> None:
    assert len(drawn(4)) == 1
    assert interval_of(np.array([1.0]), 4) is None
    assert interval_of(np.ones(9), 1) is None


def test_many_units_are_drawn_in_groups_without_loss() -> None:
    sums = np.arange(5000, dtype=np.float64)
    weights = drawn(5000)
    assert weights.shape[1] == 1024
    assert (weights @ grouped(sums))[0] == sums.sum()
