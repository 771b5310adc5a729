"""Trials, users and lines that a capacity leaves out: the answer, the notes and the warnings name them."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.errors import BadArgument
from loadgo.measures.tariff import load_tariff
from loadgo.running.prepared import RunSettings
from loadgo.sizing.capacity import assemble_capacity, search_goal
from loadgo.sizing.mix import nearest_seed, parse_mix
from loadgo.sizing.options import SearchOptions, trial_lengths
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.report.document import capacity_document
from loadgo.sizing.search.fit_doubt import FitDoubt, NoFitDoubt, with_doubt
from loadgo.sizing.search.outcomes import CapacityFound, NextTrial, NoNumberMeets, SearchGoal
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.results import Capacity
from loadgo.sizing.search.rounds import SearchResult, TrialLength, run_search
from loadgo.sizing.search.trials import BatchSums, CapacityTrial, TrialQuestions, trial_from
from loadgo.sizing.site import prepare_site
from loadgo.sizing.targets import parse_targets
from support.made_trials import made_trial
from support.synthetic import Work, closed_loop

GOAL = SearchGoal(parse_targets("p90 < 1s"), 32, None, 200_000, 8, live=False)
FOUND = CapacityFound(100, 99, 101, 0, enough=True)
LATE = "9 of 40 lines were sent too late"


def capacity_from(result: SearchResult, stop: threading.Event | None = None) -> Capacity:
    """The capacity that a search on a simulated machine with this result has."""
    site = prepare_site("typical-user", "ctss", RunSettings())
    options = SearchOptions("p90 < 1s", max_users=32)
    goal, lengths = search_goal(options, site), trial_lengths(options, site)
    return assemble_capacity(result, site, goal, options, lengths, stop or threading.Event())


def interrupted_after(trials: list[CapacityTrial]) -> SearchResult:
    """A search that runs these trials, and is interrupted while the last one runs to its end."""
    stop, runs = threading.Event(), iter(trials)

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        trial = next(runs)
        if trial is trials[-1]:
            stop.set()
        return trial

    return run_search(run_trial, GOAL, stop=stop)


def test_one_user_who_cannot_log_in_is_the_reason_that_no_number_meets_the_targets() -> None:
    nothing = BatchSums(np.zeros(12), np.zeros(12))
    trial = replace(
        made_trial(1, 1, 0.0, 1), refused=1, tallies=(nothing,), responses_s=np.zeros(0), batch=np.zeros(0, dtype=int)
    )
    points = points_of([trial], GOAL)
    refused = answer_of(NoNumberMeets(0), points, GOAL, AnswerContext(refused={1: 1}))
    assert refused.in_words == "No number of users meets the targets: a single user could not log in."
    assert answer_of(NoNumberMeets(0), points, GOAL).in_words == "No number of users meets p90 < 1s."


def test_an_open_upper_end_by_the_fit_has_no_number_in_the_answer() -> None:
    doubt = FitDoubt(draws=5, low=90, high=None, search_low=99, search_high=101, fitted_users=(5,))
    answer = answer_of(with_doubt(FOUND, doubt), (), GOAL, AnswerContext(fit_doubt=doubt))
    assert answer.interval == (90, None)
    assert answer.in_words.startswith("Probably 100 users meet p90 < 1s (90 or more, with 95 % confidence).")
    assert "The machine exactly as fitted supports 99 to 101 users." in answer.in_words
    assert "between" not in answer.in_words


def test_a_trial_that_the_answer_uses_is_not_called_left_out() -> None:
    """The only complete trial drifted, and the interrupt came before its repetition."""
    drifting = interrupted_after([made_trial(1, 400, 0.12, 1, drift=3.0)])
    assert drifting.basis == drifting.left_out
    assert not any("not steady" in note for note in capacity_from(drifting).notes)
    invalid = interrupted_after([made_trial(1, 400, 0.0, 1, why=LATE)])
    assert not any(LATE in note for note in capacity_from(invalid).notes)


def test_a_warning_about_invalid_trials_has_their_reason() -> None:
    capacity = capacity_from(interrupted_after([made_trial(1, 400, 0.0, 1, why=LATE)]))
    page = capacity_document(capacity)
    assert f"No trial is valid: {LATE}." in page.warnings
    assert page.answer.startswith("The capacity is not known. By the figures of trials that are not valid, it is")
    assert "start loadgo on another machine" in capacity.in_words
    assert not any(label == "Steady state" for label, _ in page.notes)


def test_an_interrupt_in_the_drawn_searches_is_noted_since_the_interval_lacks_them() -> None:
    result = SearchResult((made_trial(1, 400, 0.0, 1),), (), FOUND)
    stop = threading.Event()
    assert not any("uncertainty of the fit" in note for note in capacity_from(result, stop).notes)
    stop.set()
    site = prepare_site("typical-user", "ctss", RunSettings())
    options = SearchOptions("p90 < 1s", max_users=32)
    goal, lengths = search_goal(options, site), trial_lengths(options, site)
    reason = NoFitDoubt("the search was stopped before it was known")
    capacity = assemble_capacity(result, site, goal, options, lengths, stop, reason)
    assert capacity.notes[-1].startswith("the uncertainty of the fit: the search was stopped before it was known")
    assert capacity.end == "stopped"


def test_an_interrupted_search_ends_as_stopped_also_with_a_number() -> None:
    """Documented: an interrupt has the exit status 130, whatever is known by then."""
    wide = replace(FOUND, users=20, low=10, high=30, enough=False, why="the search was stopped")
    trials = (made_trial(20, 400, 0.1, 1),)
    stop = threading.Event()
    assert capacity_from(SearchResult(trials, (), wide), stop).end == "found"
    stop.set()
    stopped = capacity_from(SearchResult(trials, (), wide, stopped=True), stop)
    assert (stopped.end, stopped.answer, stopped.interval, stopped.bad) == ("stopped", 20, (10, 30), False)


def test_a_late_line_is_unclear_once_and_only_for_its_own_command() -> None:
    run = closed_loop(6, 60, [Work("edit", 0.1)])
    late = run.interactions.with_columns(planned_ns=(run.interactions["planned_ns"].cast(int) - 10**10).clip(0))
    tables = replace(run, interactions=late.cast(run.interactions.schema))  # type: ignore[arg-type]

    def unclear(*texts: str) -> int:
        questions = TrialQuestions(6, "seed 1", parse_targets(texts), {"processors": 1}, load_tariff())
        return trial_from(tables, questions).unclear

    assert unclear("p90 < 1s") > 0
    assert unclear("p90 < 1s", "p50 < 1s") == unclear("p90 < 1s")
    assert unclear("p90(compile) < 1s") == 0


@pytest.mark.parametrize(("system", "lost"), [("ssh://far", 0), ("here", 30)])
def test_meters_that_another_host_did_not_send_make_no_trial_invalid(system: str, lost: int) -> None:
    """Responses are whole without them. Of the host that runs the search, 30 lost records are too many."""
    run = closed_loop(6, 60, [Work("edit", 0.1)])
    columns = {
        "at_ns": [1, 2],
        "user": [None] * 2,
        "what": ["meters"] * 2,
        "count": [20, 10],
        "reason": ["late", "gone"],
    }
    losses = pl.DataFrame(columns)
    conditions = {**run.conditions, "system": {**run.conditions.get("system", {}), "name": system}}
    tables = replace(run, conditions=conditions, lost=losses.cast(run.lost.schema))  # type: ignore[arg-type]
    trial = trial_from(tables, TrialQuestions(6, "seed 1", parse_targets("p90 < 1s"), {"processors": 1}, load_tariff()))
    assert trial.valid == (lost == 0)
    assert trial.why == (f"{lost} records were lost of {lost + trial.counted}" if lost else "")


def test_a_first_trial_that_drifts_is_repeated_with_twice_the_length() -> None:
    lengths: list[float | None] = []

    def run_trial(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        lengths.append(None if length is None else length.seconds)
        drift = 3.0 if len(lengths) <= 2 else 0.0
        trial = made_trial(step.users, 400, 0.12 if drift else 0.0, seed, drift=drift)
        return replace(trial, seconds=length.seconds if length else 50.0)

    result = run_search(run_trial, replace(GOAL, most_trials=3))
    assert lengths == [None, 100.0, 200.0]
    assert len(result.left_out) == 2


def test_seeds_of_a_mix_stay_in_range(tmp_path: Path) -> None:
    """A trial with classes tries up to 40 seeds for each."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text('think = "fixed(3s)"\nlines = ["ls"]\n')
    mix = f"{tmp_path}/a.toml=1,{tmp_path}/b.toml=2"
    with pytest.raises(BadArgument, match="out of range"):
        loadgo.capacity(mix=mix, on="ctss", target="p90 < 1s", seed=2**60, trials=1)


