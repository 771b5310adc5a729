"""The findings of a verification: checks with verdicts, files with their hashes, and the facts that it discloses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loadgo.documents.result import Result

Verdict = Literal["holds", "broken", "not checkable"]
Kind = Literal["file", "record", "rule", "signature"]
"""The subject of a check: the bytes of a file, the records among themselves, a rule of validity, or the signature."""
Question = Literal["who", "what", "where", "when", "how", "settings", "not measured"]
"""The parts of the disclosure sheet, in order."""


@dataclass(frozen=True)
class VerifiedPoint:
    """One check, its verdict, and the finding in words."""

    kind: Kind
    name: str
    """The file, or the relation or rule that was checked."""
    verdict: Verdict
    text: str
    lost_reasons: tuple[str, ...] = ()
    """The reasons of the lost records that the check found, as the table `lost` has them."""

    def __post_init__(self) -> None:
        """Makes one line of the text: what a library says of a damaged file has several."""
        object.__setattr__(self, "text", " ".join(self.text.split()))


@dataclass(frozen=True)
class VerifiedFile:
    """A file of the run's folder, as it is now."""

    name: str
    """The path in the folder."""
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Disclosure:
    """One line of the disclosure sheet."""

    question: Question
    item: str
    value: str


@dataclass(frozen=True, repr=False)
class Verification(Result, presented_by="loadgo.verification.document:presentation"):
    """Whether a run holds, point by point, with the hashes of its files and its disclosure sheet."""

    run: str
    """The run's id."""
    folder: Path
    version: str
    """The version of loadgo whose rules were applied."""
    checks: tuple[VerifiedPoint, ...]
    files: tuple[VerifiedFile, ...]
    disclosure: tuple[Disclosure, ...]
    doubts: tuple[str, ...] = ()
    """Reasons to doubt the figures that break no rule."""

    @property
    def holds(self) -> bool:
        """Whether no check is broken. A check that could not be made breaks nothing."""
        return not self.of("broken")

    def of(self, verdict: Verdict) -> tuple[VerifiedPoint, ...]:
        """The checks with this verdict."""
        return tuple(check for check in self.checks if check.verdict == verdict)

    def of_kind(self, kind: Kind, verdict: Verdict) -> tuple[VerifiedPoint, ...]:
        """The checks of this kind with this verdict."""
        return tuple(check for check in self.of(verdict) if check.kind == kind)
