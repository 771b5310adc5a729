"""The material of an observation, from any source: sessions with their commands, think times, and unknown figures."""

from __future__ import annotations

import pwd
from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.observation.results import Days, DaysOfWeek, HourOfDay, KnownFigure, SourceRead, ThinkTimes, TypingTimes
from loadgo.observation.sessions import ObservedSession

_ACCOUNTS = 2**32 - 1
"""Numbers of accounts are below this; the kernel keeps this number for *no account*."""


@dataclass(frozen=True)
class ObservedPeople:
    """The people whose commands count, by the numbers of their accounts."""

    wanted: frozenset[int] = frozenset()
    """Only these; all if it is empty."""
    left_out: frozenset[int] = frozenset()


@dataclass(frozen=True)
class ChosenPeople:
    """The same people as they were given: names or numbers."""

    users: tuple[str | int, ...]
    without_users: tuple[str | int, ...]

    def by_number(self) -> ObservedPeople:
        """The numbers of their accounts on this host. Raises `BadArgument` for a name that it does not have."""
        return ObservedPeople(_numbers(self.users, "users"), _numbers(self.without_users, "without_users"))


def _numbers(users: Sequence[str | int], argument: str) -> frozenset[int]:
    """The numbers of accounts, from names or numbers."""
    numbers = set()
    for user in users:
        if isinstance(user, int) or user.isdecimal():
            if not 0 <= int(user) < _ACCOUNTS:
                raise BadArgument(f"`{argument}`: {user} is no number of an account").about(argument)
            numbers.add(int(user))
            continue
        try:
            numbers.add(pwd.getpwnam(user).pw_uid)
        except (KeyError, ValueError):
            raise BadArgument(
                f"`{argument}`: this host has no account {user!r}; records of another host need its number"
            ).about(argument) from None
    return frozenset(numbers)


@dataclass(frozen=True)
class Material:
    """The sessions of an observation, and sentences on what is in none."""

    sessions: tuple[ObservedSession, ...]
    span_s: float
    """Length of a live observation; of records, the time from the first beginning to the last end."""
    sources: tuple[SourceRead, ...]
    think: ThinkTimes | None
    typing: TypingTimes | None
    hours: tuple[HourOfDay, ...]
    known: tuple[KnownFigure, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    rounded_steps: int
    """Number of steps of 10 ms by which the processor time of a process may be too small."""
    is_ordered: bool
    """Whether the commands of a session stand in the order in which they were typed."""
    days: Days = "all"
    days_of_week: DaysOfWeek | None = None
