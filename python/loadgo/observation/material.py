"""The material of an observation, from any source: sessions with their commands, think times, and unknown figures."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.observation.results import KnownFigure, SourceRead, ThinkTimes
from loadgo.observation.sessions import ObservedSession


@dataclass(frozen=True)
class ObservedPeople:
    """The people whose commands count, by the numbers of their accounts."""

    wanted: frozenset[int] = frozenset()
    """Only these; all if it is empty."""
    left_out: frozenset[int] = frozenset()

    @property
    def are_all(self) -> bool:
        """Whether nobody was chosen or left out."""
        return not self.wanted and not self.left_out


@dataclass(frozen=True)
class Material:
    """The sessions of an observation, and sentences on what is in none."""

    sessions: tuple[ObservedSession, ...]
    sources: tuple[SourceRead, ...]
    think: ThinkTimes | None
    known: tuple[KnownFigure, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    rounded_steps: int
    """Number of steps of 10 ms by which the processor time of a process may be too small."""
