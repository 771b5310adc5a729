"""A run's tables, read from a folder that ended, one that a kill cut, and one that was completed after a kill.

`tests/runs/format-1` was written by the recorder itself (`cargo run -p loadgo-store --example sample_run`): what it
wrote then must stay readable.
"""

import itertools
import shutil
from dataclasses import fields
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, read_stream, tables, with_columns
from polars.testing import assert_frame_equal
from support.places import PROJECT, TESTS

KEPT = TESTS / "runs" / "format-1"
ENDED, CUT, KILLED = (KEPT / f"2026-11-21T01-37-05-{how}" for how in ("ended", "cut", "killed"))


@pytest.mark.parametrize("folder", [ENDED, CUT, KILLED], ids=lambda folder: folder.name)
def test_each_table_has_its_columns_and_types(folder: Path) -> None:
    for name, frame in tables(folder).frames().items():
        assert dict(frame.schema) == COLUMNS_BY_TABLE[name], name


def test_a_cut_run_holds_what_the_ended_one_holds() -> None:
    ended, cut = tables(ENDED), tables(CUT)
    for name in ("interactions", "sessions", "time", "processes", "phases"):
        assert_frame_equal(getattr(cut, name), getattr(ended, name))
    assert (len(ended.lost), len(cut.lost)) == (1, 1)
    assert "ends in a batch that is not whole" in cut.lost["reason"].item()


@pytest.mark.parametrize(("name", "other"), [("interactions", "time"), ("sessions", "phases"), ("time", "processes")])
def test_a_file_that_holds_another_table_is_damage_and_not_an_empty_run(name: str, other: str, tmp_path: Path) -> None:
    folder = shutil.copytree(ENDED, tmp_path / "run")
    shutil.copy(folder / f"{other}.parquet", folder / f"{name}.parquet")
    with pytest.raises(BadRun, match=f"{name}.parquet is damaged: it holds the table {other}; take it from a copy"):
        tables(folder)


def test_a_file_without_a_later_column_or_with_one_more_is_read(tmp_path: Path) -> None:
    folder = shutil.copytree(ENDED, tmp_path / "run")
    whole = with_columns(pl.read_parquet(folder / "interactions.parquet"), COLUMNS_BY_TABLE["interactions"])
    for rows in (whole.drop("exit_status"), whole.with_columns(new=1)):
        rows.write_parquet(folder / "interactions.parquet")
        assert len(tables(folder).interactions) == len(whole)


def test_a_run_from_before_a_column_has_null_in_it() -> None:
    assert "typing_cpu_ns" not in pl.read_parquet_schema(ENDED / "interactions.parquet")
    rows = tables(ENDED).interactions
    assert rows["typing_cpu_ns"].null_count() == rows["cpu_excess_ns"].null_count() == len(rows)


def test_null_is_not_measured_and_zero_is_zero() -> None:
    rows = tables(ENDED).interactions
    assert len(rows) == 6
    assert rows["cpu_user_ns"].to_list() == [0] * 6
    assert rows["io_wait_ns"].null_count() == 6
    assert rows.filter(pl.col("ready_ns").is_null())["outcome"].to_list() == ["died"]


def test_what_only_run_toml_could_hold_is_a_row_of_lost() -> None:
    lost = tables(KILLED).lost.row(0, named=True)
    assert (lost["what"], lost["count"], lost["user"]) == ("record", 1, None)
    assert "not whole" in lost["reason"]


def test_conditions_are_run_toml() -> None:
    assert tables(ENDED).conditions["load"] == {"model": "closed", "users": 2, "passes": 1}


def test_a_stream_cut_in_the_middle_is_read_without_complaint(tmp_path: Path) -> None:
    whole = (CUT / "interactions.arrows").read_bytes()
    (tmp_path / "run.toml").write_text("format = 1\n")
    rows: set[int | None] = set()
    for length in [*range(0, len(whole), 31), len(whole)]:
        path = tmp_path / "interactions.arrows"
        path.write_bytes(whole[:length])
        frame = read_stream(path)
        rows.add(None if frame is None else len(frame))
    assert rows == {None, 0, 6}


def test_a_table_that_a_run_did_not_fill_is_empty(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("format = 1\n")
    read = tables(tmp_path)
    assert isinstance(read, Tables)
    assert all(
        frame.is_empty() and dict(frame.schema) == COLUMNS_BY_TABLE[name] for name, frame in read.frames().items()
    )


def test_a_later_format_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("format = 2\n")
    with pytest.raises(BadRun, match="format 2, and this version of loadgo reads 1"):
        tables(tmp_path)


def test_a_damaged_table_is_named_and_the_rest_is_read_without_it(tmp_path: Path) -> None:
    folder = shutil.copytree(ENDED, tmp_path / "run")
    (folder / "time.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(BadRun, match=r"time\.parquet is damaged: .*; take it from a copy, or remove it"):
        tables(folder)
    (folder / "time.parquet").unlink()
    assert tables(folder).interactions.equals(tables(ENDED).interactions)


def test_no_damage_is_told_in_the_words_of_the_reader(tmp_path: Path) -> None:
    folder = shutil.copytree(ENDED, tmp_path / "run")
    file = folder / "interactions.parquet"
    whole = file.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], bytes(len(whole)), whole[:-40] + bytes(32) + whole[-8:]):
        file.write_bytes(damaged)
        with pytest.raises(BadRun) as told:
            tables(folder)
        words = "is damaged: it has been cut or written over since the run; take it from a copy"
        assert str(told.value) == f"{file} {words}"


def test_tables_of_loadgo_are_these() -> None:
    assert loadgo.tables(ENDED).interactions.equals(tables(ENDED).interactions)


def test_a_folder_of_any_name_is_read(tmp_path: Path) -> None:
    for name in ("g[1]", "~x", "file:g", "a*"):
        folder = shutil.copytree(ENDED, tmp_path / name)
        assert not tables(folder).interactions.is_empty()


def test_a_run_that_ended_well_and_lost_its_table_is_damaged_and_not_empty(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.toml").write_text('format = 1\nfinished = true\noutcome = "done"\n')
    with pytest.raises(BadRun, match="lost its table interactions"):
        tables(folder)


def documented_columns(section: str) -> list[tuple[str, str]]:
    """The columns and types in a section of docs/run-folder.md: a table, or a paragraph with `·` between columns."""
    rows = [line.split("|") for line in section.partition("| column | type | meaning |")[2].splitlines()]
    if rows:
        rows = list(itertools.takewhile(lambda row: len(row) > 3, rows[2:]))
        return [(name.strip(), row[2].strip()) for row in rows for name in row[1].split(",")]
    paragraph = next(paragraph for paragraph in section.split("\n\n") if " · " in paragraph)
    return [(name, kind) for name, kind, *_ in (column.split() for column in paragraph.split("·"))]


def test_the_columns_are_documented_with_their_types_and_in_their_order() -> None:
    page = (PROJECT / "docs" / "run-folder.md").read_text(encoding="utf-8")
    sections = {section.partition(":")[0]: section for section in page.split("\n## ")}
    for table, columns in _loadgo.table_columns().items():
        assert documented_columns(sections[table]) == columns, table


def test_frames_are_named_as_the_tables_that_are_written() -> None:
    names = [field.name for field in fields(Tables)]
    tables_of_a_run = list(_loadgo.table_columns())
    assert names[: len(tables_of_a_run)] == tables_of_a_run
    assert names[len(tables_of_a_run) :] == [
        "conditions", "prediction", "fit_warnings", "part_ns", "far_records", "users_run", "is_written", "by_host",
    ]  # fmt: skip
