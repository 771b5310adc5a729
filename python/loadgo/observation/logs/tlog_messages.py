"""Reads terminal recordings of tlog: JSON messages, one a line, from a file or the journal (`journalctl -o json`).

A message has the text of some seconds and a string `timing`, such as `=80x24<5+1>6`. It has delays in milliseconds, and
numbers of characters of input (`<`) and output (`>`) to take next. Bytes that are no text stand apart (`[`, `]`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from loadgo.errors import Refused
from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.byte_lines import DamagedLines, byte_lines
from loadgo.observation.logs.keystrokes import KeystrokeReader, KeystrokeTotals
from loadgo.observation.logs.log_read import CLOCK_STEP_NS, LogRead, counted_note
from loadgo.observation.program_names import known_names, typed_name
from loadgo.observation.source_files import SourceFile

MOST_OPEN_RECORDINGS = 2000
"""Recordings that are read side by side. Of more, the one that was silent longest is ended."""
_MOST_LINE_BYTES = 4 << 20
_MILLISECOND_NS = 1_000_000
_LATEST_TIME_MS = 1 << 43
"""No time in milliseconds is later than the year 2248."""
_EVENT = re.compile(
    r"(?:\+(?P<delay>\d{1,12}))?"
    r"(?:(?P<text>[<>])(?P<chars>\d{1,9})|(?P<binary>[\[\]])(?P<skipped>\d{1,9})/(?P<bytes>\d{1,9})|=\d{1,9}x\d{1,9}|\Z)"
)


@dataclass
class _Recording:
    """A recording while its messages come."""

    person: str
    began_ns: int
    reader: KeystrokeReader
    next_id: int | None
    origin_ns: int
    """The clock less the time since the beginning, of the last message: it changes if the clock is set."""
    end_ns: int = 0
    """The time of the last event since the beginning."""


@dataclass
class _TlogTotals(KeystrokeTotals):
    """The sums over the recordings of a file."""

    messages: int = 0
    damage: DamagedLines = field(default_factory=DamagedLines)
    missing: int = 0
    clock_steps: int = 0


def read_tlog(source: SourceFile) -> LogRead:
    """Reads all recordings of a file. Raises `Refused` if none has keys, or if most lines are no messages."""
    totals = _TlogTotals(CommandLimit(source.name))
    open_recordings: dict[object, _Recording] = {}
    names = known_names()
    for place, line in byte_lines(source, _MOST_LINE_BYTES):
        if not line.strip():
            continue
        message = _message(line)
        events = None if message is None else _events(message)
        if message is None or events is None:
            totals.damage.add(place)
            continue
        totals.messages += 1
        key = (message.get("host"), message["rec"])
        recording = open_recordings.pop(key, None) or _begun(message, totals, names)
        open_recordings[key] = recording
        _take(message, events, recording, totals)
        if len(open_recordings) > MOST_OPEN_RECORDINGS:
            _close(open_recordings.pop(next(iter(open_recordings))), totals)
    for recording in open_recordings.values():
        _close(recording, totals)
    _check(source, totals)
    return LogRead(
        kind="tlog recording",
        sessions=totals.in_order(),
        pauses=totals.pauses(),
        typing=totals.typing,
        records=totals.messages,
        left_out=totals.damage.count,
        notes=_notes(source, totals),
        losses=_losses(totals),
    )


def _check(source: SourceFile, totals: _TlogTotals) -> None:
    damage = totals.damage
    if damage.count > totals.messages:
        raise Refused(
            f"{source.name}, byte {damage.first_byte}: {damage.count} of {damage.count + totals.messages} "
            "lines are no messages of tlog: select them from the journal (`journalctl -o json -t tlog-rec-session`)"
        )
    if not totals.keys:
        raise Refused(
            f"{source.name}: these recordings have no keys, since tlog logs none by default: set `log.input` to true "
            "in /etc/tlog/tlog-rec-session.conf"
        )


def _notes(source: SourceFile, totals: _TlogTotals) -> tuple[str, ...]:
    return (
        *totals.notes(),
        *counted_note(
            totals.clock_steps, "clock step", "clock steps", "within recordings, whose times are counted without it"
        ),
        *counted_note(max(source.growth_bytes(), 0), "byte", "bytes", "written while the records were read"),
    )


def _losses(totals: _TlogTotals) -> tuple[str, ...]:
    losses = totals.damage.losses("line that is no message", "lines that are no messages")
    if totals.missing:
        losses.append(
            f"lacks {totals.missing:,} message{'' if totals.missing == 1 else 's'} within recordings; what was typed "
            "there is not known."
        )
    return tuple(losses)


def _message(line: bytes) -> dict[str, Any] | None:
    """The message in a line: the JSON object itself, in the field MESSAGE of the journal, or behind a syslog's head."""
    try:
        fields = json.loads(line[max(line.find(b"{"), 0) :])
        if isinstance(fields, dict) and "timing" not in fields and "MESSAGE" in fields:
            text = fields["MESSAGE"]
            fields = json.loads(bytes(text) if isinstance(text, list) else text)
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("timing"), str):
        return None
    if not isinstance(fields.get("rec", fields.get("session")), str | int) or _count(fields, "pos") is None:
        return None
    fields.setdefault("rec", fields.get("session"))
    return fields if isinstance(fields.get("host", ""), str) else None


