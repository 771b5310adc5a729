"""Intervals near the margin have as many digits as it takes to see on which side of it they end."""

import pytest
from loadgo.comparison.difference import Difference
from loadgo.comparison.figures import change_interval
from loadgo.stats.resample import Interval


@pytest.mark.parametrize(
    ("interval", "verdict", "shown"),
    [
        ((-1.6, 4.9), "no difference", "−1.6 to +4.9 %"),
        ((-3.1, 5.1), "cannot tell", "−3.1 to +5.1 %"),
        ((-4.9, 4.2), "cannot tell", "−4.9 to +4.2 %"),
        ((-3.1, 4.97), "no difference", "−3.10 to +4.97 %"),
        ((-3.1, 6.2), "cannot tell", "−3 to +6 %"),
        ((0.6, 5.2), "worse", "+1 to +5 %"),
    ],
)
def test_an_interval_shows_on_which_side_of_the_margin_it_ends(
    interval: tuple[float, float], verdict: str, shown: str
) -> None:
    low, high = interval
    found = Difference("response", 100.0, 100.0 + (low + high) / 2, Interval(low, high))
    assert (found.verdict, change_interval(found)) == (verdict, shown)
