"""The time that a search on a simulated machine still takes: known once the trials show where the limit is."""

from __future__ import annotations

import itertools
import math

import pytest
from loadgo.sizing.search.outcomes import NextTrial, SearchGoal
from loadgo.sizing.search.rounds import TrialLength, run_search
from loadgo.sizing.search.search import interactions_left
from loadgo.sizing.search.time_left import DrawnSearchLines, search_limits_in_words, time_left_in_words
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial

GOAL = SearchGoal(parse_targets("p90 < 1s"), 1000, 1, 200_000, 60, live=False)


def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
    """A trial on a system whose share of slow interactions crosses a tenth at 30.4 users."""
    slow = 1 / (1 + math.exp(math.log(9) - 0.2 * (step.users - 30.4)))
    return made_trial(step.users, step.interactions, slow, seed)


@pytest.mark.long
def test_the_interactions_left_are_known_within_a_factor_when_a_line_crosses_the_limit() -> None:
    ratios = []
    for seed in range(10):
        trials = run_search(tries, GOAL, seed=1000 * seed).trials
        assert interactions_left(trials[:2], GOAL) is None
        for known in range(3, len(trials)):
            left = interactions_left(trials[:known], GOAL)
            real = sum(trial.counted for trial in trials[known:])
            ratios += [] if left is None else [left / real]
    assert len(ratios) > 20
    middle = sorted(ratios)[len(ratios) // 2]
    assert 1 / 3 < middle < 3


def test_the_time_left_is_told_in_words() -> None:
    trials = run_search(tries, GOAL, seed=1).trials
    assert "is not known before the trials show" in time_left_in_words(trials[:1], GOAL, 20.0)
    assert time_left_in_words(trials[:-1], GOAL, 20.0).startswith("the search: about ")
    assert search_limits_in_words(GOAL).startswith("at most 60 trials, each of at most 200,000 interactions")


@pytest.mark.long
def test_a_line_comes_at_most_every_ten_seconds_and_none_of_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for live, lines_wanted in ((False, True), (True, False)):
        clock = itertools.count(0.0, 6.0)
        monkeypatch.setattr("loadgo.sizing.search.time_left.time.monotonic", lambda clock=clock: next(clock))
        lines: list[str] = []
        goal = SearchGoal(parse_targets("p90 < 1s"), 100, 1, 200_000, 60, live=live)
        result = run_search(tries, goal, progress=lines.append)
        left = [line for line in lines if line.startswith("the search: ")]
        assert bool(left) is lines_wanted
        assert len(left) <= len(result.trials) / 2 + 1


def test_the_searches_with_drawn_parameters_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 6.0)
    monkeypatch.setattr("loadgo.sizing.search.time_left.time.monotonic", lambda: next(clock))
    lines: list[str] = []
    drawn = DrawnSearchLines(lines.append, 4)
    for _ in range(4):
        drawn.count_done()
    assert lines == ["2 of 4 searches with drawn parameters: about 12.0 s left"]
