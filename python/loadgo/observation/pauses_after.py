"""Finds whether people think by what they have just done, and the law of the pauses after each command.

The pauses count as different if they differ more than the same pauses shuffled within their sessions. So neither noise
nor people who think for longer make laws. The test compares mean ranks (Kruskal and Wallis, Journal of
the American Statistical Association 47, 1952), by permutation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.observation.classes import SessionClass
from loadgo.observation.results import PausesAfterCommand, ThinkPattern
from loadgo.observation.think_times import law_of_pauses
from loadgo.observation.workload import listed_names

FEWEST_PAUSES = 50
"""Fewer pauses say too little about a difference."""
FEWEST_COMMAND_PAUSES = 20
"""Fewest pauses after a command that has a law of its own."""
_SHUFFLES = 199
"""Number of shuffles: a difference counts if at most one of them has as much of it, which is a level of 1 %."""
_CHANCE_SHARE = 0.01
_MOST_TESTED_PAUSES = 50_000
"""The test takes evenly spaced sessions with about so many pauses, if there are more."""
_SEED = 20260


@dataclass(frozen=True)
class _Pauses:
    """The pauses of a class, session by session, each with the place of the command before it in the list of names."""

    spans_ns: NDArray[np.float64]
    codes: NDArray[np.int64]
    session: NDArray[np.int64]


def think_patterns(classes: Sequence[SessionClass]) -> tuple[ThinkPattern, ...]:
    """The pauses after the commands of each class, as far as they are known; none if none has a command before it."""
    patterns = [_pattern(each_class) for each_class in classes]
    return tuple(patterns) if any(pattern.pauses for pattern in patterns) else ()


def _pattern(each_class: SessionClass) -> ThinkPattern:
    pauses, names = _pauses(each_class)
    counts = np.bincount(pauses.codes, minlength=len(names))
    own = np.flatnonzero(counts >= FEWEST_COMMAND_PAUSES)
    count = len(pauses.spans_ns)
    if count < FEWEST_PAUSES or len(own) == 0 or len(np.flatnonzero(counts)) < 2:
        return ThinkPattern(each_class.name, count, None, ())
    p_value = _p_value(_tested(pauses), own)
    if p_value > _CHANCE_SHARE:
        return ThinkPattern(each_class.name, count, p_value, ())
    rows = []
    for code in own[np.argsort(-counts[own], kind="stable")]:
        think = law_of_pauses([int(span) for span in pauses.spans_ns[pauses.codes == code]], absences=0)
        assert think is not None  # it has pauses
        rows.append(PausesAfterCommand(names[code], think.measured, think.mean_ns, think.law))
    return ThinkPattern(each_class.name, count, p_value, tuple(rows))


def _pauses(each_class: SessionClass) -> tuple[_Pauses, list[str]]:
    listed = listed_names(each_class)
    names = list(dict.fromkeys(listed.values()))
    places = {name: place for place, name in enumerate(names)}
    rows = [
        (use.think_ns, places[listed[before.name]], number)
        for number, session in enumerate(each_class.sessions)
        for before, use in zip(session.commands, session.commands[1:], strict=False)
        if use.think_ns is not None
    ]
    spans_ns, codes, session_numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return _Pauses(
        np.array(spans_ns, np.float64), np.array(codes, np.int64), np.array(session_numbers, np.int64)
    ), names


def _tested(pauses: _Pauses) -> _Pauses:
    """All sessions, or evenly spaced ones of a very long record."""
    taken = pauses.session % -(-len(pauses.codes) // _MOST_TESTED_PAUSES) == 0
    return _Pauses(pauses.spans_ns[taken], pauses.codes[taken], pauses.session[taken])


def _p_value(pauses: _Pauses, own: NDArray[np.int64]) -> float:
    """The share of shuffles, and of the pauses themselves, that differ as much by command as the pauses do."""
    random = np.random.default_rng(_SEED)
    # The rare commands are one group.
    groups = np.where(np.isin(pauses.codes, own), np.searchsorted(own, pauses.codes), len(own))
    ranks = _ranks(pauses.spans_ns)
    seen = _difference(ranks, groups)
    as_much = 0
    for _ in range(_SHUFFLES):
        order = np.lexsort((random.random(len(ranks)), pauses.session))
        # Equal sums differ by rounding.
        as_much += _difference(ranks[order], groups) >= seen * (1 - 1e-9)
    return (1 + as_much) / (1 + _SHUFFLES)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ranks of the values about their mean; equal ones share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[places] - (len(values) + 1) / 2
    return ranks


def _difference(ranks: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    """The squares between the groups of ranks, which grow with the statistic of Kruskal and Wallis (H)."""
    counts = np.bincount(groups)
    sums = np.bincount(groups, ranks)
    filled = counts > 0
    return float((sums[filled] ** 2 / counts[filled]).sum())
