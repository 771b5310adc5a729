"""The intervals of simulations hold the truth as often as they say: of 400 runs, a nominal 95 % does in 91 to 98 %.

An interval from batches is right only if the batches are long enough and the warm-up is left out. No formula shows
that, but a count does. With right intervals, the count of 400 lies outside of 91 to 98 % in one of some hundred tests.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from loadgo.running.simulation import SimulatedFigure, Simulation, sweep
from loadgo.theory.populations import Class, Station
from support import networks, queues
from support.model_machines import central_server, open_queue

pytestmark = pytest.mark.statistical

RUNS = 400
MM1 = queues.mm1(0.8, 1.0)
CENTRAL = networks.mean_values([Class("users", 36, 10.0)], [Station("cpu", (0.6,), 2), Station("disk", (0.2,))])


@pytest.fixture(scope="module")
def queue() -> list[Simulation]:
    """M/M/1 at a load of 0.8, 100,000 interactions each."""
    return sweep([(open_queue(0.8, "exponential(1s)"), seed) for seed in range(RUNS)], until="interactions=100000")


@pytest.fixture(scope="module")
def central() -> list[Simulation]:
    """Two processors in turns and a disk, 36 users, 30,000 interactions each."""
    return sweep([(central_server(36), seed) for seed in range(RUNS)], until="interactions=30000")


def coverage(runs: list[Simulation], figure: Callable[[Simulation], SimulatedFigure], truth: float) -> float:
    """The share of runs whose interval holds the truth."""
    return sum(figure(run).holds(truth) for run in runs) / len(runs)


@pytest.mark.parametrize(
    ("figure", "truth"),
    [
        (lambda run: run.response_s, MM1.response_s),
        (lambda run: run.response_by_law_s, MM1.response_s),
        (lambda run: run.throughput, 0.8),
        (lambda run: run.all.p90_s, queues.mm1_quantile(0.8, 1.0, 0.9)),
        (lambda run: run.station("processors").utilisation, 0.8),
        (lambda run: run.station("processors").queue, MM1.queue),
    ],
    ids=["mean", "mean by law", "throughput", "p90", "utilisation", "queue"],
)
def test_intervals_of_a_queue_hold_the_truth(
    queue: list[Simulation], figure: Callable[[Simulation], SimulatedFigure], truth: float
) -> None:
    assert 0.91 <= coverage(queue, figure, truth) <= 0.98


@pytest.mark.parametrize(
    ("figure", "truth"),
    [
        (lambda run: run.response_s, CENTRAL.response_s[0]),
        (lambda run: run.response_by_law_s, CENTRAL.response_s[0]),
        (lambda run: run.throughput, CENTRAL.throughput[0]),
        (lambda run: run.station("disk").queue, CENTRAL.stations["disk"].queue[0]),
        (lambda run: run.station("processors").utilisation, CENTRAL.stations["cpu"].utilisation),
    ],
    ids=["mean", "mean by law", "throughput", "queue at the disk", "utilisation"],
)
def test_intervals_of_a_network_hold_the_truth(
    central: list[Simulation], figure: Callable[[Simulation], SimulatedFigure], truth: float
) -> None:
    assert 0.91 <= coverage(central, figure, truth) <= 0.98


@pytest.mark.parametrize("precision", ["10%", "5%"])
def test_a_busy_queue_that_stops_when_it_is_precise_enough_holds_the_mean(precision: str) -> None:
    """M/M/1 at a load of 0.9: its batches follow each other, and have a long tail above.

    Uncorrected intervals held the mean in 86.5 and 91.5 % of these runs, corrected ones in 91.5 and 95.3 %.
    """
    truth = queues.mm1(0.9, 1.0).response_s
    asked = [(open_queue(0.9, "exponential(1s)"), seed) for seed in range(RUNS)]
    runs = sweep(asked, until=f"precision(mean)={precision}")
    assert {run.end for run in runs} == {"precision"}
    assert 0.91 <= coverage(runs, lambda run: run.response_s, truth) <= 0.98


def test_a_run_that_stops_when_it_is_precise_enough_is_so() -> None:
    asked = [(central_server(36), seed) for seed in range(RUNS)]
    runs = sweep(asked, until="precision(mean)=5%")
    truth = CENTRAL.response_s[0]
    assert {run.end for run in runs} == {"precision"}
    assert 0.91 <= coverage(runs, lambda run: run.response_s, truth) <= 0.98
    near = sum(abs((run.response_s.value or 0.0) / truth - 1.0) <= 0.05 for run in runs) / RUNS
    assert near >= 0.95, "the truth is within the asked precision"
