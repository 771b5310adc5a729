"""Contradictions within a published document: relations that fail, and cells that are probably misprints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from loadgo.notation.figures import counted
from loadgo.published.claims import Claim
from loadgo.published.document import Relation

Degree = Literal["contradiction", "last digit"]
"""How badly a claim fails: beyond what rounding hides, or only in the last printed digit."""


@dataclass(frozen=True)
class Suspect:
    """A cell that is probably misprinted: correcting it makes failing claims hold and breaks none."""

    figure: str
    printed: str
    corrected: Fraction
    decimals: int
    mended: int
    """The number of failing claims that hold after the correction."""

    @property
    def text(self) -> str:
        """The corrected number with as many decimals as the printed one."""
        return f"{float(self.corrected):,.{self.decimals}f}"


@dataclass(frozen=True)
class Failure:
    """A claim that does not hold."""

    claim: Claim
    degree: Degree
    left: float
    right: float
    """The values of the two sides, from the printed numbers."""
    figures: tuple[str, ...]
    """The ids of the figures in the claim."""


@dataclass(frozen=True)
class Finding:
    """A relation that the document states and that its own numbers contradict."""

    document: str
    relation: Relation
    failures: tuple[Failure, ...]
    reading: str
    """Another reading of the relation under which (nearly) all its claims hold, in words; empty if there is none."""
    remaining: tuple[Failure, ...]
    """The claims that fail under that reading too; all failures when there is no reading."""
    suspects: tuple[Suspect, ...]
    """The cells that are probably misprinted, the likeliest first."""

    @property
    def degree(self) -> Degree:
        """The worst of its failures."""
        return "contradiction" if any(f.degree == "contradiction" for f in self.failures) else "last digit"


def contradictions_in_words(findings: Sequence[Finding]) -> str:
    """The clause on the contradictions of one document: `NAME contradicts itself in 5 places`; empty without any."""
    if not findings:
        return ""
    slight = sum(finding.degree == "last digit" for finding in findings)
    which = "all" if slight == len(findings) else f"{slight} of them"
    only = f", {which} in the last digit alone" if slight else ""
    return f"{findings[0].document} contradicts itself in {counted(len(findings), 'place')}{only}"
