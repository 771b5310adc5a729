"""The curve of a capacity search: targets, and the measurements and verdicts for each number of users.

Times are in seconds, rates are per second, shares lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loadgo.stats.resample import Interval

TargetSense = Literal["most", "least"]
"""Whether a target's limit is a ceiling (`most`) or a floor (`least`)."""
TargetStanding = Literal["met", "missed", "open"]
"""Whether a target is met; `open`: its interval contains the limit, or there are too few samples."""


@dataclass(frozen=True)
class MeasuredFigure:
    """A figure at one point of the curve, with its 95 % interval where one is known."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Target:
    """A condition that must hold, such as `p90 < 2s`, `mean(edit) < 500ms`, `busy(processors) < 80%`."""

    text: str
    """The condition as the user wrote it, without surrounding blanks."""
    measure: str
    """`mean`, a quantile such as `p90`, `errors`, `busy` or `throughput`."""
    command: str | None
    """The only command that the target is about; for `busy`, the resource."""
    sense: TargetSense
    """With `most`, the limit is a ceiling; with `least`, a floor."""
    limit: float
    """In seconds, as a share, or in interactions per second."""
    share: float | None
    """For a quantile, the share of interactions that may be slower than `limit`: 0.1 for p90; else None."""


@dataclass(frozen=True)
class TargetVerdict:
    """Whether one target is met with one number of users."""

    target: Target
    standing: TargetStanding
    value: MeasuredFigure | None
    """The value of the measure; None with too few samples."""
    slow_share: MeasuredFigure | None
    """For a quantile, the share of interactions slower than the limit, which decides the verdict; else None."""


@dataclass(frozen=True)
class ClassFigures:
    """The users of one class at one point of the curve."""

    name: str
    users: int
    throughput: float
    """Interactions per second of the whole class."""
    response_s: float | None
    """The mean response time."""
    think_s: float
    """The mean time from the prompt to the sending of a line, typing included."""
    cpu_s: float | None
    """The mean processor time of an interaction."""


ENDED_EARLY = "the trial ended early, since a target was missed widely"
"""Why a point is not steady whose longest trial was no longer needed. That is no doubt about the answer."""


@dataclass(frozen=True)
class LoadPoint:
    """The measurements with one number of users, all its trials together."""

    users: int
    seconds: float
    """The measured time on the system's clock, without the warm-up of each trial."""
    interactions: int
    """The number of interactions in that time."""
    trials: int
    throughput: MeasuredFigure
    response_s: Mapping[str, MeasuredFigure]
    """`mean`, `p50`, `p90`, `p95`, `p99`; those with too few samples are absent."""
    think_s: float
    """The mean time from the prompt to the sending of a line, typing and lateness included."""
    verdicts: tuple[TargetVerdict, ...]
    """The verdicts in the order of the targets."""
    utilisation: Mapping[str, float]
    """The utilisation of a single server by resource: `processors`, and the stores of a simulated machine."""
    cost_user_hour: float | None
    """The cost of one user for an hour in the tariff's currency; None when not measured."""
    faults_a_command: float | None
    """The mean number of major faults of an interaction: page faults that waited for a device."""
    steady: bool
    steady_why: str
    """The result of the test for a steady state, in words."""
    lost: int
    """The number of lost records."""
    valid: bool
    """Whether the driver kept up and Little's law holds."""
    runs: tuple[str, ...]
    """The folders of the trials where they are kept, else their seeds (`seed 3`)."""
    classes: tuple[ClassFigures, ...] = ()
    """The classes of users, when the load is a mix."""
    users_cpu_s: float | None = None
    """The users' own processor time per interaction; None where it cannot be separated from other work."""
    others: float | None = None
    """The share of other work in the processors' time; None where it cannot be separated."""
    loading: float = 0.0
    """The share of the processors' time that waits for a program to be loaded into memory, on a swapping machine."""
    unanswered: int = 0
    """The number of interactions without an answer: they are the longest of the quantiles, and in no mean."""


@dataclass(frozen=True)
class MixClass:
    """One class of users in a mix."""

    name: str
    weight: int
    """The class's share of the users is this weight over the sum of all weights."""
