"""Reads sudo's I/O logs: a folder for each session, with its program, the times of its events, its keys and its output.

The format is that of sudoers(5), *I/O log files*. The file `timing` has a line for each event: its kind, the seconds
since the event before, and a number of bytes. These bytes follow in the file of that kind, such as `ttyin` for keys.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from loadgo.errors import Refused
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.keystrokes import KeystrokeReader, KeystrokeTotals
from loadgo.observation.logs.log_read import LoggedCommand, LogRead, counted_note
from loadgo.observation.program_names import LOG_IN_NAMES, OTHER_NAME, SHELL_NAMES, accounted_name

_KEYS_EVENT, _OUTPUT_EVENTS = b"3", (b"4", b"6")
_TIMING_LINE = re.compile(rb"([0-7]) (\d{1,9})[.,](\d{1,9}) (.{1,64})\Z")
_SEQUENCE_PART = re.compile(r"[0-9A-Z]{2}")
"""A folder that sudo numbered. Others may have names of people."""
_MOST_FOLDER_LEVELS = 12
"""Depth of folders in which sessions are looked for: sudo itself makes three."""
_MOST_DESCRIPTION_BYTES = 4 << 20
_MOST_LINE_BYTES = 4096
_CHUNK_BYTES = 65536
_GZIP_HEAD = b"\x1f\x8b"
_SECOND_NS = 1_000_000_000
_MOST_SECONDS = 1 << 33
_CUT = (EOFError, zlib.error, gzip.BadGzipFile)
"""Errors of a compressed file that ends too early or is damaged."""


@dataclass(frozen=True)
class _Description:
    """The program of a session, its person and its beginning."""

    program: str
    person: str
    began_ns: int


@dataclass
class _SudoTotals(KeystrokeTotals):
    """The sums over the sessions of a folder."""

    records: int = 0
    keyless_shells: int = 0
    damaged: int = 0
    first_damage: str = ""
    """A phrase with the place of the first damaged session."""

    def add_damage(self, phrase: str) -> None:
        """Counts a damaged session."""
        self.damaged += 1
        self.first_damage = self.first_damage or phrase


def read_sudo_logs(path: Path) -> LogRead:
    """Reads all sessions in a folder. Raises `Refused` if there are none."""
    totals = _SudoTotals(CommandLimit(str(path)))
    for folder in _session_folders(path):
        totals.records += 1
        _read_session(folder, path, totals)
    if not totals.records:
        raise Refused(
            f"{path} is a folder without I/O logs of sudo: sudo keeps them with `Defaults log_input, log_output`, in "
            "/var/log/sudo-io; of other records name the files"
        )
    return LogRead(
        kind="sudo I/O log",
        sessions=totals.in_order(),
        pauses=totals.pauses(),
        typing=totals.typing,
        records=totals.records,
        left_out=totals.damaged,
        notes=(
            *counted_note(
                totals.keyless_shells, "shell", "shells", "whose keys sudo did not log (`Defaults log_input`)"
            ),
            *totals.notes(),
        ),
        losses=_losses(totals),
    )


def _losses(totals: _SudoTotals) -> tuple[str, ...]:
    if not totals.damaged:
        return ()
    plural = "" if totals.damaged == 1 else "s"
    return (f"has {totals.damaged:,} damaged session{plural}; the first: {totals.first_damage}.",)


def _session_folders(path: Path, depth: int = 0) -> Iterator[Path]:
    """The folders of sessions below `path`, in order. Symbolic links are not followed."""
    with os.scandir(path) as entries:
        listed = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    if listed.get("timing") is False and (listed.get("log") is False or listed.get("log.json") is False):
        yield path
        return
    if depth < _MOST_FOLDER_LEVELS:
        for name in sorted(name for name, is_folder in listed.items() if is_folder):
            with suppress(PermissionError):
                yield from _session_folders(path / name, depth + 1)


def _read_session(folder: Path, root: Path, totals: _SudoTotals) -> None:
    """Reads the session of `folder`. What is damaged ends it there, and is told with its place below `root`."""
    parts = folder.relative_to(root).parts
    place = "/".join(part if _SEQUENCE_PART.fullmatch(part) else "_" for part in parts) or "the folder itself"
    description = _description(folder)
    if description is None:
        totals.add_damage(f"{place} has no description that can be read")
        return
    reader = KeystrokeReader(totals.limit, description.program)
    at_ns, damaged_before = 0, totals.damaged
    with ExitStack() as files:
        try:
            for event_ns in _events(folder, reader, files):
                at_ns = event_ns
        except _DamagedLogError as damage:
            at_ns = damage.at_ns
            totals.add_damage(f"{place}, {damage}")
        except OSError as error:
            totals.add_damage(f"{place} cannot be read ({error.strerror})")
    is_whole = totals.damaged == damaged_before
    if is_whole:
        reader.end(at_ns)
    else:
        reader.gap()
    is_shell = description.program in SHELL_NAMES | LOG_IN_NAMES
    if is_shell and not (folder / "ttyin").exists():
        totals.keyless_shells += 1
    elif is_shell and (reader.keys or not is_whole):
        totals.add(reader, description.person, description.began_ns, at_ns)
    else:
        totals.limit.count()
        command = LoggedCommand(description.program, description.began_ns, (at_ns or None) if is_whole else None)
        totals.add_commands((command,), description.person, description.began_ns, at_ns)


def _description(folder: Path) -> _Description | None:
    """The description in `log.json`, or in `log`, which older versions write alone; None if neither can be read."""
    for name, parse in (("log.json", _described_in_json), ("log", _described_in_lines)):
        try:
            with ExitStack() as files:
                description = parse(_opened(folder / name, files).read(_MOST_DESCRIPTION_BYTES))
        except (OSError, ValueError, RecursionError, *_CUT):
            continue
        if description is not None:
            return description
    return None


def _described_in_json(content: bytes) -> _Description | None:
    fields = json.loads(content)
    if not isinstance(fields, dict) or not isinstance(fields.get("command"), str):
        return None
    stamp = fields.get("timestamp")
    seconds = stamp.get("seconds") if isinstance(stamp, dict) else None
    nanoseconds = stamp.get("nanoseconds") if isinstance(stamp, dict) else None
    began_ns = (_whole(seconds, _MOST_SECONDS) or 0) * _SECOND_NS + (_whole(nanoseconds, _SECOND_NS) or 0)
    return _Description(_program(fields["command"].encode("utf-8", "replace")), str(fields.get("submituser")), began_ns)


def _described_in_lines(content: bytes) -> _Description | None:
    """Three lines: `SECONDS:USER:…`, the folder, the command with its arguments."""
    lines = content.split(b"\n")
    head = lines[0].split(b":")
    if len(lines) < 3 or len(head) < 2 or not re.fullmatch(rb"\d{1,10}(\.\d+)?", head[0]) or not lines[2].strip():
        return None
    person = head[1].decode("utf-8", "replace")
    return _Description(_program(lines[2].split()[0]), person, int(head[0].split(b".")[0]) * _SECOND_NS)


def _whole(value: object, limit: int) -> int | None:
    return value if isinstance(value, int) and 0 <= value < limit else None


def _program(path: bytes) -> str:
    """The name of a program's file."""
    return accounted_name(path.rpartition(b"/")[2][:64]) if path.rpartition(b"/")[2] else OTHER_NAME


