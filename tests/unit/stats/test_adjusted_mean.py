"""Adjusted means: the intercept of the line of least squares, with its standard error, from five observations on."""

import math
import random
from statistics import fmean, stdev

import numpy as np
import pytest
from loadgo.stats.adjusted_mean import FEWEST_ADJUSTED_VALUES, AdjustedMean, adjusted_mean


def test_it_is_the_intercept_of_the_line_of_least_squares_with_its_error() -> None:
    chance = random.Random(3)
    covariate = [chance.gauss(0.3, 1.0) for _ in range(9)]
    values = [0.1 + 0.8 * beside + chance.gauss(0.0, 0.2) for beside in covariate]
    design = np.column_stack([np.ones(9), covariate])
    estimates, squares, _, _ = np.linalg.lstsq(design, np.array(values), rcond=None)
    error = math.sqrt(squares[0] / 7 * np.linalg.inv(design.T @ design)[0, 0])
    mean = adjusted_mean(values, covariate)
    assert (mean.value, mean.slope) == pytest.approx(tuple(estimates))
    assert mean.error == pytest.approx(error)
    assert mean.error < stdev(values) / 3


@pytest.mark.parametrize("covariate", [None, [0.2] * 8], ids=["no covariate", "a constant one"])
def test_without_a_covariate_that_varies_it_is_the_plain_mean(covariate: list[float] | None) -> None:
    values = [1.0, 2.0, 4.0, 3.0, 2.5, 1.5, 2.0, 3.5]
    mean = adjusted_mean(values, covariate)
    assert (mean.value, mean.slope) == (pytest.approx(fmean(values)), 0.0)
    assert mean.error == pytest.approx(stdev(values) / math.sqrt(8))


def test_few_observations_are_not_adjusted() -> None:
    values = [1.0, 2.0, 3.0, 4.5, 5.0][: FEWEST_ADJUSTED_VALUES - 1]
    assert adjusted_mean(values, values) == adjusted_mean(values)
    assert adjusted_mean([2.0], [1.0]) == AdjustedMean(2.0, 0.0, 0.0)
