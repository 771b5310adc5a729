"""Change points: found where they are, with their size, and not found in chance, drift of one value, or few values."""

import numpy as np
import pytest
from loadgo.stats.change_points import FEWEST_VALUES, LARGEST_CHANCE_SHARE, LevelChange, change_points
from loadgo.stats.resample import Floats
from scipy.stats import ttest_ind


def noise(count: int, seed: int, share: float = 0.05) -> Floats:
    """Values about 1 with a lognormal scatter."""
    values: Floats = np.exp(share * np.random.default_rng(seed).standard_normal(count))
    return values


def heavy(count: int, seed: int) -> Floats:
    """Values about 1 with a scatter of heavy tails, such as runs on a host that others use now and then."""
    values: Floats = np.exp(0.05 * np.random.default_rng(seed).standard_t(2, count))
    return values


def test_one_step_is_found_where_it_is_with_its_size() -> None:
    values = noise(60, 1) * np.where(np.arange(60) < 35, 1.0, 1.2)
    (change,) = change_points(values)
    assert abs(change.index - 35) <= 1
    assert change.scale == "ratio"
    assert change.interval is not None
    assert change.interval.low < 0.2 < change.interval.high
    assert change.interval.high - change.interval.low < 0.08
    assert change.size == pytest.approx(change.after / change.before - 1)
    assert change.chance <= LARGEST_CHANCE_SHARE


def test_several_steps_are_found_in_a_thousand_values() -> None:
    levels = np.repeat([1.0, 1.1, 0.9, 0.9, 1.5], 200)
    found = [change.index for change in change_points(noise(1000, 2) * levels)]
    assert len(found) == 3
    assert np.allclose(found, [200, 400, 800], atol=3)


def test_a_step_of_the_last_three_of_thirty_values_is_found_and_one_last_value_is_not() -> None:
    values = noise(30, 3)
    assert [c.index for c in change_points(np.append(values[:27], values[27:] * 1.8))] == [27]
    assert change_points(np.append(values[:29], values[29:] * 5.0)) == ()


def test_an_outlier_is_no_change() -> None:
    values = noise(50, 4)
    values[20] *= 10
    assert change_points(values) == ()


def two_modes(count: int, seed: int) -> Floats:
    """Values of which three of ten are half again as large, such as runs whose memory is laid out in two ways."""
    random = np.random.default_rng(seed)
    values: Floats = np.where(random.random(count) < 0.3, 1.5, 1.0) * np.exp(0.02 * random.standard_normal(count))
    return values


@pytest.mark.statistical
@pytest.mark.parametrize("made", [noise, heavy, two_modes])
@pytest.mark.parametrize("count", [12, 40, 200])
def test_series_without_a_change_have_a_change_in_few_of_sixty(made: object, count: int) -> None:
    assert callable(made)
    false = sum(bool(change_points(made(count, seed))) for seed in range(60))
    assert false <= 3


def test_few_values_have_no_change_however_far_apart_they_are() -> None:
    values = np.array([1.0, 1.1, 1.0, 1.05, 1.02, 9.1, 9.2, 9.0, 9.05])
    assert len(values) < FEWEST_VALUES
    assert change_points(values) == ()
    (change,) = change_points(np.append(values, 9.1))
    assert change.index == 5


def test_counts_with_zeros_have_a_difference_in_place_of_a_ratio() -> None:
    values = np.array([0, 1, 0, 0, 2, 1, 0, 1, 0, 0, 7, 9, 8, 7, 9, 8, 8, 7], dtype=np.float64)
    (change,) = change_points(values)
    assert (change.index, change.scale) == (10, "difference")
    assert change.size == pytest.approx(change.after - change.before)


def test_values_that_never_scatter_have_a_change_without_an_interval() -> None:
    values = np.repeat([2.0, 3.0], 10)
    (change,) = change_points(values)
    assert change == LevelChange(
        10, pytest.approx(2.0), pytest.approx(3.0), "ratio", pytest.approx(0.5), None, change.chance
    )
    assert change_points(np.full(40, 2.0)) == ()


def test_the_same_values_have_the_same_changes() -> None:
    values = noise(100, 5) * np.where(np.arange(100) < 50, 1.0, 1.1)
    assert change_points(values) == change_points(values)


@pytest.mark.filterwarnings("error")
def test_a_level_without_scatter_has_an_interval_and_no_warning() -> None:
    (change,) = change_points(np.array([0.0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 3, 3, 3, 3, 3]))
    assert (change.index, change.scale) == (10, "difference")
    assert change.interval is not None
    assert change.interval.low < 2.8 < change.interval.high


def test_the_interval_is_that_of_welch() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.lognormal(0, 0.1, 20), random.lognormal(1, 0.3, 12)])
    (change,) = change_points(values)
    logs = np.log(values[change.index :]), np.log(values[: change.index])
    expected = ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert change.interval is not None
    assert change.interval.low == pytest.approx(np.expm1(expected.low))
    assert change.interval.high == pytest.approx(np.expm1(expected.high))
