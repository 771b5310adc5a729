"""The answer and the table of a capacity say the same, and what is advised can help."""

import threading
from dataclasses import replace

import pytest
from loadgo.running.prepared import RunSettings
from loadgo.sizing.capacity import assemble_capacity, search_goal
from loadgo.sizing.options import SearchOptions, trial_lengths
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.report.chart_data import missing_in_words, model_curve, response_curve
from loadgo.sizing.report.document import capacity_document
from loadgo.sizing.report.limiting import limiting_resource
from loadgo.sizing.report.tables import standing_cell
from loadgo.sizing.search import trial_log
from loadgo.sizing.search.fit_doubt import FitDoubt
from loadgo.sizing.search.narrowing import LATE_DRIVER_REMEDY, remedy_of
from loadgo.sizing.search.outcomes import CapacityFound, SearchGoal, Undecided
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.results import Capacity, Saturation
from loadgo.sizing.search.rounds import run_search
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.search.validity import Invalidity
from loadgo.sizing.site import TrialLoad, prepare_site, run_trial
from loadgo.sizing.targets import parse_targets
from support.capacity_results import capacity_of, table_titled
from support.known_capacity import exact, exacts
from support.made_knobs import made_knob_capacity
from support.made_trials import made_trial, slow_share

TARGETS = parse_targets("p90 < 1s")
HOST_GOAL = SearchGoal(TARGETS, 40, None, 200_000, 24, live=True)
LATE = "9 of 40 lines were sent too late"


def searched_host(limit: int, why_above: int = 40) -> Capacity:
    """The capacity of a made host; trials with more users than `why_above` have a late driver."""
    site, options = prepare_site("typical-user", "here", RunSettings()), SearchOptions("p90 < 1s", max_users=40)
    goal, lengths = search_goal(options, site), trial_lengths(options, site)

    def make(users: int, seed: int) -> CapacityTrial:
        why = LATE if users > why_above else ""
        return made_trial(users, 400, slow_share(users, limit), seed, others=0.02, why=why)

    found = run_search(lambda step, seed, length: make(step.users, seed), goal, seed=1)
    return assemble_capacity(found, site, goal, options, lengths, threading.Event())


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_log, "REPEAT_PAUSES_S", (0.0,) * len(trial_log.REPEAT_PAUSES_S))


def test_the_table_judges_each_number_by_its_own_trials_and_by_the_line() -> None:
    capacity = searched_host(20)
    assert capacity.interval is not None
    low, high = capacity.interval
    assert high is not None
    headline = capacity.in_words.partition("\n")[0]
    assert f"({low} to {high}, with 95 % confidence), by the line through all trials. With" in headline
    assert len(headline) < 300
    columns = {column.heading: column.cells for column in table_titled(capacity, "Measured").columns}
    assert "" not in columns
    by_users = dict(zip(columns["users"], zip(columns["own trials"], columns["all trials"], strict=True), strict=True))
    for users, (own, line) in by_users.items():
        number = int(users)
        expected = "met" if number <= low else "missed" if number > high else "may meet"
        assert line == expected or number == capacity.answer
        assert (own, line) not in {("met", "missed"), ("missed", "met")}
    assert by_users[str(capacity.answer)][1] == "probable answer"
    notes = dict(capacity_document(capacity).notes)
    assert "the answer comes from all" in notes["Own trials"]


def test_an_open_row_whose_interval_leaves_out_the_limit_has_its_reason() -> None:
    clear = points_of([made_trial(19, 2000, 0.062, 1)], HOST_GOAL)[0]
    assert clear.verdicts[0].standing == "open"
    assert clear.verdicts[0].slow_share is not None
    assert clear.verdicts[0].slow_share.interval is not None
    assert clear.verdicts[0].slow_share.interval.high < 0.1
    assert standing_cell("open", clear, "here") == "few trials"
    near = points_of([made_trial(19, 200, 0.1, 1)], HOST_GOAL)[0]
    assert standing_cell("open", near, "here") == "undecided"
    few = points_of([made_trial(1, 3, 0.0, 1)], replace(HOST_GOAL, live=False))[0]
    assert standing_cell("open", few, "ctss") == "few answers"
    assert standing_cell("met", few, "ctss") == "met"


def test_where_the_driver_was_late_another_machine_is_advised_and_the_trust_is_not_high() -> None:
    capacity = searched_host(40, why_above=15)
    assert capacity.interval is not None
    assert capacity.interval[1] is None
    assert f"no trial is valid ({LATE})" in capacity.in_words
    assert capacity.in_words.endswith(LATE_DRIVER_REMEDY)
    assert capacity.narrowing is None
    trust = capacity_document(capacity).trust
    assert trust.startswith("Trust: moderate: with ")
    assert "no trial was valid" in trust
    assert "All " not in trust


