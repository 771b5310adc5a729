"""The answer of a search in words: how many users, what decides it, and what remains in doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadgo.capacity import End, Point, Saturation, Target, Verdict
from loadgo.capacity_outcomes import EveryNumber, Found, NoNumber, Outcome, Wanted
from loadgo.report_figures import digits, duration, number, share

FULL = 0.7
"""With no resource busier than this at the answer, it is not the resources that are short."""
FAR = 2.0
"""And with none that is full before so many times the answer."""
ALWAYS = 0.95
"""A resource that is as busy with any number of users is kept so by others: nothing is known of what users need."""
_FEWEST = 30
"""Interactions of a point that tells a light load's cycle."""


@dataclass(frozen=True)
class Answer:
    """What a search came to."""

    end: End
    users: int | None
    interval: tuple[int, int | None] | None
    binding: Target | None
    in_words: str


def answer_of(
    outcome: Outcome,
    points: Sequence[Point],
    wanted: Wanted,
    *,
    refused: Mapping[int, int] | None = None,
    stopped: bool = False,
) -> Answer:
    """The answer, from the search's outcome and its points; `stopped`: an interrupt ended it.

    `refused` is how many could not log in, by the number of users, where any could not.
    """
    if isinstance(outcome, Found):
        turned_away = (refused or {}).get(outcome.users + 1)
        if turned_away:
            return _full(outcome, turned_away)
        return _found(outcome, points, wanted)
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
    end: End = "stopped" if stopped else "open"
    why = "the search was stopped" if stopped else outcome.why
    between = f"at least {outcome.low:,}" if outcome.high is None else f"{outcome.low:,} to {outcome.high:,}"
    known = f": it is {between}" if outcome.low or outcome.high is not None else ""
    return Answer(end, None, (outcome.low, outcome.high), None, f"It could not be told how many users{known}; {why}.")


def saturation_of(points: Sequence[Point]) -> Saturation | None:
    """The resource that has no time left first: the knee (R + Z) / D of the one that an interaction takes the most of.

    D is by all points, R + Z by the one with the fewest users that tells it.
    """
    told = [point for point in points if point.interactions >= _FEWEST and point.utilisation]
    count = sum(point.interactions for point in told)
    if not count or told[0].response_s.get("mean") is None:
        return None
    names = dict.fromkeys(name for point in told for name in point.utilisation)
    each_s = {name: sum(point.utilisation.get(name, 0.0) * point.seconds for point in told) / count for name in names}
    first = max(each_s, key=lambda name: each_s[name])
    if min(point.utilisation.get(first, 0.0) for point in told) > ALWAYS:
        return None
    light = told[0].think_s + told[0].response_s["mean"].value
    return Saturation(first, light / each_s[first]) if each_s[first] > 0 else None


def standing_floor(users: int, points: Sequence[Point], wanted: Wanted) -> Verdict | None:
    """The verdict of the floor that is missed, or else still open, with so many users; None when all are met."""
    verdicts = [one for point in points if point.users == users for one in point.verdicts]
    floors = [one for one in verdicts if one.target.sense == "least" and one.standing != "met"]
    return next((one for one in floors if one.standing == "missed"), next(iter(floors), None))


def _found(outcome: Found, points: Sequence[Point], wanted: Wanted) -> Answer:
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
    return Answer("found", users, (low, high), target, words + _short_of(users, points))


def _held(users: int, low: int, high: int, target: Target, points: Sequence[Point]) -> str:
    """How many users, and how sure that is.

    It is where the line through all points near it crosses the limit; what was measured at that number alone may lie
    a little beyond. Then the answer begins with what is sure.
    """
    people = "1 user" if users == 1 else f"{users:,} users"
    if low == high:
        return f"{people}; with more, {target.text} is missed."
    sure = f"between {low:,} and {high:,}, with 95 % confidence"
    there = [one for point in points if point.users == users for one in point.verdicts if one.target == target]
    if any(one.value and one.value.value > target.limit for one in there):
        least = f"{low:,} users for sure" if low else "Perhaps not even one user"
        return f"{least}, {people} by all that was measured: the answer lies {sure}."
    return f"{people}; with more, {target.text} is missed. The answer lies {sure}."


def _full(outcome: Found, turned_away: int) -> Answer:
    """The system lets no more log in."""
    users = outcome.users
    people = "1 user" if users == 1 else f"{users:,} users"
    words = f"{people}; of {users + 1:,}, {turned_away:,} could not log in. The targets are met until then."
    return Answer("found" if users else "no number", users, (users, users), None, words)


def _missed_floor(users: int, points: Sequence[Point], wanted: Wanted) -> Verdict | None:
    floor = standing_floor(users, points, wanted)
    return floor if floor is not None and floor.standing == "missed" else None


def _too_few(floor: Verdict, users: int) -> str:
    measured = "too little" if floor.value is None else f"{number(floor.value.value)}/s"
    return f"with {users:,} users the throughput is {measured}, while {floor.target.text} was asked for."


def _all(targets: Sequence[Target]) -> str:
    return " and ".join(target.text for target in targets)


def _at(users: int, points: Sequence[Point]) -> str:
    """What was measured with so many users, of each target."""
    there = [point for point in points if point.users == users]
    told = [_measured(one) for point in there for one in point.verdicts if one.value or one.slow_share]
    people = "one user" if users == 1 else f"{users:,} users"
    return f"with {people} {', '.join(told)}" if told else ""


def _measured(verdict: Verdict) -> str:
    target = verdict.target
    of = f"({target.command})" if target.command and target.measure != "busy" else ""
    if verdict.value is None:
        slow = share(verdict.slow_share.value if verdict.slow_share else math.nan)
        return f"{slow} of {target.command or 'all'} take longer than {duration(target.limit * 1e9)}"
    name = f"{target.command} busy" if target.measure == "busy" else f"{target.measure}{of}"
    shown, ends = _figure(target, verdict.value.value), verdict.value.interval
    between = f" ({_figure(target, ends.low)} to {_figure(target, ends.high)})" if ends else ""
    return f"{name} is {shown}{between}"


def _figure(target: Target, value: float) -> str:
    if target.measure in ("errors", "busy"):
        return share(value)
    return f"{number(value)}/s" if target.measure == "throughput" else duration(value * 1e9)


def _short_of(users: int, points: Sequence[Point]) -> str:
    """What is short there: the first resource to be full, or something that is no resource."""
    first = saturation_of(points)
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
