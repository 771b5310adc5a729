"""A part of a script's day as a load: its sessions arrive at the rates that the script has for the hours."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from loadgo.errors import BadArgument, naming
from loadgo.notation import quantities
from loadgo.running.bundled import Source
from loadgo.running.load import Load
from loadgo.running.prepared import parse_script_file

_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_DAY_S = 86400.0

DayRates = Sequence[tuple[int, float]]
"""Minutes of the day in order, each with the arrivals an hour from then on."""


def minute_of_day(arrivals: float | str | None) -> int | None:
    """The minute of a time of the day such as `09:30`; None for rates."""
    time = _TIME_OF_DAY.fullmatch(arrivals.strip()) if isinstance(arrivals, str) else None
    return None if time is None else 60 * int(time[1]) + int(time[2])


def day_rates(source: Source, load: Load) -> DayRates:
    """The rates of a script whose arrivals begin at a time of the day; none where the load has one rate, or none.

    Raises `BadArgument` if the script has no rates, and `Mistake` for a script that cannot be read.
    """
    if minute_of_day(load.arrivals) is None:
        return ()
    rates: DayRates = parse_script_file(source)["arrivals"]
    if not rates:
        raise BadArgument(
            f"`arrivals={load.arrivals}` is a time of the day, and the script has no rates over the day: add "
            '[arrivals] with "09:00" = "30/h" to it, or give one rate such as 30/h'
        ).about("arrivals")
    return rates


def arrival_options(arrivals: float | str | None, rates: DayRates, duration_s: float | None) -> dict[str, Any]:
    """The arrivals in the form of `_loadgo.run_host`; `rates` are those of the script, as `day_rates` has them."""
    with naming("arrivals"):
        minute = minute_of_day(arrivals)
        if minute is not None and rates:
            return {"arrivals_per_second": mean_rate(rates, minute, duration_s), "arrivals_from": minute}
        return {"arrivals_per_second": None if arrivals is None else quantities.arrivals_per_second(arrivals)}


def user_count(users: int | None, rate: float | None, length_s: float | None) -> int:
    """The number of users to be ready: of an open load more than will come, so that their number is not cut."""
    if users is not None:
        return quantities.user_count(users)
    if rate is None:
        return 1
    if length_s is None:
        raise BadArgument(
            "an open load needs the number of users that arrive, or for how long they arrive: `users` or `duration`"
        ).about("users", "duration")
    expected = rate * length_s
    # A Poisson number exceeds this in less than one of a million loads, however many are expected.
    return quantities.user_count(math.ceil(expected + 6 * math.sqrt(expected) + 10))


def mean_rate(rates: DayRates, minute: int, length_s: float | None) -> float:
    """The mean arrivals a second in `length_s` from a minute of the day on.

    Raises `BadArgument` without a length, and if nobody arrives in it.
    """
    if length_s is None:
        raise BadArgument("a part of the day has a length: give `duration`, such as 1h, beside `arrivals`").about(
            "duration", "arrivals"
        )
    began_s = minute * 60.0
    expected = _expected_until(rates, began_s + length_s) - _expected_until(rates, began_s)
    if expected <= 0:
        raise BadArgument(
            f"the script's rates are 0 from {minute // 60:02d}:{minute % 60:02d} on for so long: begin at another "
            "time, or go on for longer"
        ).about("arrivals", "duration")
    return expected / length_s


def _expected_until(rates: DayRates, until_s: float) -> float:
    """The mean number of arrivals from midnight until `until_s`, which may be on a later day."""
    edges_s = [0.0, *(minute * 60.0 for minute, _ in rates), _DAY_S]
    per_hour = [rates[-1][1], *(rate for _, rate in rates)]
    days, rest_s = divmod(until_s, _DAY_S)

    def of_day(end_s: float) -> float:
        parts = zip(edges_s, edges_s[1:], per_hour, strict=False)
        return sum(rate * max(min(end, end_s) - begin, 0.0) for begin, end, rate in parts) / 3600

    return days * of_day(_DAY_S) + of_day(rest_s)
