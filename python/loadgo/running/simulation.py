"""A simulated machine under its own load, without a script: throughput, response times, queues, with intervals.

`simulate` studies one machine until what was asked is reached; `sweep` many, on all processors. Times are seconds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from loadgo import _loadgo
from loadgo.errors import BadArgument, Mistake

USUAL = "precision(mean)=2%"
"""How precise a simulation is when nothing is asked: the mean response time's interval is at most 2 % to each side."""

COUNTED = 0.9
"""The part of a run that counts; the rest is its warm-up."""

FULL = 0.99
"""A station whose servers are busy for this share of the time or more may be one that cannot keep up."""

NO_REQUESTS = "none: nothing was there to measure"
"""Why a figure of something that did not happen is lacking: the response of a store that nobody asked."""

End = Literal["length", "precision", "most", "stopped"]

Verdict = Literal["holds", "broken", "too short to tell", "not steady"]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval; or why there is none."""

    value: float | None
    half_width: float | None
    lacking: str | None = None
    """`too few: ...`, where the run does not hold enough for it; `none: ...`, where there was nothing to measure."""

    @property
    def relative(self) -> float | None:
        """Half the interval's width as a part of the value."""
        if self.value is None or self.half_width is None or self.value == 0.0:
            return None
        return self.half_width / abs(self.value)

    def holds(self, truth: float) -> bool:
        """Whether `truth` is in the interval."""
        return self.value is not None and self.half_width is not None and abs(truth - self.value) <= self.half_width


@dataclass(frozen=True)
class Responses:
    """The interactions of a class, or of all."""

    name: str
    users: int | None
    """None where they come and go."""
    throughput: Estimate
    """Interactions a second."""
    mean_s: Estimate
    p50_s: Estimate
    p90_s: Estimate
    p95_s: Estimate
    p99_s: Estimate


@dataclass(frozen=True)
class Station:
    """The processors, or a store."""

    name: str
    servers: int | None
    """None: any number are served at once."""
    utilisation: Estimate | None
    """Of each server, 0 to 1."""
    queue: Estimate
    """How many are there, those in service with them."""
    requests: Estimate | None
    """A second; stores only."""
    response_s: Estimate | None
    """From a request to its end; stores only."""


@dataclass(frozen=True)
class Little:
    """Little's law over all that waits: users with a command in hand, counted, and as throughput times response."""

    counted: float
    computed: float
    holds: bool
    """They differ by no more than the run's two ends and the intervals allow."""
    verdict: Verdict
    """`too short to tell`: by no more than commands that the run's ends cut in two; `not steady`: more commands were
    begun than answered, and those are in queues that cannot keep up; `broken`: by more than any of these explains."""


@dataclass(frozen=True)
class Simulation:
    """What a simulated machine under its own load came to."""

    title: str
    seed: int
    streams: int
    until: str
    end: End
    """`length` or `precision` that was asked; `most`: the most interactions came before the precision; `stopped`."""
    interactions: int
    """In all, those of the warm-up too."""
    simulated_s: float
    """All streams together."""
    events: int
    """Ends of think times, turns, bursts, services."""
    seconds: float
    """That it took."""
    all: Responses
    response_by_law_s: Estimate
    """N / X - Z over the window, Z as measured; not cut off as the mean of the first so many responses is."""
    classes: tuple[Responses, ...]
    stations: tuple[Station, ...]
    asking: Estimate
    """Processes that ask to be eligible."""
    time: Mapping[str, Estimate]
    """The share of the processors' time in each category, 0 to 1."""
    little: Little | None
    """None for a run too short to have intervals."""

    @property
    def throughput(self) -> Estimate:
        """Interactions a second."""
        return self.all.throughput

    @property
    def response_s(self) -> Estimate:
        """The mean response time."""
        return self.all.mean_s

    def station(self, name: str) -> Station:
        """The station of this name; raises `KeyError`."""
        return {station.name: station for station in self.stations}[name]


def simulate(
    machine: str | Path,
    *,
    users: int | None = None,
    until: str = USUAL,
    seed: int = 1,
    streams: int = 1,
    set: Sequence[str] = (),
) -> Simulation:
    """Simulates a machine under its own load, without a script, until enough is measured.

        result = loadgo.simulate("terminals.toml", until="precision(p90)=2%")
        print(result.throughput.value, result.response_s.value)

    Args:
        machine: The path of a machine file that has a `[[load]]`; docs/machines.md describes it.
        users: Number of users instead of the file's. The file must have one class of users.
        until: The end: `interactions=1e6`, `time=1h`, or precisions of 95 % intervals, such as `precision(mean)=1%,
            precision(p90)=2%`. A length beside precisions is the largest length.
        seed: The seed of all random numbers. The same seed gives the same figures.
        streams: Number of independent runs, each on its own processor, that count as one.
        set: Values of the machine file, as `KEY=VALUE`.

    Returns:
        `Simulation` with throughput in interactions a second, response times in seconds, and each station's use and
        queue, all with 95 % intervals.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Mistake: The machine file has a mistake; the error has its line and column.
        loadgo.errors.Refused: The machine cannot be simulated.
    """
    from loadgo.running.machines import find

    source = find(machine)
    try:
        return of_text(source.text, users=users, until=until, seed=seed, streams=streams, set=set)
    except Mistake as mistake:
        raise mistake.in_file(mistake.file or str(source.path)) from None


