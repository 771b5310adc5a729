"""Runs of a closed queue without a host: users think and wait for one server, who serves them in order."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class QueueRun:
    """The interactions of a run, in the order of their sending; times in seconds."""

    sent: NDArray[np.float64]
    response: NDArray[np.float64]
    service: NDArray[np.float64]
    users: NDArray[np.int64]


def queue_run(users: int, think_s: float, interactions: int, seed: int, service_s: float = 1.0) -> QueueRun:
    """A run of exponential think and service times, after a warm-up of 5 interactions for each user."""
    random = np.random.default_rng(seed)
    skipped = 5 * users
    count = interactions + skipped
    thinks, services = random.exponential(think_s, count + users), random.exponential(service_s, count)
    waiting = [(thinks[count + user], user) for user in range(users)]
    heapq.heapify(waiting)
    sent, response, owners = np.empty(count), np.empty(count), np.empty(count, np.int64)
    free = 0.0
    for number in range(count):
        now, user = heapq.heappop(waiting)
        free = max(free, now) + services[number]
        sent[number], response[number], owners[number] = now, free - now, user
        heapq.heappush(waiting, (free + thinks[number], user))
    kept = slice(skipped, None)
    return QueueRun(sent[kept], response[kept], services[kept], owners[kept])
