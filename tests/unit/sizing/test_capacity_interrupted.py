"""A search that is interrupted, or ends at its limit of trials: the answer comes from the complete trials."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.search import trial_log
from loadgo.sizing.search.crossing import LimitCrossing, excess_of
from loadgo.sizing.search.narrowing import narrowing_of
from loadgo.sizing.search.outcomes import CapacityFound, NextTrial, SearchGoal, Undecided
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.rounds import SearchResult, TrialLength, run_search
from loadgo.sizing.search.search import outcome_so_far
from loadgo.sizing.search.standing import known_range
from loadgo.sizing.search.trial_log import REPEAT_PAUSES_S
from loadgo.sizing.search.trials import BatchSums, CapacityTrial
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial, slow_share

GOAL = SearchGoal(parse_targets("p90 < 1s"), 32, None, 200_000, 8, live=True)


def interrupted_in(count: int, *, complete: bool = False, why: str = "") -> SearchResult:
    """A search whose trial with this number, from 1, is interrupted, or with `complete` ends at the interrupt."""
    stop = threading.Event()
    made: list[int] = []

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        made.append(step.users)
        trial = made_trial(step.users, 400, slow_share(step.users, 8), seed, why=why)
        if len(made) < count:
            return trial
        assert not stop.is_set(), "no trial runs after an interrupt"
        stop.set()
        return trial if complete else replace(trial, cut_short=True)

    return run_search(run_trial, GOAL, stop=stop)


@pytest.mark.parametrize(("counted", "words"), [(1, " 1 interaction:"), (400, " 400 interactions:")])
def test_the_progress_counts_the_interactions_of_a_trial(counted: int, words: str) -> None:
    stop, lines = threading.Event(), list[str]()

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        stop.set()
        return made_trial(step.users, counted, slow_share(step.users, 8), seed)

    run_search(run_trial, GOAL, stop=stop, progress=lines.append)
    assert any(words in line for line in lines)


def test_an_interrupt_in_the_first_trial_leaves_nothing_known_and_proposes_nothing() -> None:
    found = interrupted_in(1)
    assert found.basis == ()
    assert found.outcome == Undecided(0, None, "the search was stopped", 0.0)
    assert narrowing_of(found.outcome, found.basis, GOAL, 15.0) is None
    (trial,) = found.in_order
    assert (trial.interrupted, trial.cut_short) == (True, False)


def test_an_interrupted_trial_is_not_used_and_is_no_wide_miss() -> None:
    found = interrupted_in(4)
    assert [trial.interrupted for trial in found.in_order] == [False, False, False, True]
    assert found.basis == found.trials
    assert not any(trial.cut_short for trial in found.in_order)


def test_a_trial_that_was_complete_when_the_interrupt_came_is_used() -> None:
    found = interrupted_in(2, complete=True)
    assert len(found.trials) == 2
    assert not any(trial.interrupted for trial in found.in_order)


def test_an_interrupt_in_the_pause_before_a_repetition_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_log, "REPEAT_PAUSES_S", (30.0,) * len(REPEAT_PAUSES_S))
    found = interrupted_in(1, complete=True, why="9 of 40 lines were sent too late")
    assert len(found.in_order) == 1
    assert found.basis == found.in_order
    assert isinstance(found.outcome, Undecided)
    assert found.outcome.why == "the search was stopped"


def test_a_range_of_one_number_keeps_the_confidence_of_its_trials() -> None:
    """6 users meet the target and 7 miss it, in trials that are too short for 95 % confidence."""
    trials = [made_trial(6, 45, 0.0, 1), made_trial(7, 40, 0.35, 2)]
    known = known_range(trials, GOAL, "the search was stopped")
    assert (known.low, known.high, known.confidence) == (6, 6, 0.8)
    outcome = outcome_so_far(trials, GOAL, "the search was stopped")
    answer = answer_of(outcome, points_of(trials, GOAL), GOAL)
    assert (answer.interval, answer.confidence) == ((6, 6), 0.8)


def test_an_answer_that_is_narrow_enough_at_the_last_trial_is_not_called_too_wide() -> None:
    narrow = CapacityFound(8, 8, 8, 0, enough=True, crossing=LimitCrossing(8.4, 8.1, 8.7, 1.0, 1.0))
    sure = [made_trial(8, 4000, 0.01, seed) for seed in (1, 2)] + [made_trial(9, 4000, 0.5, seed) for seed in (3, 4)]
    outcome = outcome_so_far(sure, GOAL, "4 trials were too few")
    assert isinstance(outcome, CapacityFound)
    for each in (narrow, outcome):
        assert each.low == each.high
        assert "wider than wanted" not in answer_of(each, points_of(sure, GOAL), GOAL).in_words


def test_a_trial_without_the_command_of_a_target_adds_no_certainty() -> None:
    (target,) = parse_targets("p90 < 1s")
    tally = made_trial(5, 400, 0.1, 1).tallies[0]
    nothing = BatchSums(np.zeros(12), np.zeros(12))
    alone, beside = (excess_of(target, tallies, 0.6) for tallies in ([tally], [tally, nothing, nothing]))
    assert alone is not None
    assert beside is not None
    assert beside.half_width == pytest.approx(alone.half_width)


def test_the_answer_names_trials_that_contradict_each_other() -> None:
    trials = [made_trial(5, 900, 0.6, 1), made_trial(10, 900, 0.0, 2)]
    answer = answer_of(known_range(trials, GOAL, "2 trials were too few"), points_of(trials, GOAL), GOAL)
    assert answer.interval == (0, None)
    assert "with 5 users a target is missed, with 10 users all are met" in answer.in_words
    assert "no trial clearly meets" not in answer.in_words


def test_proposed_trials_are_no_shorter_than_the_shortest() -> None:
    trials = [replace(made_trial(20, 60, 0.9, seed), seconds=3.0, cut_short=True) for seed in range(3)]
    narrowing = narrowing_of(Undecided(0, 19, ""), trials, GOAL, 15.0)
    assert narrowing is not None
    assert narrowing.seconds == 15.0


def test_without_a_complete_trial_the_answer_is_that_nothing_is_known() -> None:
    found = interrupted_in(1)
    answer = answer_of(found.outcome, points_of(found.basis, GOAL), GOAL, AnswerContext(stopped=True))
    assert (answer.interval, answer.in_words) == (None, "The capacity is not known: the search was stopped.")
