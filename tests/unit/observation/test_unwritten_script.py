"""Hours of observation outlast a full disk, a folder that vanishes, and any name of a file."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, NotWritten, Refused
from loadgo.observation.figures_file import read_figures
from loadgo.observation.live import MOST_ACCOUNTS, Watched, watch_sessions
from loadgo.observation.material import ChosenPeople, ObservedPeople
from support.accounting_records import made_day, written_accounting
from support.command_line import typed

SECOND_NS = 1_000_000_000


def typed_line(number: int) -> dict[str, object]:
    """A line of a session, as the kernel's programs have it."""
    prompt_ns = (1 + 5 * number) * SECOND_NS
    counts = ("faults_minor", "faults_major", "held_pages", "queued_ns", "read_bytes", "written_bytes")
    of_storage = ("storage_read_bytes", "storage_written_bytes", "storage_cancelled_bytes")
    return {
        "session": 0,
        "user": 1000,
        "prompt_ns": prompt_ns,
        "first_key_ns": prompt_ns + SECOND_NS,
        "typed_ns": prompt_ns + 2 * SECOND_NS,
        "ended_ns": prompt_ns + 3 * SECOND_NS,
        "name": b"make",
        "has_shell_within": False,
        "has_storage_counts": True,
        "cpu_ns": SECOND_NS // 2,
        "user_ticks_ns": 1,
        "system_ticks_ns": 1,
        "processes": 3,
        "terminal_waits": 0,
        **dict.fromkeys(counts, 10),
        **dict.fromkeys(of_storage, 4096),
    }


@pytest.fixture
def watching(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[], object]], None]:
    """A function that replaces the kernel's programs by six lines, and does something else meanwhile.

    Temporary files are in the test's folder.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def watch(meanwhile: Callable[[], object]) -> None:
        def watched(*_: object) -> Watched:
            meanwhile()
            return Watched([typed_line(number) for number in range(6)], 0, 30.0, False, 0, 0, ())

        monkeypatch.setattr("loadgo.observation.observe.watch_sessions", watched)

    return watch


def test_a_live_script_whose_folder_vanished_goes_to_the_standard_output(
    tmp_path: Path, watching: Callable[[Callable[[], object]], None]
) -> None:
    (tmp_path / "place").mkdir()
    watching((tmp_path / "place").rmdir)
    told = typed(tmp_path, "observe", "--for", "1h", "-o", "place/monday.toml", status=2)
    script = tomllib.loads(told.stdout)
    assert [line["as"] for line in script["lines"][0]["choose"]] == ["make"]
    assert "the script is on the standard output instead" in told.stderr
    errors = " ".join(told.stderr.split())
    assert "place/monday.toml cannot be written (No such file or directory)" in errors
    (figures,) = tmp_path.glob("loadgo-*.monday.figures.parquet")
    assert f"the figures are in {figures} instead" in errors
    assert len(read_figures(figures).rows) == 6


def test_the_error_of_a_script_that_cannot_be_written_has_its_text(
    tmp_path: Path, watching: Callable[[Callable[[], object]], None]
) -> None:
    (tmp_path / "place").mkdir()
    watching((tmp_path / "place").rmdir)
    with pytest.raises(NotWritten) as caught:
        loadgo.observe(duration="1h", output=tmp_path / "place" / "monday.toml")
    assert tomllib.loads(caught.value.text)["name"] == "monday"


def test_a_script_whose_name_was_taken_by_a_folder_is_kept_beside_it(
    tmp_path: Path, watching: Callable[[Callable[[], object]], None]
) -> None:
    watching((tmp_path / "monday.toml").mkdir)
    with pytest.raises(Refused, match=r"monday\.toml cannot be written .*; the script is kept in ") as caught:
        loadgo.observe(duration="1h", output=tmp_path / "monday.toml", force=True)
    kept = Path(str(caught.value).partition(" is kept in ")[2])
    assert tomllib.loads(kept.read_text(encoding="utf-8"))["name"] == "monday"


@pytest.mark.parametrize(("file_name", "name"), [
    (b"a\nb\x1b{{user}}.toml", "a b {{user}}"),
    (b"caf\xff-noon.toml", "caf  noon"),
    (b"\xff.toml", "observed"),
])  # fmt: skip
def test_any_name_of_a_file_will_do(tmp_path: Path, file_name: bytes, name: str) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    output = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + file_name))
    observation = loadgo.observe(records, output=output)
    assert tomllib.loads(output.read_text(encoding="utf-8"))["name"] == name
    for form in ("text", "json", "html", "csv", "md"):
        assert observation.report(form).encode()


def test_a_report_that_cannot_be_written_hides_neither_the_script_nor_a_loss(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    records.write_bytes(records.read_bytes()[:-1])
    told = typed(tmp_path, "observe", "--from", records, "-o", "monday.toml", "--report", "/dev/full", status=2)
    assert "the script is in monday.toml" in told.stderr
    assert "ends within a record" in told.stderr
    assert "/dev/full: No space left on device" in told.stderr


@pytest.mark.parametrize("option", ["--users", "--without-users"])
@pytest.mark.parametrize("people", ["", " , "])
def test_an_empty_list_of_people_is_not_everybody(tmp_path: Path, option: str, people: str) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    told = typed(tmp_path, "observe", "--from", records, option, people, status=2)
    assert f"{option} names nobody" in told.stderr
    assert not (tmp_path / "observed.toml").exists()


@pytest.mark.parametrize("number", [-1, 2**32 - 1, 10**30, str(2**32)])
def test_a_number_that_no_account_has_is_a_bad_argument(number: int | str) -> None:
    with pytest.raises(BadArgument, match="is no number of an account"):
        ChosenPeople((), (number,)).by_number()


def test_more_people_than_the_kernel_can_tell_apart_are_a_bad_argument() -> None:
    with pytest.raises(BadArgument, match="4,097 people, and a live observation takes 4,096"):
        watch_sessions(1.0, ObservedPeople(wanted=frozenset(range(MOST_ACCOUNTS + 1))))
