"""What each of several changes did to a figure that is known with every choice of them made: log-Shapley.

y(S) = ln Y with the changes in S made, for all 2^k choices. A change's share is what making it took off y, averaged
over every order in which the changes can be made. The shares add up to ln(Y(none) / Y(all)) identically; a change that
does nothing has none, and the order in which the changes are named plays no part. L. S. Shapley, A value for n-person
games, 1953. How much two changes interact is the Möbius term y(ij) - y(i) - y(j) + y(none).

A choice of changes is a number whose bit i says that change i is made. Arrays have the choices along the first axis,
and the estimate and its draws along the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from loadgo.stats.resample import Floats

MOST_CHANGES = 6
"""2^6 = 64 machines."""


@dataclass(frozen=True)
class Effect:
    """What one change did, as logarithms of factors: above 0, less is used with it."""

    change: int
    log: Floats
    """Its share."""
    first: Floats
    """Made before all others: ln(Y(none) / Y(it))."""
    last: Floats
    """Made after all others: ln(Y(all but it) / Y(all))."""


@dataclass(frozen=True)
class Interaction:
    """The pair of changes of which one matters most to what the other does."""

    pair: tuple[int, int]
    log: Floats
    """The Möbius term; below 0 the two together save more than both alone multiply to."""


def effects(logs: Floats) -> tuple[Effect, ...]:
    """Each change's effect on the figure whose logarithms are `logs`, of shape (2^k, draws)."""
    count = _count(logs)
    every = len(logs) - 1
    return tuple(
        Effect(
            change=change,
            log=_share(logs, change, count),
            first=logs[0] - logs[1 << change],
            last=logs[every & ~(1 << change)] - logs[every],
        )
        for change in range(count)
    )


def strongest_interaction(logs: Floats) -> Interaction | None:
    """The pair with the largest Möbius term, by the estimate; None with fewer than two changes."""
    count = _count(logs)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    found = [Interaction((i, j), logs[1 << i | 1 << j] - logs[1 << i] - logs[1 << j] + logs[0]) for i, j in pairs]
    return max(found, key=lambda one: abs(one.log[0])) if found else None


def _count(logs: Floats) -> int:
    count = len(logs).bit_length() - 1
    assert len(logs) == 1 << count, f"{len(logs)} choices are not all those of some changes"
    return count


def _share(logs: Floats, change: int, count: int) -> Floats:
    share = np.zeros(logs.shape[1:])
    for choice in range(len(logs)):
        if not choice >> change & 1:
            made = choice.bit_count()
            weight = factorial(made) * factorial(count - made - 1) / factorial(count)
            share = share + weight * (logs[choice] - logs[choice | 1 << change])
    return share