def of_text(
    text: str,
    *,
    users: int | None = None,
    until: str = USUAL,
    seed: int = 1,
    streams: int = 1,
    set: Sequence[str] = (),
) -> Simulation:
    """Like `simulate`, of a machine file's text."""
    if streams < 1:
        raise BadArgument(f"{streams} streams cannot be run: at least 1")
    began = perf_counter()
    if not 0 <= seed < 2**63:
        raise BadArgument(f"seed {seed} is out of range: it lies between 0 and 2^63 - 1")
    told = _loadgo.simulate(text, list(set), {"users": users, "until": until, "seed": seed, "streams": streams})
    return _simulation(told, seed, streams, until, perf_counter() - began)


def sweep(machines: Iterable[tuple[str, int]], *, until: str, threads: int | None = None) -> list[Simulation]:
    """Simulates each of (machine file's text, seed), one stream each, on all processors; in their order.

    Raises what `simulate` raises. `seconds` is each one's part of the time that all took.
    """
    asked = list(machines)
    began = perf_counter()
    told = _loadgo.sweep(asked, until, threads or len(os.sched_getaffinity(0)))
    each = (perf_counter() - began) / max(len(asked), 1)
    return [_simulation(one, seed, 1, until, each) for one, (_, seed) in zip(told, asked, strict=True)]


def _simulation(told: Mapping[str, Any], seed: int, streams: int, until: str, seconds: float) -> Simulation:
    everything, by_law = _responses(told["all"]), _estimate(told["little"])
    stations, asking = tuple(map(_station, told["stations"])), _estimate(told["asking"])
    counted_s = COUNTED * told["simulated_s"] / streams
    return Simulation(
        title=told["title"],
        seed=seed,
        streams=streams,
        until=until,
        end=told["end"],
        interactions=told["interactions"],
        simulated_s=told["simulated_s"],
        events=told["events"],
        seconds=seconds,
        all=everything,
        response_by_law_s=by_law,
        classes=tuple(map(_responses, told["classes"])),
        stations=stations,
        asking=asking,
        time={category: _estimate(share) for category, share in told["time"].items()},
        little=little(_estimate(told["active"]), everything, _overfull(stations, asking), counted_s),
    )


def _estimate(told: tuple[float, float] | str) -> Estimate:
    if isinstance(told, str):
        return Estimate(None, None, told)
    value, half_width = told
    if not math.isfinite(value):
        return Estimate(None, None, NO_REQUESTS)
    return Estimate(value, half_width if math.isfinite(half_width) else None)


def _responses(told: Mapping[str, Any]) -> Responses:
    rest = (_estimate(figure) for figure in (told["throughput"], told["mean"], *told["quantiles"]))
    return Responses(told["name"], told["users"], *rest)


def _station(told: Mapping[str, Any]) -> Station:
    utilisation, requests, response = (
        None if told[name] is None else _estimate(told[name]) for name in ("utilisation", "requests", "response")
    )
    return Station(told["name"], told["servers"], utilisation, _estimate(told["queue"]), requests, response)


def _overfull(stations: Iterable[Station], asking: Estimate) -> float:
    """How many wait where more may come than are served: for eligibility, and at stations that are never idle."""
    full = [station for station in stations if station.utilisation and (station.utilisation.value or 0.0) >= FULL]
    return sum(queue.value or 0.0 for queue in (asking, *(station.queue for station in full)))


def little(active: Estimate, everything: Responses, overfull: float, counted_s: float) -> Little | None:
    """The audit of a stretch of `counted_s`, in which `overfull` commands were where more may come than are served.

    The two may differ by their intervals and 1 %. A command that is in hand at an end of the stretch counts in one
    and not, or not wholly, in the other: as long as its response at each end it is too short to tell. What is in hand
    and is never answered counts in the first alone; that is no error of counting while so many wait in full queues.
    Only where users come and go may that come from too many of them; users who stay fill a queue once.
    """
    rate, mean = everything.throughput, everything.mean_s
    if active.value is None or active.half_width is None or rate.value is None or mean.value is None:
        return None
    computed = rate.value * mean.value
    excess = active.value - computed
    longest = max(told.value or 0.0 for told in (mean, everything.p50_s, everything.p90_s, everything.p99_s))
    edges = 2 * longest / counted_s * max(active.value, computed)
    come_and_go, unserved = everything.users is None, 0 < excess <= overfull
    verdict: Verdict = "broken"
    if abs(excess) <= active.half_width + 0.01 * active.value:
        verdict = "holds"
    elif abs(excess) <= edges and not (come_and_go and unserved):
        verdict = "too short to tell"
    elif unserved:
        verdict = "not steady"
    return Little(active.value, computed, verdict == "holds", verdict)
