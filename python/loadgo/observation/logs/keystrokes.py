"""From the keys and the output of a terminal to commands: think, typing and elapsed times of each line at a prompt.

A line begins with its first key and ends with Enter. It is a command if the shell's prompt stood before the key. The
last output before the key ended the response to the line before, and the think time runs from there. A prompt is known
by its last sign, which the first prompt of the session shows. Keys in a full-screen program are no lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.log_read import (
    ABSENCE_NS,
    LoggedCommand,
    LoggedSession,
    MeasuredPauses,
    MeasuredTyping,
    counted_note,
)
from loadgo.observation.program_names import OTHER_NAME

_MOST_KEPT_BYTES = 4096
"""Bytes of a line and of its echo that are looked at for the name of a program."""
_TAIL_BYTES = 1024
"""Bytes of output in which a prompt is looked for."""
_FULL_SCREEN = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")
_ESCAPE_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,1024}(?:\x07|\x1b\\)"
    rb"|P[^\x1b]{0,1024}\x1b\\|[ -/]{0,4}[0-OQ-Z\\^-~])"
)
_TERMINAL_ANSWER = re.compile(
    rb"\x1b\[[?>=]?[0-9;]{0,32}[Rcnuty]|\x1b\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|\x1bP[^\x1b]{0,256}\x1b\\|\x1b\[[IO]"
)
"""Bytes that a terminal sends by itself: a cursor's place, its kind, a colour, a change of focus."""
_PASTE_MARK = re.compile(rb"\x1b\[20[01]~")
_PROGRAM_PROMPT = re.compile(r"(?:>>>|\.\.\.|[=\-(*'\"]>|[=\-(*'\"]#|\(gdb\)|In \[\d+\]:)\Z")
"""Prompts of programs whose last sign is that of a shell: Python, psql, gdb, IPython."""
_ENTER_BYTES, _ENDING_BYTES = frozenset(b"\r\n"), frozenset(b"\x03\x04")
_ERASE_BYTES, _ERASE_LINE_BYTES = frozenset(b"\x7f\x08"), frozenset(b"\x15")
_PRINTED_BYTES = frozenset(range(0x20, 0x7F)) | frozenset(range(0x80, 0x100))

NameOfLine = Callable[[bytes], str]
"""A function from a line, as it was typed, to the name of a program that is kept."""


@dataclass
class _Line:
    """The line that is being typed."""

    began_ns: int
    think_ns: int | None
    is_command: bool
    typed: bytearray = field(default_factory=bytearray)
    echo: bytearray = field(default_factory=bytearray)
    keys: int = 0
    is_edited: bool = False
    """Whether a key completed or recalled it, so that what was typed is not what ran."""
    sent_ns: int = 0
    is_echoed: bool = False
    """Whether its whole echo has come, which ends with the line."""

    def hear(self, content: bytes) -> None:
        """Keeps `content` as far as it may be the echo of the line."""
        if self.is_echoed or len(self.echo) >= _MOST_KEPT_BYTES:
            return
        content = content[:_MOST_KEPT_BYTES]
        if self.sent_ns:
            content, line_end, _ = content.partition(b"\n")
            self.is_echoed = bool(line_end)
        self.echo += content


