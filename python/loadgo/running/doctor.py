"""The abilities of this host: what loadgo can measure and control on it, and the reasons where it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loadgo import _loadgo
from loadgo.documents.result import Result

AbilityState = Literal["exact", "estimated", "absent"]


@dataclass(frozen=True)
class Ability:
    """Something that a run may need of a host, such as a meter."""

    name: str
    state: AbilityState
    """`exact` (or available), `estimated` (or available in part), `absent`."""
    how: str
    """The means, such as a kernel interface; empty if absent."""
    why_not: str
    """The reason why it is not exact; empty if it is."""
    remedy: str
    """Advice that makes it better; empty if none is known."""


class AbilityList(Result, list[Ability], presented_by="loadgo.reporting.ability_list:ability_presentation"):
    """A list of a host's abilities."""


def doctor() -> AbilityList:
    """Tries what can be measured and controlled on this host. It takes about a tenth of a second and changes nothing.

    Returns:
        A list of `Ability`: each with its `state` (`exact`, `estimated` or `absent`), the means, the reason why it is
        no better, and the remedy.
    """
    return AbilityList(
        Ability(
            name=ability["ability"],
            state=ability["state"],
            how=ability["how"],
            why_not=ability["why_not"],
            remedy=ability["remedy"],
        )
        for ability in _loadgo.probe()
    )
