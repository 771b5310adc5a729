"""Recordings of tlog: from a file, the journal or a syslog, and what is missing in them is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.errors import Refused
from loadgo.observation.logs import tlog_messages as tlog
from support.accounting_records import EPOCH_S
from support.log_files import TerminalEvent, runs, terminal_session, written_tlog
from support.log_files import tlog_messages as messages_of

LINES = ["ls planted-secret", "cat x", "planted-secret"] * 4


@pytest.mark.parametrize("form", ["file", "journal", "journal of bytes", "syslog"])
def test_each_form_has_the_same_commands_and_times(tmp_path: Path, form: str) -> None:
    observation = loadgo.observe(written_tlog(tmp_path / "log", messages_of(terminal_session(LINES)), form))
    assert runs(observation) == {"ls": 4, "cat": 4, "other": 4}
    assert observation.think is not None
    assert observation.think.mean_ns == pytest.approx(2e9)
    assert {row.elapsed_ns for row in observation.commands} == {500_000_000}
    assert not observation.warnings
    assert not observation.notes


def test_recordings_that_are_mixed_are_read_apart(tmp_path: Path) -> None:
    first = messages_of(terminal_session(LINES), recording="a", person="anna")
    second = messages_of(terminal_session(LINES), recording="b", person="bert")
    mixed = [message for pair in zip(first, second, strict=True) for message in pair]
    observation = loadgo.observe(written_tlog(tmp_path / "log", mixed))
    assert (observation.sessions, observation.people) == (2, 2)
    assert runs(observation) == {"ls": 8, "cat": 8, "other": 8}


def test_more_recordings_than_are_open_at_once_end_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tlog, "MOST_OPEN_RECORDINGS", 2)
    mixed = [
        message
        for number in range(9)
        for message in messages_of(terminal_session(LINES), recording=f"r{number}", began_s=EPOCH_S + 9 * number)
    ]
    assert loadgo.observe(written_tlog(tmp_path / "log", mixed)).sessions == 9


def test_a_message_that_is_missing_is_a_gap(tmp_path: Path) -> None:
    messages = messages_of(terminal_session(LINES))
    del messages[3:5]
    observation = loadgo.observe(written_tlog(tmp_path / "log", messages))
    assert observation.warnings == (
        "The source lacks 2 messages within recordings; what was typed there is not known.",
    )
    assert observation.think is not None
    assert observation.think.measured < len(LINES)
    assert observation.think.mean_ns == pytest.approx(2e9)


def test_a_clock_that_is_set_leaves_the_times_as_they_were(tmp_path: Path) -> None:
    messages = messages_of(terminal_session(LINES))
    for message in messages[4:]:
        message["time"] = float(str(message["time"])) - 7200
    observation = loadgo.observe(written_tlog(tmp_path / "log", messages))
    assert observation.notes == ("1 clock step within recordings, whose times are counted without it.",)
    assert observation.think is not None
    assert observation.think.measured == len(LINES)


def test_bytes_that_are_no_text_are_taken_from_their_own_list(tmp_path: Path) -> None:
    messages = messages_of(terminal_session(["ls"] * 3), events_each=1000)
    message: dict[str, Any] = messages[0]
    message["timing"] += "+9]2/3+9>1"
    message["out_txt"] += "\ufffd\ufffd$"
    message["out_bin"] = [255, 254, 253]
    assert runs(loadgo.observe(written_tlog(tmp_path / "log", messages))) == {"ls": 3}
    message["out_bin"] = [255]
    with pytest.raises(Refused, match="byte 0: 1 of 1 lines are no messages of tlog"):
        loadgo.observe(written_tlog(tmp_path / "log", messages))


BAD_FIELDS: dict[str, object] = {
    "timing": "=80x24+5<1x", "pos": -1, "in_txt": 7, "in_bin": [300], "out_bin": {}, "rec": None, "host": [],
}  # fmt: skip


@pytest.mark.parametrize("field", BAD_FIELDS)
def test_a_message_out_of_the_grammar_is_left_out_with_its_place(tmp_path: Path, field: str) -> None:
    messages = messages_of(terminal_session(LINES))
    damaged = {**messages[2], field: BAD_FIELDS[field], "session": None}
    path = written_tlog(tmp_path / "log", [messages[0], messages[1], damaged, *messages[3:]])
    place = len(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    observation = loadgo.observe(path)
    assert observation.warnings[0] == (
        f"The source has 1 line that is no message, left out; the first is at byte {place:,}."
    )
    assert observation.warnings[1].startswith("The source lacks 1 message within")


def test_a_log_that_is_cut_is_a_loss(tmp_path: Path) -> None:
    path = written_tlog(tmp_path / "log", messages_of(terminal_session(LINES)))
    path.write_bytes(path.read_bytes()[:-30])
    assert "1 line that is no message" in loadgo.observe(path).warnings[0]


def test_a_recording_without_keys_is_refused_with_the_setting(tmp_path: Path) -> None:
    silent = [TerminalEvent(5, False, "$ ")] * 9
    with pytest.raises(Refused, match=r"these recordings have no keys.*`log.input` to true"):
        loadgo.observe(written_tlog(tmp_path / "log", messages_of(silent)))


def test_a_session_within_tmux_has_no_lines_and_says_why(tmp_path: Path) -> None:
    within = [TerminalEvent(5, False, "\x1b[?1049h$ "), *terminal_session(LINES)]
    path = written_tlog(tmp_path / "log", messages_of(within))
    with pytest.raises(Refused, match=r"no command is left of the tlog recording.*Left out: \d+ keys in full-screen"):
        loadgo.observe(path)


def test_people_are_chosen_by_name(tmp_path: Path) -> None:
    messages = messages_of(terminal_session(LINES), recording="a") + messages_of(
        terminal_session(["ls"] * 3), recording="b", person="root"
    )
    path = written_tlog(tmp_path / "log", messages)
    assert runs(loadgo.observe(path, users=["root"])) == runs(loadgo.observe(path, users=[0])) == {"ls": 3}


def test_a_word_of_another_json_does_not_make_a_history_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text(f'#{EPOCH_S}\ncurl -d \'{{"timing": "5"}}\'\n#{EPOCH_S + 9}\nls\n')
    assert loadgo.observe(path).sources[0].kind == "shell history"
