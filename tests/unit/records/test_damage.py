"""Damage to the tables of a run: a bit that changes in any of them is seen, and told in words."""

import random
import shutil
import tomllib
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun
from loadgo.records.following import follow
from loadgo.records.tables import tables
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
    said = rf"queue.parquet is damaged: it has {len(content) - 1:,} bytes.* or remove it: the rest of the run is read"
    for read in (lambda: tables(cut), lambda: follow(cut).new_rows()):
        with pytest.raises(BadRun, match=said):
            read()
    (cut / "queue.parquet").unlink()
    assert tables(cut).queue.is_empty()


def test_a_stream_whose_tail_is_zeros_loses_rows_and_says_so(tmp_path: Path) -> None:
    run = Path(shutil.copytree(CUT, tmp_path / "run"))
    before = tables(run)
    stream = run / "interactions.arrows"
    stream.write_bytes(stream.read_bytes() + bytes(4096))
    after = tables(run)
    assert after.interactions.equals(before.interactions)
    reasons = after.lost["reason"].cast(str).to_list()
    assert any("interactions ends in a batch that is not whole" in reason for reason in reasons)


@pytest.mark.parametrize("command", [["report"], ["watch", "--once"], ["query", "SELECT * FROM interactions"]])
def test_a_damaged_stream_is_told_in_words_by_each_command(command: list[str], tmp_path: Path) -> None:
    run = Path(shutil.copytree(CUT, tmp_path / "run"))
    stream = run / "interactions.arrows"
    content = bytearray(stream.read_bytes())
    content[content.index(b"command")] ^= 0x80  # the schema is a text no more
    stream.write_bytes(content)
    told = CliRunner().invoke(app, [*command, str(run)])
    assert isinstance(told.exception, SystemExit | None), told.output
    assert "interactions.arrows is damaged" in told.output or "records are lost" in told.output
