"""The crossing of a limit and its uncertainty, by hand: excess, dispersion, Fieller's ends, drawn machines."""

import math
from dataclasses import replace

import numpy as np
import pytest
from loadgo.sizing.search.crossing import (
    LimitExcess,
    TargetScale,
    crossing_of,
    dispersion_of,
    excess_of,
    fieller_interval,
    inner_ratios,
    is_near_trials,
)
from loadgo.sizing.search.curved_crossing import curved_crossing, rough_crossing
from loadgo.sizing.search.fit_doubt import capacity_interval
from loadgo.sizing.search.host_line import host_crossing
from loadgo.sizing.search.points import point_of
from loadgo.sizing.search.trials import BatchSums
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial, mean_trial

(MEAN,) = parse_targets("mean < 2s")
(SLOW,) = parse_targets("p90 < 1s")
(FLOOR,) = parse_targets("throughput > 2/s")
LOG, LOGIT = TargetScale("log", 0.0, 1.0), TargetScale("logit", 0.0, 1.0)
T_3 = 3.18245
"""Student's t of 3 degrees of freedom."""


def sums(numerators: list[float], denominators: list[float] | None = None) -> BatchSums:
    """Batches with these numerators, and with ten interactions each unless given."""
    return BatchSums(np.array(numerators), np.array(denominators or [10.0] * len(numerators)))


def test_the_dispersion_of_a_mean_is_that_of_its_batches() -> None:
    """Batches of 10 interactions with the means 1, 3, 1, 3: residuals ±10, so 4 × 10 / 2² over 3 degrees is 10/3."""
    assert dispersion_of(LOG, [sums([10.0, 30.0, 10.0, 30.0])]) == (pytest.approx(10 / 3), 3)
    assert dispersion_of(LOG, [sums([10.0, 30.0, 10.0, 30.0])] * 2) == (pytest.approx(10 / 3), 6)
    assert dispersion_of(LOG, [sums([10.0, 30.0], [10.0, 0.0])]) == (1.0, 1)
    assert dispersion_of(LOG, [sums([10.0, 10.0, 10.0])]) == (0.0, 2)


def test_shares_are_at_least_as_dispersed_as_independent_interactions() -> None:
    """Shares 0.2 and 0.4 of ten: residuals ±1, so 2 × 0.1 / 0.21 over one degree is 0.95, which counts as 1."""
    assert dispersion_of(LOGIT, [sums([2.0, 4.0])]) == (1.0, 1)
    assert dispersion_of(LOGIT, [sums([0.0, 6.0])]) == (pytest.approx(2 * 0.9 / 0.21), 1)
    assert dispersion_of(LOGIT, [sums([0.0, 0.0, 0.0])]) == (1.0, 2), "equal batches count as degrees of freedom"


def test_the_excess_of_a_mean_reaches_as_far_as_students_t_of_its_batches() -> None:
    """The mean is 2, the batches' means deviate by 1.155, so the standard error is 0.577, or 0.2887 of the mean."""
    excess = excess_of(MEAN, [sums([10.0, 30.0, 10.0, 30.0])])
    assert excess is not None
    assert (excess.value, excess.measured, excess.freedom) == (pytest.approx(0.0, abs=1e-12), pytest.approx(0.0), 3)
    assert excess.half_width == pytest.approx(T_3 * 0.28868, rel=1e-4)
    assert (excess.met, excess.missed) == (False, False)
    above = excess_of(MEAN, [sums([40.0, 40.0, 40.0])])
    assert above is not None
    assert (above.value, above.half_width, above.missed) == (pytest.approx(math.log(2)), 0.0, True)


