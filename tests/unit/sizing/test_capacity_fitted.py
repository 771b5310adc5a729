"""The capacity of a fitted machine: its interval has the uncertainty of the fit, not only that of the search."""

from __future__ import annotations

import json
import math
import random
import threading
from pathlib import Path

import loadgo
import numpy as np
import pytest
from loadgo.errors import BadArgument, Refused, error_in_words
from loadgo.fitting.fit import fit
from loadgo.running.stopping import StopRequest
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.search.fit_doubt import (
    FitDoubt,
    NoFitDoubt,
    capacity_interval,
    doubt_of_fit,
    search_in_threads,
    with_doubt,
)
from loadgo.sizing.search.outcomes import (
    CapacityFound,
    EveryNumberMeets,
    NoNumberMeets,
    SearchGoal,
    SearchOutcome,
    Undecided,
)
from loadgo.sizing.search.results import Capacity
from loadgo.sizing.targets import parse_targets
from support.fitted_machine import SCRIPT, truth

GOAL = SearchGoal(parse_targets("p90 < 2s"), 200, None, 200_000, 60, live=False)
FOUND = CapacityFound(100, 99, 101, 0, enough=True)


def doubt_with(
    capacities: list[int | Undecided], outcome: SearchOutcome = FOUND, stop: bool = False
) -> FitDoubt | None:
    """The uncertainty of the fit if the drawn machines have these capacities."""
    stopped = threading.Event()
    if stop:
        stopped.set()
    draws = tuple((f"k={place}",) for place in range(len(capacities)))

    def search_drawn(settings: tuple[str, ...], goal: SearchGoal) -> SearchOutcome:
        users = capacities[draws.index(settings)]
        if isinstance(users, Undecided):
            return users
        if users == 0:
            return NoNumberMeets(0)
        return EveryNumberMeets(200) if users >= 200 else CapacityFound(users, users, users, 0, enough=True)

    doubt = doubt_of_fit(outcome, draws, (5,), GOAL, search_in_threads(search_drawn, stopped), stopped)
    return doubt if isinstance(doubt, FitDoubt) else None


def test_the_interval_holds_one_more_drawn_capacity_95_times_of_100() -> None:
    random_numbers = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        capacities = np.exp(random_numbers.normal(math.log(100), 0.2, 21))
        low, high = capacity_interval(list(capacities[:-1]), 10_000)
        held += low <= capacities[-1] <= (high or math.inf)
    assert 0.92 <= held / 400 <= 0.98


def test_the_answer_has_the_interval_of_the_drawn_machines_and_that_of_the_search_alone() -> None:
    doubt = doubt_with([80, 90, 100, 110, 120])
    assert doubt is not None
    assert doubt.high is not None
    assert doubt.low < 80 < 120 < doubt.high
    answer = answer_of(with_doubt(FOUND, doubt), (), GOAL, AnswerContext(fit_doubt=doubt))
    assert answer.interval == (doubt.low, doubt.high)
    headline, explanation = answer.in_words.split("\n")
    assert headline == f"Probably 100 users meet p90 < 2s ({doubt.low} to {doubt.high}, with 95 % confidence)."
    assert "The machine exactly as fitted supports 99 to 101 users." in explanation


def test_the_answer_of_a_doubtful_fit_says_so_before_its_number() -> None:
    answer = answer_of(FOUND, (), GOAL, AnswerContext(is_fit_doubtful=True))
    assert answer.in_words.startswith("Predicted with a doubtful fit, so do not rely on it: ")
    assert "100 users meet p90 < 2s" in answer.in_words


def test_the_interval_always_contains_the_interval_of_the_search() -> None:
    doubt = doubt_with([50] * 6)
    assert doubt is not None
    assert (doubt.low, doubt.high) == (50, 101)


def test_equal_capacities_give_an_interval_of_this_one_number() -> None:
    assert [capacity_interval([float(users)] * 20, 10_000) for users in range(500)] == [
        (users, users) for users in range(500)
    ]


def test_drawn_machines_that_all_meet_every_number_leave_the_upper_end_open() -> None:
    intervals = [capacity_interval([float(most)] * 20, most) for most in (*range(2, 501), 10_000)]
    assert intervals == [(most, None) for most in (*range(2, 501), 10_000)]


def test_the_interval_of_small_capacities_misses_as_often_above_as_below() -> None:
    random_numbers = np.random.default_rng(2)
    below = above = 0
    for _ in range(4000):
        crossings = np.exp(random_numbers.normal(math.log(4.5), 0.25, 21))
        low, high = capacity_interval(list(crossings[:-1] - 0.5), 10_000)
        below += math.floor(crossings[-1]) < low
        above += math.floor(crossings[-1]) > (high or math.inf)
    assert below <= 100
    assert above <= 100


