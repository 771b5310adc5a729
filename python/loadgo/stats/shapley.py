"""Effects of several changes on a figure that is known for every choice of changes, by Shapley values of logarithms.

y(S) = ln Y with the changes in S made, for all 2^k choices S. A change's share is the reduction of y when it is made,
averaged over all orders of making the changes. The shares add up to ln(Y(none) / Y(all)) exactly. A change without an
effect has the share 0, and the order of the names does not matter. L. S. Shapley, A value for n-person games, 1953.
The interaction of two changes is the Möbius term y(ij) - y(i) - y(j) + y(none).

A choice is a number whose bit i is set if change i is made. Arrays have the choices along the first axis, and the
estimate and its resamples along the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from loadgo.stats.resample import Floats

MOST_CHANGES = 6
"""Most changes of one study: 2^6 = 64 machines have to run."""


@dataclass(frozen=True)
class Effect:
    """The effect of one change, as logarithms of factors. Above 0, the change makes the figure smaller."""

    change: int
    log: Floats
    """The change's share."""
    first: Floats
    """The effect if the change is made before all others: ln(Y(none) / Y(change))."""
    last: Floats
    """The effect if the change is made after all others: ln(Y(all others) / Y(all))."""


@dataclass(frozen=True)
class Interaction:
    """The interaction of a pair of changes."""

    pair: tuple[int, int]
    log: Floats
    """The Möbius term. Below 0, the two changes together save more than the product of their single factors."""


def effects(logs: Floats) -> tuple[Effect, ...]:
    """Each change's effect on the figure whose logarithms are `logs`, of shape (2^k, draws)."""
    count = _count(logs)
    all_changes = len(logs) - 1
    return tuple(
        Effect(
            change=change,
            log=_share(logs, change, count),
            first=logs[0] - logs[1 << change],
            last=logs[all_changes & ~(1 << change)] - logs[all_changes],
        )
        for change in range(count)
    )


def strongest_interaction(logs: Floats) -> Interaction | None:
    """The pair with the largest Möbius term of the estimate. None with fewer than two changes."""
    count = _count(logs)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    terms = [Interaction((i, j), logs[1 << i | 1 << j] - logs[1 << i] - logs[1 << j] + logs[0]) for i, j in pairs]
    return max(terms, key=lambda term: abs(term.log[0]), default=None)


def _count(logs: Floats) -> int:
    count = len(logs).bit_length() - 1
    assert len(logs) == 1 << count, f"{len(logs)} choices are not all those of some changes"
    return count


def _share(logs: Floats, change: int, count: int) -> Floats:
    share = np.zeros(logs.shape[1:])
    for choice in range(len(logs)):
        if not choice >> change & 1:
            made_count = choice.bit_count()
            weight = factorial(made_count) * factorial(count - made_count - 1) / factorial(count)
            share = share + weight * (logs[choice] - logs[choice | 1 << change])
    return share
