"""The waterfalls of a speed-up: a step for each change, from the figure before to the figure after."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.attribution.results import Caused
from loadgo.decomposition.waterfall import Waterfall, waterfall_of


def of_causes(causes: Sequence[Caused]) -> tuple[Waterfall, ...]:
    """A waterfall for each figure, with a step for each change in the order in which the changes were named."""
    return tuple(
        waterfall_of("causes", told, [(one.name, one.factor, one.interval) for one in told.causes]) for told in causes
    )
