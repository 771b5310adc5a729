"""Lists in all formats, by the command line: the same records in each."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.documents.listing import Listing, render_listing
from loadgo.reporting.lists import ability_answer
from loadgo.running.doctor import Ability
from support import printed_rows
from support.places import TESTS
from typer.testing import CliRunner

LISTS = {"runs": ["runs"], "machines": ["machines"], "tariffs": ["cost", "--tariffs"], "abilities": ["doctor"]}
ROWS: dict[str, Callable[[dict[str, Any]], tuple[object, ...]]] = {
    "runs": lambda run: (run["id"], run["name"], run["system"], run["users"], run["interactions"], run["outcome"]),
    "machines": lambda machine: (machine["name"], machine["title"], machine["processors"], machine["source"]),
    "abilities": lambda ability: (
        ability["name"],
        {"exact": "yes", "estimated": "in part", "absent": "no"}[ability["state"]],
        "; ".join(
            part
            for part in (ability["how"], ability["why_not"], ability["remedy"] and f"remedy: {ability['remedy']}")
            if part
        ),
    ),
}
"""The row of a list that a JSON record stands for. Several records of a tariff share one row."""


@pytest.fixture(scope="module")
def abilities() -> list[Ability]:
    """The abilities of this host, looked at once: some counts and times in them differ from call to call."""
    return loadgo.doctor()


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch, abilities: list[Ability]) -> None:
    """The runs' folder has three runs of format 1, and `doctor` answers as it did first."""
    monkeypatch.setenv("LOADGO_RUNS", str(TESTS / "runs" / "format-1"))
    monkeypatch.setattr(loadgo, "doctor", lambda: abilities)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def json_records(name: str) -> list[dict[str, Any]]:
    members = json.loads(printed(*LISTS[name], "--format", "json"))
    assert members["format"] == 1
    records: list[dict[str, Any]] = members[name]
    return records


def text_rows(name: str) -> list[list[str]]:
    table = printed(*LISTS[name]).rpartition("\n\n")[2]  # above it, some lists have an answer
    lines = re.sub(r"\n +", " ", table).rstrip().splitlines()  # a long cell has more lines below
    return [re.split(r" {3,}", line) for line in [lines[0], *lines[2:]]]


def without_blanks(rows: list[list[str]]) -> list[list[str]]:
    """The rows without blanks in their cells: a terminal breaks long words, such as paths, anywhere."""
    return [["".join(cell.split()) for cell in row] for row in rows]


def markdown_rows(name: str) -> list[list[str]]:
    text = printed(*LISTS[name], "--format", "md")
    rows = printed_rows.markdown_rows(text)
    assert f"{len(rows) - 1:,} {name}" in text.splitlines()[0]
    return rows


def html_rows(name: str) -> list[list[str]]:
    page = printed(*LISTS[name], "--format", "html", "-o", "-")
    assert page.startswith("<!doctype html>")
    return printed_rows.html_rows(page)


@pytest.mark.parametrize("name", LISTS)
def test_each_list_has_the_same_rows_in_text_html_and_markdown(name: str) -> None:
    rows = html_rows(name)
    assert len(rows) > 3
    assert markdown_rows(name) == rows
    assert without_blanks(text_rows(name)) == without_blanks(rows)


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_a_record_of_the_json(name: str) -> None:
    rows = [list(map(str, ROWS[name](record))) for record in json_records(name)]
    assert len(rows) >= 3
    assert html_rows(name)[1:] == rows


def test_each_tariff_has_a_record_for_each_shift() -> None:
    records = json_records("tariffs")
    titles = dict.fromkeys((record["name"], record["title"], record["source"]) for record in records)
    rows = html_rows("tariffs")[1:]
    assert [(name, title, source) for name, title, _prices, source in rows] == list(titles)
    for name, _title, prices, _source in rows:
        shifts = [record for record in records if record["name"] == name]
        hours = [float(price) for price in re.findall(r"\$([\d.]+) a CPU hour", prices)]
        assert hours == [shift["cpu_hour"] for shift in shifts if shift["cpu_hour"]]
        assert len(shifts) == 1 or re.findall(r"shift (\w+):", prices) == [shift["shift"] for shift in shifts]


@pytest.mark.parametrize("name", ["runs", "machines", "abilities"])
def test_the_csv_has_the_values_of_the_json(name: str) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(*LISTS[name], "--format", "csv"))))
    records = json_records(name)
    assert [list(row) for row in rows] == [list(record) for record in records]
    for row, record in zip(rows, records, strict=True):
        values = {key: ", ".join(value) if isinstance(value, list) else value for key, value in record.items()}
        assert row == {key: str(value) for key, value in values.items()}


def test_the_list_of_runs_has_what_the_folders_hold() -> None:
    ends = ((record["id"].rpartition("-")[2], record["outcome"], record["finished"]) for record in json_records("runs"))
    assert list(ends) == [("cut", "killed", False), ("ended", "done", True), ("killed", "killed", False)]
    assert {(run["name"], run["users"], run["interactions"]) for run in json_records("runs")} == {
        ("typical user", 2, 6)
    }


def test_the_lists_are_those_of_the_library() -> None:
    assert [record["name"] for record in json_records("machines")] == [machine.name for machine in loadgo.machines()]
    assert [record["name"] for record in json_records("abilities")] == [ability.name for ability in loadgo.doctor()]
    assert [record["id"] for record in json_records("runs")] == [run.id for run in loadgo.runs()]


def test_a_list_goes_into_a_file(tmp_path: Path) -> None:
    printed("machines", "--format", "json", "-o", str(tmp_path / "machines.json"))
    assert json.loads((tmp_path / "machines.json").read_text())["machines"]


def test_a_machine_file_is_toml_only() -> None:
    result = CliRunner().invoke(app, ["machines", "ctss", "--format", "json"])
    assert result.exit_code == 2
    assert "--format json" in " ".join(result.output.split())


def test_a_user_s_name_is_no_formula_in_csv() -> None:
    listed = Listing("runs", ("run",), (("=1+1",),), ("id",), ({"id": "=1+1"},))
    assert render_listing(listed, "csv") == "id\n'=1+1\n"


def test_the_doctor_answers_in_a_sentence_first() -> None:
    def ability(name: str, state: str) -> Ability:
        return Ability(name, state, "", "", "")  # type: ignore[arg-type]

    some = [ability("terminals", "exact"), ability("timers", "estimated"), ability("swap", "absent")]
    assert ability_answer(some) == (
        "loadgo can measure here: 1 of the 3 abilities below in full; in part: timers; not: swap."
    )
    assert ability_answer(some[:1]) == "loadgo can measure here: all of the 1 abilities below."
    assert printed("doctor").startswith("loadgo can measure here: ")
