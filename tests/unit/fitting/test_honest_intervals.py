"""Intervals of fitted values where there is little to resample, and the direction of a warning."""

import numpy as np
import pytest
from loadgo.fitting.demands import fit_law_value, fit_unmetered_wait
from loadgo.fitting.remarks import growth_warnings
from loadgo.fitting.uncertainty import Grouping, fit_covariance, log_interval
from loadgo.stats.resample import drawn
from support.fit_readings import reading, rows

MS = 1e6
WAITS_NS = np.array([46.9, 50.8, 50.9, 52.7, 55.1, 58.8, 70.8]) * MS


def test_seven_interactions_have_at_least_the_interval_of_seven_draws() -> None:
    """Stretches alone would show hardly any doubt, since their means are nearly equal."""
    values = np.array([3.0, 3.6, 3.3, 3.3, 3.01, 3.6, 3.3]) * MS
    stretches = np.array([0, 0, 1, 2, 3, 3, 4])
    grouping = Grouping(12, stretches, drawn(12, replicates=1000))
    value = fit_law_value("commands.seven.cpu", values, np.ones(7), [grouping], "metered")
    assert value.mean is not None
    deviation = float(fit_covariance([value.mean], [grouping]).deviations[0])
    assert deviation >= values.std() / values.mean() / 7**0.5
    low, high = log_interval(value.law.mean, deviation, 3)
    assert high - low > 0.3 * MS


def test_interactions_of_which_all_resamples_are_equal_have_the_interval_of_as_many_draws() -> None:
    one_unit = Grouping(1, np.zeros(7, np.int64), np.ones((1000, 1)))
    value = fit_law_value("commands.seven.cpu", WAITS_NS, np.ones(7), [one_unit], "metered")
    assert value.mean is None
    assert value.deviation == pytest.approx(WAITS_NS.std() / WAITS_NS.mean() / 7**0.5)


def test_the_median_wait_of_a_busy_host_is_no_constant_that_is_known_exactly() -> None:
    measured = rows(response=list(WAITS_NS + 5 * MS), cpu=[5 * MS] * 7)
    grouping = Grouping(7, np.arange(7), drawn(7, replicates=1000))
    (wait,) = fit_unmetered_wait(measured, [grouping], 0.0, busy=True).values
    assert wait.law.mean == 52.7 * MS
    assert wait.source == "median of the unmetered part of the response, in 7 interactions: the host was busy"
    assert wait.deviation is not None
    middle_half = np.subtract(*np.quantile(WAITS_NS, (0.75, 0.25)))
    assert wait.deviation == pytest.approx(1.2533 * middle_half / 1.349 / 7**0.5 / (52.7 * MS))
    draws = np.random.default_rng(1).choice(WAITS_NS, (2_000, 7))
    assert wait.deviation == pytest.approx(np.log(np.median(draws, axis=1)).std(), rel=0.4)


@pytest.mark.parametrize(
    ("few_ms", "many_ms", "words"),
    [
        (
            10.0,
            13.0,
            "30.0 % more processor time with 6 users than with 2: the machine has the mean of all runs, and is "
            "too fast for a higher load and too slow for a lower one",
        ),
        (
            10.0,
            8.0,
            "20.0 % less processor time with 6 users than with 2: the machine has the mean of all runs, and is "
            "too slow for a higher load and too fast for a lower one",
        ),
    ],
)
def test_a_machine_with_the_mean_of_two_loads_is_wrong_on_the_side_that_the_warning_names(
    few_ms: float, many_ms: float, words: str
) -> None:
    few, many = (
        reading(
            users=users,
            think="exponential(1s)",
            conditions={},
            span_s=40.0 / users,
            rows=rows(cpu=[(each_ms + jitter) * MS for jitter in (-0.1, 0.1)] * 20),
        )
        for users, each_ms in ((2, few_ms), (6, many_ms))
    )
    (warning,) = growth_warnings([few, many])
    assert words in warning
    assert growth_warnings([few, few]) == []
