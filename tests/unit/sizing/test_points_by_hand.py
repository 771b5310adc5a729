"""The figures of a number of users, by hand: sums and means of its trials, and what a model says of one."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loadgo.measures.tariff import load_tariff
from loadgo.sizing.models.demands import Demand
from loadgo.sizing.models.extrapolation import follow_law
from loadgo.sizing.report.answer import answer_of
from loadgo.sizing.resources import ProcessorShares
from loadgo.sizing.search.outcomes import CapacityFound, SearchGoal, Undecided
from loadgo.sizing.search.points import point_of, points_of
from loadgo.sizing.search.trials import BatchSums, TrialQuestions, trial_from
from loadgo.sizing.targets import parse_targets
from loadgo.stats.interval import Interval
from support.capacity_results import capacity_of
from support.made_trials import made_trial
from support.synthetic import S, interaction, run_of

TARGETS = parse_targets("p90 < 1s")
GOAL = SearchGoal(TARGETS, 32, None, 200_000, 8, live=True)


def test_a_point_of_two_trials_has_their_sums_and_means_by_length_or_by_interactions() -> None:
    """Trials of 100 interactions in 50 s and of 300 in 150 s; other work was measured in the second one alone."""
    first = replace(
        made_trial(20, 100, 0.0, 1), seconds=50.0, think_s=4.0, utilisation={"processors": 0.2}, lost=1,
        cost_user_hour=1.0, faults_a_command=8.0, loading=0.04,
    )  # fmt: skip
    second = replace(
        made_trial(20, 300, 0.0, 2), seconds=150.0, think_s=8.0, utilisation={"processors": 0.6}, lost=2,
        cost_user_hour=3.0, faults_a_command=16.0, loading=0.08, processors=ProcessorShares(0.5, 0.3, 0.25),
    )  # fmt: skip
    point = point_of([first, second], TARGETS)
    assert (point.interactions, point.seconds, point.trials, point.lost) == (400, 200.0, 2, 3)
    assert point.think_s == pytest.approx((100 * 4 + 300 * 8) / 400)
    assert point.utilisation == pytest.approx({"processors": (50 * 0.2 + 150 * 0.6) / 200})
    assert point.cost_user_hour == pytest.approx((50 * 1 + 150 * 3) / 200)
    assert point.faults_a_command == pytest.approx((100 * 8 + 300 * 16) / 400)
    assert point.loading == pytest.approx((50 * 0.04 + 150 * 0.08) / 200)
    assert point.others == 0.3
    assert point.throughput.value == pytest.approx(400 / 200)


def test_a_point_without_an_interaction_has_no_figures_but_zeros() -> None:
    nothing = BatchSums(np.zeros(12), np.zeros(12))
    trial = replace(
        made_trial(3, 1, 0.0, 1), tallies=(nothing,), responses_s=np.zeros(0), batch=np.zeros(0, dtype=int),
        seconds=60.0, utilisation={},
    )  # fmt: skip
    point = point_of([trial, replace(trial, seconds=0.0)], TARGETS)
    assert (point.interactions, point.throughput.value, point.think_s, point.response_s) == (0, 0.0, 0.0, {})
    assert point.verdicts[0].standing == "open"
    assert (point.others, point.cost_user_hour, point.unanswered) == (None, None, 0)
    assert point_of([replace(trial, seconds=0.0)], TARGETS).throughput.value == 0.0
    unmetered = point_of([replace(trial, utilisation={"disk": None})], TARGETS)  # type: ignore[dict-item]
    assert unmetered.utilisation == {"disk": 0.0}


@pytest.mark.parametrize(
    ("throughput", "response"), [((0.5, 1.0), (5.0, 15.0)), ((2.0, 4.0), (0.0, 0.0)), ((0.0, 1.0), (5.0, np.inf))]
)
def test_a_models_response_is_what_is_left_of_a_users_cycle(
    throughput: tuple[float, float], response: tuple[float, float]
) -> None:
    """Ten users who think for 5 s: 10 / X - 5, and no less than nothing."""
    law: Any = SimpleNamespace(
        law=SimpleNamespace(throughput=lambda users: 0.8), prediction_interval=lambda users: Interval(*throughput)
    )
    figures = follow_law(law, 5.0, (), 100).at(10)
    assert figures.response_s.value == pytest.approx(10 / 0.8 - 5)
    assert figures.response_s.interval == Interval(*response)


def test_a_demand_that_grows_lies_between_the_demands_of_the_users_beside() -> None:
    """Demands of 0.1 s with 1 and 3 users and 0.2 s with 5. Beyond, it may grow on by 0.1 s for each four users."""
    demand = Demand("processors", 1, 0.15, ((1, 0.1), (3, 0.1), (5, 0.2)), grows=True)
    assert demand.with_users(4) == pytest.approx((0.1, 0.15, 0.2))
    assert demand.with_users(2) == pytest.approx((0.1, 0.1, 0.1))
    assert demand.with_users(5) == pytest.approx((0.1, 0.2, 0.2))
    assert demand.with_users(9) == pytest.approx((0.15, 0.2, 0.3))
    assert replace(demand, grows=False).with_users(9) == (0.1, 0.15, 0.2)


def test_trials_that_contradict_each_other_are_named_with_the_fewest_and_the_most_users() -> None:
    slow = {2: 0.6, 4: 0.6, 6: 0.0, 8: 0.0}
    points = points_of([made_trial(users, 400, share, users) for users, share in slow.items()], GOAL)
    words = answer_of(Undecided(0, None, "4 trials were too few", 0.0), points, GOAL).in_words
    assert "(with 2 users a target is missed, with 8 users all are met)" in words


@pytest.mark.parametrize(
    ("high", "words"),
    [
        (0, "No number of users meets p90 < 1s"),
        (2, "Probably not even one user meets p90 < 1s: the answer lies between 0 and 2"),
    ],
)
def test_an_answer_below_one_user_has_the_end_of_its_interval(high: int, words: str) -> None:
    points = points_of([made_trial(1, 400, 0.12, 1)], GOAL)
    answer = answer_of(CapacityFound(0, 0, high, 0, enough=False), points, GOAL)
    assert answer.in_words.startswith(words)
    assert answer.interval == (0, high)


@pytest.mark.parametrize(
    ("slow_share", "sentence"),
    [(0.0, " The most that meet p90 < 1s in their own trials are 10 users."), (0.3, "")],
)
def test_an_answer_names_users_whose_own_trials_meet_the_target_only_if_there_are_any(
    slow_share: float, sentence: str
) -> None:
    """The line reaches the limit at 20 users, whose own trials miss it, as those of 10 users may."""
    points = points_of([made_trial(10, 400, slow_share, 1), made_trial(20, 400, 0.3, 2)], GOAL)
    answer = answer_of(CapacityFound(20, 8, 25, 0, enough=True), points, GOAL)
    assert f"8 to 25 users, with 95 % confidence.{sentence} The line through all trials reaches" in answer.in_words


def test_the_think_time_of_a_point_is_the_mean_time_from_a_prompt_to_the_next_line() -> None:
    """Users think for 4 s and 6 s in turns, type for 2 s, and their lines are sent 0.5 s late."""
    late_ns = S // 2
    rows = [
        interaction(1, sent_s, 1.0, think_ns=think_s * S, typing_ns=2 * S + late_ns, planned_ns=sent_s * S - late_ns)
        for sent_s, think_s in ((10, 4), (20, 6), (30, 4), (40, 6))
    ]
    questions = TrialQuestions(1, "seed 1", TARGETS, {"processors": 1}, load_tariff())
    point = point_of([trial_from(run_of(rows), questions)], TARGETS)
    assert [known["think_s"] for known in json.loads(capacity_of([point]).report("json"))["points"]] == [7.5]
