"""Arguments of `loadgo.run` as frozen values: the load, the users' limits, and the metering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, TypedDict, TypeVar

from loadgo.errors import BadArgument

_Options = TypeVar("_Options", "Load", "Metering")


@dataclass(frozen=True)
class Load:
    """The users' work: how many users there are, how long they type, and at what pace."""

    users: int | None = None
    """Number of users; in an open load, the number that arrive. Default: 1."""
    passes: int | None = None
    """Number of times that each user types the script. Default: the script's own `passes`."""
    duration: float | str | None = None
    """Length of the steady phase: seconds, or a text such as `2min`. The value replaces `passes`."""
    think: str | None = None
    """A law of think times, such as `exponential(8s)`, in place of the script's; `none` means no think time."""
    typing: float | str | None = None
    """Typing rate in characters per second, in place of the script's; `none` sends each line at once."""
    arrivals: float | str | None = None
    """Mean rate of log-ins in an open load: a number per second, or a text such as `30/min`.

    Or a time of the day such as `09:00`, from which the rates of the script's `[arrivals]` hold, for `duration`.
    """
    warm_up: float | str | None = None
    """Length of the warm-up, which no figure includes. Default: until each user has typed a line."""
    until: str | None = None
    """Condition that ends the run, such as `interactions=1e6` or `precision(p90)=2%`."""
    seed: int = 1
    """The same seed gives the same lines and the same think times."""


@dataclass(frozen=True)
class EachLimits:
    """Limits on each user; None means no limit. A host needs root for them; a simulated machine has cpus and nice."""

    cpus: float | None = None
    """Processors, such as 0.5."""
    memory: str | None = None
    """Bytes of memory, such as `1G`."""
    swap: str | int | None = None
    """Bytes on paging devices, such as `1G`; 0 or `none`: the user does not page."""
    pids: int | None = None
    """Processes and threads at the same time."""
    nice: int | None = None
    """The nice value of all that the user runs, from -20 to 19."""
    io: str | None = None
    """Bytes a second that the user may read from each disk, and as many that may be written, such as `20M`."""

    def __str__(self) -> str:
        """The limits as in the argument `limit_each`: `cpus=0.5,memory=1G`."""
        return _named_values(self)


@dataclass(frozen=True)
class Limits:
    """Limits on the users of this host: on all together, and on each; None means no limit. Limits need root."""

    memory: str | None = None
    """Bytes of memory, such as `256M`."""
    cpus: float | None = None
    """Processors, such as 1.5."""
    swap: str | None = None
    """The paging device, with its size: `zram:1G`, `file:1G`, or `none`."""
    each: EachLimits | None = None
    """The limits of each user alone."""

    def __str__(self) -> str:
        """The limits of all users together, as in the argument `limit`: `memory=256M,cpus=1.5`."""
        return _named_values(replace(self, each=None))


def _named_values(limits: EachLimits | Limits) -> str:
    values = ((field.name, getattr(limits, field.name)) for field in fields(limits))
    return ",".join(f"{name}={value}" for name, value in values if value is not None)


@dataclass(frozen=True)
class Metering:
    """How a host's users and processors are metered."""

    meters: str | None = None
    """The tier of kernel meters: `none`, `cheap`, `cheap,locks`, `cheap,profile`, `sampled` or `exact`.

    Default: `cheap` if this host allows it, else `none`.
    """
    usage_every: int | None = None
    """N, to read a user's usage for every N-th interaction. Default: 1, or 64 if users do not think."""
    working_sets: bool = False
    """Whether to measure how much of their memory the users' processes refer to. Default: no."""


class LoadKeywords(TypedDict, total=False):
    """The fields of `Load` and `Metering`, `limit` and `limit_each`, as keywords of `loadgo.run`."""

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
    limit_each: str | None
    meters: str | None
    usage_every: int | None
    working_sets: bool


_WHOLE, _AMOUNT = (Integral,), (Real, str)
_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "users": (_WHOLE, "a whole number, such as 20"),
    "passes": (_WHOLE, "a whole number, such as 3"),
    "seed": (_WHOLE, "a whole number, such as 1"),
    "without_lost": (_WHOLE, "a whole number, such as 1"),
    "usage_every": (_WHOLE, "a whole number, such as 64"),
    "working_sets": ((bool,), "True or False"),
    "duration": (_AMOUNT, "seconds, or as a text such as '10min'"),
    "warm_up": (_AMOUNT, "seconds, or as a text such as '30s'"),
    "typing": (_AMOUNT, "characters a second, or 'none'"),
    "arrivals": (_AMOUNT, "log-ins a second, or as a text such as '30/min' or '09:00'"),
    "think": ((str,), "a law, such as 'fixed(5s)' or 'exponential(8s)'"),
    "until": ((str,), "a text, such as 'interactions=1e6'"),
    "limit": ((str,), "a text, such as 'memory=256M,cpus=1'"),
    "limit_each": ((str,), "a text, such as 'cpus=2,memory=1G'"),
    "meters": ((str,), "'none', 'cheap', 'cheap,locks', 'cheap,profile', 'sampled' or 'exact'"),
    "login": ((str,), "a command, such as 'ssh host'"),
}
"""The types that each argument of a run may have, and an example of how to write it."""


def with_keywords(
    load: Load, limits: Limits | None, metering: Metering, keywords: Mapping[str, Any]
) -> tuple[Load, str | None, Metering]:
    """The values with their fields replaced by the keywords, and the limits as a text.

    Raises `TypeError` for an unknown keyword. Raises `BadArgument` for both `limit` and `limits`, and for a value of a
    wrong type.
    """
    unknown = [name for name in keywords if name not in LoadKeywords.__annotations__]
    if unknown:
        raise TypeError(f"run() got an unexpected keyword argument {unknown[0]!r}")
    limit = keywords.get("limit")
    if limit is not None and limits is not None:
        raise BadArgument("`limit` and `limits` mean the same: leave one out").about("limit", "limits")
    limit = limit if limits is None else str(limits) or None
    load, metering = _with_fields(load, keywords), _with_fields(metering, keywords)
    check_types({**vars(load), **vars(metering), "limit": limit})
    return load, limit, metering


def types_of(argument: str) -> tuple[type, ...]:
    """The types that an argument of a run may have."""
    return _TYPES[argument][0]


def example_of(argument: str) -> str:
    """How to write an argument of a run, with an example."""
    return _TYPES[argument][1]


def limits_of_each(limits: Limits | None, keywords: Mapping[str, Any]) -> str | None:
    """The limits of each user as a text. Raises `BadArgument` for both `limit_each` and `limits`."""
    text = keywords.get("limit_each")
    check_types({"limit_each": text})
    if limits is None or limits.each is None:
        return text
    if text is not None:
        raise BadArgument("`limit_each` and `limits.each` mean the same: leave one out").about("limit_each", "limits")
    return str(limits.each) or None


def check_types(arguments: Mapping[str, object]) -> None:
    """Raises `BadArgument` for an argument of a run whose value has a wrong type. None is always valid."""
    for name, value in arguments.items():
        types, example = _TYPES[name]
        if value is not None and not isinstance(value, types):
            raise BadArgument(f"`{name}={value!r}`: write it as {example}").about(name)


def _with_fields(options: _Options, keywords: Mapping[str, Any]) -> _Options:
    names = {field.name for field in fields(options)}
    return replace(options, **{name: value for name, value in keywords.items() if name in names})
