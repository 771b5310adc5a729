"""Comparisons of transfers: receives with sends, and loads with each other, with intervals.

Transfers of one method, size and message are one kind. Kinds are compared by the logarithm of the ratio of their means,
and are resampled as units for the intervals. Two ends with too few common sizes, as in other people's tables, are
compared by all their processor time over all their bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.stats.resample import FEWEST_UNITS, Floats, Interval, drawn, grouped, interval_of
from loadgo.transfers.csv_table import Observed

TransferKind = tuple[str, str, int, int | None]

_REPLICATES = 1000
_MOST_LOADS = 16
_SAME_LOAD_PROCESSES = 0.5
"""Loads that are less apart are the same load, since a load average wanders by as much. Chosen by hand."""
_SEED_OF_SENDS, _SEED_OF_RECEIVES = 392, 1972


@dataclass(frozen=True)
class Times:
    """The ratio of two figures, with its interval."""

    times: float
    interval: Interval | None


@dataclass(frozen=True)
class Ends:
    """Processor time per bit of the receiver over that of the sender."""

    method: str
    compared: int
    """Number of kinds of transfers that both ends have."""
    receives: Times
    alike: bool
    """Whether transfers of the same size are compared, rather than all transfers together."""


@dataclass(frozen=True)
class Level:
    """The transfers at one load, compared with the same transfers at the lowest load."""

    load: float
    transfers: int
    cpu: Times
    """Ratio of processor time per bit."""
    real: Times
    """Ratio of real time per bit."""
    stretch: Times
    """Real time over processor time, at this load."""


def receives_over_sends(transfers: Sequence[Observed]) -> list[Ends]:
    """Compares the two ends of each method that has both."""
    comparisons = []
    for method in dict.fromkeys(transfer.method for transfer in transfers):
        of_method = [transfer for transfer in transfers if transfer.method == method and _is_measured(transfer)]
        sends, receives = (
            [transfer for transfer in of_method if transfer.direction == direction] for direction in ("s", "r")
        )
        if sends and receives:
            comparisons.append(_ends(method, sends, receives))
    return comparisons


def _is_measured(transfer: Observed) -> bool:
    return transfer.cpu_s > 0 and transfer.bytes > 0


def loads_differ(levels: Sequence[Level]) -> bool:
    """Whether the lowest and the highest load are so far apart that they are two loads."""
    return bool(levels) and levels[-1].load - levels[0].load >= _SAME_LOAD_PROCESSES


def by_load(transfers: Sequence[Observed]) -> list[Level]:
    """Compares the loads of a table that has the same kinds at several loads. Empty if there are too many loads."""
    measured = [transfer for transfer in transfers if transfer.real_s and _is_measured(transfer)]
    loads = sorted({transfer.load for transfer in measured if transfer.load is not None})
    if not 2 <= len(loads) <= _MOST_LOADS:
        return []
    by_kind = {load: _kinds([transfer for transfer in measured if transfer.load == load]) for load in loads}
    lowest = by_kind[loads[0]]
    common = [kind for kind in lowest if all(kind in kinds for kinds in by_kind.values())]
    if len(common) < FEWEST_UNITS:
        return []
    return [_level(load, [by_kind[load][kind] for kind in common], [lowest[kind] for kind in common]) for load in loads]


def _level(load: float, kinds: list[list[Observed]], lowest: list[list[Observed]]) -> Level:
    cpu = [_mean(transfers, _cpu_of) for transfers in kinds]
    real = [_mean(transfers, _real_of) for transfers in kinds]
    return Level(
        load,
        sum(map(len, kinds)),
        _times(np.log(cpu) - np.log([_mean(transfers, _cpu_of) for transfers in lowest])),
        _times(np.log(real) - np.log([_mean(transfers, _real_of) for transfers in lowest])),
        _times(np.log(real) - np.log(cpu)),
    )


def _ends(method: str, sends: list[Observed], receives: list[Observed]) -> Ends:
    of_sends, of_receives = _kinds(sends, ends=True), _kinds(receives, ends=True)
    common = [kind for kind in of_sends if kind in of_receives]
    if len(common) >= FEWEST_UNITS:
        logs = [np.log(_mean(of_receives[kind], _cpu_of) / _mean(of_sends[kind], _cpu_of)) for kind in common]
        return Ends(method, len(common), _times(np.array(logs)), alike=True)
    receive, send = _cpu_per_bit(receives, _SEED_OF_RECEIVES), _cpu_per_bit(sends, _SEED_OF_SENDS)
    units = min(len(sends), len(receives))
    if min(len(receive), len(send)) < 2:
        return Ends(method, units, Times(float(receive[0] / send[0]), None), alike=False)
    draws = receive / send
    return Ends(method, units, Times(float(draws[0]), interval_of(draws, units)), alike=False)


def _cpu_per_bit(transfers: list[Observed], seed: int) -> Floats:
    """Processor time over bits: of all transfers, then of each resample. Too few transfers are not resampled."""
    sums = grouped(np.array([(transfer.cpu_s, transfer.bits) for transfer in transfers], dtype=float))
    cpu, bits = (drawn(len(transfers), seed, _REPLICATES) @ sums).T
    return np.asarray(cpu / bits, dtype=float)


def _kinds(transfers: Sequence[Observed], *, ends: bool = False) -> dict[TransferKind, list[Observed]]:
    """The transfers by kind. With `ends`, both directions are one kind."""
    by_kind: dict[TransferKind, list[Observed]] = {}
    for transfer in transfers:
        kind = ("" if ends else transfer.direction, transfer.method, transfer.bytes, transfer.message)
        by_kind.setdefault(kind, []).append(transfer)
    return by_kind


def _times(logs: Floats) -> Times:
    """The mean ratio of kinds, from the logarithms of their ratios."""
    draws = drawn(len(logs), replicates=_REPLICATES)
    sums = grouped(np.stack([logs, np.ones_like(logs)], axis=1))
    means = np.exp((draws @ sums[:, 0]) / (draws @ sums[:, 1]))
    return Times(float(means[0]), interval_of(means, len(logs)) if np.ptp(means) > 0 else None)


def _mean(transfers: Sequence[Observed], figure: Callable[[Observed], float]) -> float:
    return sum(map(figure, transfers)) / len(transfers)


def _cpu_of(transfer: Observed) -> float:
    return transfer.cpu_s


def _real_of(transfer: Observed) -> float:
    return transfer.real_s or 0.0