@dataclass
class KeystrokeReader:
    """Reads one terminal's keys and output in the order of their times, which count from the session's beginning."""

    limit: CommandLimit
    name_of_line: NameOfLine | str
    """The function to a line's name, or the name of all lines, which are not looked at then."""
    commands: list[LoggedCommand] = field(default_factory=list)
    think_ns: list[int] = field(default_factory=list)
    absences: int = 0
    typing: MeasuredTyping = field(default_factory=MeasuredTyping)
    program_lines: int = 0
    """Lines typed to a program, not to the shell."""
    early_lines: int = 0
    """Lines typed before the prompt had come."""
    keys: int = 0
    screen_keys: int = 0
    """Keys that were pressed in full-screen programs."""
    _line: _Line | None = None
    _pending: _Line | None = None
    """The line of the command that runs."""
    _output_ns: int | None = None
    """The time of the last output since the last line was sent."""
    _tail: bytes = b""
    _screen_mark: bytes = b""
    _is_full_screen: bool = False
    _sign: str | None = None
    """The last sign of the shell's prompt."""

    def output(self, at_ns: int, content: bytes) -> None:
        """Reads output that came at `at_ns`."""
        self._output_ns = at_ns
        seen = self._screen_mark + content
        for change in _FULL_SCREEN.finditer(seen):
            self._is_full_screen = change[1] == b"h"
        self._screen_mark = seen[-8:]
        self._tail = (self._tail + content[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        for line in (self._pending, self._line):
            if line is not None:
                line.hear(content)

    def input(self, at_ns: int, content: bytes) -> None:
        """Reads keys that were pressed at `at_ns`."""
        pressed = _PASTE_MARK.sub(b"", _TERMINAL_ANSWER.sub(b"", content))
        self.keys += len(pressed)
        if self._is_full_screen:
            self.screen_keys += len(pressed)
            return
        for key in pressed:
            self._press(at_ns, key)

    def gap(self) -> None:
        """Forgets what is not finished, since records are missing here."""
        if self._pending is not None:
            self._finish(None)
        self._line, self._output_ns, self._tail = None, None, b""

    def end(self, at_ns: int) -> None:
        """Ends the session."""
        if self._pending is not None:
            self._finish(at_ns)

    def _press(self, at_ns: int, key: int) -> None:
        if key in _ENDING_BYTES:
            self._line = None
            return
        line = self._line = self._line or self._begun(at_ns)
        line.keys += 1
        if key in _ENTER_BYTES:
            self._send(line, at_ns)
        elif key in _ERASE_BYTES:
            del line.typed[-1:]
        elif key in _ERASE_LINE_BYTES:
            line.typed.clear()
        elif key in _PRINTED_BYTES:
            if len(line.typed) < _MOST_KEPT_BYTES:
                line.typed.append(key)
        else:
            line.is_edited = True

    def _begun(self, at_ns: int) -> _Line:
        """The line that begins with a key at `at_ns`."""
        ready_ns = self._output_ns
        is_at_prompt = ready_ns is not None and self._is_prompt()
        if ready_ns is None and self._pending is not None:
            self.early_lines += 1
        if is_at_prompt and self._pending is not None:
            self._finish(ready_ns)
        return _Line(at_ns, None if ready_ns is None else at_ns - ready_ns, is_at_prompt)

    def _send(self, line: _Line, at_ns: int) -> None:
        self._line = None
        if not line.is_command:
            self.program_lines += 1
            return
        self._output_ns, self._tail = None, b""
        if line.keys == 1:
            return
        self.limit.count()
        line.sent_ns, self._pending = at_ns, line
        span_ns = at_ns - line.began_ns
        if line.think_ns is not None and line.think_ns > ABSENCE_NS:
            self.absences += 1
        elif line.think_ns is not None:
            self.think_ns.append(line.think_ns)
        if span_ns <= ABSENCE_NS:
            self.typing += MeasuredTyping(1, line.keys, span_ns)

    def _name(self, line: _Line) -> str:
        """The name of the line's program. What the terminal did not echo may be a secret, and is not looked at."""
        if isinstance(self.name_of_line, str):
            return self.name_of_line
        word = bytes(line.typed).split(maxsplit=1)[:1]
        if line.is_edited or not word or word[0] not in _ESCAPE_SEQUENCE.sub(b"", bytes(line.echo)):
            return OTHER_NAME
        return self.name_of_line(bytes(line.typed))

    def _finish(self, ended_ns: int | None) -> None:
        assert self._pending is not None
        line, self._pending = self._pending, None
        elapsed_ns = None if ended_ns is None else max(ended_ns - line.sent_ns, 0)
        is_pause = line.think_ns is not None and line.think_ns <= ABSENCE_NS
        think_ns = line.think_ns if is_pause else None
        self.commands.append(LoggedCommand(self._name(line), line.sent_ns, elapsed_ns, think_ns))

    def _is_prompt(self) -> bool:
        """Whether the last output is the shell's prompt."""
        visible = _ESCAPE_SEQUENCE.sub(b"", self._tail).decode("utf-8", "replace")
        last_line = re.split(r"[\r\n]", visible)[-1].rstrip()
        if not last_line or _PROGRAM_PROMPT.search(last_line):
            return False
        self._sign = self._sign or (None if last_line[-1].isalnum() else last_line[-1])
        return last_line[-1] in ("$", "#", self._sign)


@dataclass
class KeystrokeTotals:
    """The sums over the sessions of a log, whose keys and output readers have read."""

    limit: CommandLimit
    sessions: list[LoggedSession] = field(default_factory=list)
    think_ns: list[int] = field(default_factory=list)
    absences: int = 0
    typing: MeasuredTyping = field(default_factory=MeasuredTyping)
    keys: int = 0
    program_lines: int = 0
    early_lines: int = 0
    screen_keys: int = 0

    def add(self, reader: KeystrokeReader, person: str, began_ns: int, length_ns: int) -> None:
        """Adds a session of so many nanoseconds that `reader` has read to its end."""
        commands = tuple(replace(command, began_ns=began_ns + command.began_ns) for command in reader.commands)
        self.add_commands(commands, person, began_ns, length_ns)
        self.think_ns += reader.think_ns
        self.absences += reader.absences
        self.typing += reader.typing
        self.keys += reader.keys
        self.program_lines += reader.program_lines
        self.early_lines += reader.early_lines
        self.screen_keys += reader.screen_keys

    def add_commands(self, commands: tuple[LoggedCommand, ...], person: str, began_ns: int, length_ns: int) -> None:
        """Adds a session, if it has commands."""
        if commands:
            self.sessions.append(LoggedSession(person, began_ns, began_ns + length_ns, commands))

    def in_order(self) -> tuple[LoggedSession, ...]:
        """The sessions in the order of their beginnings."""
        return tuple(sorted(self.sessions, key=lambda session: session.began_ns))

    def pauses(self) -> MeasuredPauses:
        """The think times of all sessions."""
        return MeasuredPauses(tuple(self.think_ns), self.absences)

    def notes(self) -> tuple[str, ...]:
        """Sentences on the lines that are no commands."""
        to_programs = max(self.program_lines - self.early_lines, 0)
        return (
            *counted_note(
                to_programs, "line", "lines", "typed to programs, which are a part of the program's own command"
            ),
            *counted_note(
                self.early_lines, "line", "lines", "begun before the prompt had come, a part of the command before"
            ),
            *counted_note(
                self.screen_keys, "key", "keys", "in full-screen programs (editors, tmux), which are no lines"
            ),
        )
