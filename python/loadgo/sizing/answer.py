"""The answer of a search in words: how many users, what decides it, and what remains in doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from loadgo.notation.figures import digits, number, people, seconds, share
from loadgo.sizing.curve import Point, Target, Verdict
from loadgo.sizing.outcomes import EveryNumber, Found, NoNumber, Outcome, Wanted
from loadgo.sizing.results import End, Saturation

if TYPE_CHECKING:
    from loadgo.sizing.models.models import Models

FULL = 0.7
"""With no resource busier than this at the answer, it is not the resources that are short."""
FAR = 2.0
"""And with none that is full before so many times the answer."""
OTHERS = 0.1
"""From this share of a host's processors on, what others took is told with the answer."""


@dataclass(frozen=True)
class Answer:
    """What a search came to."""

    end: End
    users: int | None
    interval: tuple[int, int | None] | None
    binding: Target | None
    in_words: str


@dataclass(frozen=True)
class Beside:
    """What is known beside the outcome and the points."""

    first: Saturation | None = None
    """The resource that is the first to be full."""
    refused: Mapping[int, int] = field(default_factory=dict)
    """How many could not log in, by the number of users, where any could not."""
    stopped: bool = False
    """An interrupt ended the search."""


_NOTHING = Beside()


def answer_of(outcome: Outcome, points: Sequence[Point], wanted: Wanted, beside: Beside = _NOTHING) -> Answer:
    """The answer, from the search's outcome and its points; on a host that others keep busy it says so."""
    told = _answered(outcome, points, wanted, beside)
    others = others_of(points)
    if others is None or others < OTHERS:
        return told
    return replace(told, in_words=f"{told.in_words} {_of_busy_host(points, others)}")


def others_of(points: Sequence[Point]) -> float | None:
    """The share of the processors' time that others took in all trials; None where that was not told apart."""
    told = [(one.others, one.seconds) for one in points if one.others is not None]
    seconds = sum(weight for _, weight in told)
    return sum(value * weight for value, weight in told) / seconds if seconds else None


def _of_busy_host(points: Sequence[Point], others: float) -> str:
    told = [one.others for one in points if one.others is not None]
    between = f" ({share(min(told))} to {share(max(told))} from point to point)" if len(told) > 1 else ""
    return (
        f"Others kept this host's processors {share(others)} busy during the trials{between}: the answer is for the "
        "host in that state. For the host alone, search again when it is quiet."
    )


def _answered(outcome: Outcome, points: Sequence[Point], wanted: Wanted, beside: Beside) -> Answer:
    if isinstance(outcome, Found):
        turned_away = beside.refused.get(outcome.users + 1)
        if turned_away:
            return _full(outcome, turned_away)
        return _found(outcome, points, wanted, beside.first)
    if isinstance(outcome, EveryNumber):
        floor = _missed_floor(outcome.users, points, wanted)
        if floor is not None:
            return Answer("contradiction", None, None, floor.target, _too_few(floor, outcome.users))
        told = f"Every number of users tried, up to the limit of {outcome.users:,}, meets {_all(wanted.targets)}"
        words = f"{told}: {_at(outcome.users, points)}. The most is not known: allow more with --max-users."
        return Answer("every number", outcome.users, (outcome.users, None), None, words)
    if isinstance(outcome, NoNumber):
        target = wanted.targets[outcome.binding]
        words = f"Not even one user: {_at(1, points)}, and {target.text} was asked for."
        return Answer("no number", 0, (0, 0), target, words)
    end: End = "stopped" if beside.stopped else "open"
    why = "the search was stopped" if beside.stopped else outcome.why
    between = f"at least {outcome.low:,}" if outcome.high is None else f"{outcome.low:,} to {outcome.high:,}"
    known = f": it is {between}" if outcome.low or outcome.high is not None else ""
    return Answer(end, None, (outcome.low, outcome.high), None, f"It could not be told how many users{known}; {why}.")


def saturation_of(models: Models | None) -> Saturation | None:
    """The resource that has no time left first, by the models; None where they have no resource."""
    if models is None or models.saturates is None or models.saturation_users is None:
        return None
    return Saturation(models.saturates, models.saturation_users)


def standing_floor(users: int, points: Sequence[Point], wanted: Wanted) -> Verdict | None:
    """The verdict of the floor that is missed, or else still open, with so many users; None when all are met."""
    verdicts = [one for point in points if point.users == users for one in point.verdicts]
    floors = [one for one in verdicts if one.target.sense == "least" and one.standing != "met"]
    return next((one for one in floors if one.standing == "missed"), next(iter(floors), None))


