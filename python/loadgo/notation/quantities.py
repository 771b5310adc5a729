"""Parsers of spans, rates and counts from arguments. Each error says how to write the argument."""

from __future__ import annotations

import math
import re

from loadgo import _loadgo
from loadgo.errors import BadArgument, naming

MOST_USERS = 1_000_000

_SECONDS_BY_UNIT = {"": 1.0, "/s": 1.0, "/min": 60.0, "/h": 3600.0}


def span_s(span: str | float, argument: str | None = None) -> float:
    """Parses a span above 0 to seconds, from a number of seconds or a text such as `90s`, `2min`, `1.5h`.

    Raises `BadArgument`, which names `argument` if that is given.
    """
    if argument is not None:
        with naming(argument):
            return span_s(span)
    seconds = _loadgo.parse_span(span) / 1e9 if isinstance(span, str) else float(span)
    if not (math.isfinite(seconds) and seconds > 0):
        raise BadArgument(f"{span} is no span: it must be more than nothing, such as 90s or 2min")
    return seconds


def arrivals_per_second(rate_text: str | float) -> float:
    """Parses a rate of log-ins to log-ins a second, from a number or from `0.5/s`, `30/min`, `100/h`.

    Raises `BadArgument` for any other text and for a rate of 0.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *(/s|/min|/h|)", str(rate_text).strip())
    if not match or not (rate := float(match[1]) / _SECONDS_BY_UNIT[match[2]]):
        raise BadArgument(f"{rate_text!r} is no rate of arrivals: write it as 0.5/s or 30/min")
    return rate


def chars_per_second(rate_text: str | float) -> float | None:
    """Parses a typing rate to characters a second, from a number or from `12 chars/s`.

    Returns None for `none`, with which lines are sent at once. Raises `BadArgument` for any other text.
    """
    if str(rate_text).strip() == "none":
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *(?:chars/s)?", str(rate_text).strip())
    if not match or not 0.01 <= (rate := float(match[1])) <= 1_000_000:
        raise BadArgument(f"{rate_text!r} is no typing rate: write it as '12 chars/s', or none for lines sent at once")
    return rate


def user_count(count: int) -> int:
    """Checks a number of users, from 1 to a million.

    Raises `BadArgument` for any other number.
    """
    if not 1 <= count <= MOST_USERS:
        raise BadArgument(f"{count} users cannot be had: between 1 and {MOST_USERS:,} can be count for")
    return count
