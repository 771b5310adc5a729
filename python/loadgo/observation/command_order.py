"""Finds what follows what: a first-order chain of the commands of a class, where people keep an order.

The order counts if it is more than that of the same sessions with their commands shuffled, so that noise becomes no
chain. Shuffles stay within a session: people who type different commands keep no order by that alone. This is a
permutation test (Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd edition, 2005, chapter 3). In the
chain, the last command of a session is followed by the first of another. So each command is as frequent as it was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.observation.classes import SessionClass
from loadgo.observation.results import CommandOrder, FollowingCommand, OrderedCommand
from loadgo.observation.workload import commands_per_session, listed_names

FEWEST_PAIRS = 50
"""Fewer pairs of commands say too little about an order."""
_SHUFFLES = 199
"""Number of shuffles: the order counts if at most one of them has as much of it, which is a level of 1 %."""
_CHANCE_SHARE = 0.01
_MOST_TESTED_COMMANDS = 50_000
"""The test takes evenly spaced sessions with about so many commands, if there are more."""
_SEED = 20260
_MOST_STEPS = 1000
"""Number of steps after which a session's pairs are counted as those of all its commands."""

Counts = NDArray[np.float64]
"""Numbers of pairs: a row for the command before, a column for the next."""


@dataclass(frozen=True)
class _Sequences:
    """The commands of the sessions one after another, as places in the list of names, and where sessions begin."""

    codes: NDArray[np.int64]
    session: NDArray[np.int64]
    commands: int

    def pairs(self, codes: NDArray[np.int64]) -> Counts:
        """The numbers of pairs within sessions, of `codes` in place of the commands."""
        within = self.session[1:] == self.session[:-1]
        cells = codes[:-1][within] * self.commands + codes[1:][within]
        return np.bincount(cells, minlength=self.commands**2).reshape(self.commands, -1).astype(np.float64)


def command_orders(classes: Sequence[SessionClass], *, is_ordered: bool) -> tuple[CommandOrder, ...]:
    """The order of each class's commands; none if the records do not say which command came before which."""
    return tuple(_order(each_class) for each_class in classes) if is_ordered else ()


def _order(each_class: SessionClass) -> CommandOrder:
    sequences, names = _sequences(each_class)
    counts = sequences.pairs(sequences.codes)
    pairs, length = int(counts.sum()), commands_per_session(each_class)
    if pairs < FEWEST_PAIRS or sequences.commands < 2 or length < 2:
        return CommandOrder(each_class.name, pairs, None, None, None, ())
    p_value = _p_value(_tested(sequences))
    starts = np.bincount(_first_codes(sequences), minlength=sequences.commands).astype(np.float64)
    totals = np.bincount(sequences.codes, minlength=sequences.commands).astype(np.float64)
    independent = np.tile(totals / totals.sum(), (sequences.commands, 1))
    distances = (
        _distance(counts, _chain(counts, totals, starts), starts / starts.sum(), length),
        _distance(counts, independent, totals / totals.sum(), length),
    )
    if p_value > _CHANCE_SHARE:
        return CommandOrder(each_class.name, pairs, p_value, None, distances[1], ())
    return CommandOrder(each_class.name, pairs, p_value, *distances, _ordered(names, counts, totals, starts))


def _sequences(each_class: SessionClass) -> tuple[_Sequences, list[str]]:
    names = listed_names(each_class)
    ordered = list(dict.fromkeys(names[use.name] for session in each_class.sessions for use in session.commands))
    places = {name: place for place, name in enumerate(ordered)}
    codes = [places[names[use.name]] for session in each_class.sessions for use in session.commands]
    lengths = [len(session.commands) for session in each_class.sessions]
    return _Sequences(np.array(codes), np.repeat(np.arange(len(lengths)), lengths), len(ordered)), ordered


def _first_codes(sequences: _Sequences) -> NDArray[np.int64]:
    begins = np.concatenate([[True], sequences.session[1:] != sequences.session[:-1]])
    first_codes: NDArray[np.int64] = sequences.codes[begins]
    return first_codes


def _tested(sequences: _Sequences) -> _Sequences:
    """All sessions, or evenly spaced ones of a very long record."""
    step = -(-len(sequences.codes) // _MOST_TESTED_COMMANDS)
    taken = sequences.session % step == 0
    return _Sequences(sequences.codes[taken], sequences.session[taken], sequences.commands)


def _p_value(sequences: _Sequences) -> float:
    """The share of shuffles, and of the sessions themselves, with as much order as the sessions have."""
    random = np.random.default_rng(_SEED)
    seen = _dependence(sequences.pairs(sequences.codes))
    as_much = 0
    for _ in range(_SHUFFLES):
        order = np.lexsort((random.random(len(sequences.codes)), sequences.session))
        # Equal tables differ by rounding of their sums.
        as_much += _dependence(sequences.pairs(sequences.codes[order])) >= seen * (1 - 1e-9)
    return (1 + as_much) / (1 + _SHUFFLES)


def _dependence(counts: Counts) -> float:
    """The log-likelihood ratio of the pairs against independent ones (G)."""
    total = counts.sum()
    if not total:
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / total
    seen = counts > 0
    return float(2 * (counts[seen] * np.log(counts[seen] / expected[seen])).sum())


def _chain(counts: Counts, totals: Counts, starts: Counts) -> Counts:
    """The probabilities of the next command: the pairs, and a first command after the last of a session."""
    lasts = totals - counts.sum(axis=1)
    rows: Counts = (counts + np.outer(lasts, starts / starts.sum())) / totals[:, np.newaxis]
    return rows


def _distance(counts: Counts, chain: Counts, first: Counts, length: int) -> float:
    """The share of pairs that a script's sessions of `length` commands have elsewhere than those that were seen."""
    pairs, state = np.zeros_like(counts), first
    for _ in range(min(length, _MOST_STEPS) - 1):
        flow = state[:, np.newaxis] * chain
        pairs, state = pairs + flow, flow.sum(axis=0)
    return float(np.abs(pairs / pairs.sum() - counts / counts.sum()).sum() / 2)


def _ordered(names: list[str], counts: Counts, totals: Counts, starts: Counts) -> tuple[OrderedCommand, ...]:
    chain = _chain(counts, totals, starts) * totals[:, np.newaxis]
    return tuple(
        OrderedCommand(
            names[before],
            int(starts[before]),
            tuple(
                FollowingCommand(names[after], int(counts[before, after]), float(chain[before, after]))
                for after in np.argsort(-chain[before], kind="stable")
                if chain[before, after] > 0
            ),
        )
        for before in np.argsort(-totals, kind="stable")
    )
