"""The test for a steady state: Welch's test of the halves, and what is too little for it."""

from dataclasses import replace

import numpy as np
import pytest
from loadgo.sizing.search.steady_state import _compare_halves, steadiness
from loadgo.sizing.search.trials import CapacityTrial
from scipy.stats import ttest_ind
from support.made_trials import made_trial


def trial_with(batch: list[int], responses_s: list[float], batches: int = 4) -> CapacityTrial:
    """A trial with these interactions."""
    made = made_trial(4, 60, 0.0, 1)
    return replace(made, batch=np.array(batch), responses_s=np.array(responses_s, float), batches=batches)


@pytest.mark.parametrize(
    "values", [[1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 5.5], [5.0, 4.0, 5.0, 1.0, 1.5, 1.0], [3.0, 1.0, 2.0, 2.5]]
)
def test_the_halves_are_compared_by_welchs_test(values: list[float]) -> None:
    half = len(values) // 2
    first, second = values[:half], values[half:]
    chance, change = _compare_halves(np.array(values))
    assert chance == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)
    assert change == pytest.approx(sum(second) / sum(first) - 1)


def test_halves_without_any_scatter_are_no_evidence_of_a_change() -> None:
    assert _compare_halves(np.array([2.0, 2.0, 5.0, 5.0])) == (1.0, 0.0)
    assert _compare_halves(np.zeros(4)) == (1.0, 0.0)


def test_two_interactions_for_each_batch_are_the_fewest() -> None:
    batch = [0, 0, 1, 1, 2, 2, 3, 3]
    assert steadiness(trial_with(batch, [1.0, 1.1] * 4)).steady
    few = steadiness(trial_with(batch[:7], [1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0]))
    assert (few.steady, few.drifts, few.why) == (False, False, "7 interactions are too few to prove a steady state")


def test_one_batch_in_four_may_be_empty() -> None:
    three_each = [index for index in range(8) for _ in range(3)]
    two_empty = [index if index < 6 else 5 for index in three_each]
    three_empty = [index if index < 5 else 4 for index in three_each]
    responses = [1.0, 1.1, 1.2] * 8
    assert "too few" not in steadiness(trial_with(two_empty, responses, 8)).why
    assert "too few" in steadiness(trial_with(three_empty, responses, 8)).why


def test_a_drift_is_told_with_its_direction_and_its_size() -> None:
    batch = [index for index in range(8) for _ in range(4)]
    rising = steadiness(trial_with(batch, [1.0 + 0.01 * (i % 3) + (1.0 if i >= 16 else 0.0) for i in range(32)], 8))
    assert (rising.steady, rising.drifts) == (False, True)
    assert rising.why == "response times rose by 99.1 % from the first half to the second"
    falling = steadiness(trial_with([0] * 9 + [1] * 8 + [2] * 9 + [3] * 8 + [4, 4, 5, 5, 6, 6, 6, 7], [1.0] * 42, 8))
    assert falling.why == "interactions a second fell by 76.5 % from the first half to the second"


def test_lines_without_an_answer_count_as_sent_and_have_no_response_time() -> None:
    batch = [index for index in range(8) for _ in range(4)]
    responses = [1.0 + 0.01 * (i % 3) for i in range(32)]
    responses[5] = responses[20] = np.inf
    assert steadiness(trial_with(batch, responses, 8)).steady
