"""Points of a capacity for tests: exact ones of a network whose answers are known, and those of a simulated machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from loadgo.running.simulation import SimulatedFigure, Simulation, sweep
from loadgo.sizing.curve import ClassFigures, LoadPoint, MeasuredFigure, Target, TargetVerdict
from loadgo.stats.resample import Interval
from loadgo.theory.populations import Class as Population
from loadgo.theory.populations import Populations, Station, populations

from support.model_machines import central_server

SERVERS: Mapping[str, int | None] = {"processors": 2, "disk": 1}
THINK_S = 10.0
HIDDEN_S = 0.4
"""The part of each response that no resource explains."""
MEAN = Target("mean < 3s", "mean", None, "most", 3.0, None)
P90 = Target("p90 < 5s", "p90", None, "most", 5.0, 0.1)
BUSY = Target("busy < 80%", "busy", "processors", "most", 0.8, None)
EXACT: Populations = populations(
    [Population("users", 200, THINK_S + HIDDEN_S)], [Station("processors", (0.6,), 2), Station("disk", (0.2,))]
)
"""The central server, and a delay."""


def exact_response_s(users: int) -> float:
    """The mean response, the delay with it."""
    return users / EXACT.throughput([users])[0] - THINK_S


def point(users: int, throughput: float, response_s: float, utilisation: Mapping[str, float]) -> LoadPoint:
    """A point of 1000 s with these figures, judged by the mean, by p90 (twice the mean), and by the processors."""
    p90, busy = 2 * response_s, utilisation.get("processors", 0.0)
    return LoadPoint(
        users=users,
        seconds=1000.0,
        interactions=max(1, round(1000 * throughput)),
        trials=1,
        throughput=MeasuredFigure(throughput, Interval(0.97 * throughput, 1.03 * throughput)),
        response_s={
            "mean": MeasuredFigure(response_s, Interval(0.95 * response_s, 1.05 * response_s)),
            "p50": MeasuredFigure(0.7 * response_s),
            "p90": MeasuredFigure(p90, Interval(0.9 * p90, 1.1 * p90)),
        },
        think_s=THINK_S,
        verdicts=(
            TargetVerdict(MEAN, "met" if response_s < 3.0 else "missed", MeasuredFigure(response_s), None),
            TargetVerdict(
                P90, "met" if p90 < 5.0 else "missed", MeasuredFigure(p90), MeasuredFigure(0.08, Interval(0.05, 0.12))
            ),
            TargetVerdict(BUSY, "met" if busy < 0.8 else "missed", MeasuredFigure(busy), None),
        ),
        utilisation=utilisation,
        cost_user_hour=0.4 + 0.02 * users,
        faults_a_command=20.0 + users,
        steady=True,
        steady_why="its two halves do not differ",
        lost=0,
        valid=True,
        runs=("seed 1",),
    )


def exact(users: int) -> LoadPoint:
    """The exact point of the central server with `users`."""
    return point(users, EXACT.throughput([users])[0], exact_response_s(users), EXACT.utilisation([users]))


def exacts(*users: int) -> list[LoadPoint]:
    """The exact points of the central server with these numbers of users."""
    return [exact(n) for n in users]


def simulated(users: Sequence[int], machine: Callable[[int], str] = central_server) -> list[LoadPoint]:
    """The points of a simulated machine, from one run of 20,000 interactions for each number of users."""
    return seeds(users, [1973], machine)[0]


def seeds(
    users: Sequence[int], each: Sequence[int], machine: Callable[[int], str] = central_server
) -> list[list[LoadPoint]]:
    """The points of a simulated machine with several seeds: a list of points for each seed."""
    runs = sweep([(machine(n), seed) for seed in each for n in users], until="interactions=20000")
    points = [of_run(n, run) for n, run in zip([*users] * len(each), runs, strict=True)]
    return [points[at : at + len(users)] for at in range(0, len(points), len(users))]


def mixed(each: Sequence[tuple[str, int, float]], network: Populations) -> LoadPoint:
    """A point of a mix: name, users and processor time an interaction of each class of the network."""
    here = [n for _, n, _ in each]
    rates, responses = network.throughput(here), network.response_s(here)
    whole = sum(rates)
    mean_s = sum(x * r for x, r in zip(rates, responses, strict=True)) / whole
    classes = tuple(
        ClassFigures(name, n, x, r, one.think_s, cpu_s)
        for (name, n, cpu_s), x, r, one in zip(each, rates, responses, network.classes, strict=True)
    )
    think_s = sum(x * one.think_s for x, one in zip(rates, network.classes, strict=True)) / whole
    return replace(point(sum(here), whole, mean_s, network.utilisation(here)), classes=classes, think_s=think_s)


def of_run(users: int, run: Simulation) -> LoadPoint:
    """The point of a simulation."""
    busy = {station.name: _value(station.utilisation) for station in run.stations}
    return point(users, _value(run.throughput), _value(run.response_s), busy)


def _value(figure: SimulatedFigure | None) -> float:
    assert figure is not None
    assert figure.value is not None
    return figure.value
