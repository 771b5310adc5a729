"""Damage to the tables of a run: a bit that changes in any of them is seen, and told in words."""

import random
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import loadgo
import polars as pl
import pytest
from click.testing import Result
from loadgo._loadgo import whole
from loadgo.cli.app import app
from loadgo.errors import BadRun
from loadgo.records.following import follow
from loadgo.records.tables import load_tables, tables
from loadgo.sizing.search.validity import lost_records
from support.killed_runs import killed_run
from support.places import TESTS
from typer.testing import CliRunner

FLIPS = 400
CUT = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-cut"
"""A run of an earlier loadgo that was killed: its streams have no checksums."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "run"
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=folder)
    return folder


def test_the_manifest_names_each_table_with_its_rows(run: Path) -> None:
    entries = tomllib.loads((run / "run.toml").read_text())["tables"]
    frames = tables(run).frames()
    assert entries.keys() == frames.keys()
    assert {name: entry["rows"] for name, entry in entries.items() if name != "lost"} == {
        name: len(frame) for name, frame in frames.items() if name != "lost"
    }


@pytest.mark.long
def test_each_bit_that_changes_in_a_table_is_seen(run: Path) -> None:
    drawn = random.Random(7)
    files = sorted(run.glob("*.parquet"))
    assert len(files) > 10
    for flip in range(FLIPS):
        file = files[flip % len(files)]
        content = file.read_bytes()
        changed, bit = bytearray(content), drawn.randrange(8 * len(content))
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        with pytest.raises(BadRun, match=rf"{file.name} is damaged: its bytes have changed since the run"):
            tables(run)
        file.write_bytes(content)
    tables(run)


def test_a_table_of_another_length_is_seen_also_by_who_follows(run: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(run, tmp_path / "cut"))
    content = (cut / "queue.parquet").read_bytes()
    (cut / "queue.parquet").write_bytes(content[:-1])
    said = rf"queue.parquet is damaged: it has {len(content) - 1:,} bytes.* or remove it: .* this table is lost"
    for read in (lambda: tables(cut), lambda: follow(cut).new_rows()):
        with pytest.raises(BadRun, match=said):
            read()
    (cut / "queue.parquet").unlink()
    left = tables(cut)
    assert (left.queue.is_empty(), left.interactions.is_empty()) == (True, False)


def test_a_stream_whose_tail_is_zeros_loses_rows_and_says_so(tmp_path: Path) -> None:
    run = Path(shutil.copytree(CUT, tmp_path / "run"))
    before = tables(run)
    stream = run / "interactions.arrows"
    stream.write_bytes(stream.read_bytes() + bytes(4096))
    after = tables(run)
    assert after.interactions.equals(before.interactions)
    reasons = after.lost["reason"].cast(str).to_list()
    assert any("interactions ends in a batch that is not whole" in reason for reason in reasons)


def reasons_of(lost: pl.DataFrame) -> dict[str, int]:
    return dict(lost.select(pl.col("reason").cast(pl.String), pl.col("count")).rows())


def test_each_table_that_is_gone_is_a_loss_of_its_rows(run: Path, tmp_path: Path) -> None:
    entries = tomllib.loads((run / "run.toml").read_text())["tables"]
    for name, entry in entries.items():
        if name in ("interactions", "sessions"):
            continue
        left = Path(shutil.copytree(run, tmp_path / name))
        (left / f"{name}.parquet").unlink()
        told = {f"the file of the table {name} is gone since the run": entry["rows"]} if entry["rows"] else {}
        assert reasons_of(tables(left).lost) == told
        assert reasons_of(load_tables(left).lost) == told
        assert reasons_of(follow(left).new_rows()["lost"]) == told
    assert sum(entry["rows"] > 0 for entry in entries.values()) > 8


@pytest.mark.parametrize("name", ["interactions", "sessions"])
def test_without_a_main_table_nothing_is_read(run: Path, tmp_path: Path, name: str) -> None:
    left = Path(shutil.copytree(run, tmp_path / "left"))
    (left / f"{name}.parquet").unlink()
    with pytest.raises(BadRun, match=rf"has lost its table {name}"):
        tables(left)
    assert typed("report", str(left)).exit_code == 2


@pytest.fixture
def without_time(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose table of processor time is gone, in a folder of runs of its own."""
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path))
    left = Path(shutil.copytree(run, tmp_path / "left"))
    (left / "time.parquet").unlink()
    return left


