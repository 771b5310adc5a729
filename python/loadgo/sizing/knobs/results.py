"""The result of a search over a limit: the answer with its interval, and the measured curve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadgo.documents.result import Result
from loadgo.sizing.curve import LoadPoint, MixClass, Target, TargetStanding
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.search.results import TrialRecord

KnobEnd = Literal["found", "every value", "no value", "open", "stopped"]
"""The reason why a search ended; `open`: the trials left it undecided, and `stopped`: an interrupt ended it."""
KnobSide = Literal["at most", "at least"]
"""Whether the targets are met below the answer or above it."""


@dataclass(frozen=True)
class KnobPoint:
    """All trials with one value of the knob."""

    value: float
    standing: TargetStanding
    figures: LoadPoint


@dataclass(frozen=True)
class RecommendedFile:
    """A file that would hold users to the limit that was found, with the evidence as comments."""

    path: str
    """Where it belongs, below `/etc`."""
    content: str


@dataclass(frozen=True, repr=False)
class KnobCapacity(Result, presented_by="loadgo.sizing.knobs.presentation:presentation"):
    """The value of a limit that keeps every target, with the measurements that the answer is based on."""

    script: str
    on: str
    knob: Knob
    users: int
    targets: tuple[Target, ...]
    end: KnobEnd
    side: KnobSide
    answer: float | None
    """The value at which the targets are just met; with `every value` or `open`, the largest that met them, or None."""
    interval: tuple[float, float] | None
    """The 95 % interval of the answer, or the values between which it lies."""
    in_words: str
    points: tuple[KnobPoint, ...]
    """In ascending order of the values."""
    classes: tuple[MixClass, ...]
    each_trial: tuple[TrialRecord, ...]
    values: tuple[float, ...]
    """The value of each trial."""
    seconds: float
    """The time of all trials, log-ins included."""
    settings: tuple[str, ...]
    limit_warnings: tuple[str, ...]
    why: str
    """The reason why the search ended before its answer was precise enough, which `in_words` has too; else empty."""
    notes: tuple[str, ...]
    """Phrases for what was left out: trials, and files that could not be written."""
    recommended: tuple[RecommendedFile, ...]
    folder: Path | None = None
    """The folder of the recommended files, if they were written."""

    @property
    def bad(self) -> bool:
        """Whether no value meets the targets, or the search left it undecided."""
        return self.end in ("no value", "open") or (self.end == "stopped" and self.answer is None)
