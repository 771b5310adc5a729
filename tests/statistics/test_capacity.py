"""How many users simulated systems hold: known answers, several targets, and nonsense that is answered in words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import Mistake
from loadgo.measures.tariff import load_tariff
from loadgo.sizing.search.outcomes import CapacityFound
from loadgo.sizing.search.rounds import run_search
from loadgo.sizing.search.trials import TrialQuestions, trial_from
from loadgo.sizing.targets import parse_targets
from support.capacity_systems import (
    KnownSystem,
    central_mean,
    laid,
    repairman_mean,
    repairman_quantile,
    search_goal,
    trial_runner,
)
from support.command_line import typed

pytestmark = pytest.mark.statistical

REPAIRMAN = repairman_quantile(0.3, 90, 4.0)
"""37 users, beyond its knee."""


def paths(folder: Path, known: KnownSystem = REPAIRMAN) -> tuple[str, str]:
    """The paths of a known system's script and machine."""
    laid(known, folder)
    return str(folder / "script.toml"), str(folder / "machine.toml")


@pytest.mark.parametrize("known", [repairman_mean(0.3, 2.0), central_mean(2.0)], ids=lambda known: known.name)
def test_the_capacity_of_a_known_system_is_found_to_the_user(known: KnownSystem, tmp_path: Path) -> None:
    """Three seeds; `bench/bench_capacity.py` has a hundred, and the price beside that of a sweep."""
    outcomes = []
    for seed in (2, 3, 4):
        outcome = run_search(trial_runner(laid(known, tmp_path), known), search_goal(known), seed=1000 * seed)
        assert isinstance(outcome.outcome, CapacityFound)
        outcomes.append(outcome.outcome)
    assert all(abs(one.users - known.capacity) <= 1 for one in outcomes)
    assert sum(one.low <= known.capacity <= one.high for one in outcomes) >= 2
    assert all(one.high - one.low <= 1 for one in outcomes)