def test_more_trials_are_not_advised_where_they_would_not_help() -> None:
    held = Undecided(15, None, "", 0.95)
    late = made_trial(25, 40, 0.0, 1, why=LATE)
    lost = replace(late, invalidity=Invalidity("5 records were lost of 40"))
    assert remedy_of(held, [late], None) == LATE_DRIVER_REMEDY
    assert remedy_of(held, [late, lost], None) == ""
    assert remedy_of(replace(held, high=20), [late], None) == ""
    found, wide = CapacityFound(31, 31, 32, 0, enough=False), FitDoubt(6, 20, None, 31, 32, (5,))
    assert "fit the machine to more runs" in remedy_of(found, [], wide)
    assert remedy_of(found, [], replace(wide, low=31, high=32)) == ""


def test_the_reason_of_a_wide_interval_is_the_fit_where_the_fit_makes_it_wide() -> None:
    found = CapacityFound(31, 20, 32, 0, enough=False, why="12 trials were too few")
    fitted = answer_of(found, [], HOST_GOAL, AnswerContext(fit_doubt=FitDoubt(6, 20, None, 31, 32, (5,))))
    assert fitted.in_words.startswith("Probably 31 users meet p90 < 1s (20 or more, with 95 % confidence).")
    assert "wider than wanted" not in fitted.in_words
    assert "wider than wanted: 12 trials were too few." in answer_of(found, [], HOST_GOAL).in_words


def test_a_throughput_that_grows_no_more_has_no_saturated_resource() -> None:
    """Twice the users have the same throughput, and nothing is busy: it is not the processors that would be first."""
    few, many = exact(10), exact(20)
    idle = {"processors": 0.5}
    points = [replace(few, utilisation=idle), replace(many, throughput=few.throughput, utilisation=idle)]
    assert limiting_resource(20, points, Saturation("processors", 38.0)).startswith("No resource is saturated there")
    points[1] = replace(many, utilisation=idle)
    assert "would be full first" in limiting_resource(20, points, Saturation("processors", 38.0))


def test_a_model_that_misses_what_was_measured_is_not_drawn() -> None:
    capacity = capacity_of(exacts(5, 15, 30, 34))
    assert capacity.models is not None
    assert missing_in_words(capacity) == ""
    names = {point["what"] for point in response_curve(capacity, 1.0)}
    assert "scalability law" in names
    models = tuple(
        replace(model, response_miss=replace(model.response_miss, response=0.64))
        if model.name == "scalability law" and model.response_miss
        else model
        for model in capacity.models.models
    )
    wrong = replace(capacity, models=replace(capacity.models, scalability=models[-1]))
    assert {point["what"] for point in response_curve(wrong, 1.0)} == names - {"scalability law"}
    assert {point["what"] for point in model_curve(wrong, lambda at: at.throughput)} == names - {"scalability law"}
    assert missing_in_words(wrong) == "The curve of scalability law is left out: it misses a measured mean by 64 %."


def test_the_rent_of_a_whole_machine_is_in_the_cost_of_a_user_hour() -> None:
    """At $0.10 an hour of the machine, one of four users pays a quarter of it, and a little for the output."""
    site = prepare_site("typical-user", "ctss", RunSettings(), tariff="cloud")
    trial = run_trial(site, parse_targets("mean < 30s"), TrialLoad(4, 1, 60.0, 3000.0), lambda *_: True)
    assert trial.cost_user_hour == pytest.approx(0.1 / 4, rel=0.02)
    goal = SearchGoal(parse_targets("mean < 300s"), 100, None, 10**6, 60, live=False)
    context = AnswerContext(tariff="cloud", currency="$")
    words = answer_of(CapacityFound(4, 4, 4, 0, enough=True), points_of([trial], goal), goal, context).in_words
    assert "A user's hour costs $0.025" in words.partition("\n")[0]
    assert "(tariff cloud)." in words


def test_a_searched_limit_has_its_confidence_and_the_value_that_its_own_trials_show() -> None:
    answered = made_knob_capacity()
    assert answered.interval is not None
    sure = max(point.value for point in answered.points if point.standing == "met")
    low, high = (f"{end:.2g}" for end in answered.interval)
    assert answered.in_words.startswith(
        f"Probably at most {answered.answer:.2g} processors each ({low} to {high}, with"
    )
    assert answered.in_words.endswith(f"The most that kept it in own trials is {sure:g} processors each.")
    assert "few trials" in answered.report(width=110)
