"""Keys in a report's answer: an answer in doubt and a key that nobody saw are counted once each."""

import pytest
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.words import answer
from support.synthetic import interaction, run_of


def keys_run(in_doubt: int, unseen: int) -> Tables:
    """A user's keys: two that are answered, some whose answer is in doubt, and some that change nothing."""
    outcomes = ["ok"] * 2 + ["unconfirmed"] * (in_doubt + unseen)
    responses = [1.0] * (2 + in_doubt) + [None] * unseen
    rows = [
        interaction(1, 2 * at, response, line=at, outcome=outcome, command="vim keys")
        for at, (outcome, response) in enumerate(zip(outcomes, responses, strict=True), start=1)
    ]
    return run_of(rows)


@pytest.mark.parametrize(
    ("in_doubt", "unseen", "said", "unsaid"),
    [
        (0, 1, "1 key or burst changed nothing on the screen", "unconfirmed"),
        (0, 3, "3 keys or bursts changed nothing on the screen", "unconfirmed"),
        (2, 1, "2 answers are unconfirmed: their ends are not certain. 1 key or burst changed nothing", "3 answers"),
        (1, 0, "1 answer is unconfirmed", "changed nothing"),
    ],
)
def test_a_key_that_changed_nothing_is_counted_once(in_doubt: int, unseen: int, said: str, unsaid: str) -> None:
    text = answer(summarize(keys_run(in_doubt, unseen), phases="all"))
    assert said in text
    assert unsaid not in text
