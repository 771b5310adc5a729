"""The sentence on what limits the users at the answer: the resource that is full first, loading, or no resource."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.notation.figures import capitalized, digits, people, share
from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.resources import PROCESSORS_RESOURCE
from loadgo.sizing.search.results import Saturation

if TYPE_CHECKING:
    from loadgo.sizing.models.models import Models

SATURATED_SHARE = 0.7
"""A resource that is less busy than this at the answer is not what limits the users."""
LOADING_SHARE = 0.1
"""From this share of the processors' time on, the answer says that they wait for programs to be loaded."""
FAR_SATURATION_RATIO = 2.0
"""A resource that is saturated only from more than this many times the answer on is not what limits the users."""
FLAT_USERS_RATIO, FLAT_THROUGHPUT_RATIO = 1.4, 1.1
"""So many times the users with less than so many times the throughput: it grows no more, though nothing is busy."""


def limiting_resource(users: int, points: Sequence[LoadPoint], first: Saturation | None) -> str:
    """A sentence on what limits the users: the resource that is full first, loading, or no resource."""
    near = min(
        (point for point in points if point.utilisation), key=lambda point: abs(point.users - users), default=None
    )
    if first is None or near is None:
        return ""
    busiest = max(near.utilisation, key=lambda name: near.utilisation[name])
    if near.loading >= LOADING_SHARE and near.utilisation[busiest] < SATURATED_SHARE:
        return (
            f"Processors work {share(near.utilisation.get(PROCESSORS_RESOURCE, 0.0))} of the time, and wait "
            f"{share(near.loading)} of it for programs to be loaded. A program holds the memory while it is loaded and "
            "while it runs; the others wait for the memory."
        )
    is_far = first.users > FAR_SATURATION_RATIO * users or _is_flat(near, points)
    if near.utilisation[busiest] < SATURATED_SHARE and is_far:
        others = ", other work included" if busiest == PROCESSORS_RESOURCE and near.others else ""
        return (
            f"No resource is saturated there (the busiest: {busiest}, {share(near.utilisation[busiest])}{others}): a "
            "limit, a lock, memory, or the work itself makes users wait."
        )
    pronoun, verb = ("they", "are") if first.resource.endswith("s") else ("it", "is")
    busy = near.utilisation.get(first.resource)
    measured = "" if busy is None else f"; with {people(near.users)} {pronoun} {verb} {share(busy)} busy"
    full = "would be" if first.users > users else verb
    return (
        f"{capitalized(first.resource)} {full} full first: from {digits(first.users)} users on, if nobody ever had to "
        f"wait (N*){measured}."
    )


def _is_flat(point: LoadPoint, points: Sequence[LoadPoint]) -> bool:
    """Whether far fewer users had about the throughput of this point."""
    fewer = [other for other in points if other.users * FLAT_USERS_RATIO <= point.users]
    return any(point.throughput.value < FLAT_THROUGHPUT_RATIO * other.throughput.value for other in fewer)


def first_saturation(models: Models | None) -> Saturation | None:
    """The resource that is saturated first, from the models; None where they have no resource."""
    if models is None or models.saturates is None or models.saturation_users is None:
        return None
    return Saturation(models.saturates, models.saturation_users)
