"""A knob, which is a limit that a search varies, and the limits of classes of users: how both are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from loadgo.errors import BadArgument, naming
from loadgo.notation.figures import setting, size
from loadgo.running.host import parse_limit_each, unnamed_limits
from loadgo.running.prepared import RunSettings

KnobScope = Literal["limit", "limit-each"]
"""The users whom the knob limits: all together, or each."""

_EXAMPLE = "limit-each.cpus=0.25:8"
_BYTE_KNOBS, _WHOLE_KNOBS = ("memory", "io"), ("pids",)
_NAMES: Mapping[KnobScope, tuple[str, ...]] = {
    "limit": ("cpus", "memory"),
    "limit-each": ("cpus", "memory", "pids", "io"),
}
_FEWEST_STEPS = 1.05
"""The end of a range is at least this many times its beginning."""


@dataclass(frozen=True)
class Knob:
    """A limit with the range in which it is varied. Sizes are in bytes."""

    scope: KnobScope
    user_class: str
    """The class whose users are limited; empty for all."""
    name: str
    """`cpus`, `memory`, `pids` or `io`."""
    low: float
    high: float

    @property
    def text(self) -> str:
        """The knob's name as it is written: `limit-each.cpus`."""
        return ".".join(part for part in (self.scope, self.user_class, self.name) if part)

    @property
    def unit(self) -> str:
        """The unit of its values: `processors`, `processes`, `bytes` or `bytes/s`."""
        return {"cpus": "processors", "pids": "processes", "memory": "bytes", "io": "bytes/s"}[self.name]

    @property
    def is_smooth(self) -> bool:
        """Whether users slow down with the limit, bit by bit; too little memory and too few processes fail at once."""
        return self.name in ("cpus", "io")

    def rounded(self, value: float) -> float:
        """The value that is tried for `value`: whole for processes and bytes, and of three digits for processors."""
        value = min(max(value, self.low), self.high)
        if self.name in _BYTE_KNOBS or self.name in _WHOLE_KNOBS:
            return float(round(value))
        return float(f"{value:.3g}")

    def option(self, value: float) -> str:
        """The limit as it is written, such as `cpus=0.5`."""
        return f"{self.name}={round(value) if value == round(value) else setting(value)}"

    def in_words(self, value: float, *, figures: int = 2) -> str:
        """A value with its unit: `1.9 processors`, `512 MB of memory`, `200 processes`.

        Processors are rounded to so many significant `figures`. Those of a tried value are three.
        """
        if self.name in _BYTE_KNOBS:
            return f"{size(round(value))}{'/s of each disk' if self.name == 'io' else ' of memory'}"
        if self.name == "pids":
            return f"{round(value):,} processes"
        shown = setting(float(f"{value:.{figures}g}"))
        return f"{shown} processor{'' if shown == '1' else 's'}"

    def settings_at(
        self, value: float, settings: RunSettings, class_limits: Mapping[str, str]
    ) -> tuple[RunSettings, dict[str, str]]:
        """The settings of a trial with this value, and the limits of classes."""
        option, by_class = self.option(value), dict(class_limits)
        if self.scope == "limit":
            return replace(settings, limit=_with(settings.limit, option)), by_class
        if self.user_class:
            by_class[self.user_class] = _with(by_class.get(self.user_class, settings.limit_each), option)
            return settings, by_class
        by_class = {name: _with(text, option) for name, text in by_class.items()}
        return replace(settings, limit_each=_with(settings.limit_each, option)), by_class


def parse_knob(text: str) -> Knob:
    """Parses `limit-each.cpus=0.25:8`, `limit-each.CLASS.memory=64M:4G` or `limit.cpus=1:8`.

    Raises `BadArgument` with the right form.
    """
    with naming("vary"):
        name, equals, bounds = text.partition("=")
        low, colon, high = bounds.partition(":")
        scope, _, rest = name.strip().partition(".")
        if not equals or not colon or scope not in _NAMES or not rest or rest.startswith("."):
            raise BadArgument(f"{text}: write a limit and its range, as in {_EXAMPLE}")
        if ":" in high:
            raise BadArgument(f"{text}: a range is LOW:HIGH, two values, as in {_EXAMPLE}")
        whom: KnobScope = "limit" if scope == "limit" else "limit-each"
        user_class, _, key = rest.rpartition(".")
        if key not in _NAMES[whom] or (user_class and whom == "limit"):
            known = ", ".join(f"{whom}.{known}" for known in _NAMES[whom])
            raise BadArgument(f"{name.strip()} cannot be varied; {known} can")
        knob = Knob(whom, user_class, key, _amount(key, low), _amount(key, high))
        if not knob.high >= _FEWEST_STEPS * knob.low:
            raise BadArgument(f"{text}: the range must end above its beginning, as in {_EXAMPLE}")
        return knob


def check_not_fixed(knob: Knob, limit: str | None, limit_each: str | None, class_limits: Mapping[str, str]) -> None:
    """Raises `BadArgument` if the limit that a search varies has a value already, which the search would overwrite.

    One class may differ from all others in a limit that these have.
    """
    remedy = f"leave {knob.name} out of it"
    given: list[tuple[str, str | None]] = [("limit=", limit)]
    if knob.user_class:
        given = [(f"limit_each={knob.user_class}:", class_limits.get(knob.user_class))]
    elif knob.scope == "limit-each":
        of_classes = [(f"limit_each={name}:", limits) for name, limits in class_limits.items()]
        given = [("limit_each=", limit_each), *of_classes]
        remedy += f", or vary it for one class: limit-each.CLASS.{knob.name}" if of_classes else ""
    for place, limits in given:
        if any(part.partition("=")[0].strip() == knob.name for part in (limits or "").split(",")):
            told = f"`{place}{limits}` fixes {knob.name}, and `vary` is to find it for the same users: {remedy}"
            raise BadArgument(told).about("vary", "limit", "limit_each")


def parse_class_limits(texts: Sequence[str], classes: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """The limits of each user, and those of users of single classes: `cpus=2` and `hog-cpu:cpus=0.5`.

    Raises `BadArgument` for an unknown class, for a limit that is given twice, and for an invalid limit.
    """
    everybody: str | None = None
    by_class: dict[str, str] = {}
    for text in texts:
        name, colon, limits = text.partition(":")
        is_of_class = bool(colon) and "=" not in name
        if is_of_class and name not in classes:
            known = ", ".join(classes) or "none: name classes with `mix`"
            raise BadArgument(f"`limit_each={text}`: there is no class {name!r}; the classes: {known}").about(
                "limit_each"
            )
        if (name in by_class) if is_of_class else everybody is not None:
            raise BadArgument(f"`limit_each={text}`: these users are limited twice").about("limit_each")
        parse_limit_each(limits if is_of_class else text)
        if is_of_class:
            by_class[name] = limits
        else:
            everybody = text
    return everybody, by_class


def _amount(key: str, text: str) -> float:
    """The value of a limit in its own notation, as a number."""
    limits = unnamed_limits(f"{key}={text.strip()}")
    value = {"memory": limits["memory_bytes"], "io": limits["io_bytes_per_s"]}.get(key, limits.get(key))
    assert value is not None, "the parser has read it"
    return float(value)


def _with(limits: str | None, option: str) -> str:
    """The limits with `option` in place of the one of that name."""
    name = option.partition("=")[0]
    others = [part for part in (limits or "").split(",") if part and part.partition("=")[0].strip() != name]
    return ",".join([*others, option])
