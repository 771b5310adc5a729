"""The index of a laboratory: what it finds, when it reads a run again, its cache, and hostile folders."""

import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from loadgo.errors import BadRun
from loadgo.laboratory.laboratory_runs import described, found_in
from loadgo.laboratory.run_index import RunIndex, found_index, open_index
from support.made_laboratory import FIRST_START, made_run, made_runs


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "loadgo"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_runs(tmp_path / "runs", [1.0, 1.1, 1.2])
    return tmp_path / "runs"


def damages(index: RunIndex) -> dict[str, str]:
    return {run.name: run.damage for run in index.runs if run.damage}


def test_runs_are_listed_with_the_newest_first_and_broken_ones_last(root: Path) -> None:
    (root / "no-description").mkdir()
    (root / "no-description" / "interactions.parquet").touch()
    (root / "no-run").mkdir()
    (root / "a-file").touch()
    index = open_index(root)
    assert [run.name for run in index.runs] == ["0002", "0001", "0000", "no-description"]
    assert damages(index) == {"no-description": "there is no run.toml"}


def test_runs_that_are_not_read_yet_are_listed_and_become_what_an_open_index_has(root: Path) -> None:
    (root / "no-description").mkdir()
    (root / "no-description" / "interactions.parquet").touch()
    index = found_index(root)
    revision = index.revision
    assert {run.name: run.outcome for run in index.runs} == dict.fromkeys(
        ("0000", "0001", "0002", "no-description"), "not read yet"
    )
    assert len(index.without_figures()) == 4
    index.read_all()
    assert index.revision > revision
    assert index.runs == open_index(root).runs
    assert index.read_some() == 0


def test_a_changed_run_is_read_again_and_others_are_not(root: Path, caches: Path) -> None:
    index = open_index(root)
    index.read_figures(index.runs)
    before = {run.name: index.figures(run).commands["compile"]["mean"] for run in index.runs}
    made_run(root / "new", FIRST_START + timedelta(days=9), 5.0)
    for table in ("interactions", "sessions", "phases"):
        (root / "new" / f"{table}.parquet").replace(root / "0001" / f"{table}.parquet")
    again = open_index(root)
    known = [run.name for run in again.runs if again.known_figures(run) is not None]
    assert known == ["0002", "0000"]
    again.read_figures(again.runs)
    after = {run.name: again.figures(run).commands.get("compile", {}).get("mean") for run in again.runs}
    assert after["0001"] == pytest.approx(5 * float(before["0001"] or 0) / 1.1, rel=1e-3)
    assert after["0002"] == before["0002"]
    (cache,) = caches.iterdir()
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600


