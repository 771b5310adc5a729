"""How many users a system holds: the most of them with whom every target is met, with an interval and the whole curve.

`capacity` searches: short trials first, long ones only near the answer. The types here are what it tells; the search is
in `capacity_search`, one trial in `capacity_trials`, the words of a target in `capacity_targets`, and the models that
stand beside the measurements in `capacity_models`. Times are seconds, rates are a second, shares lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from loadgo.on_host import USUAL, Driver
from loadgo.resample import Interval

if TYPE_CHECKING:
    from loadgo.capacity_models import Models

CONFIDENCE = 0.95

Sense = Literal["most", "least"]
Standing = Literal["met", "missed", "open"]
End = Literal["found", "every number", "no number", "contradiction", "open", "stopped"]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Figure:
    """A figure of one point of the curve, with its 95 % interval where there is one."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Target:
    """What must hold: `p90 < 2s`, `mean(edit) < 500ms`, `errors < 1%`, `busy(processors) < 80%`, `throughput > 3/s`."""

    text: str
    """As it was asked for, trimmed."""
    measure: str
    """`mean`, `p90` and any other quantile, `errors`, `busy`, `throughput`."""
    command: str | None
    """Of this command alone; of `busy`, the resource."""
    sense: Sense
    """`most`: the limit is a ceiling; `least`: it is a floor, and more users come nearer to it."""
    limit: float
    """Seconds, a share, or interactions a second."""
    share: float | None
    """For a quantile, the share of interactions that may be slower than `limit`: 0.1 for p90; else None."""


@dataclass(frozen=True)
class Verdict:
    """How one target stands with one number of users."""

    target: Target
    standing: Standing
    """`open`: the interval holds the limit, or there is too little to tell."""
    value: Figure | None
    """The measure itself, for a quantile the quantile; None where too few samples tell it."""
    slow_share: Figure | None
    """For a quantile, the share of interactions slower than the limit, by which it is judged; else None."""


@dataclass(frozen=True)
class ClassPoint:
    """The users of one class at a point."""

    name: str
    users: int
    throughput: float
    """Interactions a second of all of them."""
    response_s: float | None
    """The mean."""
    think_s: float
    """The mean time from a prompt to the sending, typing with it."""
    cpu_s: float | None
    """Processor time of one interaction."""


@dataclass(frozen=True)
class Point:
    """All that was measured with one number of users, its trials together."""

    users: int
    seconds: float
    """Of the system's own time that counts: the warm-up of each trial is left out."""
    interactions: int
    """That count."""
    trials: int
    throughput: Figure
    response_s: Mapping[str, Figure]
    """`mean`, `p50`, `p90`, `p95`, `p99`; those that the samples are too few for are absent."""
    think_s: float
    """The mean time from a prompt to the sending, typing and lateness with it."""
    verdicts: tuple[Verdict, ...]
    """In the order of the targets."""
    utilisation: Mapping[str, float]
    """Of each server of each resource: `processors`, and on simulated machines the stores by name."""
    cost_user_hour: float | None
    """In the tariff's currency; None when not measured."""
    faults_a_command: float | None
    """Page faults that waited for a device, an interaction."""
    steady: bool
    steady_why: str
    """What the proof of the steady state came to, in words."""
    lost: int
    """What the records do not hold."""
    valid: bool
    """The driver was not the bottleneck, and Little's law is not broken."""
    runs: tuple[str, ...]
    """The folders of its trials that are kept, else the seeds (`seed 3`)."""
    classes: tuple[ClassPoint, ...] = ()
    """Where the load is a mix, each class."""
    users_cpu_s: float | None = None
    """The users' own processor time, an interaction; None where it is not told apart from what else was busy."""
    others: float | None = None
    """The share of the processors' time that neither the users nor loadgo had, nor nobody; None where that is not told
    apart."""


@dataclass(frozen=True)
class Saturation:
    """The resource that would be the first to have no time left."""

    resource: str
    users: float
    """From this number of users on: N* of the models, the knee of the asymptotes (`Models.saturation_users`)."""


@dataclass(frozen=True)
class Class:
    """A class of users of a mix."""

    name: str
    weight: int
    """So many of the sum of all weights are of this class."""


