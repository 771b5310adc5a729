"""The list of runs, and the search for one."""

import os
import shutil
from pathlib import Path

import pytest
from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.runs import find_run, is_among_runs, read_run, runs
from loadgo.records.tables import tables
from support.places import TESTS

KEPT = TESTS / "runs" / "format-1"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs that are this test's own."""
    folder = shutil.copytree(KEPT, tmp_path / "runs")
    monkeypatch.setenv("LOADGO_RUNS", str(folder))
    return folder


def test_runs_are_listed_by_age_with_how_they_ended(kept: Path) -> None:
    listed = [
        (run.id[20:], run.name, run.users, run.finished, run.outcome, run.interactions) for run in runs(str(kept))
    ]
    assert runs(kept) == runs()
    assert listed == [
        ("cut", "typical user", 2, False, "killed", 6),
        ("ended", "typical user", 2, True, "done", 6),
        ("killed", "typical user", 2, False, "killed", 6),
    ]
    assert all(run.started is not None and run.started.year == 2026 for run in runs())


def test_the_last_run_is_the_newest(kept: Path) -> None:
    newest = shutil.copytree(kept / "2026-11-21T01-37-05-ended", kept / "2026-11-22T00-00-00-later")
    assert find_run() == newest
    assert tables().conditions["id"] == "2026-11-21T01-37-05-ended"


def test_a_run_is_found_by_its_path_its_id_or_the_beginning_of_it(kept: Path) -> None:
    folder = kept / "2026-11-21T01-37-05-cut"
    assert find_run(folder) == folder
    assert find_run(str(folder)) == folder
    assert find_run(folder.name) == folder
    assert find_run("2026-11-21T01-37-05-c") == folder


def test_a_beginning_of_several_runs_is_not_guessed(kept: Path) -> None:
    with pytest.raises(BadRun, match=r"may be 2026-11-21T01-37-05-cut, .*: write more of the name"):
        find_run("2026")


def test_a_run_that_is_not_there_is_refused_with_those_that_are(kept: Path) -> None:
    with pytest.raises(BadRun, match=r"there is no run yesterday.*2026-11-21T01-37-05-cut"):
        find_run("yesterday")


def test_no_runs_at_all_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path / "none"))
    assert runs() == []
    with pytest.raises(
        BadRun, match=r"there is no run in .* yet: make one .* or name the folder of a run that lies elsewhere"
    ):
        find_run()


def test_a_run_elsewhere_is_not_among_the_runs(kept: Path, tmp_path: Path) -> None:
    assert is_among_runs(kept / "2026-11-21T01-37-05-cut")
    assert not is_among_runs(tmp_path / "elsewhere")


def test_a_folder_that_cannot_be_read_is_listed_as_such(kept: Path) -> None:
    folder = kept / "2026-11-20T00-00-00-broken"
    folder.mkdir()
    (folder / "run.toml").write_text("this is no TOML")
    assert (runs()[0].id, runs()[0].outcome, runs()[0].interactions) == (folder.name, "unreadable", None)


def test_a_killed_run_is_completed_without_losing_a_row(kept: Path) -> None:
    folder = kept / "2026-11-21T01-37-05-cut"
    before = tables(folder)
    _loadgo.complete(folder)
    after = tables(folder)
    assert not list(folder.glob("*.arrows"))
    assert after.interactions.equals(before.interactions)
    assert (read_run(folder).outcome, read_run(folder).finished) == ("killed", False)


def test_a_growing_stream_gives_its_news_once(kept: Path) -> None:
    folder = kept / "2026-11-21T01-37-05-cut"
    stream = folder / "interactions.arrows"
    whole = stream.read_bytes()
    stream.unlink()
    growing = _loadgo.Growing(folder, "interactions")
    assert growing.news() == b"", "the stream is not there yet"
    news = []
    for length in range(0, len(whole) + 32, 32):
        stream.write_bytes(whole[:length])
        news.append(growing.news())
    assert b"".join(news) == whole
    assert growing.news() == b""


def test_the_last_run_is_the_one_begun_last_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, started in (("demo", "2026-01-01T10:00:00Z"), ("2026-01-02-x", "2026-01-02T10:00:00Z")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "run.toml").write_text(f"format = 1\nid = {name!r}\nstarted = {started}\n")
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path))
    assert find_run("last").name == "2026-01-02-x"


@pytest.mark.parametrize("table", ["interactions.parquet", "faults.parquet", "time.arrows"])
def test_a_pipe_in_place_of_a_table_is_refused_and_not_waited_for(kept: Path, table: str) -> None:
    run = kept / "2026-11-21T01-37-05-ended"
    (run / table).unlink(missing_ok=True)
    os.mkfifo(run / table)
    with pytest.raises(BadRun, match=f"{table} is not a regular file"):
        tables(run)


def test_a_pipe_in_place_of_run_toml_makes_no_run(kept: Path) -> None:
    (kept / "piped").mkdir()
    os.mkfifo(kept / "piped" / "run.toml")
    assert len(runs()) == 3
    with pytest.raises(BadRun, match=r"there is no run\.toml in it"):
        find_run(kept / "piped")


def test_a_listed_run_that_is_gone_is_named_by_its_folder(kept: Path) -> None:
    listed = runs()[0]
    shutil.rmtree(listed.folder)
    with pytest.raises(BadRun, match=rf"^there is no run {listed.folder}, neither"):
        find_run(listed)
