"""The result of a capacity search: the answer with its interval, the measured curve, and the models of the curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loadgo.documents.result import Result
from loadgo.sizing.curve import LoadPoint, MixClass, Target, TargetStanding
from loadgo.sizing.search.fit_doubt import FitDoubt
from loadgo.sizing.search.narrowing import Narrowing

if TYPE_CHECKING:
    from loadgo.sizing.models.models import Models

SearchEnd = Literal["found", "range", "every number", "no number", "contradiction", "open", "stopped"]
"""The reason why a search ended.

`range`: the trials show a range, without a most likely number. `every number`: all numbers of users up to the limit
meet the targets. `no number`: none does. `contradiction`: each target can be met, but not all together. `open`: the
limits of the search left it undecided whether any number meets the targets. `stopped`: an interrupt ended the search.
"""
ReportProgress = Callable[[str], None]


@dataclass(frozen=True)
class Saturation:
    """The resource that saturates first as users are added."""

    resource: str
    users: float
    """The saturation point N*, the knee of the asymptotes (`Models.saturation_users`)."""


@dataclass(frozen=True)
class SearchLimits:
    """The limits of the search."""

    max_users: int
    said: bool
    """Whether the caller chose `max_users`; otherwise it is the default."""
    longest_s: float
    """The longest trial, on the system's clock."""
    trials: int
    """The largest number of trials."""


@dataclass(frozen=True)
class TrialRecord:
    """One trial of the search, in the order in which they ran."""

    users: int
    name: str
    """The folder of the trial if it is kept, else its seed."""
    seconds: float
    interactions: int
    standing: TargetStanding
    """The standing of all targets in this trial alone."""
    others: float | None
    """The share of other work in the time of all processors; None where it was not measured."""
    used: bool
    """Whether the answer uses the trial. A trial that was repeated or interrupted is left out."""
    valid: bool
    why: str
    """The reason why the trial is not valid; else empty."""
    cut_short: bool
    """Whether the trial ended early, since a target was missed widely."""
    interrupted: bool
    """Whether the trial ended early, since the search was interrupted."""
    censored: int
    """Lines in flight at the early end; no figure counts them."""
    late: int
    """Lines that the driver sent late."""
    unclear: int
    """Late lines so near to the limit that their side of it is not known; no share of slow interactions counts them."""


@dataclass(frozen=True)
class QuietCapacity:
    """The capacity of the host without other work: a prediction, or bounds."""

    by: Literal["trials", "bounds"]
    """Predicted from trials with more and with less other work, or bounded by the users' own processor time."""
    users: int | None
    """The predicted number of users; None for bounds."""
    low: int
    """Lower end of the 95 % interval, or the lower bound: a quiet host holds no fewer users than this busy one."""
    high: int


@dataclass(frozen=True)
class Neighbours:
    """The share of other work in the processors' time during the trials of the answer."""

    mean: float
    least: float
    """The smallest share of a trial."""
    most: float
    """The largest share of a trial."""
    quiet: QuietCapacity | None = None
    """The capacity without other work; None if the trials permit no prediction, or other work took little."""


@dataclass(frozen=True, repr=False)
class Capacity(Result, presented_by="loadgo.sizing.report.presentation:presentation"):
    """The capacity of a system in users, with the measurements that the answer is based on."""

    script: str
    on: str
    targets: tuple[Target, ...]
    end: SearchEnd
    answer: int | None
    """The largest number of users with which every target is met; 0 when one user is too many; None when undecided.

    With `every number` it is the limit of users.
    """
    interval: tuple[int, int | None] | None
    """The interval of the answer; its upper end is None where none is known.

    None without any complete trial, and where targets contradict each other.
    """
    confidence: float
    """The confidence of the interval; 0 where its ends follow from the measured figures alone."""
    in_words: str
    """The answer, and below it, after a line break, what decides it and what remains uncertain."""
    binding: Target | None
    """The target that is missed first as users are added; None without such a target."""
    saturates_first: Saturation | None
    """None where no resource's time was measured, or no point is usable for a model."""
    points: tuple[LoadPoint, ...]
    """The measured points, in ascending order of users."""
    interactions_spent: int
    """The number of interactions in all trials, warm-ups included."""
    trials: int
    seconds: float
    """The time of all trials, on the system's clock."""
    classes: tuple[MixClass, ...]
    """The classes of a mix; empty when all users are alike."""
    limits: SearchLimits
    servers: Mapping[str, int | None]
    """The number of servers of each resource in `LoadPoint.utilisation`; None means any number."""
    currency: str
    """The currency of `cost_user_hour`; empty where nothing has a price."""
    models: Models | None
    """The models of the measured points; None where there are too few points."""
    notes: tuple[str, ...]
    """Phrases for what was left out: trials, lines, users, records."""
    each_trial: tuple[TrialRecord, ...] = ()
    neighbours: Neighbours | None = None
    """None where other work was not measured."""
    fit_doubt: FitDoubt | None = None
    """The uncertainty of the fit; None where the machine was not fitted, or where it is not known."""
    tariff: str = ""
    """The tariff of `cost_user_hour` with its prices, in words; empty where nothing has a price."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fit of a fitted machine."""
    limit_warnings: tuple[str, ...] = ()
    """The limits that this host cannot reach."""
    settings: tuple[str, ...] = ()
    """The settings of the search that replace the script's or the machine's, in words: `limit cpus=0.5`."""
    narrowing: Narrowing | None = None
    """Trials that would narrow the answer; None where it is narrow enough, or where more trials would not help."""
    has_cost: bool = False
    """Whether the answer names the cost of a user's hour."""

    @property
    def headline(self) -> str:
        """The answer in words, without what explains it."""
        return self.in_words.partition("\n")[0]

    @property
    def explanation(self) -> str:
        """Sentences on what decides the answer and what remains uncertain; may be empty."""
        return self.in_words.partition("\n")[2]

    @property
    def bad(self) -> bool:
        """Whether no number of users meets the targets, or the search left it undecided."""
        return self.end in ("no number", "contradiction", "open") or (self.end == "stopped" and not self.answer)
