"""Whether to believe a result: one of three words, the reasons against it, and what speaks for it.

It is *low* under a warning, *moderate* where something known may have changed the figures, and else *high*. Where the
answer, or a part of it, cannot be told, the trust is in the data alone, and the line says so. The line on trust of
every result is made here. What the records and the hosts of runs say about them is in `run_evidence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.notation.figures import capitalized, counted, in_words, number, people

NOTHING_ELSE_RAN = "the machine is simulated, so nothing else ran"
A_MODEL = "This is a simulation: no real machine was measured"
"""The scope of the trust in a simulated result: a reader must not take it for a measurement."""
WIDE_SHARE = 0.1
"""Half of an interval that is more than this share of its figure is named as a reason for doubt."""


@dataclass(frozen=True)
class Evidence:
    """The phrases that speak against a result's figures, besides its warnings, and those that speak for them."""

    against: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()
    scope: str = ""
    """A sentence on what the trust covers and what it does not, without its full stop."""

    def and_also(self, against: Sequence[str] = (), grounds: Sequence[str] = ()) -> Evidence:
        """The evidence with further phrases of both kinds behind its own."""
        return Evidence((*self.against, *against), (*self.grounds, *grounds), self.scope)


NO_EVIDENCE = Evidence()
"""The evidence of a result whose runs were not judged."""


def verdict_in_words(against: Sequence[str], *, is_warned: bool, is_low: bool = False) -> str:
    """The word, with the reasons if it is not `high`. `is_low`: the reasons against the result are as bad as a warning.

    It has no full stop. `is_warned` says that a warning stands over the result.
    """
    reasons = [*(["the warnings above say why"] if is_warned else []), *against]
    if not reasons:
        return "high"
    return f"{'low' if is_warned or is_low else 'moderate'}: {'; '.join(reasons)}"


def trust_in_words(evidence: Evidence, *, is_warned: bool, is_low: bool = False, untold: str = "") -> str:
    """The line on trust: the verdict, a sentence with what speaks for the result, and what the trust covers.

    `untold` is the part of the answer that the data cannot tell, as in `which method is cheapest`. The trust is then in
    the data alone.
    """
    verdict = verdict_in_words(evidence.against, is_warned=is_warned, is_low=is_low)
    grounds = "; ".join(evidence.grounds)
    if grounds and verdict != "high":
        grounds = f"What holds: {grounds}"
    return trust_line(verdict, (capitalized(grounds), evidence.scope), untold)


def trust_line(verdict: str, sentences: Sequence[str], untold: str) -> str:
    """The line on trust from its verdict and further sentences without their full stops, of which some may be empty."""
    label, limit = ("Trust in the data", f"They cannot tell {untold}") if untold else ("Trust", "")
    return ". ".join(filter(None, (f"{label}: {verdict}", limit, *sentences))) + "."


def effect_on(names: Sequence[str]) -> str:
    """The question that a comparison of these measures leaves open; empty without one."""
    return f"whether B changes {in_words(list(names))}" if names else ""


def unanswered_in_words(count: int, lines: int) -> str:
    """The phrase that `count` of these lines had no answer."""
    return f"{number(count)} of {counted(lines, 'line')} had no answer"


def fitted_doubt(users: Sequence[int]) -> str:
    """The phrase that a machine was fitted to runs with these numbers of users."""
    return (
        f"the machine was fitted to runs with {people(*users)}, and that it is right for other numbers of users is an "
        "assumption"
    )
