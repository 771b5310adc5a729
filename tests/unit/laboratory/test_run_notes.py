"""Tags and notes: kept whole, never written over unseen, and safe from hostile files."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loadgo.errors import BadArgument, error_in_words
from loadgo.laboratory import run_notes
from loadgo.laboratory.lab_view import LaboratoryView
from loadgo.laboratory.run_index import open_index
from loadgo.laboratory.run_notes import (
    MOST_NOTES_BYTES,
    NOTES_FILE,
    ChangedMeanwhile,
    RunNotes,
    read_notes,
    write_notes,
)
from support.made_laboratory import made_runs
from support.outside import PATIENCE_S
from support.run_lock import lock_held

_WRITER = """
import sys
from pathlib import Path
from loadgo.laboratory.run_notes import ChangedMeanwhile, write_notes
folder, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
for line in sys.stdin:
    try:
        write_notes(folder, {"tags": [], "note": name + line, "mark": line.strip()})
        print("written", flush=True)
    except ChangedMeanwhile:
        print("changed", flush=True)
"""
"""Writes a note with the mark in each line of its input, and answers whether it was written."""


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


@pytest.mark.parametrize("laboratories", [1, 2])
def test_of_threads_with_the_same_mark_only_one_writes(tmp_path: Path, laboratories: int) -> None:
    made_runs(tmp_path / "runs", [1.0])
    views = [LaboratoryView(open_index(tmp_path / "runs")) for _ in range(laboratories)]
    for turn in range(20):
        mark, barrier, ends = views[0].notes("0000").mark, threading.Barrier(4), list[str]()
        threads = [
            threading.Thread(
                target=_write, args=(views[number % laboratories], f"{turn}-{number}", mark, barrier, ends)
            )
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert sorted(ends)[:3] == ["changed"] * 3
        assert views[0].notes("0000").text == sorted(ends)[3].removeprefix("written ")
    assert not [name for name in os.listdir(tmp_path / "runs" / "0000") if name.startswith(".")]


def _write(view: LaboratoryView, text: str, mark: str, barrier: threading.Barrier, ends: list[str]) -> None:
    barrier.wait()
    try:
        view.write_notes("0000", {"tags": [], "note": text, "mark": mark})
        ends.append(f"written {text}")
    except ChangedMeanwhile:
        ends.append("changed")


def test_of_two_processes_with_the_same_mark_only_one_writes(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        for name in ("a", "b")
    ]
    try:
        pipes = [(writer.stdin, writer.stdout) for writer in writers if writer.stdin and writer.stdout]
        assert [answers.readline() for _, answers in pipes] == ["ready\n"] * 2
        for _ in range(50):
            mark = read_notes(tmp_path).mark
            for marks, _ in pipes:
                marks.write(f"{mark}\n")
            assert sorted(answers.readline() for _, answers in pipes) == ["changed\n", "written\n"]
    finally:
        for writer in writers:
            writer.communicate(timeout=PATIENCE_S)


def test_a_folder_that_stays_locked_is_said_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_notes, "_LOCK_PATIENCE_S", 0.05)
    (run := tmp_path / "run").mkdir()
    with lock_held(tmp_path), pytest.raises(BadArgument, match="locked"):
        write_notes(run, {"tags": [], "note": "mine"})
    assert os.listdir(run) == []


def test_a_run_that_is_being_written_can_have_notes(tmp_path: Path) -> None:
    with lock_held(tmp_path):
        assert write_notes(tmp_path, {"tags": [], "note": "going on"}) == read_notes(tmp_path)


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


def test_a_folder_in_the_place_of_the_notes_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / NOTES_FILE).mkdir()
    before = len(os.listdir("/proc/self/fd"))
    assert read_notes(tmp_path).damage == "notes.json cannot be read: Is a directory"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_refusal_of_the_system_names_the_notes_and_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, content: bytes, mode: int) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{path}-temporary")

    monkeypatch.setattr(run_notes, "write_whole", refused)
    with pytest.raises(PermissionError) as error:
        write_notes(tmp_path, {"tags": [], "note": "mine"})
    assert error_in_words(error.value) == f"{tmp_path / NOTES_FILE}: Permission denied"
