"""The figures of an observation: kept beside its script, refused when damaged, and never lost in silence."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument, BadRun, LoadgoError, NotWritten, Refused
from loadgo.observation import figures_file, written_files
from loadgo.observation.figures_file import figures_path, read_figures
from support.accounting_records import made_day, written_accounting
from support.command_line import typed
from support.made_likeness import READ_A_SECOND, folder_of_run, made_observation, made_run
from support.readable_files import readable_bytes
from support.synthetic import S, interaction

FIGURES = "monday.figures.parquet"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """An observed script with its figures."""
    made_observation(tmp_path, sessions=6)
    return tmp_path / "monday.toml"


def test_figures_are_what_was_observed(script: Path) -> None:
    figures = read_figures(figures_path(script))
    assert len(figures.rows) == 6 * 25
    assert figures.rows["session"].n_unique() == 6
    assert figures.description.script_bytes == script.stat().st_size
    assert figures.description.equivalent_users is not None
    row = figures.rows.filter(command="build").row(0, named=True)
    cpu_s = (row["cpu_user_ns"] + row["cpu_system_ns"]) / S
    assert row["faults_minor"] == pytest.approx(cpu_s * 20_000, abs=1)
    assert row["read_bytes"] == pytest.approx(cpu_s * READ_A_SECOND, abs=1)
    assert (row["processes"], row["storage_read_bytes"], row["ready_wait_ns"]) == (3, 4096, 1000)


def test_a_figure_that_an_earlier_version_did_not_keep_is_not_known(script: Path) -> None:
    path = figures_path(script)
    described(path, lambda _: None, pl.read_parquet(path).drop("faults_minor"))
    assert read_figures(path).rows["faults_minor"].count() == 0
    gaps = [gap.figure for gap in loadgo.likeness(script, made_run(script.parent / "run", script)).not_compared]
    assert "page faults" in gaps


@pytest.mark.parametrize("words", [["--no-figures", "-o", "a.toml"], ["-o", "-"]])
def test_no_figures_are_kept_where_they_are_not_wanted(tmp_path: Path, words: list[str]) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    typed(tmp_path, "observe", "--from", records, *words)
    assert not list(tmp_path.glob("*.parquet"))


def test_existing_figures_are_not_replaced_unasked(script: Path) -> None:
    before = figures_path(script).read_bytes()
    script.unlink()
    with pytest.raises(Refused, match=r"monday\.figures\.parquet exists already"):
        made_observation(script.parent)
    assert figures_path(script).read_bytes() == before
    made_observation(script.parent, sessions=8, force=True)
    assert read_figures(figures_path(script)).rows["session"].n_unique() == 8


def refuse_disk(*_: object, **_named: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_figures_that_find_no_room_are_elsewhere_and_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written_files, "write_private_bytes", refuse_disk)
    observation = made_observation(tmp_path)
    (warning,) = observation.warnings
    place = Path(re.findall(r"the figures are in (\S+) instead\.", warning)[0])
    try:
        assert "No space left on device" in warning
        assert observation.figures == place
        assert place.stat().st_mode & 0o777 == 0o600
        assert len(read_figures(place).rows) == 1000
        assert (tmp_path / "monday.toml").exists()
    finally:
        place.unlink()


def test_figures_that_find_room_nowhere_are_told_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_files, "write_private_bytes", refuse_disk)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse_disk)
    observation = made_observation(tmp_path)
    assert "the figures are lost, and no run can be compared with them" in observation.warnings[0]
    assert observation.figures is None
    assert observation.path is not None


def test_a_script_that_cannot_be_written_says_where_its_figures_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_script(script: Path, text: str, _force: bool) -> None:
        raise NotWritten(f"{script} cannot be written", text)

    monkeypatch.setattr(written_files, "write_private", refuse_script)
    monkeypatch.setattr(written_files, "write_private_bytes", refuse_disk)
    with pytest.raises(NotWritten, match=r"the figures are in .* instead") as caught:
        made_observation(tmp_path)
    assert "sh stand-in.sh" in caught.value.text
    Path(re.findall(r"the figures are in (\S+) instead", str(caught.value))[0]).unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-300])


def middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[20:900] = bytes(880)
    path.write_bytes(content)


def foreign(path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(path)


def described(path: Path, change: Callable[[dict[str, Any]], object], rows: pl.DataFrame | None = None) -> None:
    (key,) = (key for key in pl.read_parquet_metadata(path) if key.startswith("loadgo"))
    members = json.loads(pl.read_parquet_metadata(path)[key])
    change(members)
    (pl.read_parquet(path) if rows is None else rows).write_parquet(path, metadata={key: json.dumps(members)})


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, r"there is no .*monday\.figures\.parquet: `loadgo observe` keeps"),
    "cut": (cut, "is no Parquet file, or is cut"),
    "damaged": (middle, "is damaged|is no Parquet file"),
    "text": (lambda path: path.write_text("no table"), "is no Parquet file"),
    "empty": (lambda path: path.write_bytes(b""), "is no Parquet file"),
    "foreign": (foreign, "is a table of something else"),
    "later format": (lambda path: described(path, lambda members: members.update(format=2)), "has format 2"),
    "no number": (lambda path: described(path, lambda members: members.update(observed_s="long")), "is damaged"),
    "no classes": (lambda path: described(path, lambda members: members.pop("classes")), "is damaged"),
    "a list": (lambda path: described(path, lambda members: members.update(classes=[3])), "is damaged"),
    "other rows": (
        lambda path: described(path, lambda _: None, pl.read_parquet(path).with_columns(command=pl.lit("x"))),
        "its rows are not those that its description has",
    ),
    "no column": (
        lambda path: described(path, lambda _: None, pl.read_parquet(path).drop("session")),
        "it lacks the column session",
    ),
    "huge": (
        lambda path: described(
            path, lambda _: None, pl.read_parquet(path).with_columns(elapsed_ns=pl.lit(2**63, pl.UInt64))
        ),
        "is damaged",
    ),
    "words": (
        lambda path: described(path, lambda _: None, pl.read_parquet(path).with_columns(elapsed_ns=pl.lit("x"))),
        "a column holds other values",
    ),
    "no rows": (lambda path: described(path, lambda _: None, pl.read_parquet(path).clear()), "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_figures_are_refused_in_words(script: Path, damage: str) -> None:
    change, words = DAMAGE[damage]
    change(figures_path(script))
    with pytest.raises(Refused, match=words):
        loadgo.likeness(script, script.parent)


def test_runs_that_cannot_be_compared_are_refused_in_words(script: Path) -> None:
    folder = script.parent
    other = folder_of_run(folder / "other", script, [interaction(1, 1.0, 1.0)])
    (other / "script.toml").write_text('login = "sh"\nlines = ["who"]\n')
    with pytest.raises(Refused, match=r"is a run of another script: it types `who`, and in .* `build`"):
        loadgo.likeness(script, other)
    empty = folder_of_run(folder / "none", script, [])
    with pytest.raises(BadRun, match="has no command of the script that was answered"):
        loadgo.likeness(script, empty)
    unanswered = folder_of_run(folder / "unanswered", script, [interaction(1, 1.0, None)])
    with pytest.raises(BadRun, match="has no command of the script that was answered"):
        loadgo.likeness(script, unanswered)
    (empty / "script.toml").unlink()
    with pytest.raises(BadRun, match="has no script that can be read"):
        loadgo.likeness(script, empty)
    with pytest.raises(LoadgoError):
        loadgo.likeness(script, folder / "nowhere")
    with pytest.raises(BadArgument, match="margin"):
        loadgo.likeness(script, other, margin="wide")


@pytest.mark.parametrize(("finished", "outcome"), [(False, ""), (True, "stopped"), (True, "killed")])
def test_a_run_that_did_not_come_to_its_end_is_compared_with_a_warning(
    script: Path, finished: bool, outcome: str
) -> None:
    run = made_run(script.parent / "run", script, finished=finished, outcome=outcome)
    found = loadgo.likeness(script, run)
    assert found.figures
    assert found.warnings


def test_the_search_finds_what_a_compressed_table_holds(script: Path) -> None:
    assert b"build" in readable_bytes(figures_path(script))
    assert figures_file.FIGURES_ENDING == ".figures.parquet"
