"""A simulated machine's meters in its report: by the command line, in both vocabularies, and as charts."""

import json
import re
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.measures.summary import summarize
from loadgo.reporting.charts.charts import charts
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four typical users on the Multics of 1973."""
    path: Path = tmp_path_factory.mktemp("machine") / "run"
    loadgo.run("typical-user", on="multics-645", users=4, out=path)
    return path


def printed(*arguments: str) -> str:
    """The output of `loadgo report`."""
    result = CliRunner().invoke(app, ["report", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_words_of_1973_are_as_rfc_20_prints_them(folder: Path) -> None:
    text = printed(str(folder), "--vocabulary", "1973")
    table = text[text.index("Total time meters in the words of 1973") :].split("\n\n")[0].splitlines()[3:]
    foot = f"{table.pop(-2)} {table.pop()}"
    assert foot == "Not shown in 80 characters: in today's words. `COLUMNS=119` or `--format html` shows all columns."
    assert [re.split(r"  +", line)[0] for line in table] == [
        *("Page Faults", "Drum Interrupts", "Getwork", "Seg Faults", "Bound Faults", "Interrupts"),
        *("Idle, zero", "Idle, loading", "Idle, MP", "Idle, NMP", "Idle, total", "Other"),
    ]


def test_a_page_fault_takes_the_time_that_the_machines_file_says(folder: Path) -> None:
    document = json.loads(printed(str(folder), "--format", "json", "--vocabulary", "1969"))
    lines = {line["name"]: line for line in document["vocabulary"]["lines"]}
    faults = lines["missing-page"]
    assert faults["each_ns"] == pytest.approx(3_316_000, rel=0.01)
    assert faults["count"] == sum(row["count"] for row in document["meters"]["faults"] if row["name"] == "major")


def test_the_machines_account_is_all_of_its_time_and_has_no_laboratory_in_it(folder: Path) -> None:
    text = printed(str(folder), "--phases", "all", "--full")
    assert "does not add up" not in text
    assert "The laboratory's own time" not in text
    assert "It takes no time of the machine, which is simulated" in " ".join(text.split())


def test_the_charts_of_its_meters_are_those_of_a_host(folder: Path) -> None:
    tables = loadgo.tables(folder)
    drawn = {chart.name: chart for chart in charts(summarize(tables), tables)}
    assert {"time", "faults", "segments", "over-time"} <= set(drawn)
    assert "primitives" not in drawn, "each operation of this machine has one length, which the table has"
    assert "interrupts" not in drawn, "all of a machine's interrupts take one time: a stripe says nothing"
    assert not {"profile", "lengths"} & set(drawn), "a machine has no profile, and tells the mean length only"
    assert drawn["segments"].heading == "Faults by command"


def test_an_operation_that_always_takes_one_time_has_it_once_and_no_quantiles(folder: Path) -> None:
    text = printed(str(folder), "--full")
    table = text[text.index("What the supervisor did") :].split("\n\n")[0]
    assert "Each of these operations always takes the same time, its CPU each." in table
    assert "≥" not in table
    assert "CPU each" in table.splitlines()[1]


def test_its_time_by_user_is_that_of_the_interactions(folder: Path) -> None:
    text = printed(str(folder), "--top", "2", "--full")
    table = text[text.index("Time by user") :].split("\n\n")[0].splitlines()
    assert table[-1].startswith("2 others")
    assert "without what ran between them." in " ".join(text.split())
