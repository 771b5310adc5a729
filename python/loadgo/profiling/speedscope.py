"""A profile as speedscope JSON: samples, and page faults by mapping, as profiles over one list of frames.

Format: speedscope's file-format-schema.json. The tests have a copy of it.
"""

from __future__ import annotations

import json
from typing import Any

from loadgo import _loadgo
from loadgo.profiling.profile import Frame, Profile

SCHEMA_URL = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profile: Profile) -> str:
    """The text of the file."""
    frames = _Frames()
    profiles = [_samples(profile, frames), *_faults(profile, frames)]
    content = {
        "$schema": SCHEMA_URL,
        "name": f"loadgo: {profile.of}",
        "exporter": f"loadgo {_loadgo.__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.entries},
        "profiles": profiles,
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


class _Frames:
    """The list of frames that all profiles share. Each frame is in it once."""

    def __init__(self) -> None:
        self.entries: list[dict[str, str]] = []
        self._indices: dict[tuple[str, str], int] = {}

    def index(self, name: str, file: str) -> int:
        if (name, file) not in self._indices:
            self._indices[name, file] = len(self.entries)
            self.entries.append({"name": name, "file": file} if file else {"name": name})
        return self._indices[name, file]

    def index_of(self, frame: Frame) -> int:
        return self.index(frame.place, frame.segment)


def _samples(profile: Profile, frames: _Frames) -> dict[str, Any]:
    stacks = [[frames.index(stack.process, ""), *map(frames.index_of, stack.frames)] for stack in profile.stacks]
    period = 1.0 if profile.hz is None else 1 / profile.hz
    return _sampled(
        "samples",
        "none" if profile.hz is None else "seconds",
        stacks,
        [stack.samples * period for stack in profile.stacks],
    )


def _faults(profile: Profile, frames: _Frames) -> list[dict[str, Any]]:
    profiles = []
    for name, counts in (
        ("minor page faults", [(segment.name, segment.faults_minor) for segment in profile.segments]),
        ("major page faults", [(segment.name, segment.faults_major) for segment in profile.segments]),
    ):
        faulted = [(segment, count) for segment, count in counts if count]
        if faulted:
            stacks = [[frames.index(segment, "")] for segment, _ in faulted]
            profiles.append(_sampled(name, "none", stacks, [float(count) for _, count in faulted]))
    return profiles


def _sampled(name: str, unit: str, stacks: list[list[int]], weights: list[float]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": name,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": stacks,
        "weights": weights,
    }
