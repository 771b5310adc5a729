"""One broken folder among the runs: it is listed as unreadable, and the other runs are still found."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun
from loadgo.records.runs import find_run, read_run, runs
from loadgo.records.tables import tables
from support.places import TESTS
from typer.testing import CliRunner

GOOD = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended"

LIVE = TESTS / "runs" / "reported" / "live-exact"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all runs, with the run `good` and its copy `bad`, which a test breaks."""
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path))
    for name in ("good", "bad"):
        shutil.copytree(GOOD, tmp_path / name)
    return tmp_path


def nest_deeply(run: Path) -> None:
    (run / "run.toml").write_text("a = " + "[" * 100_000)


def grow(run: Path) -> None:
    os.truncate(run / "run.toml", 50_000_000_000)


def replace_by_a_pipe(run: Path) -> None:
    (run / "interactions.parquet").unlink()
    os.mkfifo(run / "interactions.parquet")


def replace_by_a_folder(run: Path) -> None:
    (run / "interactions.parquet").unlink()
    (run / "interactions.arrows").mkdir()


DAMAGES = [nest_deeply, grow, replace_by_a_pipe, replace_by_a_folder]


def set_start(run: Path, started: str) -> None:
    lines = (run / "run.toml").read_text().splitlines()
    changed = [f"started = {started}" if line.startswith("started") else line for line in lines]
    assert changed != lines
    (run / "run.toml").write_text("\n".join(changed))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_run_is_listed_and_the_others_are_found(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / "bad")
    assert {run.folder.name: run.outcome for run in runs()} == {"good": "done", "bad": "unreadable"}
    assert find_run("last") == folder / "good"
    assert find_run("goo") == folder / "good"
    with pytest.raises(BadRun, match=r"run\.toml|interactions"):
        tables("bad")


@pytest.mark.parametrize("started", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_a_start_that_no_clock_shows_is_unknown(folder: Path, started: str) -> None:
    set_start(folder / "bad", started)
    listed = CliRunner().invoke(app, ["runs"])
    assert listed.exit_code == 0, listed.output
    assert (read_run(folder / "bad").started, read_run(folder / "bad").outcome) == (None, "done")
    assert find_run("last") == folder / "good"


def test_a_full_name_is_found_without_reading_the_other_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr("loadgo.records.runs._start_key", lambda run: pytest.fail(f"{run} was read"))
    assert find_run("good") == folder / "good"


def test_the_folder_above_the_runs_is_no_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADGO_RUNS", str(folder / "bad"))
    monkeypatch.chdir(TESTS)
    shutil.copy(GOOD / "run.toml", folder)
    with pytest.raises(BadRun):
        find_run("..")


def name_without_utf8(folder: Path) -> Path:
    """Renames the run `bad` to a name that is not UTF-8."""
    return (folder / "bad").rename(folder / os.fsdecode(b"bad\xff"))


@pytest.mark.parametrize("format", ["text", "json", "csv", "md", "html"])
def test_a_folder_whose_name_is_not_utf8_is_listed_in_each_format(folder: Path, format: str) -> None:
    name_without_utf8(folder)
    listed = CliRunner().invoke(app, ["runs", "--format", format, "-o", "-"])
    assert listed.exit_code == 0, listed.output
    assert "unreadable" in listed.stdout
    assert "bad\N{REPLACEMENT CHARACTER}" in listed.stdout


def test_a_folder_whose_name_is_not_utf8_is_refused_with_the_remedy(folder: Path) -> None:
    run = name_without_utf8(folder)
    repr(runs())
    assert runs().frame("runs")["outcome"].to_list() == ["unreadable", "done"]
    with pytest.raises(BadRun, match="is not UTF-8: rename the folder"):
        tables(run)
    refused = CliRunner().invoke(app, ["report", str(run)])
    assert refused.exit_code == 2
    assert "is not UTF-8: rename the folder" in refused.output


NONSENSE = [
    ("wall_s", "wall_s = -1"),
    ("wall_s", f"wall_s = 1{400 * '0'}"),
    ("load_average_end", "load_average_end = 7"),
    ("memory_available_end_bytes", 'memory_available_end_bytes = "much"'),
    ("every", "every = inf"),
    ("every", "every = 0"),
    ("cpu_resolution_ns", "cpu_resolution_ns = nan"),
    ("processors", "processors = []"),
    ("users", "users = {}"),
]


@pytest.mark.parametrize(("line", "nonsense"), NONSENSE)
def test_nonsense_in_run_toml_gives_words_in_each_command(folder: Path, line: str, nonsense: str) -> None:
    shutil.copytree(LIVE, folder / "bad", dirs_exist_ok=True)
    path = folder / "bad" / "run.toml"
    lines = path.read_text().splitlines()
    changed = [nonsense if text.startswith(line) else text for text in lines]
    assert changed != lines
    path.write_text("\n".join(changed))
    check_each_command(folder)


@pytest.mark.parametrize("nonsense", ["at_ns = -1", "user = 4294967296", "what = 3", 'count = "x"', "reason = []"])
def test_losses_in_run_toml_that_make_no_sense_give_words_in_each_command(folder: Path, nonsense: str) -> None:
    shutil.copytree(LIVE, folder / "bad", dirs_exist_ok=True)
    with (folder / "bad" / "run.toml").open("a") as run_toml:
        run_toml.write(f"\n[[lost]]\n{nonsense}\n")
    check_each_command(folder)


def check_each_command(folder: Path) -> None:
    """Asserts that each command refuses the run `bad` in words, and that the list of runs has it."""
    bad, good = str(folder / "bad"), str(folder / "good")
    for arguments in (
        ["report", bad], ["compare", good, bad], ["cost", bad], ["query", "SELECT 1", bad], ["fit", bad, "-o", "-"],
        ["profile", "--of", bad], ["watch", bad, "--terminal", "--once"],
    ):  # fmt: skip
        refused = CliRunner().invoke(app, arguments)
        assert (refused.exit_code, "must be" in refused.output) == (2, True), (arguments, refused.output)
    assert CliRunner().invoke(app, ["runs"]).exit_code == 0


def test_a_start_that_is_no_time_makes_no_two_runs_the_same(folder: Path) -> None:
    for name in ("good", "bad"):
        shutil.copytree(LIVE, folder / name, dirs_exist_ok=True)
    set_start(folder / "bad", "{}")
    compared = CliRunner().invoke(app, ["compare", str(folder / "good"), str(folder / "bad")])
    assert compared.exit_code == 0, compared.output
