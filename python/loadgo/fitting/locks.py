"""Locks of a host in the fitted machine: a lock on a file is a single server, whose service is the holding time.

The meters know how many waits there were and how long they took, and not how long the lock was held. In the queue of
one holder (`single_server`), the holding time gives the number of users who wait and the chance that one must wait.
Both are measured, so they give the mean and the variation of the holding time. It takes an assumption: each interaction
of the commands that waited takes the lock once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import is_open
from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.figures import as_code, duration, exact_share, in_words
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law
from loadgo.records.phases import spans_in
from loadgo.stats.resample import Floats
from loadgo.theory.queueing import SingleServer, single_server

MODELLED_LOCK_SHARE = 0.02
"""A lock whose waits are less than this share of the response times is not modelled."""
_METHOD_DOUBT_SHARE = 0.07
"""Doubt of a holding time whose variation is 1 away from 1, for which the analysis is exact (docs/fit.md)."""
_VARIATION_STEPS = (0.5, 0.1, 0.02)
_STEPS_EACH_SIDE = 6
_MOST_MISSED_SHARE = 0.1
"""The share of interactions that wait may be off by this part of itself, or for few waits by this part of it."""
_MOST_VARIATION_RATIO = 3.0
"""Holding times vary less. If they had to vary by more, not each interaction takes the lock."""
_LEAST_VARIATION_RATIO = 0.2
"""Holding times that vary less are constant on the machine: so small a variation cannot be told from waits."""
_FEWEST_WAITS = 20
"""With fewer waits a holding time is not inferred."""
_BLOCKS = 10
"""Parts of a run that are left out in turn for the doubt of a holding time."""
_ROOM_DEVIATIONS = 2.0
"""A holding time may be shortened by so many standard deviations without a warning."""
_LEAST_ROOM_SHARE = 0.5
"""A lock is on the machine if the unmetered part of the response has room for this share of its holding time."""
_HALVINGS = 40
_FILE_KINDS = ("flock", "fcntl")
_SPINNING_KINDS = ("spinlock", "rwlock read", "rwlock write")
"""Kinds whose waits are processor time, which the machine has."""


@dataclass(frozen=True)
class FittedLocks:
    """The locks of the machine, and what their waits and holding times take of the unmetered part of responses."""

    values: FittedValues = field(default_factory=lambda: FittedValues(()))
    taken_ns: Mapping[str, float] = field(default_factory=dict)
    """Mean time of an interaction that is the locks', by command."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _LockUse:
    """The waits for one lock in all runs."""

    kind: str
    place: str
    share: float
    """The waits over the response times."""
    commands: tuple[str, ...]

    @property
    def name(self) -> str:
        """The lock in a sentence."""
        return f"{self.kind} ({self.place})" if self.place else self.kind


@dataclass(frozen=True)
class _Holding:
    """How long a lock is held, with the doubt of the mean's logarithm, and how many interactions wait for it."""

    service_s: float
    variation: float
    """Standard deviation over the mean."""
    deviation: float
    waits: int
    waited_share: float


def fit_locks(readings: Sequence[RunReading], unmetered_ns: Mapping[str, float]) -> FittedLocks:
    """The locks on files that matter, and warnings for locks that matter and are not in the machine.

    `unmetered_ns` has the mean unmetered part of the response of each command. A lock is held in that part, or the
    machine cannot have it.
    """
    values: list[FittedValue] = []
    tables: list[tuple[str, str | int]] = []
    assumed: list[str] = []
    taken_ns: dict[str, float] = {}
    warnings: list[str] = []
    for use in _uses(readings):
        wait_ns = _mean_waits(readings, use)
        room_ns = min(unmetered_ns.get(name, 0.0) - taken_ns.get(name, 0.0) - wait_ns[name] for name in use.commands)
        found = _holding(readings, use)
        holding = None if found is None or use.kind not in _FILE_KINDS else _within(found, room_ns)
        if holding is None:
            warnings.append(_not_modelled(use, found))
            continue
        if found is not None and not _has_room(found, room_ns):
            warnings.append(_shortened(use, found, holding))
        for name in use.commands:
            taken_ns[name] = taken_ns.get(name, 0.0) + wait_ns[name] + holding.service_s * 1e9
        store = f"lock-{len(values) + 1}"
        values.append(_service(store, use, holding))
        tables += [(dotted("storage", store, "kind"), "server"), (dotted("storage", store, "servers"), 1)]
        tables += [(dotted("commands", name, "requests", store), 1) for name in use.commands]
        assumed.append(_assumption(use, holding))
    return FittedLocks(FittedValues(tuple(values), tuple(assumed), tuple(tables)), taken_ns, tuple(warnings))


