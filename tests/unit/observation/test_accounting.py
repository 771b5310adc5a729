"""Files of process accounting: both orders of bytes are read, and what cannot be read is refused with its place."""

from __future__ import annotations

import os
from pathlib import Path

import loadgo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.errors import Refused
from loadgo.observation import accounting
from loadgo.observation.accounting import counts, read_accounting
from loadgo.observation.source_files import opened_source
from support.accounting_records import MadeProcess, MadeSession, encoded, made_day, written_accounting


def read(path: Path) -> accounting.AccountingRead:
    with opened_source(path) as source:
        return read_accounting(source)


def test_records_of_both_orders_of_bytes_make_the_same_script(tmp_path: Path) -> None:
    little = loadgo.observe(written_accounting(tmp_path / "little", made_day()))
    big = loadgo.observe(written_accounting(tmp_path / "big", made_day(), ">"))
    assert little.text == big.text
    assert little.people == 4
    assert little.sessions == 24


@given(st.integers(0, 2**28))
def test_counts_are_those_that_the_kernel_encodes_to_a_part_in_2048(count: int) -> None:
    decoded = int(counts(np.array([encoded(count)], np.uint16))[0])
    assert abs(decoded - count) <= count / 2048


def test_a_process_without_a_terminal_is_counted_and_not_kept(tmp_path: Path) -> None:
    path = written_accounting(
        tmp_path / "pacct", [MadeProcess("cron", 7, 1, 9, terminal=0), MadeProcess("ls", 8, 5, 9)]
    )
    part = read(path)
    assert (part.processes, len(part.records)) == (2, 1)
    assert "1 process without a terminal" in loadgo.observe(path).report()


def test_a_record_that_is_cut_off_is_a_loss_that_is_told(tmp_path: Path) -> None:
    path = written_accounting(tmp_path / "pacct", made_day())
    path.write_bytes(path.read_bytes()[:-20])
    observation = loadgo.observe(path)
    assert observation.warnings == ("The source ends within a record: its last 44 bytes are left out.",)


def test_damaged_records_are_left_out_with_the_place_of_the_first(tmp_path: Path) -> None:
    path = written_accounting(tmp_path / "pacct", made_day())
    records = bytearray(path.read_bytes())
    records[640:704] = bytes(range(64))
    path.write_bytes(records)
    observation = loadgo.observe(path)
    assert observation.warnings == ("The source has 1 damaged record, left out; the first is at byte 640.",)
    whole = loadgo.observe(written_accounting(tmp_path / "whole", made_day()))
    assert sum(row.count for row in whole.commands) == sum(row.count for row in observation.commands) + 1


def test_a_file_with_more_damage_than_records_is_no_accounting(tmp_path: Path) -> None:
    path = written_accounting(tmp_path / "pacct", [MadeProcess("ls", 8, 5, 9)])
    path.write_bytes(path.read_bytes() + bytes(range(256)))
    with pytest.raises(Refused, match="byte 64: 4 of 5 records are damaged"):
        loadgo.observe(path)


def test_what_is_written_after_the_opening_is_not_read(tmp_path: Path) -> None:
    path = written_accounting(tmp_path / "pacct", MadeSession(1000).typed("ls").processes())
    with opened_source(path) as source:
        with path.open("ab") as file:
            file.write(MadeProcess("cat", 9, 5, 9).record() * 3)
        part = read_accounting(source)
    assert (part.processes, part.growth_bytes) == (2, 192)


@pytest.mark.parametrize("version", [1, 2, 0x81, 0x82])
def test_other_versions_are_refused_with_what_writes_version_3(tmp_path: Path, version: int) -> None:
    path = written_accounting(tmp_path / "pacct", [MadeProcess("ls", 8, 5, 9, version=version)])
    with pytest.raises(
        Refused, match=f"byte 1: these are records of version {version & 3}.*CONFIG_BSD_PROCESS_ACCT_V3"
    ):
        loadgo.observe(path)


REFUSED = {
    "empty": (b"", "is empty: is process accounting on"),
    "zeros": (bytes(640), "holds nothing but blanks"),
    "noise": (bytes([7, 9, 0, 200]) * 100, "byte 1: 9 is no version of process accounting"),
    "gzip": (b"\x1f\x8b\x08\x00" * 20, "is compressed: unpack it first .`zcat"),
    "text": (b"ls -l\ncd /home/anna/secret\n", "line 1: no line here has a time: bash keeps them with HISTTIMEFORMAT"),
    "one line": (b"#1760000000\nls\n", "1 of its lines have a time, and a pause needs two"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_holds_no_records_is_refused_with_the_remedy(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    path = tmp_path / "records"
    path.write_bytes(content)
    with pytest.raises(Refused, match=words) as refusal:
        loadgo.observe(path)
    assert "secret" not in str(refusal.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="is a pipe: records are read from a regular file"):
        loadgo.observe(tmp_path / "pipe")


@pytest.mark.parametrize(("place", "words"), [(".", "is a folder"), ("nothing", "cannot be read .No such file")])
def test_a_place_without_a_file_is_refused(tmp_path: Path, place: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        loadgo.observe(tmp_path / place)


def test_more_processes_than_memory_holds_are_refused_with_a_part_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "MOST_RECORDS", 100)
    path = written_accounting(tmp_path / "pacct", made_day())
    with pytest.raises(Refused, match="more than 100 processes with a terminal are too many at once"):
        loadgo.observe(path)


def test_random_bytes_are_read_or_refused_in_words(tmp_path: Path) -> None:
    drawn, path = np.random.default_rng(3), tmp_path / "records"
    for _ in range(200):
        content = bytearray(written_accounting(path, made_day(2)).read_bytes())
        for place in drawn.integers(0, len(content), drawn.integers(1, 400)):
            content[place] = drawn.integers(0, 256)
        path.write_bytes(content[: drawn.integers(1, len(content))])
        refusals = []
        try:
            loadgo.observe(path).report()
        except Refused as refusal:
            refusals.append(str(refusal))
        assert all(str(path) in words or "no command is left" in words for words in refusals)