@pytest.mark.parametrize("capacities", [[50] * 6, [200] * 6])
def test_the_upper_end_stays_open_if_the_machine_as_fitted_meets_every_number(capacities: list[int]) -> None:
    doubt = doubt_with(capacities, EveryNumberMeets(200))
    assert doubt is not None
    assert (doubt.low, doubt.high) == (capacities[0], None)


def test_the_upper_end_is_open_if_drawn_machines_reach_the_largest_number_of_users() -> None:
    doubt = doubt_with([150, 180, 200, 200, 200])
    assert doubt is not None
    assert doubt.high is None
    assert "or more" in doubt.in_words


@pytest.mark.parametrize(
    "outcome", [EveryNumberMeets(200), NoNumberMeets(0), Undecided(20, 40, "the longest trials do not decide it")]
)
def test_every_kind_of_outcome_has_the_uncertainty_of_the_fit(outcome: SearchOutcome) -> None:
    doubt = doubt_with([0, 10, 40, 80, 200], outcome)
    assert doubt is not None
    answer = answer_of(with_doubt(outcome, doubt), (), GOAL, AnswerContext(fit_doubt=doubt))
    assert answer.interval == (doubt.low, doubt.high)
    assert doubt.in_words in answer.in_words


def test_a_drawn_search_that_found_no_end_is_left_out_and_said() -> None:
    nothing = Undecided(0, None, "one user alone is too close to the limit of a target", 0.0)
    doubt = doubt_with([*[1] * 19, nothing], CapacityFound(1, 1, 1, 0, enough=True))
    assert doubt is not None
    assert (doubt.low, doubt.high, doubt.draws, doubt.undecided) == (1, 1, 19, 1)
    assert (
        "(19 draws; 1 more, left out, did not decide it) the answer is 1 user, with 95 % confidence;" in doubt.in_words
    )


def test_a_drawn_search_with_one_end_has_the_capacity_of_this_end() -> None:
    doubt = doubt_with([*[36] * 19, Undecided(36, None, "24 trials were too few")], CapacityFound(36, 36, 36, 0, True))
    assert doubt is not None
    assert (doubt.low, doubt.high, doubt.draws, doubt.undecided) == (36, 36, 20, 0)


def test_a_drawn_search_with_two_ends_has_the_middle_of_their_logarithms() -> None:
    between = Undecided(9, 159, "the longest trials do not decide it")
    doubt = doubt_with([*[38] * 6, between, between], CapacityFound(38, 38, 38, 0, enough=True))
    assert doubt is not None
    assert (doubt.low, doubt.high) == (38, 39)


def test_too_few_drawn_capacities_are_the_reason_that_the_uncertainty_of_the_fit_is_not_known() -> None:
    def search_drawn(settings: tuple[str, ...], goal: SearchGoal) -> SearchOutcome:
        return FOUND if settings == ("k=0",) else Undecided(0, None, "3 trials were too few", 0.0)

    draws = tuple((f"k={place}",) for place in range(20))
    stop = threading.Event()
    doubt = doubt_of_fit(FOUND, draws, (5,), GOAL, search_in_threads(search_drawn, stop), stop)
    assert doubt == NoFitDoubt("only 1 of 20 searches with drawn parameters found a capacity")


@pytest.mark.parametrize(
    ("outcome", "high"),
    [
        (Undecided(20, None, "3 trials were too few", 0.8), None),
        (Undecided(20, 40, "3 trials were too few", 0.8), 40),
        (Undecided(20, 40, "3 trials were too few", 0.0), 40),
    ],
)
def test_an_open_end_and_a_low_confidence_of_the_search_stay_with_the_uncertainty_of_the_fit(
    outcome: Undecided, high: int | None
) -> None:
    doubt = doubt_with([30] * 6, outcome)
    assert doubt is not None
    assert (doubt.low, doubt.high, doubt.confidence) == (outcome.low, high, outcome.confidence)
    answer = answer_of(outcome, (), GOAL, AnswerContext(fit_doubt=doubt))
    assert (answer.interval, answer.confidence) == ((outcome.low, high), outcome.confidence)


