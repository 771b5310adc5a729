"""Writes logs as sudo, tlog, auditd and atuin write them: the forms are those of real files of each."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import loadgo

from support.accounting_records import EPOCH_S

PROMPT = "\x1b[?2004hbash-5.2$ "
"""The prompt of bash, with the mark that turns pasting on."""
RUN = "\x1b[?2004l\r"
KEY_MS = 80


@dataclass(frozen=True)
class TerminalEvent:
    """Input or output of a terminal, so many milliseconds after the event before."""

    delay_ms: int
    is_input: bool
    text: str


def typed_line(
    line: str, *, think_ms: int = 2000, response_ms: int = 500, is_echoed: bool = True
) -> list[TerminalEvent]:
    """A line at the prompt of bash, key by key, its answer, and the next prompt."""
    events = []
    for number, key in enumerate(line):
        events.append(TerminalEvent(KEY_MS if number else think_ms, True, key))
        if is_echoed:
            events.append(TerminalEvent(0, False, key))
    return [
        *events,
        TerminalEvent(KEY_MS, True, "\r"),
        TerminalEvent(0, False, "\r\n" + RUN),
        TerminalEvent(response_ms, False, PROMPT),
    ]


def terminal_session(lines: Sequence[str]) -> list[TerminalEvent]:
    """A session with these lines."""
    return [TerminalEvent(5, False, PROMPT), *(event for line in lines for event in typed_line(line))]


def written_sudo_log(
    folder: Path,
    events: Iterable[TerminalEvent],
    program: str = "/usr/bin/bash",
    *,
    is_packed: bool = True,
    person: str = "anna",
    has_json: bool = True,
) -> Path:
    """The folder of a session of sudo."""
    folder.mkdir(parents=True)
    lines, contents = [], {True: b"", False: b""}
    for event in events:
        content = event.text.encode()
        contents[event.is_input] += content
        seconds, milliseconds = divmod(event.delay_ms, 1000)
        lines.append(f"{3 if event.is_input else 4} {seconds}.{milliseconds:03d}000000 {len(content)}\n")
    described = {
        "timestamp": {"seconds": EPOCH_S, "nanoseconds": 5},
        "submituser": person,
        "command": program,
        "runargv": [program, "planted-secret"],
        "runenv": ["TOKEN=planted-secret"],
        "submitcwd": "/home/planted-secret",
    }
    if has_json:
        (folder / "log.json").write_text(json.dumps(described))
    (folder / "log").write_text(
        f"{EPOCH_S}:{person}:root::/dev/pts/1:24:80\n/home/planted-secret\n{program} planted-secret\n"
    )
    for name, content in (("timing", "".join(lines).encode()), ("ttyin", contents[True]), ("ttyout", contents[False])):
        (folder / name).write_bytes(gzip.compress(content) if is_packed else content)
    return folder


def tlog_messages(
    events: Sequence[TerminalEvent],
    *,
    recording: str = "r1",
    person: str = "anna",
    events_each: int = 20,
    began_s: float = EPOCH_S,
) -> list[dict[str, object]]:
    """The messages of a recording."""
    messages: list[dict[str, object]] = []
    at_ms = 0
    for begin in range(0, len(events), events_each):
        timing, texts, position = "=80x24", {True: "", False: ""}, at_ms
        for number, event in enumerate(events[begin : begin + events_each]):
            at_ms += event.delay_ms
            if not number:
                position = at_ms
            elif event.delay_ms:
                timing += f"+{event.delay_ms}"
            timing += f"{'<' if event.is_input else '>'}{len(event.text)}"
            texts[event.is_input] += event.text
        messages.append(
            {
                "ver": "2.3", "host": "vm", "rec": recording, "user": person, "term": "xterm", "session": 7,
                "id": len(messages) + 1, "pos": position, "time": began_s + position / 1000, "timing": timing,
                "in_txt": texts[True], "in_bin": [], "out_txt": texts[False], "out_bin": [],
            }
        )  # fmt: skip
    return messages


def written_tlog(path: Path, messages: Iterable[dict[str, object]], form: str = "file") -> Path:
    """A file with the messages: of tlog itself, of `journalctl -o json`, or of a syslog."""
    lines = []
    for message in messages:
        text = json.dumps(message)
        forms = {
            "file": text,
            "journal": json.dumps({"_PID": "7", "MESSAGE": text}),
            "journal of bytes": json.dumps({"SYSLOG_IDENTIFIER": "tlog-rec-session", "MESSAGE": list(text.encode())}),
            "syslog": f"Nov 29 10:00:00 vm tlog-rec-session[7]: {text}",
        }
        lines.append(forms[form] + "\n")
    path.write_text("".join(lines))
    return path


@dataclass(frozen=True)
class MadeStart:
    """A program that begins."""

    name: str
    pid: int
    parent: int
    at_s: float
    terminal: str = "pts1"
    session: int = 3
    person: int = 1000
    file: str = ""
    succeeds: bool = True

    def records(self, serial: int, *, node: str = "", is_enriched: bool = True) -> str:
        """The lines that auditd writes."""
        head = f"{f'node={node} ' if node else ''}type={{}} msg=audit({EPOCH_S + self.at_s:.3f}:{serial}):"
        plain = self.name.isascii() and " " not in self.name
        comm = f'"{self.name}"' if plain else self.name.encode().hex().upper()
        names = '\x1dARCH=x86_64 SYSCALL=execve AUID="anna" UID="anna"' if is_enriched else ""
        call = (
            f"arch=c000003e syscall=59 success={'yes' if self.succeeds else 'no'} exit=0 a0=55d a1=55d a2=55d a3=8 "
            f"items=2 ppid={self.parent} pid={self.pid} auid={self.person} uid=0 gid=0 euid=0 suid=0 fsuid=0 egid=0 "
            f"sgid=0 fsgid=0 tty={self.terminal} ses={self.session} comm={comm} "
            f'exe="{self.file or f"/usr/bin/{self.name}"}" subj=unconfined key="exec"{names}'
        )
        arguments = f'argc=2 a0="{self.name}" a1="planted-secret"'
        return (
            f"{head.format('SYSCALL')} {call}\n{head.format('EXECVE')} {arguments}\n"
            f'{head.format("CWD")} cwd="/home/planted-secret"\n{head.format("PROCTITLE")} proctitle=6C73\n'
        )


def audit_session(lines: int = 30, *, shell_pid: int = 500, began_s: float = 0.0, session: int = 3) -> list[MadeStart]:
    """A session: its shell, then lines of which each third is `make`, which starts `cc1`."""
    starts = [MadeStart("bash", shell_pid, 400, began_s, session=session)]
    pid = shell_pid
    for number in range(lines):
        pid, at_s = pid + 1, began_s + 10.0 * (number + 1)
        starts.append(MadeStart("ls" if number % 3 else "make", pid, shell_pid, at_s, session=session))
        if number % 3 == 0:
            pid += 1
            starts.append(MadeStart("cc1", pid, pid - 1, at_s + 0.1, session=session))
    return starts


def written_audit_log(path: Path, starts: Iterable[MadeStart], **form: object) -> Path:
    """A log with the records of these programs."""
    path.write_text("".join(start.records(100 + number, **form) for number, start in enumerate(starts)))  # type: ignore[arg-type]
    return path


ATUIN_TABLE = """CREATE TABLE history (
    id text primary key, timestamp integer not null, duration integer not null, exit integer not null,
    command text not null, cwd text not null, session text not null, hostname text not null, deleted_at integer,
    unique(timestamp, cwd, command)
)"""


@dataclass(frozen=True)
class AtuinLine:
    """A row of atuin's history."""

    command: str | bytes
    at_s: float
    length_s: float = 0.5
    session: str = "s1"
    host: str = "vm:anna"
    is_deleted: bool = False


def atuin_lines(count: int = 40) -> list[AtuinLine]:
    """Lines 10 s apart that take half a second each."""
    return [AtuinLine(f"ls -l planted-secret-{number}", 10.0 * number) for number in range(count)]


def written_atuin(path: Path, lines: Iterable[AtuinLine], table: str = ATUIN_TABLE) -> Path:
    """A database as atuin makes it, with its log of changes merged."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(table)
        for number, line in enumerate(lines):
            length_ns = -1 if line.length_s < 0 else round(line.length_s * 1e9)
            connection.execute(
                "INSERT INTO history VALUES (?, ?, ?, 0, ?, '/home/planted-secret', ?, ?, ?)",
                (
                    str(number), EPOCH_S * 10**9 + round(line.at_s * 1e9), length_ns, line.command, line.session,
                    line.host, 1 if line.is_deleted else None,
                ),
            )  # fmt: skip
    return path


def runs(observation: loadgo.Observation) -> dict[str, int]:
    """The number of runs of each command that was observed."""
    return {row.command: row.count for row in observation.commands}
