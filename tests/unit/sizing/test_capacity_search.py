"""The search for the capacity, on systems that are a formula: its outcomes, and its trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from loadgo.sizing.report.answer import answer_of
from loadgo.sizing.search.crossing import crossing_of, excess_of, scale_of
from loadgo.sizing.search.outcomes import (
    CapacityFound,
    EveryNumberMeets,
    NextTrial,
    NoNumberMeets,
    SearchGoal,
    Undecided,
)
from loadgo.sizing.search.rounds import SearchResult, TrialLength, TrialLengths, next_trial_length, run_search
from loadgo.sizing.search.search import MOST_LEAP_RATIO, next_step
from loadgo.sizing.search.standing import target_standing
from loadgo.sizing.search.steady_state import steadiness
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.sizing.targets import parse_targets
from loadgo.theory.populations import Class, Station
from support.made_trials import made_trial, mean_trial
from support.networks import mean_values

Shares = Callable[[int], float]


def searched(
    slow: Shares, *, seed: int = 1, max_users: int = 1000, live: bool = False, fewest_users: int = 1
) -> tuple[SearchResult, list[int]]:
    """The search on a system with a share `slow(users)` of slow interactions, and the numbers of users it tried."""
    tried: list[int] = []

    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        tried.append(step.users)
        return made_trial(step.users, step.interactions, slow(step.users), seed)

    wanted = SearchGoal(parse_targets("p90 < 1s"), max_users, 1, 200_000, 60, live, fewest_users)
    return run_search(tries, wanted, seed=1000 * seed), tried


def smooth(users: int) -> float:
    """A share of slow interactions that crosses a tenth at 30.4 users."""
    return 1 / (1 + math.exp(math.log(9) - 0.2 * (users - 30.4)))


@pytest.mark.statistical
def test_the_interval_contains_the_capacity_as_often_as_its_confidence_says() -> None:
    outcomes = [searched(smooth, seed=seed)[0].outcome for seed in range(20)]
    found = [outcome for outcome in outcomes if isinstance(outcome, CapacityFound)]
    assert len(found) == len(outcomes)
    assert sum(outcome.low <= 30 <= outcome.high for outcome in found) >= 18
    assert sum(abs(outcome.users - 30) <= 1 for outcome in found) >= 19
    assert all(outcome.high - outcome.low <= 1 for outcome in found)


def test_a_cliff_is_found_to_the_user() -> None:
    for edge in (7, 30, 31, 200):
        outcome = searched(lambda users, edge=edge: 0.001 if users <= edge else 0.9)[0].outcome  # type: ignore[misc]
        assert isinstance(outcome, CapacityFound)
        assert (outcome.low, outcome.users, outcome.high) == (edge, edge, edge)


@pytest.mark.parametrize("edge", [1, 2, 5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_line_beyond_a_cliff_does_not_deny_what_was_measured(edge: int, seed: int) -> None:
    """Nothing is slow up to the edge, and from there on a fifth, a little more with each user, as on short memory."""
    found, tried = searched(lambda users: 0.0 if users <= edge else 0.2 + 0.02 * (users - edge), seed=seed, max_users=9)
    outcome = found.outcome
    assert isinstance(outcome, CapacityFound)
    assert (outcome.low, outcome.users, outcome.high) == (edge, edge, edge)
    assert len(tried) < 20


def test_a_target_that_no_number_meets_takes_one_trial_with_one_user() -> None:
    found, tried = searched(lambda _: 0.8)
    assert found.outcome == NoNumberMeets(0)
    assert tried == [1]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("edge", [0, 4, 5, 6, 30])
def test_a_search_on_several_hosts_never_tries_fewer_users_than_each_host_needs(edge: int, live: bool) -> None:
    found, tried = searched(lambda users: 0.001 if users <= edge else 0.9, max_users=60, live=live, fewest_users=5)
    assert min(tried) >= 5
    if edge < 5:
        assert found.outcome == NoNumberMeets(0)
    else:
        assert isinstance(found.outcome, CapacityFound)
        assert found.outcome.users == edge


def test_the_answer_says_why_fewer_users_than_hosts_need_were_not_tried() -> None:
    goal = SearchGoal(parse_targets("p90 < 1s"), 60, 1, 200_000, 60, live=True, fewest_users=5)
    answer = answer_of(NoNumberMeets(0), [], goal)
    assert (answer.end, answer.users, answer.interval) == ("no number", 0, (0, 4))
    assert answer.in_words == (
        "No number from 5 users on meets p90 < 1s. Fewer than 5 users cannot be tried on this list, since each host "
        "has a user: leave hosts out of it, or search one of them with --on ssh://HOST."
    )


def test_a_target_that_every_number_meets_ends_at_the_limit() -> None:
    found, tried = searched(lambda _: 0.001, max_users=300)
    assert found.outcome == EveryNumberMeets(300)
    assert len(tried) < 15
    assert max(tried) == 300


def test_a_search_with_one_user_at_the_limit_ends() -> None:
    outcome = searched(lambda _: 0.1, max_users=1)[0].outcome
    assert isinstance(outcome, Undecided | EveryNumberMeets | NoNumberMeets)


@pytest.mark.parametrize("max_users", [1, 9, 40])
def test_a_host_never_has_more_users_than_the_limit_nor_three_times_as_many_at_once(max_users: int) -> None:
    _, tried = searched(smooth, max_users=max_users, live=True)
    assert max(tried) <= max_users
    highest = tried[0]
    for users in tried[1:]:
        assert users <= MOST_LEAP_RATIO * highest
        highest = max(highest, users)


def test_short_trials_come_first_and_long_ones_near_the_answer() -> None:
    trials = searched(smooth)[0].trials
    longest = max(trials, key=lambda trial: trial.counted)
    assert abs(longest.users - 30) <= 5
    assert trials[0].counted < trials[1].counted < longest.counted / 2
    far = sum(trial.counted for trial in trials if abs(trial.users - 30) > 8)
    assert far < 0.2 * sum(trial.counted for trial in trials)


def test_a_trial_that_drifts_is_repeated() -> None:
    asked: list[int] = []

    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        asked.append(step.users)
        slow = 0.1 if len(asked) == 2 else smooth(step.users)
        return made_trial(step.users, max(step.interactions, 400), slow, seed, drift=2.0 if len(asked) == 2 else 0.0)

    outcome = run_search(tries, SearchGoal(parse_targets("p90 < 1s"), 1000, 1, 200_000, 60, live=False))
    assert [trial.users for trial in outcome.left_out] == [asked[1]]
    assert asked[1] == asked[2]
    assert isinstance(outcome.outcome, CapacityFound)


def test_on_a_host_one_of_four_trials_at_most_repeats_one_that_drifted() -> None:
    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        return made_trial(step.users, max(step.interactions, 400), smooth(step.users), seed, drift=2.0)

    def left_out(*, live: bool) -> int:
        goal = SearchGoal(parse_targets("p90 < 1s"), 1000, 1, 200_000, 14, live=live)
        return len(run_search(tries, goal).left_out)

    assert left_out(live=True) == 14 // 4 < left_out(live=False)


def test_drift_is_distinguished_from_chance() -> None:
    steady = [steadiness(made_trial(20, 2000, 0.1, seed)) for seed in range(100)]
    assert sum(result.steady for result in steady) >= 94
    assert all(steadiness(made_trial(20, 2000, 0.1, seed, drift=1.0)).drifts for seed in range(20))
    few = steadiness(made_trial(20, 10, 0.1, 1))
    assert (few.steady, few.drifts) == (False, False)


def test_invalid_trials_with_one_user_end_the_search_with_their_reason() -> None:
    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        return made_trial(step.users, step.interactions, 0.01, seed, why="12 lines were sent too late")

    outcome = run_search(
        tries, SearchGoal(parse_targets("p90 < 1s"), 1000, 1, 200_000, 60, live=False), lengths=TrialLengths()
    )
    assert outcome.outcome == Undecided(1, None, "with 1 user no trial is valid (12 lines were sent too late)", 0.0)
    assert (outcome.trials, len(outcome.left_out)) == ((), 3)


def test_the_interval_of_a_crossing_contains_the_true_crossing() -> None:
    (target,) = parse_targets("p90 < 1s")
    users = [26, 28, 30, 32, 34] * 4
    held = 0
    for seed in range(100):
        tallies = [made_trial(at, 400, smooth(at), seed * 100 + place).tallies[0] for place, at in enumerate(users)]
        crossing = crossing_of(target, users, tallies)
        assert crossing is not None
        held += crossing.low <= 30.4 <= crossing.high
    assert 90 <= held <= 99


def test_a_line_without_a_significant_slope_has_no_crossing() -> None:
    (target,) = parse_targets("p90 < 1s")
    flat = [made_trial(at, 200, 0.1, at).tallies[0] for at in (28, 29, 30, 31)]
    assert crossing_of(target, [28, 29, 30, 31], flat) is None
    assert crossing_of(target, [30, 30], flat[:2]) is None


def test_a_floor_is_missed_from_below() -> None:
    (target,) = parse_targets("throughput > 3/s")
    assert scale_of(target).sign == -1
    slow = excess_of(target, [BatchSums(np.full(10, 20.0), np.full(10, 10.0))])
    quick = excess_of(target, [BatchSums(np.full(10, 40.0), np.full(10, 10.0))])
    assert slow is not None
    assert slow.missed
    assert quick is not None
    assert quick.met


def test_few_interactions_without_a_slow_one_decide_nothing() -> None:
    excess = excess_of(parse_targets("p99 < 1s")[0], [BatchSums(np.zeros(5), np.full(5, 2.0))])
    assert excess is not None
    assert not excess.met
    assert not excess.missed


def test_the_longest_time_of_a_search_is_announced() -> None:
    words = TrialLengths(15.0, 30.0).search_in_words(8)
    each, _, most = words.partition(": ")
    assert each == "at most 8 trials of 15.0 s to 30.0 s, each after a warm-up"
    assert most == "10.0 min at most, without log-ins and log-outs"
    assert TrialLengths(30.0, 30.0).search_in_words(1).startswith("at most 1 trial of 30.0 s, each")


@pytest.mark.parametrize("seed", [168, 217])
def test_a_search_ends_although_its_points_alternate(seed: int) -> None:
    """The curve of the mean bends: trials alternated between 34 and 40 users, and the line reached only one of them."""
    stations = [Station("processors", (0.6,), 2), Station("disk", (0.1,))]

    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        mean_s = mean_values([Class("users", step.users, 10.0)], stations).response_s[0]
        trial = mean_trial(step.users, step.interactions, mean_s, seed)
        return replace(trial, think_s=10.0, utilisation={"processors": 0.3 * trial.counted / trial.seconds})

    goal = SearchGoal(parse_targets("mean < 2s"), 10_000, None, 200_000, 60, live=False)
    found = run_search(tries, goal, seed=1000 * seed)
    assert isinstance(found.outcome, CapacityFound)
    assert found.outcome.low <= 36 <= found.outcome.high <= found.outcome.low + 1
    assert len(found.trials) <= 20
    assert sum(trial.spent for trial in found.trials) < 100_000


def test_the_next_trial_is_where_the_ends_of_a_wide_range_suggest_the_answer() -> None:
    """5 users meet the target and 40 miss it; the three numbers tried between are far below the crossing."""
    slow = {5: 0.001, 15: 0.06, 17: 0.07, 19: 0.07, 40: 0.3}
    trials = [made_trial(users, 400, share, users) for users, share in slow.items()]
    step = next_step(trials, SearchGoal(parse_targets("p90 < 1s"), 40, None, 200_000, 12, live=True))
    assert isinstance(step, NextTrial)
    assert 20 <= step.users <= 35


def test_a_first_trial_that_probably_misses_the_target_is_followed_by_fewer_users() -> None:
    goal = SearchGoal(parse_targets("p90 < 1s"), 32, None, 200_000, 12, live=True)
    trials = [made_trial(4, 40, 0.2, 1)]
    assert target_standing(4, trials, goal) == "open"
    step = next_step(trials, goal)
    assert isinstance(step, NextTrial)
    assert step.users == 2


def test_a_trial_without_any_busy_time_is_followed_by_one_with_more_users() -> None:
    goal = SearchGoal(parse_targets("p90 < 1s"), 12, 1, 200_000, 60, live=True)
    idle = replace(made_trial(1, 1, 0.0, 1), utilisation={}, processors=None)
    step = next_step([idle], goal)
    assert isinstance(step, NextTrial)
    assert 1 < step.users <= 12


def length_for(
    interactions: int, trials: list[CapacityTrial], longest_s: float = math.inf, factor: float = 1.0
) -> tuple[float, float]:
    """The warm-up and the length of a trial with 35 users, in seconds."""
    length = next_trial_length(NextTrial(35, interactions), trials, TrialLengths(0.0, longest_s), factor)
    assert length is not None
    return length.warm_up_s, length.seconds


def test_a_trial_is_as_long_as_its_interactions_take_in_whole_passes() -> None:
    """Users of the nearest trial think for 9.5 s and wait for 0.5 s, so that a cycle takes 10 s."""
    near = replace(made_trial(40, 400, 0.0, 1), responses_s=np.full(400, 0.5), lines_a_pass=None)
    shorter = replace(made_trial(40, 300, 0.0, 1), responses_s=np.full(300, 70.0), lines_a_pass=3.0)
    far = replace(made_trial(20, 400, 0.0, 1), responses_s=np.full(400, 90.0), lines_a_pass=None)
    trials = [shorter, near, far]
    assert next_trial_length(NextTrial(35, 1000), [], TrialLengths()) is None
    assert length_for(1400, trials) == pytest.approx((40.0, 1400 * 10 / 35)), "a tenth is the warm-up"
    assert length_for(10, trials) == pytest.approx((30.0, 24 * 10.0)), "24 cycles, and a warm-up of 3"
    assert length_for(10, trials, factor=2.0) == pytest.approx((60.0, 480.0))
    assert length_for(1400, [replace(near, lines_a_pass=7.0), shorter])[1] == pytest.approx(420.0), (
        "six passes of seven"
    )
    assert length_for(1410, [replace(near, lines_a_pass=2.0), shorter])[1] == pytest.approx(420.0), "21 passes of two"
    assert length_for(1410, [replace(near, lines_a_pass=1.0)])[1] == pytest.approx(1410 * 10 / 35), "a line is no pass"
    silent = replace(near, responses_s=np.full(400, np.nan))
    assert length_for(10, [silent]) == pytest.approx((28.5, 24 * 9.5)), "without answers, thinking alone"
    assert length_for(1400, trials, 100.0) == pytest.approx((30.0, 100.0))
