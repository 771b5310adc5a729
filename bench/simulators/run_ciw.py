"""The model in Ciw: think, processors and disk as nodes; a router sends what is left of a burst round again.

Ciw has no quantum: a customer carries what is left of its burst, and a service of the processors is its next turn.
"""

from __future__ import annotations

from random import Random

import ciw
from model import BURST_S, DISK_S, PROCESSORS, QUANTUM_S, THINK_S, TO_DISK, USERS, tell

THINKING, PROCESSOR, DISK = 1, 2, 3
RANDOM = Random(1)


class Turn(ciw.dists.Distribution):
    """The next turn: a quantum, or what is left."""

    def sample(self, t: float | None = None, ind: ciw.Individual | None = None) -> float:
        """The turn's length; draws the burst at its beginning."""
        if not getattr(ind, "left", 0.0):
            ind.left = RANDOM.expovariate(1 / BURST_S)
        taken = min(ind.left, QUANTUM_S)
        ind.left -= taken
        COUNTS[0] += 1
        return taken


class Route(ciw.routing.NodeRouting):
    """From the processors: round again, to the disk, or home."""

    def next_node(self, ind: ciw.Individual) -> ciw.Node:
        """Where an individual goes."""
        if ind.left > 0.0:
            return self.simulation.nodes[PROCESSOR]
        if RANDOM.random() < TO_DISK:
            COUNTS[0] += 1
            return self.simulation.nodes[DISK]
        COUNTS[0] += 1
        COUNTS[1] += 1
        return self.simulation.nodes[THINKING]


COUNTS = [0, 0]


def run(simulated_s: float) -> tuple[int, int]:
    """Model events and interactions in so many seconds; an event is counted when it is entered."""
    ciw.seed(1)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([0.0, float("inf")]), None, None],
        batching_distributions=[ciw.dists.Deterministic(USERS), ciw.dists.Deterministic(1), ciw.dists.Deterministic(1)],
        service_distributions=[ciw.dists.Exponential(1 / THINK_S), Turn(), ciw.dists.Exponential(1 / DISK_S)],
        routing=ciw.routing.NetworkRouting(
            routers=[ciw.routing.Direct(to=PROCESSOR), Route(), ciw.routing.Direct(to=PROCESSOR)]
        ),
        number_of_servers=[float("inf"), PROCESSORS, 1],
    )
    ciw.Simulation(network).simulate_until_max_time(simulated_s)
    return COUNTS[0], COUNTS[1]


if __name__ == "__main__":
    tell(run)
