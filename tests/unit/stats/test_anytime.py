"""Anytime intervals: their ends are the means whose likelihood ratio is 20, and they narrow with the observations."""

import math
import random

import pytest
from loadgo.stats.anytime import PRIOR_VARIANCE_RATIO, anytime_interval, half_width, observations_needed
from loadgo.stats.resample import Interval


def likelihood_ratio(values: list[float], tested: float) -> float:
    """The mixture's likelihood over that of the mean `tested`, by integrals over effect and scale, done numerically.

    With the sample's mean and scatter given, the integral over the scale is a gamma function. The integral over the
    effect is a sum over a fine grid.
    """
    count = len(values)
    mean = sum(values) / count
    scatter = sum((value - mean) ** 2 for value in values)

    def by_scale(effect: float) -> float:
        # ∫ σ^-n exp(-Σ(x-μ₀-δσ)²/2σ²) dσ/σ, with u = 1/σ.
        square, linear = scatter + count * (mean - tested) ** 2, count * effect * (mean - tested)
        peak = (linear + math.sqrt(linear**2 + 4 * square * count)) / (2 * square)
        steps = [peak * step / 400 for step in range(1, 2400)]
        logs = [(count - 1) * math.log(u) - (square * u * u - 2 * linear * u + count * effect**2) / 2 for u in steps]
        return math.fsum(math.exp(log - reference) for log in logs) * peak / 400

    at_peak = math.sqrt((count - 1) / (scatter + count * (mean - tested) ** 2))
    reference = (count - 1) * math.log(at_peak) - (count - 1) / 2
    spread = math.sqrt(PRIOR_VARIANCE_RATIO)
    effects = [step / 10 for step in range(-120, 121)]
    density = [math.exp(-((effect / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi)) for effect in effects]
    mixture = math.fsum(weight * by_scale(effect) / 10 for effect, weight in zip(effects, density, strict=True))
    return mixture / by_scale(0.0)


def test_the_ends_are_the_means_whose_likelihood_ratio_is_20() -> None:
    chance = random.Random(7)
    values = [chance.gauss(3.0, 2.0) for _ in range(9)]
    interval = anytime_interval(values)
    assert interval is not None
    assert likelihood_ratio(values, interval.low) == pytest.approx(20, rel=1e-3)
    assert likelihood_ratio(values, interval.high) == pytest.approx(20, rel=1e-3)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0]])
def test_few_observations_have_no_interval(values: list[float]) -> None:
    assert anytime_interval(values) is None


def test_equal_observations_have_an_interval_without_width() -> None:
    assert anytime_interval([0.5] * 6) == Interval(0.5, 0.5)


def test_observations_needed_are_the_first_that_are_enough() -> None:
    needed = observations_needed(0.1, 0.05, 1000)
    assert needed is not None
    assert half_width(0.1, needed) <= 0.05 < half_width(0.1, needed - 1)
    assert observations_needed(10.0, 0.05, 1000) is None