def _found(outcome: Found, points: Sequence[Point], wanted: Wanted, first: Saturation | None) -> Answer:
    target = wanted.targets[outcome.binding]
    floor = _missed_floor(outcome.users, points, wanted)
    if floor is not None:
        words = f"No number of users meets {_all(wanted.targets)}: with more than {outcome.users:,} {target.text} is "
        words += f"missed, and {_too_few(floor, outcome.users)}"
        return Answer("contradiction", None, None, floor.target, words)
    users, low, high = outcome.users, outcome.low, outcome.high
    if users == 0:
        return Answer("no number", 0, (0, high), target, f"Not even one user meets {target.text}: {_at(1, points)}.")
    words = _held(users, low, high, target, points)
    if not outcome.enough:
        words += " More trials would narrow it: the limit of trials came first."
    told = _at(users, points)
    words += f" {told[:1].upper()}{told[1:]}." if told else ""
    open_floor = standing_floor(users, points, wanted)
    if open_floor is not None:
        words += f" Whether {open_floor.target.text} is met there could not be told."
    return Answer("found", users, (low, high), target, words + _short_of(users, points, first))


def _held(users: int, low: int, high: int, target: Target, points: Sequence[Point]) -> str:
    """How many users, and how sure that is.

    It is where the line through all points near it crosses the limit; what was measured at that number alone may lie
    a little beyond. Then the answer begins with what is sure.
    """
    if low == high:
        return f"{people(users)}; with more, {target.text} is missed."
    sure = f"between {low:,} and {high:,}, with 95 % confidence"
    there = [one for point in points if point.users == users for one in point.verdicts if one.target == target]
    if any(one.value and one.value.value > target.limit for one in there):
        least = f"{people(low)} for sure" if low else "Perhaps not even one user"
        return f"{least}, {people(users)} by all that was measured: the answer lies {sure}."
    return f"{people(users)}; with more, {target.text} is missed. The answer lies {sure}."


def _full(outcome: Found, turned_away: int) -> Answer:
    """The system lets no more log in."""
    users = outcome.users
    words = f"{people(users)}; of {users + 1:,}, {turned_away:,} could not log in. The targets are met until then."
    return Answer("found" if users else "no number", users, (users, users), None, words)


def _missed_floor(users: int, points: Sequence[Point], wanted: Wanted) -> Verdict | None:
    floor = standing_floor(users, points, wanted)
    return floor if floor is not None and floor.standing == "missed" else None


def _too_few(floor: Verdict, users: int) -> str:
    measured = "too little" if floor.value is None else f"{number(floor.value.value)}/s"
    return f"with {people(users)} the throughput is {measured}, while {floor.target.text} was asked for."


def _all(targets: Sequence[Target]) -> str:
    return " and ".join(target.text for target in targets)


def _at(users: int, points: Sequence[Point]) -> str:
    """What was measured with so many users, of each target."""
    there = [point for point in points if point.users == users]
    told = [_measured(one) for point in there for one in point.verdicts if one.value or one.slow_share]
    return f"with {'one user' if users == 1 else people(users)} {', '.join(told)}" if told else ""


def _measured(verdict: Verdict) -> str:
    target = verdict.target
    of = f"({target.command})" if target.command and target.measure != "busy" else ""
    if verdict.value is None:
        slow = share(verdict.slow_share.value if verdict.slow_share else math.nan)
        return f"{slow} of {target.command or 'all'} take longer than {seconds(target.limit)}"
    name = f"{target.command} busy" if target.measure == "busy" else f"{target.measure}{of}"
    shown, ends = _figure(target, verdict.value.value), verdict.value.interval
    between = f" ({_figure(target, ends.low)} to {_figure(target, ends.high)})" if ends else ""
    return f"{name} is {shown}{between}"


def _figure(target: Target, value: float) -> str:
    if target.measure in ("errors", "busy"):
        return share(value)
    return f"{number(value)}/s" if target.measure == "throughput" else seconds(value)


def _short_of(users: int, points: Sequence[Point], first: Saturation | None) -> str:
    """What is short there: the first resource to be full, or something that is no resource."""
    near = min((point for point in points if point.utilisation), key=lambda one: abs(one.users - users), default=None)
    if first is None or near is None:
        return ""
    busiest = max(near.utilisation, key=lambda name: near.utilisation[name])
    if near.utilisation[busiest] < FULL and first.users > FAR * users:
        return (
            f" No resource is short there ({busiest}: {share(near.utilisation[busiest])} busy): what holds users up is "
            "no resource's time, such as a limit, a lock, or the length of the work itself."
        )
    verb = "would be" if first.users > users else "are" if first.resource.endswith("s") else "is"
    return f" {first.resource.capitalize()} {verb} full first, from {digits(first.users)} users on."
