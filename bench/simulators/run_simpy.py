"""The model in SimPy: a process a user, resources for processors and disk."""

from random import Random

import simpy
from model import BURST_S, DISK_S, PROCESSORS, QUANTUM_S, THINK_S, TO_DISK, USERS, tell


def run(simulated_s: float) -> tuple[int, int]:
    """Model events and interactions in so many seconds."""
    random = Random(1)
    environment = simpy.Environment()
    processors = simpy.Resource(environment, PROCESSORS)
    disk = simpy.Resource(environment, 1)
    counts = [0, 0]

    def user() -> simpy.events.ProcessGenerator:
        while True:
            yield environment.timeout(random.expovariate(1 / THINK_S))
            counts[0] += 1
            while True:
                left = random.expovariate(1 / BURST_S)
                while left > 0.0:
                    with processors.request() as turn:
                        yield turn
                        taken = min(left, QUANTUM_S)
                        yield environment.timeout(taken)
                    left -= taken
                    counts[0] += 1
                if random.random() >= TO_DISK:
                    break
                with disk.request() as turn:
                    yield turn
                    yield environment.timeout(random.expovariate(1 / DISK_S))
                counts[0] += 1
            counts[1] += 1

    for _ in range(USERS):
        environment.process(user())
    environment.run(until=simulated_s)
    return counts[0], counts[1]


if __name__ == "__main__":
    tell(run)
