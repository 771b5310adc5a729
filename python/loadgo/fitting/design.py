"""Further runs that tell most of how processor time depends on the load: an optimal design, in a sentence.

The processor time at a load t is extrapolated on a line through two loads, of n and m users. A run has interactions in
proportion to its users, so the variance is that of ((t - m)² / n + (t - n)² / m) / (m - n)². The best loads are the
ends of what can be measured (c-optimal: F. Pukelsheim, Optimal Design of Experiments, 1993).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import is_open
from loadgo.fitting.values import FittedValues
from loadgo.notation.figures import people

PREDICTED_TIMES = 4
"""The number of users that a fit offers to predict, over the most of its runs."""
_AFFORDED_TIMES = 2
"""The largest number of users that a further run is proposed with, over that of the runs."""
_MOST_LOAD_SHARE = 0.8
"""Largest load of a proposed run. Near a full load, throughput tells little of what another user needs."""
_LEAST_PREDICTED_LOAD_SHARE = 0.1
"""At smaller loads a dependence would change the processor time by less than other errors."""
_WIDE_FACTOR = 1.25
"""An interval of the dependence whose ends differ by more needs more runs."""
_RUN_LENGTH = "3min"


def further_runs(readings: Sequence[RunReading], loads: Sequence[float], values: FittedValues) -> str:
    """A sentence with commands, if further runs would lessen the doubt in how processor time depends on the load.

    `loads` has the busy share of each run's users. `values` are those of the fit.
    """
    users = sorted({reading.users for reading in readings})
    if readings[0].kind == "machine" or any(map(is_open, readings)):
        return ""
    load_per_user = max(load / reading.users for load, reading in zip(loads, readings, strict=True))
    if len(users) > 1:
        return _more_of_both(readings, users, values)
    if load_per_user * users[0] * PREDICTED_TIMES < _LEAST_PREDICTED_LOAD_SHARE:
        return ""
    other = best_second_load(users[0], most=int(min(_AFFORDED_TIMES * users[0], _MOST_LOAD_SHARE / load_per_user)))
    if other is None:
        return ""
    return (
        "one number of users does not show how processor time depends on the load: "
        f"`{_run_command(readings[0], other)}`, then fit both runs together; two runs of each in turns also show how "
        "much the processors' speed changes meanwhile"
    )


def best_second_load(users: int, most: int) -> int | None:
    """The number of users up to `most` with which a second run tells most of `PREDICTED_TIMES` the `users`."""
    target = PREDICTED_TIMES * users

    def variance(other: int) -> float:
        return ((target - other) ** 2 / users + (target - users) ** 2 / other) / (other - users) ** 2

    return min((other for other in range(1, most + 1) if other != users), key=variance, default=None)


def _more_of_both(readings: Sequence[RunReading], users: Sequence[int], values: FittedValues) -> str:
    """The sentence for runs of several numbers of users, whose ends are the best to run again."""
    law = next((value for value in values.values if value.key == "processors.cpu_when_busy"), None)
    if law is None or law.mean is None:
        return ""
    widest = max((float(logs.std()) for logs in law.mean.logs if len(logs)), default=0.0)
    if 2 * widest < _WIDE_FACTOR - 1:
        return ""
    ends = f"{users[0]} and {people(users[-1])}"
    return (
        f"the dependence of processor time on the load is uncertain: more runs with {ends}, in turns, tell more than "
        f"runs with a number between: `{_run_command(readings[0], users[-1])}`"
    )


def _run_command(reading: RunReading, users: int) -> str:
    load, script = reading.conditions["load"], str(reading.conditions.get("script", "SCRIPT"))
    think = f" --think {shlex.quote(str(load['think']))}" if "think" in load else ""
    return f"loadgo run {shlex.quote(script)} --users {users}{think} --for {_RUN_LENGTH}"
