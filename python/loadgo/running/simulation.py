"""A simulated machine under its own load, without a script: throughput, response times, queues, with intervals.

`simulate` runs one machine until its figures are precise enough; `sweep` runs many, on all processors.
Times are in seconds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadArgument, Mistake
from loadgo.notation import quantities
from loadgo.records.machine_file import fit_warnings, parsed_machine

DEFAULT_UNTIL = "precision(mean)=2%"
"""Default end of a simulation: the interval of the mean response time is at most 2 % to each side."""

COUNTED_RUN_SHARE = 0.9
"""The share of a run's time that counts; the rest is its warm-up."""

OVERLOADED_UTILISATION_SHARE = 0.99
"""Utilisation from which a station may be overloaded."""

NO_REQUESTS_REASON = "none: nothing was there to measure"
"""The reason for a missing figure of an event that did not happen, such as the response of an unused store."""

SimulationEnd = Literal["length", "precision", "most", "stopped"]

RawFigure = tuple[float, float] | str
"""A figure of the simulator: its value and half of its interval's width, or the reason why it is missing."""

AuditVerdict = Literal["holds", "broken", "too short to tell", "not steady"]


@dataclass(frozen=True)
class SimulatedFigure:
    """A figure with its 95 % interval, or the reason why it is missing."""

    value: float | None
    half_width: float | None
    lacking: str | None = None
    """`too few: ...` for a run that is too short; `none: ...` without any event to measure."""

    @property
    def relative(self) -> float | None:
        """Half the interval's width as a share of the value. None without an interval, and for the value 0."""
        if self.value is None or self.half_width is None or self.value == 0.0:
            return None
        return self.half_width / abs(self.value)

    def holds(self, truth: float) -> bool:
        """Whether `truth` is in the interval."""
        return self.value is not None and self.half_width is not None and abs(truth - self.value) <= self.half_width


@dataclass(frozen=True)
class ClassResponses:
    """Throughput and response times of a user class, or of all users."""

    name: str
    users: int | None
    """Number of users; None in an open load."""
    throughput: SimulatedFigure
    """Interactions per second."""
    mean_s: SimulatedFigure
    p50_s: SimulatedFigure
    p90_s: SimulatedFigure
    p95_s: SimulatedFigure
    p99_s: SimulatedFigure


@dataclass(frozen=True)
class SimulatedStation:
    """The processors, or a store, as a queueing station."""

    name: str
    servers: int | None
    """Number of servers; None if every request is served at once."""
    utilisation: SimulatedFigure | None
    """Mean share of the time in which a server is busy, 0 to 1."""
    queue: SimulatedFigure
    """Mean number of requests that wait or are served."""
    requests: SimulatedFigure | None
    """Requests per second; stores only."""
    response_s: SimulatedFigure | None
    """Mean time from a request to its end; stores only."""


@dataclass(frozen=True)
class LittleAudit:
    """The check of Little's law: the mean number of users with a pending command, counted and computed."""

    counted: float
    computed: float
    """Throughput times mean response time."""
    holds: bool
    """Whether both agree within their intervals and 1 %."""
    verdict: AuditVerdict
    """`holds`, or the reason for the difference.

    `too short to tell`: commands that were pending at the run's ends explain it. `not steady`: commands in overloaded
    queues explain it. `broken`: neither explains it.
    """


@dataclass(frozen=True, repr=False)
class Simulation(Result, presented_by="loadgo.reporting.presentation:simulation_presentation"):
    """The result of simulating a machine under its own load."""

    title: str
    seed: int
    streams: int
    until: str
    end: SimulationEnd
    """The reason for the end: the requested `length` or `precision`, the `most` interactions, or `stopped`."""
    interactions: int
    """Number of interactions, with the warm-up."""
    simulated_s: float
    """Simulated time of all streams together."""
    events: int
    """Number of events: ends of think times, turns, bursts and services."""
    seconds: float
    """Real time of the simulation."""
    all: ClassResponses
    response_by_law_s: SimulatedFigure
    """N / X - Z with the measured Z. Unlike the mean of the answered commands, it includes pending ones."""
    classes: tuple[ClassResponses, ...]
    stations: tuple[SimulatedStation, ...]
    asking: SimulatedFigure
    """Mean number of processes that request eligibility."""
    time: Mapping[str, SimulatedFigure]
    """The share of the processors' time in each category, 0 to 1."""
    little: LittleAudit | None
    """None for a run that is too short for intervals."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fit of a fitted machine."""

    @property
    def throughput(self) -> SimulatedFigure:
        """Interactions per second."""
        return self.all.throughput

    @property
    def response_s(self) -> SimulatedFigure:
        """The mean response time."""
        return self.all.mean_s

    def station(self, name: str) -> SimulatedStation:
        """The station of this name; raises `KeyError`."""
        return {station.name: station for station in self.stations}[name]


