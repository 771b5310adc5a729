"""Histories: pauses of bash are an upper bound, zsh has think times, and names are those of known programs alone."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, Refused
from loadgo.observation import command_limit
from loadgo.observation.history import HistoryLine, pauses, sittings
from loadgo.observation.program_names import typed_name
from support.accounting_records import EPOCH_S, made_day, written_accounting, written_history

KNOWN = frozenset({"ls", "g++", "cd", "["})


def test_a_pause_of_bash_has_the_response_and_one_of_zsh_has_not(tmp_path: Path) -> None:
    bash = loadgo.observe(written_history(tmp_path / "bash"))
    zsh = loadgo.observe(written_history(tmp_path / "zsh", kind="zsh"))
    assert bash.think is not None
    assert zsh.think is not None
    assert bash.think.is_upper_bound
    assert not zsh.think.is_upper_bound
    assert bash.think.measured == zsh.think.measured == 39
    assert bash.think.mean_ns == pytest.approx(zsh.think.mean_ns + 2e9)
    assert "think times include the response times, so they are too long" in " ".join(bash.report().split())


def test_a_history_has_names_and_pauses_and_says_that_it_has_no_processor_times(tmp_path: Path) -> None:
    observation = loadgo.observe(written_history(tmp_path / "history"))
    (row,) = observation.commands
    assert (row.command, row.count, row.cpu_ns, row.elapsed_ns) == ("ls", 40, None, None)
    assert "# processor time not known" in observation.text
    assert "# - processor time: NOT KNOWN; process accounting has it" in observation.text


def test_lengths_that_are_all_zero_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(f": {EPOCH_S}:0;ls\n: {EPOCH_S + 5}:0;ls\n", encoding="utf-8")
    observation = loadgo.observe(path)
    assert observation.commands[0].elapsed_ns is None
    assert observation.think is not None
    assert observation.think.is_upper_bound


def test_absences_and_clocks_that_go_back_are_no_think_times() -> None:
    lines = tuple(HistoryLine(began_s, None, "ls") for began_s in (100, 110, 1000, 1004, 50))
    found = pauses(lines)
    assert (found.seconds, found.absences, found.backwards) == ((10, 4), 1, 1)
    assert [len(part) for part in sittings(lines)] == [2, 2, 1]


def test_a_history_whose_newest_line_stands_first_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f"#{EPOCH_S - 10 * at}\nls\n" for at in range(20)), encoding="utf-8")
    with pytest.raises(Refused, match="time goes back at 19 of 19 lines: give the lines in the order"):
        loadgo.observe(path)


def test_a_line_whose_time_is_yet_to_come_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written_history(tmp_path / "history", 5)
    before = loadgo.observe(path)
    path.write_text(path.read_text() + "#17936102155\nls\n", encoding="utf-8")
    observation = loadgo.observe(path)
    assert observation.span_s == before.span_s
    assert observation.sources[0].left_out == 1
    assert "1 line with a time that is yet to come" in " ".join(observation.report().split())


def test_records_that_are_given_twice_are_refused(tmp_path: Path) -> None:
    path = written_history(tmp_path / "history", 5)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(BadArgument, match="history is given twice: its commands would count twice"):
        loadgo.observe(path, tmp_path / "link")


def test_lines_without_a_time_are_counted(tmp_path: Path) -> None:
    path = written_history(tmp_path / "history", 5)
    path.write_text("old line\n" * 3 + path.read_text(), encoding="utf-8")
    observation = loadgo.observe(path)
    assert observation.sources[0].left_out == 3
    assert "3 lines without a time" in observation.report()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"ls -l", "ls"),
        (b"  /usr/bin/ls x", "ls"),
        (b"LANG=C A+=b g++ x.cc", "g++"),
        (b"[ -f x ]", "["),
        (b"hunter2", "other"),
        (b"./thesis-of-anna", "other"),
        (b"'ls'", "other"),
        (b"A=b", "other"),
        (b"\xff\xfe\x00", "other"),
        (b"l" * 5000, "other"),
        (b"", "other"),
    ],
)
def test_only_names_of_known_programs_are_kept(line: bytes, name: str) -> None:
    assert typed_name(line, KNOWN) == name


def test_accounting_takes_its_think_times_from_a_history(tmp_path: Path) -> None:
    records, history = written_accounting(tmp_path / "pacct", made_day()), written_history(tmp_path / "history")
    alone, both = loadgo.observe(records), loadgo.observe(records, think_from=history)
    assert "\nthink " not in alone.text
    assert "# think: not known, so that nobody thinks." in alone.text
    assert both.think is not None
    assert f'think   = "{both.think.law}"' in both.text
    assert [(row.command, row.count) for row in both.commands] == [(row.command, row.count) for row in alone.commands]


def test_more_lines_than_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_limit, "MOST_LOGGED_COMMANDS", 30)
    with pytest.raises(Refused, match="more than 30 commands are too many at once: give a part of the log"):
        loadgo.observe(written_history(tmp_path / "history"))


def test_sources_of_the_wrong_kind_are_refused(tmp_path: Path) -> None:
    records, history = written_accounting(tmp_path / "pacct", made_day()), written_history(tmp_path / "history")
    with pytest.raises(BadArgument, match="give the history as `think_from`"):
        loadgo.observe(records, history)
    with pytest.raises(BadArgument, match="has no think times"):
        loadgo.observe(records, think_from=records)
    with pytest.raises(BadArgument, match="neither records nor a time are given"):
        loadgo.observe()
    with pytest.raises(BadArgument, match="a history has no names of users"):
        loadgo.observe(history, users=["root"])
