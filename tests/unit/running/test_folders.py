"""Folders of runs that are refused: what is of no use goes, and what was there before or says more stays."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from loadgo.errors import Refused
from loadgo.running.folders import refused_run_removed


def refuse(
    folder: Path,
    *,
    started: datetime | None = None,
    outcome: str = "failed",
    tables: str = "",
    files: Mapping[str, str] | None = None,
) -> None:
    """Makes what a refused run leaves in `folder`, and refuses it."""
    with refused_run_removed(folder):
        folder.mkdir(parents=True, exist_ok=True)
        began = started or datetime.now(UTC)
        (folder / "run.toml").write_text(f'outcome = "{outcome}"\nstarted = {began:%Y-%m-%dT%H:%M:%S.%fZ}\n{tables}')
        (folder / "script.toml").write_text('lines = ["true"]\n')
        for name, text in (files or {}).items():
            (folder / name).write_text(text)
        raise Refused("no meters")


def test_a_refused_run_leaves_nothing_of_what_it_made(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no meters"):
        refuse(tmp_path / "a/b/run")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_existed_stay(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/other").write_text("x")
    with pytest.raises(Refused):
        refuse(tmp_path / "runs/new")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["other"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Refused):
        refuse(empty)
    assert empty.is_dir()
    assert list(empty.iterdir()) == []


def test_nothing_goes_that_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "PORT.err").write_text("")
    with pytest.raises(Refused):
        refuse(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("outcome", ["done", "stopped"])
def test_only_a_failed_run_goes(tmp_path: Path, outcome: str) -> None:
    with pytest.raises(Refused):
        refuse(tmp_path / "run", outcome=outcome)
    assert (tmp_path / "run/run.toml").exists()


def test_the_run_of_another_call_stays(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        refuse(tmp_path / "run", started=datetime.now(UTC) - timedelta(minutes=1))
    assert (tmp_path / "run/run.toml").exists()


@pytest.mark.parametrize(("rows", "is_there"), [(0, False), (1, True)])
def test_tables_with_rows_stay(tmp_path: Path, rows: int, *, is_there: bool) -> None:
    manifest = f"[tables.sessions]\nrows = {rows}\n"
    with pytest.raises(Refused):
        refuse(tmp_path / "run", tables=manifest, files={"sessions.parquet": "PAR1"})
    assert (tmp_path / "run").exists() == is_there


@pytest.mark.parametrize(("said", "is_there"), [("", False), ("no port is free\n", True)])
def test_the_last_words_of_a_program_beside_the_users_stay(tmp_path: Path, said: str, *, is_there: bool) -> None:
    with pytest.raises(Refused):
        refuse(tmp_path / "run", files={"PORT.err": said})
    assert (tmp_path / "run").exists() == is_there


def test_a_name_that_is_no_folder_is_the_refusal_that_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(Refused), refused_run_removed(file):
        raise Refused("not a folder")
    assert file.read_text() == "x"
