"""The result of a likeness: figures of the observation and of the run side by side, distances, and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadgo.documents.result import Result
from loadgo.measures.trust import Evidence
from loadgo.observation.source_files import SourceKind
from loadgo.stats.interval import Interval

DEFAULT_LIKENESS_MARGIN = 0.1
"""The relative difference that counts as like by default."""

Measure = Literal[
    "processor time",
    "page faults",
    "bytes read",
    "bytes written",
    "processes",
    "response time",
    "think time",
    "commands in a session",
    "commands a minute",
    "processors used",
    "running or ready",
]
"""A figure of a command, of a class's sessions, or of a user."""
Statistic = Literal["mean", "p90"]
Verdict = Literal["alike", "differs", "unclear", "few"]
"""Whether an interval lies within the margin, wholly beyond it, or neither; `few`: there are too few to judge."""
MovedBytes = Literal["read by calls", "written by calls", "read from storage", "written to storage"]
"""A count of the bytes that a command moves."""
FiguresOf = Literal["script", "host"]
"""Whether a figure depends on the script alone, or on the host and its other work, too."""


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of the observation and of the run."""

    depends_on: FiguresOf
    user_class: str
    """The class of users; empty for all users."""
    command: str
    """The command; empty for a figure of users or sessions. Of a think time, the command before it."""
    measure: Measure
    statistic: Statistic
    counts: tuple[int, int]
    """Number of values that were observed, and of those in the run."""
    observed: float | None
    """In nanoseconds, bytes, or a number."""
    observed_most: float | None
    """The same with all that rounding down may hide; equal to `observed` where nothing is rounded."""
    run: float | None
    relative: float | None
    """The run's figure over the observed one, less 1. With rounding it is that over the nearest end of the range.

    None where the observed figure is not known, or where rounding hides much and the run's figure lies within.
    """
    interval: Interval | None
    """The 95 % interval of `relative`, with the range of the rounding in it."""
    verdict: Verdict


@dataclass(frozen=True)
class ComparedDistribution:
    """The distance between two distributions: the mean distance of their quantiles."""

    user_class: str
    command: str
    measure: Measure
    counts: tuple[int, int]
    distance: float
    """As a share of the observed mean."""
    interval: Interval | None


@dataclass(frozen=True)
class ComparedCorrelation:
    """The rank correlation of two figures of a command's runs."""

    user_class: str
    command: str
    second: Literal["page faults", "waiting"]
    """The figure that goes with processor time or does not."""
    counts: tuple[int, int]
    observed: float | None
    observed_interval: Interval | None
    run: float | None
    run_interval: Interval | None


@dataclass(frozen=True)
class ComparedMix:
    """The share of a class's commands, or of its pairs of commands, that are others in the run than observed."""

    user_class: str
    what: Literal["commands", "pairs of commands"]
    counts: tuple[int, int]
    share: float
    interval: Interval | None
    verdict: Verdict


@dataclass(frozen=True)
class ComparedBytes:
    """Bytes of a command: those observed, and those that its stand-ins in the run's script are to move.

    A run does not count them. None of `script` figures: the script types no stand-in for the command.
    """

    user_class: str
    command: str
    moved: MovedBytes
    runs: int
    """Number of observed runs."""
    observed: float
    """The mean of a run."""
    observed_p90: float
    script: float | None
    """The mean of the jobs of the stand-in, each of which is as likely."""
    script_p90: float | None
    relative: float | None
    """The script's mean over the observed one, less 1."""
    distance: float | None
    """How far the quantiles lie apart on average, as a share of the observed mean."""
    observed_correlation: float | None
    """The rank correlation with processor time."""
    script_correlation: float | None


@dataclass(frozen=True)
class LoadOfSide:
    """The load as a whole, of the observation or of the run."""

    users: float | None
    """The equivalent users of the observation, or the mean number of users in the run."""
    span_s: float
    commands: int
    processors_used: float | None
    """Mean number of processors that commands used."""
    running_or_ready: float | None
    """Mean number of processes that ran or wanted to run, by Little's law."""
    sessions_an_hour: float | None
    """Sessions that began in an hour; None of a run whose users are there from the beginning."""


@dataclass(frozen=True)
class Gap:
    """A figure that cannot be compared, or that the script does not model."""

    figure: str
    reason: str


@dataclass(frozen=True)
class Curve:
    """Quantiles of a figure of a frequent command, or of a class's think times, for a chart."""

    user_class: str
    command: str
    measure: Measure
    probabilities: tuple[float, ...]
    observed: tuple[float, ...]
    run: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Likeness(Result, presented_by="loadgo.observation.likeness.presentation:presentation"):
    """A run of a script beside what was observed."""

    script: Path
    """The script, or the table of figures beside it."""
    run: str
    """The run's name."""
    system: str
    """The system on which the script was run."""
    source: SourceKind
    margin: float
    """The relative difference that counts as like."""
    sessions: tuple[int, int]
    """Number of sessions that were observed, and of sessions of the script in the run."""
    figures: tuple[ComparedFigure, ...]
    mixes: tuple[ComparedMix, ...]
    distributions: tuple[ComparedDistribution, ...]
    correlations: tuple[ComparedCorrelation, ...]
    bytes: tuple[ComparedBytes, ...]
    """Bytes by command, observed and in the run's script; empty where they were not observed, or for a simulation."""
    observed_load: LoadOfSide
    run_load: LoadOfSide
    not_compared: tuple[Gap, ...]
    not_modelled: tuple[Gap, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[str, ...]
    evidence: Evidence
    """The phrases for and against the run's records."""

    def judged(self, depends_on: FiguresOf) -> list[ComparedFigure | ComparedMix]:
        """The figures that are judged: those with enough values on both sides."""
        figures: list[ComparedFigure | ComparedMix] = [
            figure for figure in self.figures if figure.depends_on == depends_on and figure.verdict != "few"
        ]
        return [*figures, *(mix for mix in self.mixes if depends_on == "script" and mix.verdict != "few")]

    @property
    def is_unlike(self) -> bool:
        """Whether a figure of the script differs by more than the margin, and not by chance."""
        return any(figure.verdict == "differs" for figure in self.judged("script"))

    @property
    def is_alike(self) -> bool:
        """Whether no figure of the script differs, and most are within the margin with their whole interval."""
        judged = self.judged("script")
        return not self.is_unlike and 2 * sum(figure.verdict == "alike" for figure in judged) > len(judged)


def difference_of(figure: ComparedFigure | ComparedMix) -> float | None:
    """How far a figure of the run is from the observed one, as a share."""
    return figure.share if isinstance(figure, ComparedMix) else figure.relative
