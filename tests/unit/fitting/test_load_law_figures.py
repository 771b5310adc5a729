"""The law of the load by hand: its slope, the doubt in it, and how much the processors' speed differs between runs."""

import math

import numpy as np
import polars as pl
import pytest
from loadgo.fitting.load_law import LoadFactor, LoadLaw, RunLoads, fit_load_law
from loadgo.fitting.uncertainty import Grouping, ResampledValue
from support.fit_readings import units

T_1000, T_2 = 1.96234, 4.30265
"""Student's t of 1000 degrees of freedom, which stands for the normal distribution's, and of 2."""


def law_of(means: list[float], shares: list[float], grouping: Grouping, *, drifts: bool = False) -> LoadLaw:
    """The law of runs with two interactions each, whose times lie 1 below and 1 above the run's mean."""
    work = np.array([mean + off for mean in means for off in (-1.0, 1.0)])
    rows = pl.DataFrame({"run": np.repeat(np.arange(len(means)), 2), "command": ["edit"] * len(work)})
    return fit_load_law(rows, work, [grouping], RunLoads(np.array(shares), drifts))


SLOPE = 30 / 44
"""Times of 100 and 130 under loads of 0.2 and 0.7: d (1 + 0.2 b) and d (1 + 0.7 b). So 30 = 70 b - 26 b."""


def test_a_resample_that_lacks_a_load_has_the_dependence_of_all_interactions() -> None:
    law = law_of([100.0, 130.0], [0.2, 0.7], units([1, 1, 1, 1], [2, 2, 0, 0], [0, 0, 2, 2]))
    assert law.shared.resampled.draws[0] == pytest.approx([1 + SLOPE] * 3)
    assert (law.shared.low, law.shared.high) == pytest.approx((1 + SLOPE, 1 + SLOPE))


def test_a_dependence_without_resamples_is_as_uncertain_as_those_of_hosts_differ() -> None:
    """The deviation is taken as 0.3, as that of all hosts is: the slope counts half, with a deviation of 0.3 √½."""
    shared = law_of([100.0, 130.0], [0.2, 0.7], units([1, 1, 1, 1])).shared
    reach = T_1000 * 0.3 * math.sqrt(0.5)
    assert shared.resampled.value == pytest.approx(1 + SLOPE / 2)
    assert (shared.low, shared.high) == pytest.approx((1 + SLOPE / 2 - reach, 1 + SLOPE / 2 + reach), rel=1e-5)


def test_the_speed_deviates_as_the_runs_of_one_load_do_by_students_t_of_their_number() -> None:
    """Four runs, of two loads, lie 0.1 off their line, with two degrees of freedom: a variance of 4 × 0.1² / 2.

    The interactions explain 2 / 2000² of it. So few runs count with t(2) over that of a known deviation.
    """
    law = law_of([900.0, 1100.0, 900.0, 1100.0], [0.1, 0.1, 0.6, 0.6], units([1] * 8), drifts=True)
    assert law.drift == pytest.approx(math.sqrt(0.02 - 2 / 2000**2) * T_2 / T_1000, rel=1e-4)
    speed = next(value for value in law.values if value.key == "processors.speed")
    assert speed.deviation == law.drift


def test_a_dependence_that_is_left_out_is_in_the_assumption_with_its_ends() -> None:
    factor = LoadFactor(ResampledValue(1.0, ()), 0.9554, 1.0446)
    law = LoadLaw(np.array([0.1, 0.6]), factor, {}, 0.0, ())
    assert law.values == ()
    assert law.assumed == (
        "a command's processor time is independent of the load: under full load it would differ by −4 % to +4 % "
        "(95 %), which is left out",
    )


@pytest.mark.parametrize(
    ("low", "high", "is_kept"), [(0.97, 1.03, False), (0.97, 1.3, True), (0.7, 1.03, True), (1.01, 1.03, True)]
)
def test_a_machine_file_leaves_out_a_dependence_only_if_it_may_be_none_and_is_surely_less_than_5_percent(
    low: float, high: float, is_kept: bool
) -> None:
    law = LoadLaw(np.array([0.1, 0.6]), LoadFactor(ResampledValue(1.02, ()), low, high), {}, 0.0, ())
    assert [value.key for value in law.values] == (["processors.cpu_when_busy"] if is_kept else [])
    (words,) = law.assumed
    assert ("changes in proportion to the load" in words) == is_kept