def holding_time(users: int, rate: float, waiting: float, waited_share: float) -> tuple[float, float] | None:
    """The mean in seconds and the variation of the time for which a lock is held that users take `rate` a second.

    On average `waiting` of the users wait, and `waited_share` of those who come must wait. None where no holding time
    gives this.
    """
    nearest = 0.0
    for step in _VARIATION_STEPS:
        tried = np.clip(nearest + step * np.arange(-_STEPS_EACH_SIDE, _STEPS_EACH_SIDE + 1), 0.0, _MOST_VARIATION_RATIO)
        found = {float(variation): _with_variation(users, rate, waiting, float(variation)) for variation in tried}
        missed = {variation: abs(one[1] - waited_share) for variation, one in found.items() if one is not None}
        if not missed:
            return None
        nearest = min(missed, key=lambda variation: missed[variation])
    best = found[nearest]
    if best is None or missed[nearest] > _MOST_MISSED_SHARE * max(waited_share, _MOST_MISSED_SHARE):
        return None
    return best[0], nearest


def _with_variation(users: int, rate: float, waiting: float, variation: float) -> tuple[float, float] | None:
    """The mean holding time of this variation with which so many users wait, and the chance that one must wait."""
    longest_s = (users - waiting) / rate
    low_s, high_s = 0.0, min(longest_s, 1.0 / rate) * (1.0 - 1e-9)

    def server(service_s: float) -> SingleServer:
        return single_server(users, longest_s - service_s, service_s, variation)

    if waiting <= 0.0 or high_s <= 0.0 or server(high_s).waiting < waiting:
        return None
    for _ in range(_HALVINGS):
        middle_s = (low_s + high_s) / 2.0
        low_s, high_s = (middle_s, high_s) if server(middle_s).waiting < waiting else (low_s, middle_s)
    return low_s, server(low_s).busy_at_arrival


def _user_waits(reading: RunReading) -> pl.DataFrame:
    """The waits of users' commands in the stretch of a run."""
    rows = spans_in(reading.tables.lock_waits, reading.stretch).filter(pl.col("command").is_not_null())
    kind, place, command = (pl.col(name).cast(pl.String) for name in ("kind", "place", "command"))
    return rows.select(kind, place.fill_null(""), command, *(pl.col(name) for name in ("at_ns", "count", "wait_ns")))


def _uses(readings: Sequence[RunReading]) -> list[_LockUse]:
    """The locks whose waits matter and are no processor time, the longest first."""
    waits = pl.concat([_user_waits(reading) for reading in readings])
    response_ns = sum(float(reading.rows["response"].sum()) for reading in readings)
    sums = (
        waits.filter(~pl.col("kind").is_in(_SPINNING_KINDS))
        .group_by("kind", "place")
        .agg(pl.col("wait_ns").sum(), pl.col("command").unique().sort())
        .sort("wait_ns", "kind", "place", descending=[True, False, False])
    )
    uses = [
        _LockUse(kind, place, wait_ns / max(response_ns, 1.0), tuple(commands))
        for kind, place, wait_ns, commands in sums.rows()
    ]
    return [use for use in uses if use.share >= MODELLED_LOCK_SHARE]


def _waits_for(reading: RunReading, use: _LockUse) -> pl.DataFrame:
    return _user_waits(reading).filter((pl.col("kind") == use.kind) & (pl.col("place") == use.place))


def _holding(readings: Sequence[RunReading], use: _LockUse) -> _Holding | None:
    """The holding time over all runs, each weighed by its number of waits; None if it cannot be inferred."""
    by_run = [one for reading in readings if (one := _holding_of_run(reading, use)) is not None]
    waits = sum(one.waits for one in by_run)
    if waits < _FEWEST_WAITS:
        return None
    weights = [one.waits / waits for one in by_run]

    def mean(values: Sequence[float]) -> float:
        return sum(weight * value for weight, value in zip(weights, values, strict=True))

    return _Holding(
        service_s=math.exp(mean([math.log(one.service_s) for one in by_run])),
        variation=mean([one.variation for one in by_run]),
        deviation=math.sqrt(mean([one.deviation**2 for one in by_run])),
        waits=waits,
        waited_share=mean([one.waited_share for one in by_run]),
    )


def _holding_of_run(reading: RunReading, use: _LockUse) -> _Holding | None:
    waits, taking = _waits_for(reading, use), reading.rows.filter(pl.col("command").is_in(use.commands))
    if is_open(reading) or waits.is_empty() or taking.is_empty():
        return None
    blocks = _Blocks.of(reading, waits, taking)
    mean_and_variation = blocks.holding_time(np.ones(_BLOCKS))
    if mean_and_variation is None:
        return None
    left_out = [blocks.holding_time(1.0 - np.eye(_BLOCKS)[block]) for block in range(_BLOCKS)]
    logs = [math.log(one[0]) for one in left_out if one is not None]
    return _Holding(
        service_s=mean_and_variation[0],
        variation=mean_and_variation[1],
        deviation=math.hypot(
            math.sqrt((len(logs) - 1) * float(np.var(logs))) if len(logs) > 1 else 1.0,
            _METHOD_DOUBT_SHARE * abs(1.0 - mean_and_variation[1]),
        ),
        waits=int(waits["count"].sum()),
        waited_share=int(waits["count"].sum()) / len(taking),
    )


