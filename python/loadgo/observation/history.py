"""Reads shell histories with times: the names of what was typed, and the pauses between lines.

bash writes `#SECONDS` before a line, and zsh `: SECONDS:LENGTH;LINE`. A pause lasts from the beginning of a line to the
beginning of the next. With a length the rest is the think time; without, it is the think time and the response.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from loadgo.errors import Refused
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.program_names import known_names, typed_name
from loadgo.observation.source_files import SourceFile

ABSENCE_S = 300
"""A longer pause is an absence, as in `loadgo record`: it is no think time, and ends a sitting."""
_CLOCK_DIFFERENCE_S = 86400
"""A clock elsewhere may be ahead by so much. A later time is yet to come, so it is none."""
_MOST_LINE_BYTES = 65536
_BASH_TIME = re.compile(rb"#(\d{5,12})\s*\Z")
_ZSH_LINE = re.compile(rb": (\d{5,12}):(\d{1,9});")


@dataclass(frozen=True)
class HistoryLine:
    """A line of a history."""

    began_s: int
    """Seconds since 1970."""
    length_s: int | None
    """Seconds until its end; None where the shell does not write it."""
    name: str


@dataclass(frozen=True)
class HistoryRead:
    """The lines of a history that have a time."""

    lines: tuple[HistoryLine, ...]
    untimed: int
    """Number of lines without a time: older ones, or further parts of a line."""
    yet_to_come: int
    """Number of lines whose time is yet to come."""
    growth_bytes: int


@dataclass(frozen=True)
class Pauses:
    """The pauses between the lines of a history."""

    seconds: tuple[int, ...]
    absences: int
    backwards: int
    """Number of pauses that are negative: another session begins, or a clock was set."""
    is_upper_bound: bool
    """Whether a pause has the response in it, too."""


def read_history(source: SourceFile) -> HistoryRead:
    """Reads a history. Raises `Refused` if fewer than two of its lines have a time, or too many to keep."""
    program_names = known_names()
    lines: list[HistoryLine] = []
    limit = CommandLimit(source.name)
    untimed, time_s = 0, None
    for line in _lines(source):
        limit.count(len(lines) - limit.commands)
        if bash_time := _BASH_TIME.match(line):
            time_s = int(bash_time[1])
        elif zsh_line := _ZSH_LINE.match(line):
            lines.append(
                HistoryLine(int(zsh_line[1]), int(zsh_line[2]), typed_name(line[zsh_line.end() :], program_names))
            )
            time_s = None
        elif time_s is not None:
            lines.append(HistoryLine(time_s, None, typed_name(line, program_names)))
            time_s = None
        elif line.strip():
            untimed += 1
    latest_s = time.time() + _CLOCK_DIFFERENCE_S
    past = [line for line in lines if line.began_s <= latest_s]
    if len(past) < 2:
        left_out = ", without those that are yet to come" if len(past) < len(lines) else ""
        raise Refused(f"{source.name}: {len(past)} of its lines have a time{left_out}, and a pause needs two")
    return HistoryRead(_with_known_lengths(past), untimed, len(lines) - len(past), source.growth_bytes())


def pauses(lines: tuple[HistoryLine, ...]) -> Pauses:
    """The pauses between successive lines."""
    seconds, absences, backwards = [], 0, 0
    for line, following in pairwise(lines):
        pause_s = _pause_s(line, following)
        if following.began_s < line.began_s:
            backwards += 1
        elif pause_s > ABSENCE_S:
            absences += 1
        else:
            seconds.append(max(pause_s, 0))
    return Pauses(tuple(seconds), absences, backwards, any(line.length_s is None for line in lines))


def _pause_s(line: HistoryLine, following: HistoryLine) -> int:
    """The time from the end of a line, or from its beginning where its length is not known, to the next line."""
    return following.began_s - line.began_s - (line.length_s or 0)


def sittings(lines: tuple[HistoryLine, ...]) -> list[list[HistoryLine]]:
    """The lines between absences."""
    parts = [[lines[0]]]
    for line, following in pairwise(lines):
        if following.began_s < line.began_s or _pause_s(line, following) > ABSENCE_S:
            parts.append([])
        parts[-1].append(following)
    return parts


def _with_known_lengths(lines: list[HistoryLine]) -> tuple[HistoryLine, ...]:
    """The lines, without lengths if all are 0: zsh writes 0 where it writes a line before the line ends."""
    if any(line.length_s for line in lines):
        return tuple(lines)
    return tuple(HistoryLine(line.began_s, None, line.name) for line in lines)


def _lines(source: SourceFile) -> Iterator[bytes]:
    """The lines as far as the file was written when it was opened. Of a longer line than 64 KiB only its head."""
    left_bytes, begins_line = source.bytes, True
    while left_bytes > 0:
        part = source.file.readline(min(_MOST_LINE_BYTES, left_bytes))
        if not part:
            return
        left_bytes -= len(part)
        if begins_line:
            yield part
        begins_line = part.endswith(b"\n")
