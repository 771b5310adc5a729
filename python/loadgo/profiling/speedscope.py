"""A profile as speedscope JSON: the samples, and the page faults by segment, as two profiles over one list of frames.

Format: speedscope's file-format-schema.json, of which a copy is in tests/.
"""

from __future__ import annotations

import json
from typing import Any

from loadgo import _loadgo
from loadgo.profiling.profile import Frame, Profile

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profile: Profile) -> str:
    """The file's text."""
    frames = _Frames()
    profiles = [_samples(profile, frames), *_faults(profile, frames)]
    told = {
        "$schema": SCHEMA,
        "name": f"loadgo: {profile.of}",
        "exporter": f"loadgo {_loadgo.__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.told},
        "profiles": profiles,
    }
    return json.dumps(told, ensure_ascii=False) + "\n"


class _Frames:
    """The frames of all profiles, each once."""

    def __init__(self) -> None:
        self.told: list[dict[str, str]] = []
        self._places: dict[tuple[str, str], int] = {}

    def place(self, name: str, file: str) -> int:
        if (name, file) not in self._places:
            self._places[name, file] = len(self.told)
            self.told.append({"name": name, "file": file} if file else {"name": name})
        return self._places[name, file]

    def place_of(self, frame: Frame) -> int:
        return self.place(frame.place, frame.segment)


def _samples(profile: Profile, frames: _Frames) -> dict[str, Any]:
    stacks = [[frames.place(stack.process, ""), *map(frames.place_of, stack.frames)] for stack in profile.stacks]
    period = 1.0 if profile.hz is None else 1 / profile.hz
    return _sampled(
        "samples",
        "none" if profile.hz is None else "seconds",
        stacks,
        [stack.samples * period for stack in profile.stacks],
    )


def _faults(profile: Profile, frames: _Frames) -> list[dict[str, Any]]:
    told = []
    for name, counts in (
        ("minor page faults", [(one.name, one.faults_minor) for one in profile.segments]),
        ("major page faults", [(one.name, one.faults_major) for one in profile.segments]),
    ):
        faulted = [(segment, count) for segment, count in counts if count]
        if faulted:
            stacks = [[frames.place(segment, "")] for segment, _ in faulted]
            told.append(_sampled(name, "none", stacks, [float(count) for _, count in faulted]))
    return told


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
