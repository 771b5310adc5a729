"""Repeated intervals: the last one is Student's if it is the only one, and the error that was spent makes it wider."""

import math
import random
from statistics import stdev

import pytest
from loadgo.stats.repeated_interval import (
    FEWEST_OBSERVATIONS,
    LAST_WIDTH_RATIO,
    observations_needed,
    planned_half_width,
    repeated_interval,
)
from loadgo.stats.resample import Interval
from loadgo.stats.student import student_reach
from support.repeated_intervals import half_width


def evenly(count: int, planned: int) -> list[float]:
    """The progress after each of `count` observations of an experiment of `planned` ones."""
    return [(number + 1) / planned for number in range(count)]


def test_an_experiment_of_the_fewest_observations_has_the_interval_of_students_t() -> None:
    chance = random.Random(7)
    values = [chance.gauss(3.0, 2.0) for _ in range(FEWEST_OBSERVATIONS)]
    interval = repeated_interval(values, evenly(4, 4))
    assert interval is not None
    half = student_reach(3) * stdev(values) / 2
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.02)
    assert (interval.high + interval.low) / 2 == pytest.approx(math.fsum(values) / 4)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0]])
def test_few_observations_have_no_interval(values: list[float]) -> None:
    assert repeated_interval(values, evenly(len(values), 30)) is None


def test_equal_observations_have_an_interval_without_width() -> None:
    assert repeated_interval([0.5] * 6, evenly(6, 30)) == Interval(0.5, 0.5)


def test_without_progress_nothing_is_spent_and_there_is_no_interval() -> None:
    assert repeated_interval([1.0, 2.0, 3.0, 2.0, 1.0], [0.0] * 5) is None


def test_the_sooner_an_experiment_ends_the_narrower_is_an_interval_of_as_many_observations() -> None:
    widths = [half_width(1.0, evenly(10, planned)) for planned in (10, 15, 30)]
    assert widths == sorted(widths)
    assert widths[0] < 0.8 * widths[-1]


def test_a_course_in_between_does_not_change_an_interval() -> None:
    alone = half_width(1.0, evenly(9, 17))
    for planned in range(20, 27):
        half_width(1.0, evenly(planned, planned))
    assert half_width(1.0, evenly(9, 17)) == alone


@pytest.mark.parametrize("planned", [8, 13, 20, 30])
def test_the_forecast_of_the_last_width_is_that_of_an_experiment(planned: int) -> None:
    assert planned_half_width(1.0, planned) == pytest.approx(half_width(1.0, evenly(planned, planned)), rel=0.03)
    student = student_reach(planned - 1) / math.sqrt(planned)
    assert half_width(1.0, evenly(planned, planned)) == pytest.approx(LAST_WIDTH_RATIO * student, rel=0.03)


def test_observations_needed_are_the_first_that_are_enough() -> None:
    needed = observations_needed(0.1, 0.05)
    assert needed is not None
    assert planned_half_width(0.1, needed) <= 0.05 < planned_half_width(0.1, needed - 1)
    assert observations_needed(10.0, 0.05) is None


def test_a_covariate_that_explains_the_scatter_narrows_the_interval() -> None:
    chance = random.Random(11)
    covariate = [chance.gauss(0.0, 0.1) for _ in range(12)]
    values = [0.1 + beside + chance.gauss(0.0, 0.01) for beside in covariate]
    plain, adjusted = (repeated_interval(values, evenly(12, 13), used) for used in (None, covariate))
    assert plain is not None
    assert adjusted is not None
    assert adjusted.holds(0.1)
    assert adjusted.high - adjusted.low < (plain.high - plain.low) / 4


def test_with_a_covariate_an_experiment_that_goes_on_has_its_first_interval_after_5_observations() -> None:
    values, covariate = [0.1, 0.2, 0.15, 0.12, 0.18], [0.0, 0.1, 0.05, 0.01, 0.09]
    assert repeated_interval(values[:4], evenly(4, 30), covariate[:4]) is None
    assert repeated_interval(values, evenly(5, 30), covariate) is not None
    last, plain = (repeated_interval(values[:4], evenly(4, 4), used) for used in (covariate[:4], None))
    assert last is not None
    assert plain is not None
    assert (last.low, last.high) == pytest.approx((plain.low, plain.high), abs=0.002)