class _DamagedLogError(Exception):
    """A place where a log cannot be read on, and the time until which it was read."""

    def __init__(self, what: str, at_ns: int) -> None:
        super().__init__(what)
        self.at_ns = at_ns


def _events(folder: Path, reader: KeystrokeReader, files: ExitStack) -> Iterator[int]:
    """Gives each event to `reader`, and returns its time since the beginning. Raises `_DamagedLogError`."""
    data_files = {_KEYS_EVENT: _data_file(folder / "ttyin", files)}
    output = _data_file(folder / "ttyout", files)
    data_files.update(dict.fromkeys(_OUTPUT_EVENTS, output))
    take = {_KEYS_EVENT: reader.input, **dict.fromkeys(_OUTPUT_EVENTS, reader.output)}
    at_ns = 0
    for number, line in enumerate(_timing_lines(_opened(folder / "timing", files)), 1):
        event = _TIMING_LINE.match(line)
        if event is None:
            raise _DamagedLogError(f"line {number} of `timing` is no event", at_ns)
        kind, amount = event[1], event[4].strip()
        at_ns += int(event[2]) * _SECOND_NS + int(event[3].ljust(9, b"0"))
        if kind in take:
            if not re.fullmatch(rb"\d{1,12}", amount):
                raise _DamagedLogError(f"line {number} of `timing` has no number of bytes", at_ns)
            source = data_files[kind]
            for part in _parts(source, int(amount)) if source is not None else ():
                if not part:
                    raise _DamagedLogError(f"line {number} of `timing` tells of bytes that are not in the log", at_ns)
                take[kind](at_ns, part)
        yield at_ns


def _timing_lines(file: BinaryIO) -> Iterator[bytes]:
    while True:
        try:
            line = file.readline(_MOST_LINE_BYTES)
        except _CUT:
            line = b"\0"
        if not line:
            return
        yield line.rstrip(b"\r\n")


def _parts(file: BinaryIO, amount: int) -> Iterator[bytes]:
    """The next `amount` bytes in parts; an empty part if the file ends before."""
    while amount > 0:
        try:
            part = file.read(min(amount, _CHUNK_BYTES))
        except _CUT:
            part = b""
        yield part
        if not part:
            return
        amount -= len(part)


def _data_file(path: Path, files: ExitStack) -> BinaryIO | None:
    """The open file of an event's bytes; None if sudo did not log them."""
    try:
        return _opened(path, files)
    except FileNotFoundError:
        return None


def _opened(path: Path, files: ExitStack) -> BinaryIO:
    """The open file, unpacked if it is compressed. Raises `OSError` for what is no regular file."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    file = files.enter_context(os.fdopen(number, "rb"))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        raise OSError(0, "no regular file")
    is_packed = file.read(2) == _GZIP_HEAD
    file.seek(0)
    return cast(BinaryIO, files.enter_context(gzip.GzipFile(fileobj=file))) if is_packed else file
