"""`loadgo query` prints the warnings of a run beside the answer, on the standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import loadgo
import pytest
from jsonschema import Draft202012Validator
from loadgo.cli.app import app
from loadgo.measures import run_warnings
from loadgo.records.runs import RecordedRun, RunList
from typer.testing import CliRunner

REPORTED = Path(__file__).parents[2] / "runs" / "reported"
SQL = "SELECT count(*) AS n FROM interactions"


def test_a_query_says_the_warnings_of_its_run_on_the_standard_error() -> None:
    answer = CliRunner().invoke(app, ["query", SQL, str(REPORTED / "damaged"), "--format", "csv"])
    assert answer.exit_code == 0
    assert answer.stdout.startswith("n\n")
    assert "loadgo: The run was cut off (loadgo was killed" in answer.stderr
    assert "The host was busy with other things" in answer.stderr


def test_the_json_of_a_query_has_the_warnings_of_its_run_as_every_other_format_has() -> None:
    asked = ["query", SQL, str(REPORTED / "damaged"), "--format", "json"]
    answer = CliRunner().invoke(app, asked)
    members = json.loads(answer.stdout)
    assert list(members) == ["format", "warnings", "rows"]
    assert any(warning.startswith("The run was cut off (loadgo was killed") for warning in members["warnings"])
    assert [f"loadgo: {warning}" for warning in members["warnings"]] == answer.stderr.splitlines()
    assert members["rows"] == [{"n": members["rows"][0]["n"]}]
    Draft202012Validator(loadgo.schema("query")).validate(members)


def test_a_query_of_a_good_run_says_nothing_else() -> None:
    answer = CliRunner().invoke(app, ["query", SQL, str(REPORTED / "live-exact")])
    assert answer.exit_code == 0
    assert answer.stderr == ""
    answer = CliRunner().invoke(app, ["query", SQL, str(REPORTED / "live-exact"), "--format", "json"])
    assert json.loads(answer.stdout)["warnings"] == []


def test_one_run_with_one_interaction_is_said_in_the_singular() -> None:
    run = RecordedRun(
        id="a",
        folder=Path("a"),
        name="light",
        system="here",
        users=1,
        started=None,
        finished=True,
        outcome="done",
        interactions=1,
    )
    assert repr(run).endswith(", 1 interaction>")
    assert "1 run, " in repr(RunList([run]))


def test_a_query_answers_where_the_warnings_cannot_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise KeyError("processors")

    monkeypatch.setattr(run_warnings, "facts_of", refuse)
    answer = CliRunner().invoke(app, ["query", SQL, str(REPORTED / "live-exact"), "--format", "csv"])
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.startswith("n\n")
    assert "The run's warnings could not be judged (" in answer.stderr
    assert answer.stderr.endswith("whether the run is good is not known.\n")