def test_the_excess_of_a_share_allows_for_half_a_slow_interaction_in_one_more() -> None:
    """6 slow ones of 40: the share is 6.5 / 41 on the scale, and 0.15 as measured; the limit is 0.1."""
    excess = excess_of(SLOW, [sums([1.0, 2.0, 1.0, 2.0])])
    assert excess is not None
    assert excess.value == pytest.approx(math.log(6.5 / 34.5) - math.log(1 / 9))
    assert excess.measured == pytest.approx(math.log(6 / 34) - math.log(1 / 9))
    share = 6.5 / 41
    assert excess.half_width == pytest.approx(T_3 / math.sqrt(40 * share * (1 - share)), rel=1e-4)
    none = excess_of(SLOW, [sums([0.0, 0.0])])
    assert none is not None
    assert none.measured == -math.inf
    every = excess_of(SLOW, [sums([10.0, 10.0])])
    assert every is not None
    assert every.measured == math.inf
    assert excess_of(SLOW, [sums([0.0], [0.0])]) is None
    assert excess_of(SLOW, [sums([1.0], [1.0])]) is not None, "one interaction is enough"


def test_a_floor_counts_in_the_other_direction() -> None:
    """One interaction a second where two are the least: an excess of ln 2. None at all is an endless one."""
    excess = excess_of(FLOOR, [sums([10.0, 10.0, 10.0])])
    assert excess is not None
    assert excess.value == pytest.approx(math.log(2))
    nothing = excess_of(FLOOR, [sums([0.0, 0.0])])
    assert nothing is not None
    assert (nothing.value, nothing.missed) == (math.inf, True)


def test_the_effect_of_trials_shrinks_with_their_number() -> None:
    """Equal batches leave the effect alone: 1.96 × 0.2 of one trial, over √4 of four; an empty trial does not count."""
    equal, empty = sums([20.0, 20.0]), sums([0.0], [0.0])
    for tallies, trials in (([equal], 1), ([equal] * 4, 4), ([equal, empty], 1)):
        excess = excess_of(MEAN, tallies, effect=0.2)
        assert excess is not None
        assert excess.half_width == pytest.approx(1.96 * 0.2 / math.sqrt(trials))


def test_a_share_with_an_effect_reaches_no_further_than_clopper_and_pearson() -> None:
    """No slow one of 20: the upper end of the exact interval is 1 - 0.025^(1/20), 16.8 %."""
    excess = excess_of(SLOW, [sums([0.0, 0.0])], effect=0.6)
    assert excess is not None
    end = 1 - 0.025 ** (1 / 20)
    exact = math.log(end / (1 - end)) - math.log(0.5 / 20.5)
    assert excess.half_width == pytest.approx(math.hypot(exact, 1.96 * 0.6), rel=1e-6)


def test_certainty_counts_in_half_widths_of_the_asked_confidence() -> None:
    """With 3 degrees of freedom t is 3.182 at 95 % and 1.638 at 80 %."""
    excess = LimitExcess(-1.0, T_3, 3, measured=0.5)
    assert excess.certainty(0.95) == pytest.approx(-1 / T_3, rel=1e-4)
    assert excess.certainty(0.8) == pytest.approx(-1 / 1.63774, rel=1e-4)
    assert excess.certainty(0.0) == math.inf, "only the side of the measured ratio counts"
    assert LimitExcess(-1.0, 0.0, 3, measured=0.5).certainty(0.95) == -math.inf
    assert LimitExcess(-1.0, 2.0, 3).certainty(0.0) == -math.inf


def test_two_trials_lie_on_their_line_and_the_crossing_is_between() -> None:
    """Means of 1 s with 10 users and 4 s with 30: on the scale of logarithms 2 s is half way, at 20."""
    low, high = sums([10.0, 10.1, 9.9]), sums([40.0, 40.4, 39.6])
    crossing = crossing_of(MEAN, [10, 30], [low, high])
    assert crossing is not None
    assert crossing.users == pytest.approx(20.0)
    assert crossing.slope == pytest.approx(math.log(4) / 20)
    assert crossing.weight == 60.0
    # Residuals ±0.1 of 1, and ±0.4 of 4: 2 × 0.001 over 2 degrees in each, so V is 0.001, with 4 degrees together.
    error = math.sqrt(0.001 / 30 * 2) / 2
    assert crossing.high - crossing.low == pytest.approx(2 * 2.7764 * error / crossing.slope, rel=1e-3)
    assert crossing_of(MEAN, [30, 10], [low, high]) is None, "a mean that falls with more users crosses no ceiling"
    assert crossing_of(MEAN, [10, 10], [low, high]) is None
    assert crossing_of(MEAN, [10, 30], [low, sums([0.0], [0.0])]) is None


