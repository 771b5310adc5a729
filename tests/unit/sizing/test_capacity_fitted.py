"""The capacity of a fitted machine: its interval has the uncertainty of the fit, not only that of the search."""

from __future__ import annotations

import json
import math
import random
import threading

import loadgo
import numpy as np
import pytest
from loadgo.errors import BadArgument
from loadgo.fitting.fit import fit
from loadgo.sizing.answer import AnswerContext, answer_of
from loadgo.sizing.document import render_capacity
from loadgo.sizing.fit_doubt import FitDoubt, capacity_interval, doubt_of_fit, with_doubt
from loadgo.sizing.outcomes import (
    CapacityFound,
    EveryNumberMeets,
    NoNumberMeets,
    SearchGoal,
    SearchOutcome,
    Undecided,
)
from loadgo.sizing.results import Capacity
from loadgo.sizing.targets import parse_targets
from support.fitted_machine import SCRIPT, truth

GOAL = SearchGoal(parse_targets("p90 < 2s"), 200, None, 200_000, 60, live=False)
FOUND = CapacityFound(100, 99, 101, 0, enough=True)


def doubt_with(capacities: list[int], outcome: SearchOutcome = FOUND, stop: bool = False) -> FitDoubt | None:
    """The doubt if the drawn machines have these capacities."""
    stopped = threading.Event()
    if stop:
        stopped.set()
    draws = tuple((f"k={place}",) for place in range(len(capacities)))

    def search_drawn(settings: tuple[str, ...], goal: SearchGoal) -> SearchOutcome:
        users = capacities[draws.index(settings)]
        if users == 0:
            return NoNumberMeets(0)
        return EveryNumberMeets(200) if users >= 200 else CapacityFound(users, users, users, 0, enough=True)

    return doubt_of_fit(outcome, draws, (5,), GOAL, search_drawn, stopped)


def test_the_interval_holds_one_more_drawn_capacity_95_times_of_100() -> None:
    random_numbers = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        capacities = np.exp(random_numbers.normal(math.log(100), 0.2, 21))
        low, high = capacity_interval(list(capacities[:-1]), 10_000)
        held += low <= capacities[-1] <= (high or math.inf)
    assert 0.92 <= held / 400 <= 0.98


def test_the_answer_has_the_interval_of_the_drawn_machines_and_says_what_the_search_alone_has() -> None:
    doubt = doubt_with([80, 90, 100, 110, 120])
    assert doubt is not None
    assert doubt.high is not None
    assert doubt.low < 80 < 120 < doubt.high
    answer = answer_of(with_doubt(FOUND, doubt), (), GOAL, AnswerContext(fit_doubt=doubt))
    assert answer.interval == (doubt.low, doubt.high)
    assert f"between {doubt.low} and {doubt.high}, with 95 % confidence" in answer.in_words
    assert "the machine exactly as fitted holds 99 to 101 users" in answer.in_words


def test_the_interval_never_leaves_out_what_the_search_itself_has() -> None:
    doubt = doubt_with([50] * 6)
    assert doubt is not None
    assert (doubt.low, doubt.high) == (49, 101)


def test_drawn_machines_that_hold_the_limit_leave_the_upper_end_open() -> None:
    doubt = doubt_with([150, 180, 200, 200, 200])
    assert doubt is not None
    assert doubt.high is None
    assert "or more" in doubt.in_words


@pytest.mark.parametrize(
    "outcome", [EveryNumberMeets(200), NoNumberMeets(0), Undecided(20, 40, "the longest trials do not decide it")]
)
def test_every_kind_of_outcome_has_the_doubt(outcome: SearchOutcome) -> None:
    doubt = doubt_with([0, 10, 40, 80, 200], outcome)
    assert doubt is not None
    answer = answer_of(with_doubt(outcome, doubt), (), GOAL, AnswerContext(fit_doubt=doubt))
    assert answer.interval == (doubt.low, doubt.high)
    assert doubt.in_words in answer.in_words


def test_after_an_interrupt_there_is_no_doubt_from_cut_searches() -> None:
    assert doubt_with([80, 90, 100, 110, 120], stop=True) is None


@pytest.fixture(scope="module")
def fitted_capacity(tmp_path_factory: pytest.TempPathFactory) -> Capacity:
    """The capacity of a machine that was fitted to few interactions of five users."""
    room = tmp_path_factory.mktemp("fitted")
    script, known, fitted = room / "script.toml", room / "known.toml", room / "fitted.toml"
    script.write_text(SCRIPT)
    drawn = random.Random(0)
    known.write_text(truth((drawn.gauss(0, 1), drawn.gauss(0, 1), drawn.gauss(0, 1))))
    loadgo.run(script, on=str(known), users=5, passes=10, seed=100, out=room / "few")
    fit(room / "few", output=fitted)
    return loadgo.capacity(script, target="p90 < 2s", on=str(fitted), within=4, draws=6)


def test_a_search_on_a_fitted_machine_carries_the_doubt_of_the_fit(fitted_capacity: Capacity) -> None:
    assert fitted_capacity.fit_doubt is not None
    assert fitted_capacity.interval == (fitted_capacity.fit_doubt.low, fitted_capacity.fit_doubt.high)
    low, high = fitted_capacity.interval
    assert high is not None
    assert fitted_capacity.fit_doubt.search_low is not None
    assert fitted_capacity.fit_doubt.search_high is not None
    assert high - low > 2 * (fitted_capacity.fit_doubt.search_high - fitted_capacity.fit_doubt.search_low)
    shown = json.loads(render_capacity(fitted_capacity, "json"))["fit_doubt"]
    assert (shown["draws"], shown["fitted_users"]) == (6, [5])
    text = " ".join(render_capacity(fitted_capacity, "text", width=120).split())
    assert "Fitted machine from runs with 5 users." in text


def test_draws_of_a_machine_without_a_fit_are_refused() -> None:
    with pytest.raises(BadArgument, match="no parameter of this machine can be drawn"):
        loadgo.capacity("typical-user", target="p90 < 2s", on="multics-645", draws=8)
    with pytest.raises(BadArgument, match="`draws` is for a fitted machine"):
        loadgo.capacity("typical-user", target="p90 < 2s", draws=8)
