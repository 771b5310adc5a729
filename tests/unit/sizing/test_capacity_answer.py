"""The answer of a search in words, where the point at the answer and the line through all points disagree."""

from dataclasses import replace

from loadgo.running.prepared import RunSettings
from loadgo.sizing.report.answer import AnswerContext, CapacityAnswer, answer_of
from loadgo.sizing.search.outcomes import CapacityFound, EveryNumberMeets, SearchGoal
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.results import Saturation
from loadgo.sizing.site import TrialLoad, prepare_site, run_trial
from loadgo.sizing.targets import parse_targets
from support.known_capacity import MEAN, exact, exact_response_s


def answer_with(users: int, low: int, high: int) -> CapacityAnswer:
    """The answer of a search for a mean below 3 s that found `users`."""
    points = [exact(low), exact(users)] if low < users else [exact(users)]
    goal = SearchGoal((MEAN,), 100, None, 10**6, 60, live=False)
    return answer_of(CapacityFound(users, low, high, 0, enough=True), points, goal)


def test_an_answer_whose_own_point_misses_the_target_begins_with_the_interval() -> None:
    beyond = next(users for users in range(1, 200) if exact_response_s(users) > MEAN.limit)
    answer = answer_with(beyond, beyond - 1, beyond)
    assert answer.users == beyond
    assert answer.in_words.startswith(
        f"{beyond - 1} to {beyond} users, with 95 % confidence. The most that meet {MEAN.text} in their own trials are "
        f"{beyond - 1} users. The line"
    )
    assert f"although the trials with {beyond} alone miss it" in answer.in_words


def test_an_answer_whose_own_point_meets_the_target_begins_with_its_number() -> None:
    most = next(users for users in range(200, 0, -1) if exact_response_s(users) < MEAN.limit)
    assert answer_with(most, most, most).in_words.startswith(f"{most} users; with more, {MEAN.text} is missed.")


def test_an_answer_that_its_own_trials_leave_open_is_only_probable() -> None:
    """The point is below the limit, and its interval reaches beyond: the row says `undecided`."""
    most = next(users for users in range(200, 0, -1) if exact_response_s(users) < MEAN.limit)
    assert answer_with(most, most - 1, most).in_words.startswith(
        f"Probably {most} users meet {MEAN.text} ({most - 1} to {most}, with 95 % confidence)."
    )
    assert answer_with(most, most - 3, most + 2).in_words.startswith(
        f"Probably {most} users meet {MEAN.text} ({most - 3} to {most + 2}, with 95 % confidence)."
    )
    none_sure = CapacityFound(most, 0, most, 0, enough=True)
    goal = SearchGoal((MEAN,), 100, None, 10**6, 60, live=False)
    assert answer_of(none_sure, [exact(most)], goal).in_words.startswith(
        f"Probably {most} users meet {MEAN.text} (0 to {most}, with 95 % confidence)."
    )


def test_all_tried_numbers_meet_a_target_only_where_none_of_them_was_left_open() -> None:
    goal = SearchGoal((MEAN,), 10, None, 10**6, 60, live=False)
    met = [exact(5), exact(10)]
    assert answer_of(EveryNumberMeets(10), met, goal).in_words.startswith(
        f"All tried numbers of users, up to the limit of 10, meet {MEAN.text}: "
    )
    unsure = replace(met[0], verdicts=tuple(replace(verdict, standing="open") for verdict in met[0].verdicts))
    assert answer_of(EveryNumberMeets(10), [unsure, met[1]], goal).in_words.startswith(
        f"10 users, the limit of the search, meet {MEAN.text}: "
    )


def test_trials_that_had_not_settled_give_no_capacity_of_the_limit_or_more() -> None:
    goal = SearchGoal((MEAN,), 10, None, 10**6, 60, live=False)
    few, most = exact(5), replace(exact(10), steady=False)
    unsure = replace(few, verdicts=tuple(replace(verdict, standing="open") for verdict in few.verdicts))
    answer = answer_of(EveryNumberMeets(10), [unsure, most], goal)
    assert (answer.end, answer.users, answer.interval, answer.confidence) == ("range", None, (10, None), 0.0)
    assert answer.in_words.startswith(
        "At least 10 users, more likely than not: with 10 users the response times had not "
        "settled; the trials with 5 users do not decide. With 10 users mean is"
    )
    assert "or more" not in answer.in_words
    assert answer_of(EveryNumberMeets(10), [replace(few, steady=False), exact(10)], goal).users == 10


def test_no_number_of_users_is_excluded_that_the_interval_contains() -> None:
    """The line crosses the limit below one user; its interval reaches two users."""
    goal = SearchGoal((MEAN,), 100, None, 10**6, 60, live=False)
    wide = CapacityFound(0, 0, 2, 0, enough=False, why="24 trials were too few")
    answer = answer_of(wide, [exact(1)], goal)
    assert (answer.users, answer.interval, answer.end) == (0, (0, 2), "no number")
    assert answer.in_words.startswith(
        f"Probably not even one user meets {MEAN.text}: the answer lies between 0 and 2, with 95 % confidence. With one"
    )
    assert answer.in_words.endswith("The interval is wider than wanted: 24 trials were too few.")
    narrow = answer_of(CapacityFound(0, 0, 0, 0, enough=True), [exact(1)], goal)
    assert narrow.in_words.startswith(f"No number of users meets {MEAN.text}: with one user")


def test_a_lower_end_that_is_the_answer_is_printed_once() -> None:
    beyond = next(users for users in range(1, 200) if exact_response_s(users) > MEAN.limit)
    words = answer_with(beyond, beyond, beyond + 1).in_words
    assert words.startswith(
        f"Probably {beyond} users meet {MEAN.text} ({beyond} to {beyond + 1}, with 95 % confidence)."
    )
    assert "own trials" not in words


def test_the_answer_for_a_swapping_machine_says_that_processors_wait_for_loading() -> None:
    """With four users of CTSS the processor works a third of the time; the rest goes into loading programs."""
    targets = parse_targets("mean < 30s")
    site = prepare_site("typical-user", "ctss", RunSettings())
    trials = [run_trial(site, targets, TrialLoad(n, 1, 60.0, 3000.0), lambda *_: True) for n in (1, 4)]
    goal = SearchGoal(targets, 100, None, 10**6, 60, live=False)
    points = points_of(trials, goal)
    assert points[0].loading < 0.1
    assert 0.3 < points[1].loading < 0.8
    assert points[1].loading + points[1].utilisation["processors"] <= 1.0
    first = AnswerContext(Saturation("processors", 100.0))
    words = answer_of(CapacityFound(4, 4, 4, 0, enough=True), points, goal, first).in_words
    assert "for programs to be loaded. A program holds the memory while it is loaded and while it runs" in words
    assert "No resource is saturated" not in words
    assert "No resource is saturated" in answer_of(CapacityFound(1, 1, 1, 0, enough=True), points, goal, first).in_words
