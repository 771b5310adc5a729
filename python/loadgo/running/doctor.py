"""What can be measured and controlled on this host, and why not the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loadgo import _loadgo

State = Literal["exact", "estimated", "absent"]


@dataclass(frozen=True)
class Ability:
    """One thing that a run may need of a host."""

    name: str
    state: State
    """`exact` (or as asked), `estimated` (or in part), `absent`."""
    how: str
    """By what means; empty when absent."""
    why_not: str
    """Why no better; empty when exact."""
    remedy: str
    """What would make it better; empty when nothing is known to."""


def doctor() -> list[Ability]:
    """Tries what can be measured and controlled on this host. It takes about a tenth of a second and changes nothing.

    Returns:
        A list of `Ability`: each with its `state` (`exact`, `estimated` or `absent`), the means, the reason why it is
        no better, and the remedy.
    """
    return [
        Ability(
            name=told["ability"],
            state=told["state"],
            how=told["how"],
            why_not=told["why_not"],
            remedy=told["remedy"],
        )
        for told in _loadgo.probe()
    ]