@dataclass(frozen=True)
class _Blocks:
    """A run in blocks of equal length: the sums of each block."""

    users: int
    span_s: float
    wait_ns: Floats
    waits: Floats
    takings: Floats

    @classmethod
    def of(cls, reading: RunReading, waits: pl.DataFrame, taking: pl.DataFrame) -> _Blocks:
        """The blocks of a run with these waits for a lock and these interactions that take it."""
        width = max(reading.stretch.span_ns, 1) / _BLOCKS

        def sums(instants: pl.Series, weights: pl.Series | None = None) -> Floats:
            blocks = (instants.cast(pl.Float64).to_numpy() - 1.0 - reading.stretch.start_ns) // width
            each = None if weights is None else weights.cast(pl.Float64).to_numpy()
            return np.bincount(np.clip(blocks, 0, _BLOCKS - 1).astype(np.int64), each, _BLOCKS).astype(np.float64)

        return cls(
            users=reading.users,
            span_s=reading.span_s,
            wait_ns=sums(waits["at_ns"], waits["wait_ns"]),
            waits=sums(waits["at_ns"], waits["count"]),
            takings=sums(taking["ready_at"]),
        )

    def holding_time(self, weights: Floats) -> tuple[float, float] | None:
        """The mean and the variation of the holding time, with these weights of the blocks."""
        span_s, takings = self.span_s * float(weights.mean()), float(weights @ self.takings)
        if takings <= 0.0:
            return None
        waiting = float(weights @ self.wait_ns) / 1e9 / span_s
        return holding_time(self.users, takings / span_s, waiting, float(weights @ self.waits) / takings)


def _mean_waits(readings: Sequence[RunReading], use: _LockUse) -> dict[str, float]:
    """The mean wait of an interaction of each command that takes the lock, in nanoseconds."""
    means: dict[str, float] = {}
    for name in use.commands:
        waits = [_waits_for(reading, use).filter(pl.col("command") == name) for reading in readings]
        count = sum(len(reading.rows.filter(pl.col("command") == name)) for reading in readings)
        means[name] = sum(float(one["wait_ns"].sum()) for one in waits) / max(count, 1)
    return means


def _has_room(holding: _Holding, room_ns: float) -> bool:
    """Whether the unmetered part of the response has room for the least that the holding time may well be."""
    return holding.service_s * math.exp(-_ROOM_DEVIATIONS * holding.deviation) <= room_ns / 1e9


def _within(holding: _Holding, room_ns: float) -> _Holding | None:
    """The holding time as far as the unmetered part of the response has room for it; None if it has for little."""
    room_s = room_ns / 1e9
    return (
        None
        if room_s < _LEAST_ROOM_SHARE * holding.service_s
        else replace(holding, service_s=min(holding.service_s, room_s))
    )


def _service(store: str, use: _LockUse, holding: _Holding) -> FittedValue:
    mean_ns = float(round(holding.service_s * 1e9))
    is_constant = holding.variation < _LEAST_VARIATION_RATIO
    values = (mean_ns,) if is_constant else (mean_ns, float(round(mean_ns * holding.variation)))
    law = Law("fixed" if is_constant else "lognormal", values, timed=True)
    source = f"holding time of {use.name}, from {holding.waits:,} waits in the queue of one holder"
    return FittedValue(dotted("storage", store, "service"), law, source, deviation=holding.deviation)


def _assumption(use: _LockUse, holding: _Holding) -> str:
    return (
        f"each interaction of {in_words([*map(as_code, use.commands)])} takes the lock {use.name} once and computes "
        f"nothing while it holds it; {exact_share(holding.waited_share)} of them waited for it"
    )


def _shortened(use: _LockUse, found: _Holding, holding: _Holding) -> str:
    """A warning for a lock that is held longer than the machine has it."""
    return (
        f"the lock {use.name} is held for {duration(found.service_s * 1e9)}, and on the machine for "
        f"{duration(holding.service_s * 1e9)}: in the rest processors compute or are waited for, so with more users "
        "its waits grow faster than predicted"
    )


def _not_modelled(use: _LockUse, holding: _Holding | None) -> str:
    """A warning for a lock that the machine does not have, with the reason. `holding` is its holding time, if known."""
    if use.kind not in _FILE_KINDS:
        why = "these may be many locks"
    elif holding is None:
        why = "they are too few, or not of a lock that each interaction takes once"
    else:
        why = "it is held also while processors compute or are waited for"
    return (
        f"waits for the lock {use.name} were {exact_share(use.share)} of the response: the machine has no such lock, "
        f"since {why}, so that these waits do not grow with the number of users"
    )
