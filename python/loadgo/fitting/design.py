"""Further runs that tell most of how processor time depends on the load: an optimal design, in a sentence.

The processor time at a load t is extrapolated on a line through two loads, x and y. A run has interactions in
proportion to its load, so the variance is that of ((t - y)² / x + (t - x)² / y) / (y - x)². The best loads are the ends
of what can be measured, and t itself where that can be (c-optimal: F. Pukelsheim, Optimal Design of Experiments, 1993).
The same users reach it with a shorter think time. So a load that many users will make is measured with few.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from loadgo.errors import BadArgument
from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import is_open
from loadgo.fitting.values import FittedValues
from loadgo.notation.figures import in_words, people
from loadgo.notation.laws import read_law, scaled, written

PREDICTED_TIMES = 4
"""The number of users that a fit offers to predict, over the most of its runs."""
_AFFORDED_TIMES = 2
"""The largest number of users that a further run is proposed with, over that of the runs."""
_MOST_LOAD_SHARE = 0.8
"""Largest load of a proposed run. Near a full load, throughput tells little of what another user needs."""
_LEAST_PREDICTED_LOAD_SHARE = 0.1
"""At smaller loads a dependence would change the processor time by less than other errors."""
_LEAST_THINK_SHARE = 0.1
"""The shortest think time that is proposed, over that of the run."""
_LEAST_RISE_TIMES = 1.25
"""A shorter think time is proposed if it makes the load so much larger at least."""
_WIDE_FACTOR = 1.25
"""An interval of the dependence whose ends differ by more needs more runs."""
_RUN_LENGTH = "3min"


def further_runs(readings: Sequence[RunReading], loads: Sequence[float], values: FittedValues) -> str:
    """A sentence with commands, if further runs would lessen the doubt in how processor time depends on the load.

    `loads` has the busy share of each run's users. `values` are those of the fit.
    """
    if readings[0].kind == "machine" or any(map(is_open, readings)):
        return ""
    by_load = [reading for _, reading in sorted(zip(loads, readings, strict=True), key=lambda pair: pair[0])]
    if len({reading.load_key for reading in readings}) > 1:
        return _more_of_several(readings, by_load, loads, values)
    load_per_user = max(load / reading.users for load, reading in zip(loads, readings, strict=True))
    first = usual_run(readings)
    if load_per_user * first.users * PREDICTED_TIMES < _LEAST_PREDICTED_LOAD_SHARE:
        return ""
    quicker = _quicker_run(by_load[-1], max(loads), _predicted_load(readings, loads))
    if not quicker:
        most = int(min(_AFFORDED_TIMES * first.users, _MOST_LOAD_SHARE / load_per_user))
        other = best_second_load(first.users, most)
        if other is None:
            return ""
        quicker = _run_command(first, other, first.asked_pace)
    return (
        f"one load does not show how processor time depends on the load: `{quicker}`, then fit both runs together; two "
        "runs of each in turns also show how much the processors' speed changes meanwhile"
    )


def best_second_load(users: int, most: int) -> int | None:
    """The number of users up to `most` with which a second run tells most of `PREDICTED_TIMES` the `users`."""
    target = PREDICTED_TIMES * users

    def variance(other: int) -> float:
        return ((target - other) ** 2 / users + (target - users) ** 2 / other) / (other - users) ** 2

    return min((other for other in range(1, most + 1) if other != users), key=variance, default=None)


def _predicted_load(readings: Sequence[RunReading], loads: Sequence[float]) -> float:
    """The load that the fit offers to predict, as far as it can be run: with the usual think time."""
    think = usual_run(readings).think
    usual = [load for load, reading in zip(loads, readings, strict=True) if reading.think == think]
    return min(PREDICTED_TIMES * max(usual), _MOST_LOAD_SHARE)


def _quicker_run(reading: RunReading, load: float, wanted: float) -> str:
    """The command of a run with the users of `reading` that has the load `wanted`; empty if it cannot be had.

    The time of an interaction without its think time stays about the same.
    """
    mean_s = float(reading.tables.interactions["think_ns"].mean() or 0.0) / 1e9  # type: ignore[arg-type]
    if mean_s <= 0 or not len(reading.rows) or load <= 0:
        return ""
    cycle_s = reading.users * reading.span_s / len(reading.rows)
    other_s = max(cycle_s - mean_s, 0.0)
    shorter = min(max((cycle_s * load / wanted - other_s) / mean_s, _LEAST_THINK_SHARE), 1.0)
    if cycle_s / (other_s + shorter * mean_s) < _LEAST_RISE_TIMES:
        return ""
    try:
        quick = written(scaled(read_law(reading.think), float(f"{shorter:.2g}")))
        return _run_command(reading, reading.users, {**reading.asked_pace, "think": quick})
    except BadArgument:
        return ""


def _more_of_several(
    readings: Sequence[RunReading], by_load: Sequence[RunReading], loads: Sequence[float], values: FittedValues
) -> str:
    """The sentence for runs of several loads: a run of a higher load, or else more runs of the two ends."""
    law = next((value for value in values.values if value.key == "processors.cpu_when_busy"), None)
    if law is None or law.mean is None:
        return ""
    widest = max((float(logs.std()) for logs in law.mean.logs if len(logs)), default=0.0)
    if 2 * widest < _WIDE_FACTOR - 1:
        return ""
    least, most = by_load[0], by_load[-1]
    if quicker := _quicker_run(most, max(loads), _predicted_load(readings, loads)):
        return f"the dependence of processor time on the load is uncertain: a higher load tells most: `{quicker}`"
    ends = f"with {least.users} and {people(most.users)}"
    if least.users == most.users:
        ends = f"with the think times {in_words([least.think, most.think])}"
    return (
        f"the dependence of processor time on the load is uncertain: more runs {ends}, in turns, tell more than "
        f"runs between these: `{_run_command(most, most.users, most.asked_pace)}`"
    )


def usual_run(readings: Sequence[RunReading]) -> RunReading:
    """The run whose pace is the usual one: that with the longest pauses; the first of equal ones."""
    return max(readings, key=lambda reading: float(reading.rows["thinking"].mean() or 0.0))  # type: ignore[arg-type]


def pace_options(pace: Mapping[str, str]) -> str:
    """The think time and typing as options of a command, after a space each."""
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in pace.items())


def _run_command(reading: RunReading, users: int, pace: Mapping[str, str]) -> str:
    script = str(reading.conditions.get("script", "SCRIPT"))
    return f"loadgo run {shlex.quote(script)} --users {users}{pace_options(pace)} --for {_RUN_LENGTH}"
