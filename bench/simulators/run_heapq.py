"""The model written by hand on Python's heapq: what a person writes in an afternoon, without a library."""

from collections import deque
from heapq import heappop, heappush, heapreplace
from random import Random

from model import BURST_S, DISK_S, PROCESSORS, QUANTUM_S, THINK_S, TO_DISK, USERS, tell

THINK, PROCESSOR, DISK = range(3)


def run(simulated_s: float) -> tuple[int, int]:
    """Model events and interactions in so many seconds."""
    random = Random(1)
    draw = random.expovariate
    events = interactions = serial = 0
    calendar = sorted((draw(1 / THINK_S), user, THINK, user) for user in range(USERS))
    serial = USERS
    left = [0.0] * USERS
    ready: deque[int] = deque()
    waiting: deque[int] = deque()
    free, disk_free = PROCESSORS, True
    while True:
        now, _, kind, user = calendar[0]
        if now >= simulated_s:
            return events, interactions
        events += 1
        entered = []
        if kind == THINK:
            left[user] = draw(1 / BURST_S)
            ready.append(user)
        elif kind == PROCESSOR:
            free += 1
            if left[user] > 0.0:
                ready.append(user)
            elif random.random() < TO_DISK:
                waiting.append(user)
            else:
                interactions += 1
                entered.append((now + draw(1 / THINK_S), THINK, user))
        else:
            disk_free = True
            left[user] = draw(1 / BURST_S)
            ready.append(user)
        while free and ready:
            free -= 1
            next_user = ready.popleft()
            turn = min(left[next_user], QUANTUM_S)
            left[next_user] -= turn
            entered.append((now + turn, PROCESSOR, next_user))
        if disk_free and waiting:
            disk_free = False
            entered.append((now + draw(1 / DISK_S), DISK, waiting.popleft()))
        if not entered:
            heappop(calendar)
        for index, (at, what, whose) in enumerate(entered):
            serial += 1
            if index == 0:
                heapreplace(calendar, (at, serial, what, whose))
            else:
                heappush(calendar, (at, serial, what, whose))


if __name__ == "__main__":
    tell(run)