def simulate(
    machine: str | Path,
    *,
    users: int | None = None,
    until: str = DEFAULT_UNTIL,
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
        simulation = simulate_text(source.text, users=users, until=until, seed=seed, streams=streams, set=set)
        return replace(simulation, fit_warnings=fit_warnings(parsed_machine(source.text, set)["text"]))
    except Mistake as mistake:
        raise mistake.in_file(mistake.file or str(source.path)) from None


def simulate_text(
    text: str,
    *,
    users: int | None = None,
    until: str = DEFAULT_UNTIL,
    seed: int = 1,
    streams: int = 1,
    set: Sequence[str] = (),
) -> Simulation:
    """Simulates a machine like `simulate`, from the text of its file."""
    if streams < 1:
        raise BadArgument(f"{streams} streams cannot be run: at least 1")
    began = perf_counter()
    options = {"users": users, "until": until, "seed": quantities.seed(seed), "streams": streams}
    raw_figures = _loadgo.simulate(text, list(set), options)
    return _simulation(raw_figures, seed, streams, until, perf_counter() - began)


def sweep(machines: Iterable[tuple[str, int]], *, until: str, threads: int | None = None) -> list[Simulation]:
    """Simulates each pair of a machine file's text and a seed, one stream each, on all processors, and keeps the order.

    Raises what `simulate` raises. `seconds` is the real time divided by the number of machines.
    """
    pairs = list(machines)
    began = perf_counter()
    all_results = raw_sweep(pairs, until, threads or len(os.sched_getaffinity(0)))
    seconds = (perf_counter() - began) / max(len(pairs), 1)
    return [
        _simulation(raw_figures, seed, 1, until, seconds)
        for raw_figures, (_, seed) in zip(all_results, pairs, strict=True)
    ]


def raw_sweep(machines: Sequence[tuple[str, int]], until: str, threads: int) -> list[dict[str, Any]]:
    """Simulates like `sweep`, and returns the simulator's figures, for callers that need few of many simulations.

    Of a short simulation, the classes of `sweep` cost a third of the time. `known_figure` reads a figure.
    """
    return _loadgo.sweep(machines, until, threads)


def known_figure(result: RawFigure) -> tuple[float, float | None] | None:
    """A figure of the simulator as value and half of its interval's width, if any; None for a missing figure."""
    if isinstance(result, str) or not math.isfinite(result[0]):
        return None
    value, half_width = result
    return value, half_width if math.isfinite(half_width) else None


def _simulation(raw_figures: Mapping[str, Any], seed: int, streams: int, until: str, seconds: float) -> Simulation:
    everything, by_law = _responses(raw_figures["all"]), _figure(raw_figures["little"])
    stations, asking = tuple(map(_station, raw_figures["stations"])), _figure(raw_figures["asking"])
    counted_s = COUNTED_RUN_SHARE * raw_figures["simulated_s"] / streams
    return Simulation(
        title=raw_figures["title"],
        seed=seed,
        streams=streams,
        until=until,
        end=raw_figures["end"],
        interactions=raw_figures["interactions"],
        simulated_s=raw_figures["simulated_s"],
        events=raw_figures["events"],
        seconds=seconds,
        all=everything,
        response_by_law_s=by_law,
        classes=tuple(map(_responses, raw_figures["classes"])),
        stations=stations,
        asking=asking,
        time={category: _figure(share) for category, share in raw_figures["time"].items()},
        little=little_audit(_figure(raw_figures["active"]), everything, _overloaded_count(stations, asking), counted_s),
    )


def _figure(result: RawFigure) -> SimulatedFigure:
    """A figure from its value and half width, or from the reason why it is missing."""
    known = known_figure(result)
    if known is not None:
        return SimulatedFigure(*known)
    return SimulatedFigure(None, None, result if isinstance(result, str) else NO_REQUESTS_REASON)


def _responses(result: Mapping[str, Any]) -> ClassResponses:
    figures = (_figure(figure) for figure in (result["throughput"], result["mean"], *result["quantiles"]))
    return ClassResponses(result["name"], result["users"], *figures)


def _station(result: Mapping[str, Any]) -> SimulatedStation:
    utilisation, requests, response = (
        None if result[name] is None else _figure(result[name]) for name in ("utilisation", "requests", "response")
    )
    return SimulatedStation(
        result["name"], result["servers"], utilisation, _figure(result["queue"]), requests, response
    )


def _overloaded_count(stations: Iterable[SimulatedStation], asking: SimulatedFigure) -> float:
    """Mean number of commands in queues that may grow without limit: for eligibility, and at overloaded stations."""
    overloaded = [
        station
        for station in stations
        if station.utilisation and (station.utilisation.value or 0.0) >= OVERLOADED_UTILISATION_SHARE
    ]
    return sum(queue.value or 0.0 for queue in (asking, *(station.queue for station in overloaded)))


def little_audit(
    active: SimulatedFigure, everything: ClassResponses, overloaded: float, counted_s: float
) -> LittleAudit | None:
    """Checks Little's law over a window of `counted_s` seconds. None without an interval to judge by.

    `overloaded` is the mean number of commands in queues that may grow without limit.

    The counted and the computed number may differ by the interval and 1 %. Two causes explain a larger difference:

    - Commands that are pending when the window begins or ends. Only a part of their response is in the window. They
      explain a difference of one response time at each end: the window is too short to tell.
    - Commands in overloaded queues, which are counted but never answered. They explain a difference of at most
      `overloaded` commands: the system is not steady. In an open load such queues grow throughout the run, so this
      cause is preferred there.
    """
    rate, mean = everything.throughput, everything.mean_s
    if active.value is None or active.half_width is None or rate.value is None or mean.value is None:
        return None
    computed = rate.value * mean.value
    excess = active.value - computed
    responses = (mean, everything.p50_s, everything.p90_s, everything.p99_s)
    longest_s = max(response.value or 0.0 for response in responses)
    pending_at_ends = 2 * longest_s / counted_s * max(active.value, computed)
    is_open, is_overloaded = everything.users is None, 0 < excess <= overloaded
    verdict: AuditVerdict = "broken"
    if abs(excess) <= active.half_width + 0.01 * active.value:
        verdict = "holds"
    elif abs(excess) <= pending_at_ends and not (is_open and is_overloaded):
        verdict = "too short to tell"
    elif is_overloaded:
        verdict = "not steady"
    return LittleAudit(active.value, computed, verdict == "holds", verdict)
