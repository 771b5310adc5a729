"""The trials that an answer proposes to narrow it: their number by hand, their length and their users."""

import math
from dataclasses import replace

import pytest
from loadgo.sizing.search.crossing import LimitCrossing
from loadgo.sizing.search.narrowing import LATE_DRIVER_REMEDY, Narrowing, narrowing_of, remedy_of
from loadgo.sizing.search.neighbours import other_work_doubts
from loadgo.sizing.search.outcomes import CapacityFound, EveryNumberMeets, SearchGoal, Undecided
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial

GOAL = SearchGoal(parse_targets("p90 < 1s"), 100, 4, 200_000, 12, live=True)
TRIALS = [
    replace(made_trial(users, 60, 0.1, users), seconds=seconds)
    for users, seconds in ((5, 90.0), (20, 30.0), (24, 40.0), (28, 20.0))
]


@pytest.mark.parametrize(
    ("low", "high", "trials"), [(20, 20, 2), (20, 22, 4), (20, 24, 6), (20, 34, 8), (0, 6, 6), (0, 0, 2)]
)
def test_a_range_takes_two_trials_for_each_halving(low: int, high: int, trials: int) -> None:
    """20 to 34 users are 16 answers with those beside: four halvings."""
    found = narrowing_of(CapacityFound(max(low, 1), low, high, 0, enough=False), TRIALS, GOAL)
    assert found == Narrowing(trials, 40.0, max(low, 1), max(high, 1))


@pytest.mark.parametrize(("half_width", "trials"), [(4.0, 8), (8.0, 41), (2.1, 1), (2.0, 1)])
def test_a_line_takes_trials_by_the_square_of_its_width(half_width: float, trials: int) -> None:
    """Three trials lie in the interval, and half a width of 0.42 × 5 is wanted: 3 × (4² / 2.1² - 1) = 7.9 more."""
    crossing = LimitCrossing(24.5, 24.5 - half_width, 24.5 + half_width, 0.1, 1.0)
    found = narrowing_of(CapacityFound(24, 20, 28, 0, enough=False, crossing=crossing), TRIALS, GOAL)
    assert found == Narrowing(trials, 40.0, 20, 28)
    alone = narrowing_of(CapacityFound(24, 40, 48, 0, enough=False, crossing=crossing), TRIALS, GOAL)
    assert alone is not None
    assert alone.trials == math.ceil(2 * max(half_width**2 / 2.1**2 - 1, 0.25)), "two at least"


def test_an_open_range_is_halved_up_to_its_end_or_the_limit() -> None:
    assert narrowing_of(Undecided(7, 20, "", 0.95), TRIALS, GOAL) == Narrowing(8, 40.0, 8, 20)
    assert narrowing_of(Undecided(7, None, "", 0.95), TRIALS, GOAL) == Narrowing(14, 40.0, 8, 100)
    assert narrowing_of(Undecided(0, 0, "", 0.95), TRIALS, GOAL) == Narrowing(2, 40.0, 1, 1)
    assert narrowing_of(Undecided(100, None, "", 0.95), TRIALS, GOAL, 60.0) == Narrowing(2, 60.0, 100, 100)


def test_nothing_is_proposed_where_nothing_is_wide() -> None:
    assert narrowing_of(CapacityFound(24, 24, 24, 0, enough=True), TRIALS, GOAL) is None
    assert narrowing_of(EveryNumberMeets(100), TRIALS, GOAL) is None
    assert narrowing_of(Undecided(7, 20, "", 0.95), [], GOAL) is None


def test_a_proposal_is_one_sentence_and_over_a_hundred_trials_two() -> None:
    assert Narrowing(1, 30.0, 8, 8).in_words == "To narrow it: one more trial of 30.0 s with 8 users."
    assert Narrowing(100, 30.0, 8, 9).in_words == "To narrow it: about 100 more trials of 30.0 s with 8 to 9 users."
    assert Narrowing(101, 30.0, 8, 9).in_words.startswith("It would take over 100 more trials with 8 to 9 users")


def test_a_late_driver_is_the_remedy_only_where_all_trials_beyond_the_end_were_late() -> None:
    late, other = made_trial(30, 60, 0.1, 1, why="late"), made_trial(30, 60, 0.1, 2)
    below = made_trial(7, 60, 0.1, 3, why="late")
    open_end = Undecided(7, None, "", 0.95)
    assert remedy_of(open_end, [late, below], None) == LATE_DRIVER_REMEDY
    assert remedy_of(open_end, [late, other], None) == ""
    assert remedy_of(open_end, [below], None) == ""
    assert remedy_of(open_end, [], None) == ""
    assert remedy_of(replace(open_end, confidence=0.0), [below], None) == LATE_DRIVER_REMEDY
    assert remedy_of(Undecided(7, 20, "", 0.95), [late], None) == ""


def test_where_other_programs_were_not_measured_that_is_the_doubt() -> None:
    assert other_work_doubts(None, "here", is_warned=True) == ["what other programs took of the host was not measured"]
