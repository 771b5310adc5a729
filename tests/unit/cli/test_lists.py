"""Lists in all formats, by the command line: the same records in each."""

import csv
import io
import json
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.documents.listing import Listing, render_listing
from typer.testing import CliRunner

LISTS = {"runs": ["runs"], "machines": ["machines"], "tariffs": ["cost", "--tariffs"], "abilities": ["doctor"]}


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", LISTS)
def test_each_list_is_json_html_and_markdown_too(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path))
    members = json.loads(printed(*LISTS[name], "--format", "json"))
    assert members["format"] == 1
    assert isinstance(members[name], list)
    assert f" {name}**" in printed(*LISTS[name], "--format", "md")
    assert printed(*LISTS[name], "--format", "html", "-o", "-").startswith("<!doctype html>")


def test_csv_and_json_have_the_same_machines() -> None:
    rows = list(csv.DictReader(io.StringIO(printed("machines", "--format", "csv"))))
    records = json.loads(printed("machines", "--format", "json"))["machines"]
    names = [machine.name for machine in loadgo.machines()]
    assert [row["name"] for row in rows] == [record["name"] for record in records] == names
    assert [row["commands"].split(", ") for row in rows] == [record["commands"] for record in records]


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