def _count(fields: dict[str, Any], key: str) -> int | None:
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LATEST_TIME_MS else None


def _events(message: dict[str, Any]) -> list[tuple[int, bool, bytes]] | None:
    """The events of a message: nanoseconds since the recording's beginning, whether it is input, its bytes.

    None if the timing is not in the grammar, or tells of more characters than there are.
    """
    texts = {name: message.get(name, "") for name in ("in_txt", "out_txt")}
    binaries = {name: message.get(name, []) for name in ("in_bin", "out_bin")}
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    if not all(isinstance(part, list) and all(_is_byte(value) for value in part) for part in binaries.values()):
        return None
    places = dict.fromkeys([*texts, *binaries], 0)
    at_ms, place, events = message["pos"], 0, []
    for event in _matches(message["timing"]):
        place = event.end()
        at_ms += int(event["delay"] or 0)
        sign = event["text"] or event["binary"]
        if not sign:
            continue
        side = "in" if sign in "<[" else "out"
        text_name, binary_name = f"{side}_txt", f"{side}_bin"
        begin, amount = places[text_name], int(event["chars"] or event["skipped"])
        places[text_name] += amount
        content = texts[text_name][begin : begin + amount].encode("utf-8", "replace")
        if event["binary"]:
            begin = places[binary_name]
            places[binary_name] += int(event["bytes"])
            content = bytes(binaries[binary_name][begin : places[binary_name]])
        events.append((at_ms * _MILLISECOND_NS, side == "in", content))
    is_short = any(places[name] > len(part) for name, part in [*texts.items(), *binaries.items()])
    return None if is_short or place != len(message["timing"]) or at_ms > 2 * _LATEST_TIME_MS else events


def _matches(timing: str) -> Iterator[re.Match[str]]:
    """The events of a timing, one behind the other, until something else stands there."""
    place = 0
    while place < len(timing) and (event := _EVENT.match(timing, place)) is not None and event.end() > place:
        yield event
        place = event.end()


def _is_byte(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 256


def _begun(message: dict[str, Any], totals: _TlogTotals, names: frozenset[str]) -> _Recording:
    """A recording that begins with `message`, which may not be its first."""
    origin_ns = _origin_ns(message) or 0
    reader = KeystrokeReader(totals.limit, lambda line: typed_name(line, names))
    return _Recording(str(message.get("user")), max(origin_ns, 0), reader, 1, origin_ns)


def _origin_ns(message: dict[str, Any]) -> int | None:
    """The clock at the recording's beginning, by this message; None if it has no time, as before version 2.3."""
    time_s = message.get("time")
    is_time = isinstance(time_s, int | float) and not isinstance(time_s, bool) and 0 <= time_s * 1000 < _LATEST_TIME_MS
    return (round(time_s * 1000) - int(message["pos"])) * _MILLISECOND_NS if time_s and is_time else None


def _take(
    message: dict[str, Any], events: list[tuple[int, bool, bytes]], recording: _Recording, totals: _TlogTotals
) -> None:
    """Gives the events of a message to the recording's reader, behind a gap if messages are missing before it."""
    number = _count(message, "id")
    if number is not None and recording.next_id is not None and number != recording.next_id:
        totals.missing += max(number - recording.next_id, 1)
        recording.reader.gap()
    recording.next_id = None if number is None else number + 1
    origin_ns = _origin_ns(message)
    if origin_ns is not None:
        totals.clock_steps += abs(origin_ns - recording.origin_ns) > CLOCK_STEP_NS
        recording.origin_ns = origin_ns
    for at_ns, is_input, content in events:
        if at_ns < recording.end_ns:
            recording.reader.gap()
        recording.end_ns = max(at_ns, recording.end_ns)
        (recording.reader.input if is_input else recording.reader.output)(at_ns, content)


def _close(recording: _Recording, totals: _TlogTotals) -> None:
    """Ends a recording, and adds what it has to `totals`."""
    recording.reader.end(recording.end_ns)
    totals.add(recording.reader, recording.person, recording.began_ns, recording.end_ns)