def test_a_script_with_many_repetitions_can_be_in_a_mix(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text('think = "none"\n[[lines]]\nrepeat = 9500\nlines = ["ls"]\n')
    (tmp_path / "short.toml").write_text('think = "none"\nlines = ["ls"]\n')
    mix = parse_mix(f"{tmp_path}/long.toml=1,{tmp_path}/short.toml=2")
    _, classes = nearest_seed(mix, 6, 1)
    assert sorted(classes) == ["long"] * 2 + ["short"] * 4


def test_a_user_of_a_mix_keeps_the_class_for_as_many_lines_as_a_pass_may_have(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text('think = "none"\nlines = ["ls", "pwd"]\n')
    joined = parse_mix(f"{tmp_path}/a.toml=1,{tmp_path}/b.toml=2").source.text
    assert joined.count("repeat = 450000") == 2


def test_each_trial_that_is_left_out_is_in_one_note() -> None:
    used = [made_trial(users, 400, slow, 1) for users, slow in ((8, 0.02), (9, 0.3))]
    unsteady = made_trial(5, 400, 0.02, 2)
    late = made_trial(6, 400, 0.02, 3, why=LATE)
    early = replace(made_trial(7, 400, 0.9, 4), cut_short=True)
    result = SearchResult(tuple(used), (unsteady, late, early), CapacityFound(8, 8, 8, 0, enough=True))
    notes = " ".join(capacity_from(result).notes)
    assert "1 trial without a steady state, repeated with twice the length." in notes
    assert notes.count(LATE) == 1
    assert f"a trial with 6 users, which is not valid: {LATE}." in notes


@pytest.mark.parametrize(("lost", "is_noted"), [((0, 0), False), ((0, 3), True), ((2, 3), True)])
def test_records_that_one_number_of_users_lost_are_in_a_note(lost: tuple[int, int], is_noted: bool) -> None:
    trials = tuple(
        replace(made_trial(users, 400, slow, 1), lost=count)
        for users, slow, count in zip((8, 9), (0.02, 0.3), lost, strict=True)
    )
    notes = capacity_from(SearchResult(trials, (), CapacityFound(8, 8, 8, 0, enough=True))).notes
    assert ("lost records: figures come from the records that were kept." in notes) == is_noted
