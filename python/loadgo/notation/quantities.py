"""What is asked for in words, as values: spans, rates and counts, each refused with what would be right."""

from __future__ import annotations

import math
import re

from loadgo import _loadgo
from loadgo.errors import BadArgument, naming

MOST_USERS = 1_000_000

_PER = {"": 1.0, "/s": 1.0, "/min": 60.0, "/h": 3600.0}


def span_s(asked: str | float, argument: str | None = None) -> float:
    """A span in seconds, from seconds or from words such as `90s`, `2min`, `1.5h`; it must not be 0.

    Raises `BadArgument`, which names `argument` where that is given.
    """
    if argument is not None:
        with naming(argument):
            return span_s(asked)
    seconds = _loadgo.parse_span(asked) / 1e9 if isinstance(asked, str) else float(asked)
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadArgument(f"{asked} is no span: it must be more than nothing, such as 90s or 2min")
    return seconds


def arrivals_per_second(asked: str | float) -> float:
    """Log-ins a second, from a number or from `0.5/s`, `30/min`, `100/h`.

    Raises `BadArgument`.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(/s|/min|/h|)", str(asked).strip())
    if not found or not (rate := float(found[1]) / _PER[found[2]]):
        raise BadArgument(f"{asked!r} is no rate of arrivals: write it as 0.5/s or 30/min")
    return rate


def chars_per_second(asked: str | float) -> float | None:
    """A typing rate, from a number or from `12 chars/s`; None for `none`: lines are sent at once.

    Raises `BadArgument`.
    """
    if str(asked).strip() == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(?:chars/s)?", str(asked).strip())
    if not found or not 0.01 <= (rate := float(found[1])) <= 1_000_000:
        raise BadArgument(f"{asked!r} is no typing rate: write it as '12 chars/s', or none for lines sent at once")
    return rate


def user_count(asked: int) -> int:
    """A number of users that can be driven.

    Raises `BadArgument`.
    """
    if not 1 <= asked <= MOST_USERS:
        raise BadArgument(f"{asked} users cannot be had: between 1 and {MOST_USERS:,} can be asked for")
    return asked
