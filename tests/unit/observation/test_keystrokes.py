"""Keystrokes: lines at a shell's prompt are commands with think, typing and elapsed times, and other keys are not."""

from __future__ import annotations

import pytest
from loadgo.errors import Refused
from loadgo.observation import command_limit
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.keystrokes import KeystrokeReader
from loadgo.observation.program_names import typed_name
from support.log_files import KEY_MS, PROMPT, TerminalEvent, terminal_session, typed_line

KNOWN = frozenset({"ls", "git", "cat", "psql"})


def read(events: list[TerminalEvent]) -> KeystrokeReader:
    reader = KeystrokeReader(CommandLimit("log"), lambda line: typed_name(line, KNOWN))
    at_ns = 0
    for event in events:
        at_ns += event.delay_ms * 1_000_000
        (reader.input if event.is_input else reader.output)(at_ns, event.text.encode())
    reader.end(at_ns)
    return reader


def said(text: str, delay_ms: int = 0) -> TerminalEvent:
    return TerminalEvent(delay_ms, False, text)


def pressed(text: str, delay_ms: int = 0) -> TerminalEvent:
    return TerminalEvent(delay_ms, True, text)


def names(reader: KeystrokeReader) -> list[str]:
    return [command.name for command in reader.commands]


def test_a_line_has_its_think_typing_and_elapsed_time() -> None:
    reader = read(terminal_session(["ls -l", "cat x"]))
    assert names(reader) == ["ls", "cat"]
    assert [command.elapsed_ns for command in reader.commands] == [500_000_000, 500_000_000]
    assert reader.think_ns == [2_000_000_000, 2_000_000_000]
    assert (reader.typing.lines, reader.typing.keys) == (2, 12)
    assert reader.typing.span_ns == 2 * 5 * KEY_MS * 1_000_000


def test_an_erased_key_is_no_part_of_the_name_and_an_interrupted_line_is_none() -> None:
    assert names(read([said(PROMPT), *typed_line("lsx\x7f -l")])) == ["ls"]
    assert names(read([said(PROMPT), pressed("l"), said("l"), pressed("\x03"), said("^C\r\n" + PROMPT)])) == []


def test_a_line_that_is_completed_or_recalled_by_a_key_has_no_name() -> None:
    assert names(read([said(PROMPT), *typed_line("gi\t")])) == ["other"]
    assert names(
        read([said(PROMPT), pressed("\x1b[A", 9), said("ls"), pressed("\r", 9), said("\r\n" + PROMPT, 9)])
    ) == ["other"]


def test_a_line_that_the_terminal_did_not_echo_has_no_name() -> None:
    assert names(read([said(PROMPT), *typed_line("ls", is_echoed=False)])) == ["other"]


def test_a_pasted_line_has_the_name_that_its_echo_shows_later() -> None:
    pasted = [said(PROMPT), pressed("ls -l\r", 50), said("ls -l\r\n", 1), said("x\r\n" + PROMPT, 9)]
    assert names(read(pasted)) == ["ls"]


@pytest.mark.parametrize("prompt", [">>> ", "postgres=# ", "mysql> ", "Password: ", "(gdb) ", "In [1]: "])
def test_lines_to_a_program_are_a_part_of_its_command(prompt: str) -> None:
    within = [said(prompt, 10), pressed("ls\r", 700), said("ls\r\n", 1)]
    reader = read([said(PROMPT), *typed_line("psql")[:-1], *within, said(PROMPT, 100), *typed_line("ls")])
    assert names(reader) == ["psql", "ls"]
    assert reader.commands[0].elapsed_ns == 811_000_000
    assert reader.program_lines == 1


def test_keys_in_a_full_screen_program_are_no_lines() -> None:
    editor = [said("\x1b[?10"), said("49h~\r\n$ "), pressed("ls\r", 900), said("$ "), said("\x1b[?1049l\r\n", 10)]
    reader = read([said(PROMPT), *typed_line("cat x")[:-1], *editor, said(PROMPT, 5), *typed_line("ls")])
    assert names(reader) == ["cat", "ls"]
    assert reader.program_lines == 0
    assert reader.screen_keys == 3


def test_what_a_terminal_answers_by_itself_is_no_key() -> None:
    reader = read([said(PROMPT), pressed("\x1b[24;80R\x1b[?62;c\x1b[I"), *typed_line("ls")])
    assert reader.think_ns == [2_000_000_000]
    assert names(reader) == ["ls"]


def test_a_line_begun_before_the_prompt_is_counted_and_no_command() -> None:
    early = [pressed("c", 10), said("\r\n" + PROMPT + "c", 900), pressed("at\r", 10), said("at\r\n" + PROMPT, 10)]
    reader = read([said(PROMPT), *typed_line("ls")[:-2], *early, *typed_line("ls")])
    assert reader.early_lines == 1
    assert names(reader) == ["ls", "ls"]


def test_an_empty_line_and_an_absence_are_no_think_times() -> None:
    reader = read([said(PROMPT), pressed("\r", 9), said("\r\n" + PROMPT, 9), *typed_line("ls", think_ms=400_000)])
    assert (names(reader), reader.think_ns, reader.absences) == (["ls"], [], 1)


def test_a_gap_ends_a_command_without_a_length_and_measures_no_pause() -> None:
    reader = KeystrokeReader(CommandLimit("log"), lambda line: typed_name(line, KNOWN))
    reader.output(0, PROMPT.encode())
    reader.input(10, b"ls\r")
    reader.output(11, b"ls\r\n")
    reader.gap()
    reader.input(10**9, b"cat\r")
    assert [(command.name, command.elapsed_ns) for command in reader.commands] == [("ls", None)]
    assert reader.think_ns == [10]


def test_more_commands_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_limit, "MOST_LOGGED_COMMANDS", 3)
    with pytest.raises(Refused, match="log: more than 3 commands are too many at once"):
        read(terminal_session(["ls"] * 4))


def test_what_is_kept_of_endless_output_and_lines_is_bounded() -> None:
    reader = KeystrokeReader(CommandLimit("log"), lambda line: typed_name(line, KNOWN))
    reader.output(0, PROMPT.encode())
    for number in range(200):
        reader.input(number, b"x" * 60_000)
        reader.output(number, b"x" * 60_000)
    assert reader._line is not None
    assert len(reader._line.typed) + len(reader._line.echo) + len(reader._tail) < 20_000