def typed(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def test_a_table_that_is_gone_is_told_by_each_command(run: Path, without_time: Path) -> None:
    rows = tomllib.loads((run / "run.toml").read_text())["tables"]["time"]["rows"]
    lost, left = f"{rows:,} records are lost", str(without_time)
    for words in (["report", left], ["compare", str(run), left], ["cost", left], ["query", "SELECT 1", left]):
        told = typed(*words)
        assert lost in told.output, told.output
    assert f"{rows:,} RECORDS LOST" in typed("watch", "--once", left).output
    assert f"{rows:,} records lost" in typed("runs").output
    assert typed("report", left, "--fail-if", "lost > 0").exit_code == 1
    assert typed("report", str(run), "--fail-if", "lost > 0").exit_code == 0
    assert lost_records(tables(without_time), cut_short=False) == rows


def damaged_schema(content: bytearray) -> None:
    content[content.index(b"command")] ^= 0x80  # the schema is a text no more


def damaged_rows(content: bytearray) -> None:
    content[-60] ^= 0x80  # this stream has no checksums: only its reader finds that the batch is none


COMMANDS = [
    ["report"],
    ["watch", "--once"],
    ["query", "SELECT * FROM interactions"],
    ["cost"],
    ["compare", str(CUT)],
    ["fit"],
    ["verify"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("damage", [damaged_schema, damaged_rows])
def test_a_damaged_stream_is_refused_by_each_command(
    command: list[str], damage: Callable[[bytearray], None], tmp_path: Path
) -> None:
    run = Path(shutil.copytree(CUT, tmp_path / "run"))
    stream = run / "interactions.arrows"
    content = bytearray(stream.read_bytes())
    damage(content)
    stream.write_bytes(content)
    more = ["-o", str(tmp_path / "machine.toml")] if command == ["fit"] else []
    told = typed(*command, str(run), *more)
    assert told.exit_code == (1 if command == ["verify"] else 2), told.output
    assert f"{stream}isdamaged" in "".join(told.output.split()), told.output  # a path may be broken over lines


@pytest.mark.parametrize("damage", [damaged_schema, damaged_rows])
def test_a_list_of_runs_says_which_is_damaged(
    damage: Callable[[bytearray], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path))
    run = Path(shutil.copytree(CUT, tmp_path / "run"))
    content = bytearray((run / "interactions.arrows").read_bytes())
    damage(content)
    (run / "interactions.arrows").write_bytes(content)
    told = typed("runs")
    assert told.exit_code == 0
    assert "unreadable" in told.output if damage is damaged_schema else "Damaged: a table" in told.output


@pytest.mark.long
def test_of_a_killed_run_all_commands_read_the_rows_before_the_damage(tmp_path: Path) -> None:
    killed = killed_run(tmp_path / "killed")
    stream = killed / "interactions.arrows"
    before = tables(killed)
    content = bytearray(stream.read_bytes())
    content[whole(stream)[0] - 200] ^= 0x10  # in the last whole batch
    stream.write_bytes(content)
    after = tables(killed)
    assert 0 < len(after.interactions) < len(before.interactions)
    assert after.interactions.equals(before.interactions.head(len(after.interactions)))
    assert any("a batch has changed since it was written" in reason for reason in reasons_of(after.lost))
    followed = follow(killed)
    assert followed.new_rows()["interactions"].equals(after.interactions)
    assert followed.ended
    for words in (["report"], ["watch", "--once"], ["query", "SELECT count(*) FROM interactions"], ["cost"]):
        told = typed(*words, str(killed))
        assert told.exit_code == 0, told.output
    assert typed("verify", str(killed)).exit_code == 1
