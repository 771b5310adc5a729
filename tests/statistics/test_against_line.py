"""Exact mean values against a second opinion: LINE (package line-solver, BSD), by its exact mean-value analysis.

It is no part of the development packages, being 20 packages and half a gigabyte: `scripts/setup bench` installs it.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from itertools import pairwise

import pytest
from loadgo.theory.populations import Class, Station
from support.networks import mean_values

if find_spec("line_solver") is None:
    pytest.skip("LINE is not installed, so nothing was compared with it: scripts/setup bench", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own, of NumPy's old matrices
    import line_solver as line

NETWORKS = {
    "central server": ([Class("users", 36, 10.0)], [Station("processor", (0.6,), 2), Station("disk", (0.2,))]),
    "repairman": ([Class("users", 50, 10.0)], [Station("processor", (0.3,), 2)]),
    "two classes": (
        [Class("light", 12, 4.0), Class("heavy", 4, 12.0)],
        [Station("processor", (0.2, 1.5)), Station("disk", (0.15, 0.4))],
    ),
    "three classes": (
        [Class("a", 3, 1.0), Class("b", 4, 2.0), Class("c", 2, 5.0)],
        [Station("processor", (0.2, 0.5, 1.0)), Station("disk", (0.3, 0.1, 0.4)), Station("tape", (0.1, 0.2, 0.05))],
    ),
}


def in_line(classes: list[Class], stations: list[Station]) -> line.Network:
    """The network in LINE's words: sharing at every station, each visited once an interaction."""
    model = line.Network("network")
    think = line.Delay(model, "think")
    queues = [line.Queue(model, station.name, line.SchedStrategy.PS) for station in stations]
    kinds = [line.ClosedClass(model, one.name, one.users, think) for one in classes]
    for queue, station in zip(queues, stations, strict=True):
        queue.setNumberOfServers(station.servers)
        for kind, demand in zip(kinds, station.demands_s, strict=True):
            queue.setService(kind, line.Exp(1.0 / demand))
    routes = model.initRoutingMatrix()
    around = [think, *queues, think]
    for kind, one in zip(kinds, classes, strict=True):
        think.setService(kind, line.Exp(1.0 / one.think_s))
        for origin, target in pairwise(around):
            routes.set(kind, kind, origin, target, 1.0)
    model.link(routes)
    return model


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.filterwarnings("ignore")
def test_mean_values_are_those_of_line(name: str) -> None:
    classes, stations = NETWORKS[name]
    line_table = line.MVA(in_line(classes, stations), method="exact", verbose=False).getAvgTable().data
    ours = mean_values(classes, stations)
    rows = {(row.Station, row.JobClass): row for row in line_table.itertuples()}
    for index, one in enumerate(classes):
        assert ours.throughput[index] == pytest.approx(rows["think", one.name].Tput, rel=1e-6)
        for station in stations:
            row, visited = rows[station.name, one.name], ours.stations[station.name]
            assert visited.queue[index] == pytest.approx(row.QLen, rel=1e-6)
            assert visited.response_s[index] == pytest.approx(row.ResidT, rel=1e-6)