def test_the_answer_has_an_interval_a_curve_and_what_is_full_first(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    capacity = loadgo.capacity(script, on=machine, target="p90 < 4s", within=3)
    assert capacity.end == "found"
    assert capacity.answer is not None
    assert abs(capacity.answer - REPAIRMAN.capacity) <= 3
    assert capacity.interval is not None
    assert capacity.interval[0] <= capacity.answer <= (capacity.interval[1] or 0)
    assert capacity.saturates_first is not None
    assert capacity.saturates_first.resource == "processors"
    assert capacity.saturates_first.users == pytest.approx(34.3, rel=0.1)
    assert [point.users for point in capacity.points] == sorted({point.users for point in capacity.points})
    assert any(point.users == capacity.answer for point in capacity.points)
    near = next(point for point in capacity.points if point.users == capacity.answer)
    assert near.throughput.interval is not None
    assert near.throughput.interval.holds(near.throughput.value)
    assert near.steady
    assert capacity.interactions_spent > sum(point.interactions for point in capacity.points)
    assert f"{capacity.answer} users" in capacity.in_words
    assert max(map(len, capacity.report(width=80).splitlines())) <= 80
    assert json.loads(capacity.report("json"))["answer"] == capacity.answer


def test_of_several_targets_the_first_to_be_missed_decides(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    capacity_result = loadgo.capacity(script, on=machine, target=["p90 < 20s", "busy < 60%", "mean < 9s"], within=2)
    assert capacity_result.binding is not None
    assert capacity_result.binding.text == "busy < 60%"
    assert capacity_result.answer is not None
    assert 19 <= capacity_result.answer <= 22
    text = capacity_result.report(width=120)
    assert "busy < 60%" in text


def test_a_target_that_no_number_of_users_meets_is_told_in_words(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    capacity_result = loadgo.capacity(script, on=machine, target="p90 < 100ms")
    assert (capacity_result.end, capacity_result.answer, capacity_result.interval, capacity_result.bad) == (
        "no number",
        0,
        (0, 0),
        True,
    )
    assert capacity_result.in_words.startswith("No number of users meets p90 < 100ms: with one user p90 is")
    assert capacity_result.trials == 1


def test_a_target_that_every_number_of_users_meets_ends_at_the_limit(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    capacity_result = loadgo.capacity(script, on=machine, target="p90 < 4s", max_users=12)
    assert (capacity_result.end, capacity_result.answer, capacity_result.interval, capacity_result.bad) == (
        "every number",
        12,
        (12, None),
        False,
    )
    assert capacity_result.in_words.startswith("12 users, the limit of the search, meet p90 < 4s: ")
    assert max(point.users for point in capacity_result.points) == 12


def test_targets_that_cannot_be_met_together_are_told_with_what_each_needs(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    capacity_result = loadgo.capacity(script, on=machine, target=["p90 < 4s", "throughput > 5/s"], within=4)
    assert (capacity_result.end, capacity_result.answer, capacity_result.bad) == ("contradiction", None, True)
    assert "No number of users meets p90 < 4s and throughput > 5/s" in capacity_result.in_words
    assert "throughput is 3." in capacity_result.in_words


def test_log_ins_that_are_refused_are_users_that_are_not_held(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    table = '[supervisor]\ntable = { entries = 105, per_user = 10, full = "refuse" }\n'
    head, _, rest = Path(machine).read_text(encoding="utf-8").partition("[commands")
    Path(machine).write_text(f"{head}{table}\n[commands{rest}", encoding="utf-8")
    capacity_result = loadgo.capacity(script, on=machine, target="p90 < 4s")
    assert (capacity_result.end, capacity_result.answer, capacity_result.interval) == ("found", 10, (10, 10))
    assert "could not log in" in capacity_result.in_words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"target": "p90 < 4s", "max_users": 0}, "0 users are out of range"),
        ({"target": "p90 < 4s", "within": 0}, "at least 1"),
        ({"target": "p90 < 4s", "trials": 0}, "at least 1"),
        ({"target": "speed < 4s"}, "'speed' is no figure"),
        ({"target": "throughput > 3/s"}, "add a ceiling"),
        ({"target": "p90(edit) < 4s"}, "no command 'edit'; the commands are: work"),
        ({"target": "busy(drum) < 90%"}, "'drum' is not a resource"),
        ({"target": "p90 < 4s", "shortest": "5min", "longest": "1min"}, "longer than the longest"),
        ({"target": "p90 < 4s", "limit": "memory=1G"}, "`limit` is for a host"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_trial(asked: dict[str, object], words: str, tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    with pytest.raises(ValueError, match=r".") as refused:
        loadgo.capacity(script, on=machine, **asked)  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_an_empty_script_is_refused_with_its_place(tmp_path: Path) -> None:
    _, machine = paths(tmp_path)
    empty = tmp_path / "empty.toml"
    empty.write_text("lines = []\n", encoding="utf-8")
    with pytest.raises(Mistake, match="types something"):
        loadgo.capacity(empty, on=machine, target="p90 < 4s")


def test_the_command_tells_the_answer_and_ends_as_the_finding_asks(tmp_path: Path) -> None:
    script, machine = paths(tmp_path)
    command = ("capacity", script, "--on", machine)
    good = typed(tmp_path, *command, "--target", "p90 < 4s", "--max-users", "5", "--quiet")
    assert good.stdout.startswith("5 users, the limit of the search, meet p90 < 4s: ")
    assert good.stderr == ""
    bad = typed(tmp_path, *command, "--target", "p90 < 1ms", status=1)
    assert "1 user, " in bad.stderr
    wrong = typed(tmp_path, *command, "--target", "p90 < 1s", "--max-users", "0", status=2)
    assert "0 users are out of range" in wrong.stderr


def test_a_trial_that_lost_records_tells_nothing_and_says_why(tmp_path: Path) -> None:
    laid(REPAIRMAN, tmp_path)
    run = loadgo.run(
        tmp_path / "script.toml", on=str(tmp_path / "machine.toml"), users=5, passes=20, out=tmp_path / "r"
    )
    whole = loadgo.tables(run)
    lost = pl.DataFrame(
        {"at_ns": [1], "user": [None], "what": ["record"], "count": [40], "reason": ["the disk is full"]}
    )
    asked = TrialQuestions(5, "seed 1", parse_targets("p90 < 4s"), {"processors": 1}, load_tariff())
    trial = trial_from(replace(whole, lost=lost.cast(whole.lost.schema)), asked)
    assert (trial.valid, trial.lost) == (False, 40)
    assert trial.why.startswith("40 records were lost of")
    assert trial_from(whole, asked).valid
