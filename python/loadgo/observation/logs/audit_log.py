"""Reads the log of auditd: programs that began at a terminal become commands of the session's shell.

A system call that starts a program has a record SYSCALL and, with the same number, a record EXECVE. The first has the
session, the terminal, the process and its parent; the second has the arguments, and only its head is looked at. A
command is a program whose parent is the session's shell. What a command itself starts is a part of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from loadgo.errors import Refused
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.audit_terminals import AuditTerminal, StartedProgram
from loadgo.observation.logs.byte_lines import DamagedLines, byte_lines
from loadgo.observation.logs.log_read import (
    LoggedSession,
    LogRead,
    MeasuredPauses,
    MeasuredTyping,
    counted_note,
)
from loadgo.observation.source_files import SourceFile

MOST_OPEN_TERMINALS = 2000
"""Terminals that are followed side by side. Of more, the session that was silent longest is ended."""
_MOST_LINE_BYTES = 65536
_MOST_WAITING_CALLS = 256
"""System calls whose EXECVE record may still come: records of several processors are mixed."""
_MOST_PROGRAM_BYTES = 256
_RECORD_HEAD = re.compile(rb"(?:node=(\S{1,255}) )?type=([A-Z0-9_]{1,40}) msg=audit\((\d{1,11})\.(\d{3}):(\d{1,20})\):")
_BEGINNINGS = (b"SYSTEM_BOOT", b"DAEMON_START")
"""Records after which numbers of sessions and processes may be used again."""
_PASSED_RECORDS = tuple(f"type={kind} msg=audit(".encode() for kind in ("PATH", "CWD", "PROCTITLE", "EOE"))
"""The beginnings of the most frequent records that have nothing to read."""
_ENRICHED_MARK = b"\x1d"
"""Behind it stand names of accounts, in the format ENRICHED."""
_UNSET_NUMBER = "4294967295"
_NO_TERMINAL = b"(none)"
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2})+\Z")
_ACCOUNT = re.compile(r"\d{1,10}\Z")


@dataclass(frozen=True, slots=True)
class _SystemCall:
    """A record SYSCALL whose EXECVE may follow."""

    record: bytes
    at_ns: int
    place: int
    """The place of its first byte in the log."""


@dataclass
class _AuditTotals:
    """The sessions of a log, and counts of its records."""

    limit: CommandLimit
    sessions: list[LoggedSession] = field(default_factory=list)
    starts: int = 0
    records: int = 0
    damage: DamagedLines = field(default_factory=DamagedLines)
    failed: int = 0
    without_terminal: int = 0
    orphans: int = 0
    clock_steps: int = 0
    unmatched: int = 0


def read_audit_log(source: SourceFile) -> LogRead:
    """Reads a log in the format RAW or ENRICHED. Raises `Refused` if no program began in it, or if most is damaged."""
    totals = _AuditTotals(CommandLimit(source.name))
    waiting: dict[tuple[bytes, bytes], _SystemCall] = {}
    terminals: dict[tuple[bytes, bytes, bytes], AuditTerminal] = {}
    for place, line in byte_lines(source, _MOST_LINE_BYTES):
        if line.startswith(_PASSED_RECORDS):
            totals.records += 1
            continue
        head = _RECORD_HEAD.match(line)
        if head is None:
            _count_damage(totals, place, line)
            continue
        totals.records += 1
        kind, number = head[2], (head[1] or b"", head[5])
        if kind == b"SYSCALL":
            at_ns = int(head[3]) * 1_000_000_000 + int(head[4]) * 1_000_000
            waiting[number] = _SystemCall(line[head.end() :], at_ns, place)
            if len(waiting) > _MOST_WAITING_CALLS:
                del waiting[next(iter(waiting))]
        elif kind == b"EXECVE" and b" argc=" in line:  # further parts of long arguments have none
            call = waiting.pop(number, None)
            if call is None:
                totals.unmatched += 1
            else:
                _start(call, number[0], terminals, totals)
        elif kind in _BEGINNINGS:
            for key in [key for key in terminals if key[0] == number[0]]:
                _close(terminals.pop(key), totals)
    for terminal in terminals.values():
        _close(terminal, totals)
    _check(source, totals)
    return LogRead(
        kind="audit log",
        sessions=tuple(sorted(totals.sessions, key=lambda session: session.began_ns)),
        pauses=MeasuredPauses(),
        typing=MeasuredTyping(),
        records=totals.starts,
        left_out=totals.damage.count,
        notes=_notes(source, totals),
        losses=_losses(totals),
    )


def _count_damage(totals: _AuditTotals, place: int, line: bytes) -> None:
    if line.strip():
        totals.damage.add(place)


def _check(source: SourceFile, totals: _AuditTotals) -> None:
    damage = totals.damage
    if damage.count > totals.records:
        raise Refused(
            f"{source.name}, byte {damage.first_byte}: {damage.count} of {damage.count + totals.records} "
            "lines are no records of auditd: `ausearch --raw` prints them as auditd wrote them"
        )
    if not totals.starts:
        raise Refused(
            f"{source.name}: no program began in {totals.records:,} records of this log: have the kernel record them "
            "(`auditctl -a always,exit -F arch=b64 -S execve -S execveat`)"
        )


def _notes(source: SourceFile, totals: _AuditTotals) -> tuple[str, ...]:
    return (
        *counted_note(totals.without_terminal, "program", "programs", "without a terminal (services, batch jobs)"),
        *counted_note(totals.failed, "program", "programs", "that could not be started"),
        *counted_note(totals.orphans, "program", "programs", "whose parent has no record"),
        *counted_note(totals.clock_steps, "clock step", "clock steps", "back; a new session begins behind each"),
        *counted_note(max(source.growth_bytes(), 0), "byte", "bytes", "written while the records were read"),
    )


def _losses(totals: _AuditTotals) -> tuple[str, ...]:
    losses = totals.damage.losses("line that is no record", "lines that are no records")
    if totals.unmatched:
        which = "program whose system call has" if totals.unmatched == 1 else "programs whose system calls have"
        losses.append(f"has {totals.unmatched:,} {which} no record, left out.")
    return tuple(losses)


def _fields(record: bytes) -> dict[bytes, bytes]:
    """The fields of a record as auditd wrote them."""
    pairs = (word.partition(b"=") for word in record.partition(_ENRICHED_MARK)[0].split())
    return {key: value for key, _, value in pairs}


def _start(
    call: _SystemCall,
    node: bytes,
    terminals: dict[tuple[bytes, bytes, bytes], AuditTerminal],
    totals: _AuditTotals,
) -> None:
    """Gives a program that began to its terminal."""
    totals.starts += 1
    fields, at_ns = _fields(call.record), call.at_ns
    terminal_name = fields.get(b"tty", _NO_TERMINAL)
    if fields.get(b"success") == b"no":
        totals.failed += 1
        return
    if terminal_name in (_NO_TERMINAL, b"?"):
        totals.without_terminal += 1
        return
    program = _program(fields, at_ns)
    if program is None:
        _count_damage(totals, call.place, call.record)
        return
    key = (node, fields.get(b"ses", b""), terminal_name)
    terminal = terminals.pop(key, None)
    if terminal is not None and terminal.is_clock_set_back(at_ns):
        totals.clock_steps += 1
        _close(terminal, totals)
        terminal = terminal.continued()
    terminals[key] = terminal = terminal or AuditTerminal(_person(fields), totals.limit)
    terminal.start(program)
    if len(terminals) > MOST_OPEN_TERMINALS:
        _close(terminals.pop(next(iter(terminals))), totals)


def _close(terminal: AuditTerminal, totals: _AuditTotals) -> None:
    totals.orphans += terminal.orphans
    session = terminal.session()
    if session is not None:
        totals.sessions.append(session)


def _person(fields: dict[bytes, bytes]) -> str:
    """The number of the account that logged in; of the process's own if nobody did."""
    for name in (b"auid", b"uid"):
        number = fields.get(name, b"").decode("ascii", "replace")
        if _ACCOUNT.match(number) and number != _UNSET_NUMBER:
            return number
    return ""


def _program(fields: dict[bytes, bytes], at_ns: int) -> StartedProgram | None:
    """The program of a record; None if the record has no process."""
    pid, parent = (fields.get(name, b"")[:10] for name in (b"pid", b"ppid"))
    if not pid.isdigit() or not parent.isdigit():
        return None
    file = _value(fields.get(b"exe", b"")).rpartition(b"/")[2]
    name = _value(fields.get(b"comm", b"")).rpartition(b"/")[2] or file
    return StartedProgram(int(pid), int(parent), at_ns, name[:_MOST_PROGRAM_BYTES], file[:_MOST_PROGRAM_BYTES])


def _value(written: bytes) -> bytes:
    """A value, which stands in quotes, or in hexadecimal if it has unusual signs."""
    if written.startswith(b'"'):
        return written.strip(b'"')
    return bytes.fromhex(written.decode("ascii")) if _HEX.match(written) else b""
