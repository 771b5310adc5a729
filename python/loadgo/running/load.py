"""What `loadgo.run` is asked for, as frozen values: the load, what users may have, and how they are metered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, TypeVar

from loadgo.errors import BadArgument

Asked = TypeVar("Asked", "Load", "Metering")


@dataclass(frozen=True)
class Load:
    """What the users do: how many they are, how long they type, and at what pace."""

    users: int | None = None
    """How many users there are; in an open load, how many arrive. 1 by default."""
    passes: int | None = None
    """How often each user types the script; by default as often as the script says."""
    duration: float | str | None = None
    """How long users type after the warm-up: seconds, or a text such as `2min`. It takes the place of `passes`."""
    think: str | None = None
    """A law of think times, such as `exponential(8s)`, in place of the script's; `none` takes them away."""
    typing: float | str | None = None
    """Characters that a user types in a second, in place of the script's; `none` sends each line at once."""
    arrivals: float | str | None = None
    """Users that log in in a second, on average, in an open load: a number, or a text such as `30/min`."""
    warm_up: float | str | None = None
    """Length of the beginning that is left out of the figures; by default until each user has typed a line."""
    until: str | None = None
    """When the run has enough, such as `interactions=1e6` or `precision(p90)=2%`."""
    seed: int = 1
    """With the same seed the users type the same lines, after the same think times."""


@dataclass(frozen=True)
class Limits:
    """What all users of this host may have together; None is no limit. It needs root."""

    memory: str | None = None
    """Bytes of memory, such as `256M`."""
    cpus: float | None = None
    """Processors, such as 1.5."""
    swap: str | None = None
    """The paging device: `zram:1G`, `file:1G`, or `none`."""

    def __str__(self) -> str:
        """The limits as `limit` has them: `memory=256M,cpus=1.5`."""
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ",".join(f"{name}={value}" for name, value in parts if value is not None)


@dataclass(frozen=True)
class Metering:
    """How a host's users and processors are metered."""

    meters: str | None = None
    """The kernel's meters: `none`, `cheap` or `exact`. By default `cheap` where this host allows them, else `none`."""
    usage_every: int | None = None
    """A user's usage is read for every n-th interaction; by default each, or every 64th where nobody thinks."""


class Plain(TypedDict, total=False):
    """The fields of `Load` and `Metering`, and `limit`, as keywords of `loadgo.run`."""

    users: int | None
    passes: int | None
    duration: float | str | None
    think: str | None
    typing: float | str | None
    arrivals: float | str | None
    warm_up: float | str | None
    until: str | None
    seed: int
    limit: str | None
    meters: str | None
    usage_every: int | None


def with_plain(
    load: Load, limits: Limits | None, metering: Metering, plain: Mapping[str, Any]
) -> tuple[Load, str | None, Metering]:
    """The values with the keywords of `plain` in place of their fields; the limits as a text.

    Raises `TypeError` for a keyword that there is not, `BadArgument` for limits in two ways.
    """
    unknown = [name for name in plain if name not in Plain.__annotations__]
    if unknown:
        raise TypeError(f"run() got an unexpected keyword argument {unknown[0]!r}")
    limit = plain.get("limit")
    if limit is not None and limits is not None:
        raise BadArgument("`limit` and `limits` say the same: leave one out").about("limit", "limits")
    limit = limit if limits is None else str(limits) or None
    return _replaced(load, plain), limit, _replaced(metering, plain)


def _replaced(value: Asked, plain: Mapping[str, Any]) -> Asked:
    own = {field.name for field in fields(value)}
    return replace(value, **{name: given for name, given in plain.items() if name in own})
