"""An interval and its reciprocal, and ratios that are read from either side."""

import math
from dataclasses import dataclass

import pytest
from loadgo.stats.both_ways import FactorBothWays, RatioBothWays
from loadgo.stats.interval import Interval, inverse


@dataclass
class Ratio(RatioBothWays):
    """A figure of two runs."""

    before: float
    after: float
    interval: Interval | None


@dataclass
class Factor(FactorBothWays):
    """A factor of their ratio."""

    factor: float
    interval: Interval | None


def test_the_reciprocal_of_an_interval_has_its_ends_reversed() -> None:
    assert Interval(0.5, 4.0).inverse == Interval(0.25, 2.0)
    assert Interval(0.0, 4.0).inverse == Interval(0.25, math.inf)
    assert inverse(math.inf) == 0.0


def test_both_ends_belong_to_an_interval() -> None:
    assert [Interval(1, 2).holds(value) for value in (0.99, 1, 2, 2.01)] == [False, True, True, False]


@pytest.mark.parametrize("interval", [None, Interval(0.5, 4.0)])
def test_a_ratio_of_a_over_b_is_read_as_b_over_a(interval: Interval | None) -> None:
    read = Ratio(4.0, 8.0, interval), Factor(0.5, interval)
    assert [one.b_over_a for one in read] == [2.0, 2.0]
    expected = None if interval is None else Interval(0.25, 2.0)
    assert [one.b_over_a_interval for one in read] == [expected, expected]
    assert Ratio(0.0, 8.0, None).b_over_a == math.inf
