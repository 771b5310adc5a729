"""The answer of a search in words, where its number as measured and the line through all points do not agree."""

from loadgo.sizing.answer import CapacityAnswer, answer_of
from loadgo.sizing.outcomes import CapacityFound, SearchGoal
from support.known_capacity import MEAN, exact, exact_response_s


def said(users: int, low: int, high: int) -> CapacityAnswer:
    """The answer of a search for a mean below 3 s that found `users`."""
    points = [exact(low), exact(users)] if low < users else [exact(users)]
    wanted = SearchGoal((MEAN,), 100, None, 10**6, 60, live=False)
    return answer_of(CapacityFound(users, low, high, 0, enough=True), points, wanted)


def test_a_number_that_was_measured_beyond_the_limit_is_not_sure() -> None:
    beyond = next(users for users in range(1, 200) if exact_response_s(users) > MEAN.limit)
    answer = said(beyond, beyond - 1, beyond)
    assert answer.users == beyond
    assert answer.in_words.startswith(f"At least {beyond - 1} users, most likely {beyond}")


def test_a_number_that_was_measured_within_the_limit_is_the_answer() -> None:
    most = next(users for users in range(200, 0, -1) if exact_response_s(users) < MEAN.limit)
    assert said(most, most, most).in_words.startswith(f"{most} users; with more, {MEAN.text} is missed.")
    assert said(most, most - 1, most).in_words.startswith(f"{most} users; with more, {MEAN.text} is missed. The answer")


def test_a_lower_end_that_is_the_answer_is_said_once() -> None:
    beyond = next(users for users in range(1, 200) if exact_response_s(users) > MEAN.limit)
    words = said(beyond, beyond, beyond + 1).in_words
    assert words.startswith(f"{beyond} users; with more, {MEAN.text} is missed. The answer lies between")
    assert "most likely" not in words
