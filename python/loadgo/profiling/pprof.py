"""A profile as pprof's compressed protobuf: the format of `go tool pprof`, Parca, Pyroscope and Grafana.

Format: github.com/google/pprof/proto/profile.proto. Each mapping has its file's build identifier. Samples have the
values *samples*, *cpu*, *minor* and *major* faults, and the labels *user*, *command* and *process*. A file without
symbols is one function. Protobuf is written here, since two kinds of its wire format are enough: numbers, and bytes
with a length.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from loadgo.profiling.profile import Frame, Profile, Stack


def pprof(profile: Profile) -> bytes:
    """The file's bytes, the same for the same profile."""
    return gzip.compress(_Writer(profile).profile(), mtime=0)


def _number(field: int, value: int) -> bytes:
    """The field number `field` with a number. The value 0 is left out, since it is the default."""
    return _varint(field << 3) + _varint(value) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _bytes(field, b"".join(map(_varint, values)))


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class _Writer:
    """The tables of one file: texts, mappings, and locations with their functions. Each entry has a number."""

    def __init__(self, profile: Profile) -> None:
        self._source = profile
        self._texts: dict[str, int] = {"": 0}
        self._mappings: dict[str, int] = {}
        self._locations: dict[Frame, int] = {}
        self._period_ns = 0 if profile.hz is None else round(1e9 / profile.hz)

    def profile(self) -> bytes:
        """The message `Profile`."""
        samples = [self._sample(stack) for stack in self._source.stacks] + self._faults()
        types = [("samples", "count"), ("cpu", "nanoseconds"), ("minor_faults", "count"), ("major_faults", "count")]
        fields = [_bytes(1, self._value_type(*kind)) for kind in types]
        fields += [_bytes(2, sample) for sample in samples]
        fields += [_bytes(3, self._mapping(name, number)) for name, number in self._mappings.items()]
        fields += [_bytes(4, self._location(frame, number)) for frame, number in self._locations.items()]
        fields += [_bytes(5, self._function(frame, number)) for frame, number in self._locations.items()]
        fields.append(_number(10, round((self._source.seconds or 0) * 1e9)))
        fields.append(_bytes(11, self._value_type("cpu", "nanoseconds")))
        fields.append(_number(12, self._period_ns))
        fields.append(_number(14, self._text("samples")))
        fields += [_bytes(6, text.encode()) for text in self._texts]  # last: all texts are known by now
        return b"".join(fields)

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _value_type(self, kind: str, unit: str) -> bytes:
        return _number(1, self._text(kind)) + _number(2, self._text(unit))

    def _sample(self, stack: Stack) -> bytes:
        locations = [self._number_of(Frame(frame.segment, frame.place)) for frame in reversed(stack.frames)]
        values = [stack.samples, stack.samples * self._period_ns, 0, 0]
        labels = [self._label("process", stack.process)]
        if stack.command is not None:
            labels.append(self._label("command", stack.command))
        if stack.user is not None:
            labels.append(self._label("user", str(stack.user)))
        return _packed(1, locations) + _packed(2, values) + b"".join(_bytes(3, label) for label in labels)

    def _faults(self) -> list[bytes]:
        """One sample for each mapping with page faults. Its location is the mapping itself."""
        faulted = [segment for segment in self._source.segments if segment.faults_minor or segment.faults_major]
        return [
            _packed(1, [self._number_of(Frame(segment.name, segment.name))])
            + _packed(2, [0, 0, segment.faults_minor or 0, segment.faults_major or 0])
            for segment in faulted
        ]

    def _label(self, key: str, text: str) -> bytes:
        return _number(1, self._text(key)) + _number(2, self._text(text))

    def _number_of(self, frame: Frame) -> int:
        self._mappings.setdefault(frame.segment, len(self._mappings) + 1)
        return self._locations.setdefault(frame, len(self._locations) + 1)

    def _mapping(self, name: str, number: int) -> bytes:
        """A mapping with a made-up range of addresses, since the records have offsets in files, and no addresses."""
        start = number << 40
        build_id = self._source.build_ids.get(name, "")
        range_fields = _number(1, number) + _number(2, start) + _number(3, start + (1 << 40))
        return range_fields + _number(5, self._text(name)) + _number(6, self._text(build_id)) + _number(7, 1)

    def _location(self, frame: Frame, number: int) -> bytes:
        mapping = self._mappings[frame.segment]
        line = _number(1, number)
        return _number(1, number) + _number(2, mapping) + _number(3, (mapping << 40) + number) + _bytes(4, line)

    def _function(self, frame: Frame, number: int) -> bytes:
        name = self._text(frame.function)
        return _number(1, number) + _number(2, name) + _number(3, name) + _number(4, self._text(frame.segment))