def test_the_ends_are_where_the_line_leaves_its_own_band() -> None:
    """Fieller: at both ends the square of the distance from the limit is t² times the variance of the line there."""
    line, covariance = np.array([-0.7, 0.05]), np.array([[0.04, -0.0003], [-0.0003, 0.00006]])
    scale = TargetScale("log", 0.3, 1.0)
    found = fieller_interval(line, covariance, scale, 2.5)
    assert found is not None
    middle, *ends = found
    assert middle == pytest.approx(1.0 / 0.05)
    assert ends[0] < middle < ends[1]
    for x in ends:
        variance = covariance[0, 0] + 2 * x * covariance[0, 1] + x * x * covariance[1, 1]
        assert (line[0] + line[1] * x - 0.3) ** 2 == pytest.approx(2.5**2 * variance)
    assert fieller_interval(line, covariance, scale, 7.0) is None, "a slope of 6.5 standard errors"
    assert fieller_interval(-line, covariance, scale, 2.5) is None
    assert fieller_interval(-line, covariance, TargetScale("log", -0.3, -1.0), 2.5) is not None


def test_a_crossing_is_near_as_far_as_the_trials_are_apart() -> None:
    x = np.array([-1.0, 3.0])
    assert [is_near_trials(at, x) for at in (-5.1, -5.0, 7.0, 7.1)] == [False, True, True, False]


def test_shares_of_none_and_all_are_moved_inside() -> None:
    shares, weights = np.array([0.0, 1.0, 0.5]), np.array([9.0, 9.0, 9.0])
    assert inner_ratios(LOGIT, shares, weights) == pytest.approx([0.05, 0.95, 0.5])
    assert inner_ratios(LOG, shares, weights) == pytest.approx([1e-9, 1.0, 0.5])


def test_the_capacity_of_a_drawn_machine_is_predicted_from_the_others() -> None:
    """Crossings 100 e^±0.1: the deviation is 0.1 √(4/3), and t(3) of it times √(1 + 1/4) reaches 0.41084."""
    capacities = [100 * math.exp(0.1) - 0.5, 100 * math.exp(-0.1) - 0.5] * 2
    half = T_3 * 0.1 * math.sqrt(4 / 3) * math.sqrt(1.25)
    ends = (math.floor(100 * math.exp(-half)), math.floor(100 * math.exp(half)))
    assert ends == (66, 150)
    assert capacity_interval(capacities, 1000) == ends
    assert capacity_interval(capacities, 150) == (66, None)
    assert capacity_interval(capacities, 151) == (66, 150)
    assert capacity_interval(capacities, 50) == (50, None)


def test_a_parabola_crosses_where_it_does_and_rising_steps_near_it() -> None:
    """ln(mean / 2 s) = 0.01 (x - 20) + 0.001 (x² - 400) is 0 at 20, with the slope 0.05 there."""
    positions = [10, 14, 18, 22, 26, 30] * 2
    tallies = [
        sums([10 * 2 * math.exp(0.01 * (x - 20) + 0.001 * (x * x - 400) + noise)])
        for x, noise in zip(positions, [0.01] * 6 + [-0.01] * 6, strict=True)
    ]
    crossing = curved_crossing(MEAN, positions, tallies)
    assert crossing is not None
    assert crossing.users == pytest.approx(20.0, abs=0.02)
    assert crossing.slope == pytest.approx(0.05, rel=0.01)
    assert crossing.weight == 120.0
    # Twelve residuals of 0.01 over 9 degrees; a parabola's height in the middle of six even positions has the
    # variance 0.1973 of one residual (by its own normal equations), and t(9) is 2.262.
    assert crossing.high - crossing.low == pytest.approx(2 * 2.262 * 0.01155 * math.sqrt(0.1973) / 0.05, abs=0.03)
    assert curved_crossing(MEAN, positions[:11], tallies[:11]) is None
    four = [(x, tally) for x, tally in zip(positions, tallies, strict=True) if 10 < x < 30]
    assert curved_crossing(MEAN, *zip(*(four * 2), strict=True)) is not None, "four positions are enough"
    three = [(x, tally) for x, tally in four if x < 26]
    assert curved_crossing(MEAN, *zip(*(three * 3), strict=True)) is None
    assert rough_crossing(MEAN, [10, 20, 30], [sums([5.0]), sums([20 / math.e]), sums([20 * math.e])]) == 25.0
    assert rough_crossing(MEAN, [10, 20], [sums([20 / math.e]), sums([20 * math.e])]) == 15.0
    assert rough_crossing(MEAN, [10, 20], [sums([5.0]), sums([6.0])]) is None
    assert rough_crossing(MEAN, [10, 20], [sums([50.0]), sums([60.0])]) is None


