"""Parsers of spans, rates, sizes and counts from arguments. Each error says how to write the argument."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

from loadgo import _loadgo
from loadgo.errors import BadArgument, naming
from loadgo.notation.units import PERIOD_S, UNIT_BYTES

MOST_USERS = 1_000_000

_MOST_BYTES = 2**62


def span_s(span: str | float, argument: str | None = None) -> float:
    """A span in seconds, from seconds or from words such as `90s`, `2min`, `1.5h`; it must not be 0.

    Raises `BadArgument`, which names `argument` where that is given.
    """
    if argument is not None:
        with naming(argument):
            return span_s(span)
    seconds = _loadgo.parse_span(span) / 1e9 if isinstance(span, str) else float(span)
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadArgument(f"{span} is no span: it must be more than 0, such as 90s or 2min")
    return seconds


def arrivals_per_second(asked: str | float) -> float:
    """Log-ins a second, from a number or from `0.5/s`, `30/min`, `100/h`. A text needs a unit: `09.00` is no rate.

    Raises `BadArgument`.
    """
    number, unit = _amount(asked, PERIOD_S) or (0.0, "")
    rate = number / PERIOD_S.get(unit, 1.0)
    if not rate or (isinstance(asked, str) and not unit):
        raise BadArgument(
            f"{asked!r} is no rate of arrivals: write a number over 0 with its unit, as 0.5/s or 30/min, or 09:00 for "
            "a script's own rates from then on"
        )
    return rate


def chars_per_second(asked: str | float) -> float | None:
    """A typing rate, from a number or from `12 chars/s`; None for `none`: lines are sent at once.

    Raises `BadArgument`.
    """
    if str(asked).strip() == "none":
        return None
    rate, _ = _amount(asked, ("chars/s",)) or (0.0, "")
    if not 0.01 <= rate <= 1_000_000:
        raise BadArgument(f"{asked!r} is no typing rate: write it as '12 chars/s', or none for lines sent at once")
    return rate


def user_count(asked: int) -> int:
    """A number of users, from 1 to `MOST_USERS`; raises `BadArgument` for any other."""
    if not isinstance(asked, int) or not 1 <= asked <= MOST_USERS:
        raise BadArgument(f"{asked!r} users are out of range: 1 to {MOST_USERS:,} are possible")
    return asked


def seed(asked: int) -> int:
    """A seed of random draws.

    Raises `BadArgument`.
    """
    if not 0 <= asked < 2**63:
        raise BadArgument(f"seed {asked} is out of range: it lies between 0 and 2^63 - 1")
    return asked


def byte_count(text: str, argument: str) -> int:
    """A number of bytes from words such as `1GiB`, `64MB`, `512`; raises `BadArgument`, which names `argument`.

    As in limits, `K`, `M`, `G` and `T` alone are powers of 1024.
    """
    units = {unit.lower(): size for unit, size in UNIT_BYTES.items()}
    units |= {unit: 1 << 10 * power for power, unit in enumerate("kmgt", start=1)}
    with naming(argument):
        found = _amount(text.lower(), units)
        if found is None:
            raise BadArgument(f"{text!r} is no number of bytes: write 1GiB, 4M, 64MB or 512")
        if (size := found[0] * units.get(found[1], 1)) >= _MOST_BYTES:
            raise BadArgument(f"{text} is more than anybody can move")
        return int(size)


def percentage(asked: str) -> float | None:
    """The number of percent in `20%` or `20`; None for what is no percentage."""
    found = _amount(asked, "%")
    return None if found is None else found[0]


def number_or_text(text: str) -> float | str:
    """The number that a text stands for, as where numbers have no quotes; else the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _amount(asked: str | float, units: Collection[str]) -> tuple[float, str] | None:
    """A number and its unit, or `""`; None for other words."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(\S*)", str(asked).strip())
    return (float(found[1]), found[2]) if found and found[2] in {"", *units} else None