def test_the_words_of_an_uncertain_fit_have_open_ends_and_the_confidence() -> None:
    unlikely = FitDoubt(5, low=15, high=45, search_low=20, search_high=None, fitted_users=(5,), confidence=0.0)
    assert "the answer is 15 to 45 users, more likely than not; " in unlikely.in_words
    assert unlikely.in_words.endswith("the machine exactly as fitted supports 20 users or more.")
    likely = FitDoubt(5, low=15, high=None, search_low=20, search_high=40, fitted_users=(5,), confidence=0.8)
    assert "the answer is 15 users or more, with 80 % confidence; " in likely.in_words


def test_interrupted_drawn_searches_give_no_uncertainty() -> None:
    assert doubt_with([80, 90, 100, 110, 120], stop=True) is None


@pytest.mark.parametrize("error", [Refused("the drawn machine ends"), OSError(28, "No space left on device")])
def test_a_drawn_search_that_fails_is_the_reason_and_ends_the_others(error: Exception) -> None:
    stop, searched = threading.Event(), []

    def search_drawn(settings: tuple[str, ...], goal: SearchGoal) -> SearchOutcome:
        searched.append(settings)
        if settings == ("k=0",):
            raise error
        stop.wait(60)
        return FOUND

    draws = tuple((f"k={place}",) for place in range(200))
    doubt = doubt_of_fit(FOUND, draws, (5,), GOAL, search_in_threads(search_drawn, stop), stop)
    assert doubt == NoFitDoubt(f"a search with drawn parameters failed ({error_in_words(error)})")
    assert len(searched) < len(draws)


def test_the_stop_of_a_search_stops_the_drawn_searches_and_not_the_other_way_round() -> None:
    whole = StopRequest()
    part = whole.part()
    part.set()
    assert not whole.is_set()
    later = whole.part()
    whole.set()
    assert later.is_set()
    assert whole.part().is_set()


@pytest.fixture(scope="module")
def fitted_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A script, and a machine that was fitted to few interactions of five users."""
    room = tmp_path_factory.mktemp("fitted")
    script, known, fitted = room / "script.toml", room / "known.toml", room / "fitted.toml"
    script.write_text(SCRIPT)
    drawn = random.Random(0)
    known.write_text(truth((drawn.gauss(0, 1), drawn.gauss(0, 1), drawn.gauss(0, 1))))
    loadgo.run(script, on=str(known), users=5, passes=10, seed=100, out=room / "few")
    fit(room / "few", output=fitted)
    return script, fitted


@pytest.fixture(scope="module")
def capacity(fitted_site: tuple[Path, Path]) -> Capacity:
    """The capacity of the fitted machine."""
    script, fitted = fitted_site
    return loadgo.capacity(script, target="p90 < 2s", on=str(fitted), within=4, draws=6)


@pytest.mark.long
def test_a_search_on_a_fitted_machine_has_the_uncertainty_of_the_fit(capacity: Capacity) -> None:
    assert capacity.fit_doubt is not None
    assert capacity.interval == (capacity.fit_doubt.low, capacity.fit_doubt.high)
    low, high = capacity.interval
    assert high is not None
    assert capacity.fit_doubt.search_low is not None
    assert capacity.fit_doubt.search_high is not None
    assert high - low > 2 * (capacity.fit_doubt.search_high - capacity.fit_doubt.search_low)
    shown = json.loads(capacity.report("json"))["fit_doubt"]
    assert (shown["draws"], shown["fitted_users"]) == (6, [5])
    text = " ".join(capacity.report(width=120).split())
    assert "Fitted machine from runs with 5 users." in text


def test_an_error_of_a_drawn_search_keeps_the_answer(
    fitted_site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of temporary trials disappears after the search itself."""
    script, fitted = fitted_site

    def progress(line: str) -> None:
        if line.startswith("the machine was fitted"):
            monkeypatch.setattr("tempfile.tempdir", str(script.parent / "gone"))

    found = loadgo.capacity(script, target="mean < 2s", on=str(fitted), within=20, draws=6, progress=progress)
    assert (found.end, found.fit_doubt) == ("found", None)
    assert found.interval is not None
    assert "the uncertainty of the fit: a search with drawn parameters failed (" in found.notes[-1]
    assert "No such file or directory" in found.notes[-1]
    assert "Errno" not in found.notes[-1]


def test_draws_of_a_machine_without_a_fit_are_refused() -> None:
    with pytest.raises(BadArgument, match="no parameter of this machine can be drawn"):
        loadgo.capacity("typical-user", target="p90 < 2s", on="multics-645", draws=8)
    with pytest.raises(BadArgument, match="`draws` needs a fitted machine"):
        loadgo.capacity("typical-user", target="p90 < 2s", draws=8)
