"""The universal scalability law against its published example, exact curves, and what its intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from loadgo.theory.scalability import FittedLaw, Scalability, fitted_law

USERS = [1, 18, 36, 72, 108, 144, 216]
SCRIPTS_AN_HOUR = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
"""SPEC SDM91 on a Sun SPARCcenter 2000 with 16 processors, October 1994 (Gunther 2007, chapter 5)."""


@pytest.fixture(scope="module")
def sdm91() -> FittedLaw:
    """The published example, fitted."""
    return fitted_law(USERS, SCRIPTS_AN_HOUR)


def test_the_published_example_has_its_published_parameters(sdm91: FittedLaw) -> None:
    assert sdm91.law.alpha == pytest.approx(0.0277285, abs=5e-7)
    assert sdm91.law.beta == pytest.approx(0.0001044, abs=5e-8)
    assert sdm91.law.gamma == pytest.approx(89.9952, abs=5e-4)
    assert sdm91.at_bound == ()


def test_the_published_example_has_its_published_peak(sdm91: FittedLaw) -> None:
    assert sdm91.law.peak_users == pytest.approx(96.5, abs=0.05)
    assert sdm91.law.peak == pytest.approx(1884, abs=0.5)


def test_the_published_example_has_its_published_standard_errors(sdm91: FittedLaw) -> None:
    errors = np.sqrt(np.diag(np.array(sdm91.covariance)))
    assert errors == pytest.approx([0.0091217, 0.0000199, 14.2134894], rel=2e-3)
    assert sdm91.error == pytest.approx(82.8, abs=0.05)
    assert sdm91.freedom == 4


def test_the_residuals_are_orthogonal_to_the_slopes(sdm91: FittedLaw) -> None:
    """The condition of the least sum of squares, by differences that do not know the derivatives."""
    residuals = np.array(SCRIPTS_AN_HOUR) - [sdm91.law.throughput(n) for n in USERS]
    for alpha, beta, gamma in ((1e-6, 0, 0), (0, 1e-9, 0), (0, 0, 1e-3)):
        moved = Scalability(sdm91.law.alpha + alpha, sdm91.law.beta + beta, sdm91.law.gamma + gamma)
        slope = np.array([moved.throughput(n) - sdm91.law.throughput(n) for n in USERS])
        cosine = residuals @ slope / np.linalg.norm(residuals) / np.linalg.norm(slope)
        assert abs(cosine) < 1e-4


@pytest.mark.parametrize(
    "law",
    [
        Scalability(0.03, 1e-4, 2.0),
        Scalability(0.2, 0.0, 0.01),
        Scalability(0.0, 3e-5, 500.0),
        Scalability(0.0, 0.0, 1.5),
        Scalability(0.9, 0.01, 7.0),
    ],
)
def test_points_on_a_curve_give_the_curve(law: Scalability) -> None:
    users = [1, 3, 10, 30, 100, 300]
    found = fitted_law(users, [law.throughput(n) for n in users]).law
    assert found.alpha == pytest.approx(law.alpha, rel=1e-6, abs=1e-9)
    assert found.beta == pytest.approx(law.beta, rel=1e-6, abs=1e-11)
    assert found.gamma == pytest.approx(law.gamma, rel=1e-6)


def test_scaling_the_throughput_scales_gamma_alone(sdm91: FittedLaw) -> None:
    a_second = fitted_law(USERS, [x / 3600 for x in SCRIPTS_AN_HOUR])
    assert a_second.law.alpha == pytest.approx(sdm91.law.alpha, rel=1e-9)
    assert a_second.law.beta == pytest.approx(sdm91.law.beta, rel=1e-9)
    assert a_second.law.gamma == pytest.approx(sdm91.law.gamma / 3600, rel=1e-9)
    assert a_second.error == pytest.approx(sdm91.error / 3600, rel=1e-6)


def test_more_than_its_share_from_each_user_holds_the_contention_at_its_bound() -> None:
    law = fitted_law([1, 2, 4, 8, 16, 32], [1.0, 2.3, 4.9, 10.1, 20.0, 30.0])
    assert "alpha" in law.at_bound
    assert law.law.alpha == 0.0
    assert law.intervals["alpha"] is None
    assert law.intervals["gamma"] is not None


def test_a_law_without_coherency_has_no_peak() -> None:
    assert Scalability(0.1, 0.0, 2.0).peak_users == math.inf
    assert Scalability(0.1, 0.0, 2.0).peak == pytest.approx(20.0)
    assert Scalability(0.0, 0.0, 2.0).peak == math.inf
    assert Scalability(1.5, 0.1, 2.0).peak_users == 1.0


def test_three_points_are_met_exactly_and_have_no_interval() -> None:
    law = fitted_law([1, 10, 100], [1.0, 8.0, 20.0])
    assert [law.law.throughput(n) for n in (1, 10, 100)] == pytest.approx([1.0, 8.0, 20.0], rel=1e-6)
    assert law.freedom == 0
    assert law.prediction_interval(50) is None
    assert set(law.intervals.values()) == {None}


def test_the_doubt_grows_beyond_the_points(sdm91: FittedLaw) -> None:
    widths = [interval.high - interval.low for n in (72, 216, 400, 800) if (interval := sdm91.prediction_interval(n))]
    assert widths[0] < widths[1] < widths[2]
    assert len(widths) == 4


@pytest.mark.parametrize(
    ("users", "throughput", "says"),
    [
        ([1, 2], [1.0, 2.0], "needs 3 different numbers of users, and there are 2"),
        ([5, 5, 5, 5], [1.0, 1.1, 0.9, 1.0], "and there are 1"),
        ([1, 2, 3], [1.0, 0.0, 2.0], "above 0"),
        ([1, 2, 3], [1.0, math.nan, 2.0], "above 0"),
        ([1, 2, 3], [1.0, 2.0], "3 numbers of users have 2 throughputs"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(users: list[float], throughput: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fitted_law(users, throughput)


def test_intervals_hold_the_truth_in_about_95_of_100() -> None:
    """Over 300 seeds: a parameter, and a measurement to come at twice the users."""
    truth, random = Scalability(0.05, 2e-4, 3.0), np.random.default_rng(1993)
    users = np.array([1, 4, 8, 16, 32, 48, 64, 96, 128], dtype=float)
    exact = np.array([truth.throughput(n) for n in users])
    held = {"alpha": 0, "beta": 0, "to come": 0}
    for _ in range(300):
        law = fitted_law(users.tolist(), (exact + random.normal(0, 0.6, len(users))).tolist())
        for name, value in (("alpha", truth.alpha), ("beta", truth.beta)):
            interval = law.intervals[name]
            held[name] += interval is not None and interval.holds(value)
        to_come = law.prediction_interval(256)
        held["to come"] += to_come is not None and to_come.holds(truth.throughput(256) + random.normal(0, 0.6))
    assert all(273 <= count <= 299 for count in held.values()), held


def test_parameters_that_the_points_do_not_determine_are_named(sdm91: FittedLaw) -> None:
    """On a plateau only the quotient of throughput and contention is known."""
    assert sdm91.undetermined == ()
    plateau = fitted_law([20, 22, 24, 26, 28], [10.1, 9.9, 10.2, 9.8, 10.0])
    assert {"alpha", "gamma"} <= set(plateau.undetermined)
