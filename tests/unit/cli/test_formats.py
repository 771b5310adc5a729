"""`--format` of all commands: the same words, the same errors, and JSON that is the Python result's `to_dict`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import loadgo
import pytest
from click.testing import Result as Outcome
from jsonschema import Draft202012Validator
from loadgo.cli.app import app
from loadgo.documents.formats import REPORT_FORMATS, TABLE_FORMATS
from loadgo.documents.result import Result
from support.results import METERED, laid_results
from support.transfer_tables import COLUMNS, SEED
from typer.testing import CliRunner

MACHINE = ("small.toml", "--on", "small-machine.toml", "--users", "2")
LOAD_FREE = {
    "report": ("report", "a"),
    "report of a meter": ("report", str(METERED)),
    "failed": ("report", "a", "--failed"),
    "compare": ("compare", "a", "b"),
    "cost": ("cost", "a"),
    "fairness": ("cost", "csr-rfc-20:645", "--against", "csr-rfc-20:6180"),
    "tariffs": ("cost", "--tariffs"),
    "fit": ("fit", "a", "-o", "fitted.toml", "--force"),
    "observe": ("observe", "--from", "pacct", "-o", "observed.toml", "--force"),
    "likeness": ("likeness", "observed/monday.toml", "observed/run"),
    "simulate": ("simulate", "own-load.toml", "--until", "interactions=3000"),
    "reproduce": ("reproduce", "ctss-trivial"),
    "transfer": ("transfer", "--read", str(SEED), "--columns", ",".join(map("=".join, COLUMNS.items()))),
    "methods": ("transfer", "--methods"),
    "profile": ("profile", "--of", str(METERED)),
    "runs": ("runs",),
    "machines": ("machines",),
    "scripts": ("scripts",),
    "doctor": ("doctor",),
    "query": ("query", "SELECT command, count(*) AS n FROM interactions GROUP BY command", "a"),
}
"""Commands that read what is there, or simulate a machine."""
COMMANDS = {
    **LOAD_FREE,
    "run": ("run", *MACHINE),
    "speedup": ("speedup", *MACHINE, "--change", "processors.speed=2", "--runs", "2", "--passes", "1"),
    "capacity": ("capacity", "small.toml", "--on", "small-machine.toml", "--target", "p90 < 30s", "--max-users", "4",
                 "--trials", "2", "--longest", "1min"),
    "ab": ("ab", "small.toml", "--on", "small-machine.toml", "--set-b", "processors.speed=2", "--for", "1min",
           "--pairs", "2", "--out", "pairs"),
    "ready": ("ready", "--", "true"),
    "command": ("transfer", "--", "true"),
    "meter": ("meter", "--for", "300ms"),
}  # fmt: skip
"""Every command with `--format`, and each of its kinds of results."""
SCHEMAS = {
    "report of a meter": "run",
    "fairness": "cost-against",
    "transfer": "transfer-table",
    "command": "transfer-command",
    "methods": "transfer-methods",
}
"""The JSON formats whose names differ from those of the results."""
WITH_CHARTS = ("run", "report", "report of a meter", "meter", "compare", "fairness", "speedup", "capacity", "transfer",
               "reproduce", "ab", "likeness")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script, a machine and two runs."""
    return laid_results(tmp_path_factory.mktemp("formats"))


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands run in the folder, which has the runs of `loadgo runs`."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LOADGO_RUNS", str(folder))


def answered(name: str, format: str, *options: str) -> Outcome:
    words = list(COMMANDS[name])
    at = words.index("--") if "--" in words else len(words)
    if name == "ab":
        words[words.index("pairs")] = f"pairs-{format}"
    return CliRunner().invoke(app, [*words[:at], "--format", format, *options, *words[at:]])


