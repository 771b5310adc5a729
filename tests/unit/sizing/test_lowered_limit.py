"""A search whose largest numbers of users have no valid trial: its answer is no answer up to a smaller limit."""

from dataclasses import replace

import pytest
from loadgo.sizing.search import trial_log
from loadgo.sizing.search.outcomes import NextTrial, SearchGoal, SearchOutcome, Undecided
from loadgo.sizing.search.rounds import TrialLength, run_search
from loadgo.sizing.search.trial_log import REPEAT_PAUSES_S
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial

GOAL = SearchGoal(parse_targets("p90 < 1s"), 8, None, 200_000, 12, live=True)
REASON = "with 8 users no trial is valid (9 of 40 lines were sent too late)"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the pauses before a trial is repeated."""
    monkeypatch.setattr(trial_log, "REPEAT_PAUSES_S", (0.0,) * len(REPEAT_PAUSES_S))


def outcome_with(slow_share_from_4: float, goal: SearchGoal = GOAL) -> SearchOutcome:
    """The outcome where up to 3 users are fast, and with 8 users no trial is valid."""

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        why = "9 of 40 lines were sent too late" if step.users > 7 else ""
        return made_trial(step.users, 400, 0.001 if step.users < 4 else slow_share_from_4, seed, why=why)

    return run_search(run_trial, goal).outcome


def test_that_all_numbers_below_an_invalid_one_meet_the_targets_is_said_as_at_least_so_many() -> None:
    assert outcome_with(0.001) == Undecided(7, None, REASON, 0.95)


def test_an_open_end_at_the_last_valid_number_has_the_reason_of_the_invalid_one() -> None:
    """With 7 users as many are slow as the target allows."""
    assert outcome_with(0.1) == Undecided(3, None, REASON, 0.95)


def test_an_answer_below_the_invalid_number_does_not_have_its_reason() -> None:
    found = outcome_with(0.6, replace(GOAL, most_trials=10))
    assert getattr(found, "high", None) in (3, 4, 5)
    assert "valid" not in getattr(found, "why", "")
