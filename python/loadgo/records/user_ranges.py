"""A part of a run with a range of the users: a host that they log in to, or a driver, as `run.toml` describes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from loadgo.errors import BadRun


@dataclass(frozen=True)
class PartOfRun:
    """The part, and its users."""

    PLURAL: ClassVar[str] = "parts"
    """The name of such parts."""
    KEYS: ClassVar[tuple[str, ...]] = ("name", "first_user", "last_user")
    """The keys that each entry has."""

    name: str
    first_user: int
    last_user: int
    entry: Mapping[str, Any]
    """The part's entry in `run.toml`."""

    @classmethod
    def all_in(cls, entries: Iterable[Mapping[str, Any]]) -> tuple[Self, ...]:
        """The parts that `entries` of `run.toml` describe, in their order. Raises `BadRun`."""
        parts = []
        try:
            for entry in entries:
                name, first_user, last_user, *_ = (entry[key] for key in cls.KEYS)
                parts.append(cls(str(name), int(first_user), int(last_user), entry))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"run.toml does not say which {cls.PLURAL} the run has ({error}): take it from a copy"
            raise BadRun(reason) from error
        return tuple(parts)

    @property
    def users(self) -> int:
        """Number of users."""
        return self.last_user - self.first_user + 1

    @property
    def lost(self) -> str:
        """Why the part was lost; empty if it was not."""
        return str(self.entry.get("lost", ""))