def printed(name: str, format: str, *options: str) -> str:
    outcome = answered(name, format, *options)
    assert outcome.exit_code in (0, 1), outcome.output
    return outcome.stdout


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Result, dict[str, Any]]]:
    """The results that commands show, with the choices of the command; filled while it runs."""
    results: list[tuple[Result, dict[str, Any]]] = []
    report = Result.report

    def listening(self: Result, format: str = "text", **choices: Any) -> str | bytes:
        given = {name: choice for name, choice in choices.items() if name not in ("width", "color", "chart")}
        results.append((self, given))
        return report(self, format, **choices)

    monkeypatch.setattr(Result, "report", listening)
    return results


def no_constant(constant: str) -> None:
    pytest.fail(f"{constant} is no JSON")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_json_has_a_format_and_is_what_the_result_gives_as_a_dict(
    name: str, shown: list[tuple[Result, dict[str, Any]]]
) -> None:
    members = json.loads(printed(name, "json"), parse_constant=no_constant)
    assert members["format"] == 1
    errors = Draft202012Validator(loadgo.schema(SCHEMAS.get(name, name))).iter_errors(members)
    assert [f"{error.json_path}: {error.message[:300]}" for error in errors] == []
    for result, choices in shown:
        assert result.to_dict(**choices) == members
    assert shown or name in ("run", "report", "report of a meter", "meter", "failed", "tariffs", "query", "methods")


@pytest.mark.parametrize("name", ["run", "report"])
def test_the_json_of_a_run_is_that_of_the_library(name: str, folder: Path) -> None:
    members = json.loads(printed(name, "json"))
    run = loadgo.runs(folder)[-1] if name == "run" else loadgo.runs(folder)[0]
    assert run.to_dict() == members


@pytest.mark.long
@pytest.mark.parametrize("name", LOAD_FREE)
@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_every_command_has_every_format(name: str, format: str, tmp_path: Path) -> None:
    place = tmp_path / "output"
    printed(name, format, "--report" if name in ("fit", "observe") else "-o", str(place))
    text = place.read_text(encoding="utf-8")
    assert text.strip()
    if format == "csv":
        head, *rows = csv.reader(io.StringIO(text))
        assert all(len(row) == len(head) for row in rows)
    assert (format == "html") == text.startswith("<!doctype html>")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_format_that_does_not_exist_is_refused_in_the_same_words(name: str) -> None:
    outcome = answered(name, "pdf")
    assert outcome.exit_code == 2
    text = " ".join(outcome.output.replace("│", " ").split())
    has_pictures = name in (*WITH_CHARTS, "failed", "cost", "tariffs", "command", "methods")
    words = REPORT_FORMATS if has_pictures else TABLE_FORMATS
    assert "Invalid value for '--format': 'pdf' is not one of" in text
    assert f"is not one of {', '.join(map(repr, words))}." in text


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in WITH_CHARTS if name in LOAD_FREE])
def test_a_picture_goes_into_a_file(name: str, tmp_path: Path) -> None:
    printed(name, "svg", "-o", str(tmp_path / "chart.svg"))
    printed(name, "png", "-o", str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_a_name_has_the_commands_name(folder: Path) -> None:
    printed("compare", "svg")
    assert (folder / "compare.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("name", ["cost", "command", "methods"])
def test_a_picture_of_what_has_no_chart_is_refused(name: str) -> None:
    outcome = answered(name, "svg")
    assert outcome.exit_code == 2
    assert "chart" in outcome.output
    assert ", ".join(TABLE_FORMATS) in " ".join(outcome.output.split())


@pytest.mark.parametrize("name", [name for name in COMMANDS if COMMANDS[name][0] == name])
def test_the_help_says_what_the_csv_has(name: str) -> None:
    help_text = " ".join(
        CliRunner().invoke(app, [COMMANDS[name][0], "--help"], env={"COLUMNS": "250"}).output.replace("│", " ").split()
    )
    assert "format. csv: " in help_text
    assert ("svg, png: " in help_text) == (name in WITH_CHARTS or name == "cost")
