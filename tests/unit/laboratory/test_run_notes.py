"""Tags and notes: kept whole, never written over unseen, and safe from hostile files."""

import os
from pathlib import Path

import pytest
from loadgo.errors import BadArgument
from loadgo.laboratory.run_notes import (
    MOST_NOTES_BYTES,
    NOTES_FILE,
    ChangedMeanwhile,
    RunNotes,
    read_notes,
    write_notes,
)


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    text = 'new kernel\n"quoted" <b>bold</b> é 日本\u202e'
    written = write_notes(tmp_path, {"tags": [" a  b ", "c", "c", " "], "note": text})
    assert read_notes(tmp_path) == written == RunNotes(("a b", "c"), text, written.mark)
    assert os.listdir(tmp_path) == [NOTES_FILE]
    assert read_notes(tmp_path / "none") == RunNotes()


def test_two_laboratories_at_once_do_not_write_over_each_other(tmp_path: Path) -> None:
    first = write_notes(tmp_path, {"tags": [], "note": "one"})
    seen_by_both = read_notes(tmp_path).mark
    second = write_notes(tmp_path, {"tags": [], "note": "two", "mark": seen_by_both})
    with pytest.raises(ChangedMeanwhile):
        write_notes(tmp_path, {"tags": [], "note": "three", "mark": seen_by_both})
    with pytest.raises(ChangedMeanwhile):
        write_notes(tmp_path, {"tags": [], "note": "three"})
    assert read_notes(tmp_path) == second != first


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"tags": "a", "note": ""},
        {"tags": [1], "note": ""},
        {"tags": [], "note": None},
        {"tags": ["x" * 41], "note": ""},
        {"tags": [str(number) for number in range(21)], "note": ""},
        {"tags": [], "note": "x" * MOST_NOTES_BYTES},
        {"tags": [], "note": "\ud800"},
    ],
)
def test_what_is_no_note_is_refused_and_nothing_is_written(tmp_path: Path, given: dict[str, object]) -> None:
    with pytest.raises(BadArgument):
        write_notes(tmp_path, given)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"tags": 3, "note": ""}', b"\xff", b"[" * 60_000])
def test_a_damaged_file_is_named_and_not_written_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NOTES_FILE).write_bytes(content)
    assert "cannot be read" in read_notes(tmp_path).damage
    with pytest.raises(BadArgument, match="cannot be read"):
        write_notes(tmp_path, {"tags": [], "note": "mine"})
    assert (tmp_path / NOTES_FILE).read_bytes() == content


def test_a_huge_file_and_a_pipe_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / NOTES_FILE).open("wb") as file:
        file.truncate(50_000_000_000)
    assert "50,000,000,000 bytes" in read_notes(tmp_path).damage
    (tmp_path / NOTES_FILE).unlink()
    os.mkfifo(tmp_path / NOTES_FILE)
    assert "no regular file" in read_notes(tmp_path).damage


def test_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text('{"tags": [], "note": "secret"}')
    (tmp_path / NOTES_FILE).symlink_to(target)
    assert read_notes(tmp_path) == RunNotes(damage="notes.json is a link: it is not followed")
    with pytest.raises(BadArgument):
        write_notes(tmp_path, {"tags": [], "note": "mine"})
    assert "secret" in target.read_text()