def test_other_work_moves_the_crossing_of_a_host() -> None:
    """With equal shares of other work the crossing is that of the line; no trial with other work, none at a share."""
    trials = [mean_trial(users, 400, 0.05 * users * 2, users) for users in (10, 14, 18, 22, 26, 30)]
    crossing = host_crossing(MEAN, 0, trials)
    assert crossing is not None
    assert crossing.low < crossing.users < crossing.high
    assert crossing.users == pytest.approx(20.0, rel=0.1)
    assert crossing.weight == sum(trial.tallies[0].weight for trial in trials)


def test_trials_of_a_host_on_a_line_leave_the_prior_effect_of_four_trials() -> None:
    """Six trials on the line ln(mean / 2 s) = 0.1 (users - 20): an effect of 4 × 0.2² / (4 + 4), and t(8) is 2.306.

    The ends are ± t √v₀ / √(slope² - t² v₁), since the mean of the users is at the crossing. Here v₀ is the effect
    over 6. For v₁ it is the effect over 280, the sum of the squared distances of the users.
    """
    trials = [
        replace(mean_trial(users, 400, 1.0, users), tallies=(sums([20 * math.exp(0.1 * (users - 20))] * 3),))
        for users in (10, 14, 18, 22, 26, 30)
    ]
    crossing = host_crossing(MEAN, 0, trials)
    assert crossing is not None
    assert (crossing.users, crossing.slope) == (pytest.approx(20.0), pytest.approx(0.1))
    half = 2.306 * math.sqrt(0.02 / 6) / math.sqrt(0.01 - 2.306**2 * 0.02 / 280)
    assert (crossing.low, crossing.high) == pytest.approx((20 - half, 20 + half), abs=0.001)


def test_a_quantile_of_a_point_has_the_interval_of_its_share() -> None:
    """Independent interactions: the ends are about the quantiles at p ± t(11) √(p (1 - p) / n)."""
    trial = made_trial(10, 4000, 0.0, 3)
    figures = point_of([trial], [MEAN]).response_s
    ordered = np.sort(trial.responses_s)
    for name, p in (("p50", 0.5), ("p90", 0.9)):
        assert figures[name].value == pytest.approx(np.quantile(ordered, p))
        interval = figures[name].interval
        assert interval is not None
        places = [np.searchsorted(ordered, end) / len(ordered) for end in (interval.low, interval.high)]
        assert sum(places) == pytest.approx(2 * p, abs=0.002)
        assert places[1] - places[0] == pytest.approx(2 * 2.201 * math.sqrt(p * (1 - p) / 4000), rel=0.4)
    mean = figures["mean"]
    assert mean.value == pytest.approx(ordered.mean())
    assert mean.interval is not None
    assert mean.interval.low * mean.interval.high == pytest.approx(mean.value**2), "symmetric in logarithms"


def test_a_quantile_whose_interval_would_end_beyond_all_values_has_none() -> None:
    figures = point_of([made_trial(10, 40, 0.0, 3)], [MEAN]).response_s
    assert figures["p50"].interval is not None
    assert figures["p90"].interval is None
    assert "p99" not in figures