def test_nothing_is_written_to_the_folder_of_runs(root: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*"))
    index = open_index(root)
    index.read_figures(index.runs)
    assert sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*")) == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b"[]",
        b'{"format": 1}',
        b'{"format": 99, "runs": {}}',
        b'{"format": 1, "loadgo": "0.1.0", "runs": {"0000": {"stamp": ["x"], "whole": {}, "commands": {}}}}',
        b'{"format": 1, "loadgo": "0.1.0", "runs": {"0000": {"stamp": [1], "whole": {"p90": "<b>"}, "commands": {}}}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_cache_costs_time_and_nothing_else(root: Path, caches: Path, content: bytes) -> None:
    index = open_index(root)
    index.read_figures(index.runs)
    (cache,) = caches.iterdir()
    cache.write_bytes(content)
    again = open_index(root)
    assert all(again.figures(run) == index.figures(run) for run in again.runs)


def test_figures_of_another_version_of_loadgo_are_computed_again(root: Path, caches: Path) -> None:
    index = open_index(root)
    index.read_figures(index.runs)
    (cache,) = caches.iterdir()
    members = json.loads(cache.read_bytes())
    cache.write_text(json.dumps(members | {"loadgo": "0.0.9"}))
    assert not any(open_index(root).known_figures(run) for run in index.runs)
    cache.write_text(json.dumps(members))
    assert all(open_index(root).known_figures(run) for run in index.runs)


def test_without_a_place_for_the_cache_the_index_is_in_memory(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for home in (str(tmp_path / "file"), "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        index = open_index(root)
        index.read_figures(index.runs)
        assert all(index.known_figures(run) for run in index.runs)
    assert not Path("relative").exists()


def test_two_indexes_at_once_keep_a_whole_cache(root: Path, caches: Path) -> None:
    first, second = open_index(root), open_index(root)
    first.read_figures(first.runs[:1])
    second.read_figures(second.runs)
    first.figures(first.runs[1])
    first.save()
    (cache,) = caches.iterdir()
    assert set(json.loads(cache.read_bytes())["runs"]) == {"0002", "0001"}


def test_a_link_out_of_the_laboratory_is_shown_as_broken_and_not_followed(root: Path, tmp_path: Path) -> None:
    outside = made_run(tmp_path / "elsewhere", FIRST_START, 1.0, script="secret")
    (root / "linked").symlink_to(outside)
    (root / "0000" / "time.parquet").symlink_to(outside / "interactions.parquet")
    (root / "inside").symlink_to(root / "0001")
    index = open_index(root)
    assert damages(index) == {
        "linked": "linked is a link that leaves the folder of runs: it is not followed",
        "0000": "time.parquet is a link that leaves the folder of runs: it is not followed",
    }
    assert "secret" not in {run.script for run in index.runs}


def test_a_link_to_itself_hides_no_run(root: Path) -> None:
    before = open_index(root)
    (root / "loop").symlink_to("loop")
    (root / "0000" / "inner").symlink_to("inner")
    (root / "0001" / "interactions.parquet").unlink()
    (root / "0001" / "interactions.parquet").symlink_to("interactions.parquet")
    index = open_index(root)
    assert [run.name for run in index.runs] == [run.name for run in before.runs]
    assert damages(index) == {}
    assert index.figures(next(run for run in index.runs if run.name == "0001")).damage
    assert not index.figures(next(run for run in index.runs if run.name == "0000")).damage


def test_a_description_that_is_no_plain_file_or_too_large_is_broken(root: Path) -> None:
    for name in ("0000", "0001"):
        (root / name / "run.toml").unlink()
    os.mkfifo(root / "0000" / "run.toml")
    with (root / "0001" / "run.toml").open("wb") as file:
        file.truncate(5_000_000)
    assert damages(open_index(root)) == {
        "0000": "run.toml cannot be read: run.toml is no regular file",
        "0001": "run.toml cannot be read: run.toml has 5,000,000 bytes, more than 4,000,000",
    }


@pytest.mark.parametrize(
    "text", ["a = [", "load = 3", "started = 'x'\n[load]\nusers = []", "x = " + "[" * 5000, "\x00"]
)
def test_any_description_gives_a_run_or_a_reason(root: Path, text: str) -> None:
    (root / "0000" / "run.toml").write_text(text)
    runs, _ = found_in(root)
    run = described(runs[0])
    assert run.damage or run.outcome


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadRun, match="No such file"):
        open_index(tmp_path / "none")


def test_names_that_are_not_utf_8_are_shown_with_their_bytes(root: Path, tmp_path: Path) -> None:
    bad = os.fsdecode(b"bad\xff")
    made_run(root / "a", FIRST_START, 1.0).rename(root / bad)
    made_run(root / "experiment" / "a", FIRST_START, 1.0).rename(root / "experiment" / bad)
    (root / "experiment" / "experiment.json").touch()
    (root / "0000" / bad).symlink_to(tmp_path)
    assert damages(open_index(root)) == {
        "bad\\xff": "the folder's name is not UTF-8: rename it",
        "experiment/bad\\xff": "the folder's name is not UTF-8: rename it",
        "0000": "bad\\xff is a link that leaves the folder of runs: it is not followed",
    }


def test_a_run_that_links_lead_to_is_found_once_by_its_own_name(root: Path) -> None:
    for number in range(10):
        (root / f"000-{number}").symlink_to(root / "0001")
    made_run(root / "experiment" / "a", FIRST_START, 1.0)
    (root / "experiment" / "experiment.json").touch()
    (root / "again").symlink_to(root / "experiment")
    (root / "part").symlink_to(root / "experiment" / "a")
    runs, experiments = found_in(root)
    assert [run.name for run in runs] == ["0000", "0001", "0002", "experiment/a"]
    assert [one.name for one in experiments] == ["experiment"]