@dataclass(frozen=True)
class Limits:
    """What the search was not allowed to go beyond."""

    max_users: int
    said: bool
    """False: nobody said it, and it is the usual one."""
    longest_s: float
    """Of the system's own time, for one trial."""
    trials: int


@dataclass(frozen=True)
class Capacity:
    """How many users a system holds, and all that was measured to find it."""

    script: str
    on: str
    targets: tuple[Target, ...]
    end: End
    """How the search ended: `every number` up to the limit meets the targets, `no number` does; `contradiction`: each
    can be met and all together cannot; `open`: it could not be told within the limits; `stopped`: interrupted."""
    answer: int | None
    """The most users with whom every target is met; 0 when not even one is held; None when it could not be told. With
    `every number` it is the limit."""
    interval: tuple[int, int | None] | None
    """In which it lies; its end is None where the limit of users came first. None when it could not be told."""
    confidence: float
    in_words: str
    """One or two sentences: the answer, what decides it, and what remains in doubt."""
    binding: Target | None
    """The target that decides the answer; None when none does."""
    saturates_first: Saturation | None
    """None where no resource's time was measured, or no point is fit for a model."""
    points: tuple[Point, ...]
    """By users, ascending."""
    interactions_spent: int
    """In all trials, those of warm-ups too."""
    trials: int
    seconds: float
    """Of the system's own time, in all trials."""
    classes: tuple[Class, ...]
    """Of a mix; empty when all users are alike."""
    limits: Limits
    servers: Mapping[str, int | None]
    """How many servers each resource of `Point.utilisation` has; None: any number."""
    currency: str
    """Of `cost_user_hour`; empty where nothing has a price."""
    models: Models | None
    """What models make of the points; None where these are too few."""
    notes: tuple[str, ...]
    """What was left out, not measured, or assumed."""

    @property
    def bad(self) -> bool:
        """Whether the finding is bad: no number of users meets the targets, or it could not be told."""
        return self.end in ("no number", "contradiction", "open", "stopped")


def capacity(
    script: str | Path | None = None,
    *,
    target: str | Sequence[str],
    on: str = "here",
    max_users: int | None = None,
    mix: str | None = None,
    within: int | None = None,
    think: str | None = None,
    typing: float | str | None = None,
    set: Sequence[str] = (),
    limit: str | None = None,
    meters: str | None = None,
    driver: Driver = USUAL,
    shortest: float | str | None = None,
    longest: float | str | None = None,
    trials: int | None = None,
    seed: int = 1,
    tariff: str = "default",
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Capacity:
    """How many users who type `script` the system `on` holds, so that every `target` is met.

    A target is `p90 < 2s`, `mean(edit) < 500ms`, `errors < 1%`, `busy(processors) < 80%`, `throughput > 3/s`. No more
    than `max_users` are ever logged in: 10,000 by default on a simulated machine; on this host, which others may be
    using, 8 when nobody says more. The search goes on until the ends of the answer's interval differ by no more users
    than `within` (2 % by default, and at least 1), or `trials` are made (60; 24 on this host), each between `shortest`
    and `longest` (30 s and 5 min on this host) of the system's own time. `mix`, such as
    `heavy.toml=1,ordinary.toml=3`, in place of `script` has users of several classes. The folders of trials are kept in
    `out`; on this host, by default, where runs are kept. The other arguments are those of `loadgo.run`.

    Raises `ValueError` for what makes no sense, `errors.Mistake` for a script with a mistake, and what `loadgo.run`
    raises. An interrupt ends the search, with what is known by then.
    """
    from loadgo.capacity_drive import Manner
    from loadgo.capacity_made import Options, made

    if not 0 <= seed < 2**62:
        raise ValueError(f"seed {seed} is out of range: it lies between 0 and 2^62 - 1")
    return made(
        script,
        on,
        Options(
            target=target,
            max_users=max_users,
            mix=mix,
            within=within,
            shortest=shortest,
            longest=longest,
            trials=trials,
            seed=seed,
            tariff=tariff,
            out=None if out is None else Path(out),
        ),
        Manner(think, typing, tuple(set), limit, None, meters, driver),
        progress,
    )
