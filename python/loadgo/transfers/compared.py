"""Transfers compared: receives against sends, and loads against each other, with intervals.

Like is compared with like: transfers of one method, size and message, by the logarithm of the ratio of their means;
the kinds are drawn again as wholes for the intervals. Where two ends have too few sizes in common (somebody else's
table), it is their processor time over their bits, all together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadgo.stats.resample import FEWEST, Interval, drawn, grouped, interval_of
from loadgo.transfers.csv_table import Observed

Floats = NDArray[np.float64]
Kind = tuple[str, str, int, int | None]

_REPLICATES = 1000
_MOST_LOADS = 16
_SEED_OF_SENDS, _SEED_OF_RECEIVES = 392, 1972


@dataclass(frozen=True)
class Times:
    """How many times something is something else."""

    times: float
    interval: Interval | None


@dataclass(frozen=True)
class Ends:
    """What a bit costs who receives, over what it costs who sends."""

    method: str
    compared: int
    """Kinds of transfers that both ends have."""
    receives: Times
    alike: bool
    """Whether transfers of one size are compared, and not all together."""


@dataclass(frozen=True)
class Level:
    """The transfers at one load, over the same ones at the lowest."""

    load: float
    transfers: int
    cpu: Times
    """Processor time a bit."""
    real: Times
    """Real time a bit: the stretch."""
    stretch: Times
    """Real time over processor time, at this load."""


def receives_over_sends(transfers: Sequence[Observed]) -> list[Ends]:
    """The two ends of each method that has both."""
    found = []
    for method in dict.fromkeys(one.method for one in transfers):
        of_method = [one for one in transfers if one.method == method and one.cpu_s > 0 and one.bytes]
        sends, receives = ([one for one in of_method if one.direction == way] for way in ("s", "r"))
        if sends and receives:
            found.append(_ends(method, sends, receives))
    return found


def by_load(transfers: Sequence[Observed]) -> list[Level]:
    """Each load of a table that has the same kinds of transfers at several; none where loads are of all sorts."""
    known = [one for one in transfers if one.load is not None and one.cpu_s > 0 and one.real_s and one.bytes]
    loads = sorted({one.load for one in known if one.load is not None})
    if not 2 <= len(loads) <= _MOST_LOADS:
        return []
    at = {load: _kinds([one for one in known if one.load == load]) for load in loads}
    common = [kind for kind in at[loads[0]] if all(kind in kinds for kinds in at.values())]
    if len(common) < FEWEST:
        return []
    return [
        _level(load, [at[load][kind] for kind in common], [at[loads[0]][kind] for kind in common]) for load in loads
    ]


def _level(load: float, here: list[list[Observed]], lowest: list[list[Observed]]) -> Level:
    cpu = [_mean(many, _cpu_of) for many in here]
    real = [_mean(many, _real_of) for many in here]
    return Level(
        load,
        sum(map(len, here)),
        _times(np.log(cpu) - np.log([_mean(many, _cpu_of) for many in lowest])),
        _times(np.log(real) - np.log([_mean(many, _real_of) for many in lowest])),
        _times(np.log(real) - np.log(cpu)),
    )


def _ends(method: str, sends: list[Observed], receives: list[Observed]) -> Ends:
    of_sends, of_receives = _kinds(sends, ends=True), _kinds(receives, ends=True)
    common = [kind for kind in of_sends if kind in of_receives]
    if len(common) >= FEWEST:
        logs = [np.log(_mean(of_receives[kind], _cpu_of) / _mean(of_sends[kind], _cpu_of)) for kind in common]
        return Ends(method, len(common), _times(np.array(logs)), alike=True)
    ratio = _a_bit(receives, _SEED_OF_RECEIVES), _a_bit(sends, _SEED_OF_SENDS)
    units = min(len(sends), len(receives))
    if min(len(one) for one in ratio) < 2:
        return Ends(method, units, Times(float(ratio[0][0] / ratio[1][0]), None), alike=False)
    draws = ratio[0] / ratio[1]
    return Ends(method, units, Times(float(draws[0]), interval_of(draws, units)), alike=False)


def _a_bit(transfers: list[Observed], seed: int) -> Floats:
    """Processor time over bits: of all transfers, then of each drawing; of too few to draw, only the first."""
    sums = grouped(np.array([(one.cpu_s, one.bits) for one in transfers], dtype=float))
    cpu, bits = (drawn(len(transfers), seed, _REPLICATES) @ sums).T
    return np.asarray(cpu / bits, dtype=float)


def _kinds(transfers: Sequence[Observed], *, ends: bool = False) -> dict[Kind, list[Observed]]:
    """The transfers by what they have alike; of the two `ends`, without the direction."""
    found: dict[Kind, list[Observed]] = {}
    for one in transfers:
        found.setdefault(("" if ends else one.direction, one.method, one.bytes, one.message), []).append(one)
    return found


def _times(logs: Floats) -> Times:
    """The mean ratio of kinds, from the logarithms of their ratios."""
    draws = drawn(len(logs), replicates=_REPLICATES)
    sums = grouped(np.stack([logs, np.ones_like(logs)], axis=1))
    means = np.exp((draws @ sums[:, 0]) / (draws @ sums[:, 1]))
    return Times(float(means[0]), interval_of(means, len(logs)) if np.ptp(means) > 0 else None)


def _mean(transfers: Sequence[Observed], of: Callable[[Observed], float]) -> float:
    return sum(map(of, transfers)) / len(transfers)


def _cpu_of(one: Observed) -> float:
    return one.cpu_s


def _real_of(one: Observed) -> float:
    return one.real_s or 0.0
