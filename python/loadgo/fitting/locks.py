"""Locks of a host in the fitted machine: a lock on a file is a single server, whose service is the holding time.

The meters know how long users waited, and not how long the lock was held. But the mean number of users who wait for one
holder follows from the holding time, the number of users and the rate at which they come (`single_server`). So the
holding time is the one that gives the measured number. It takes an assumption: that each interaction of the commands
that waited takes the lock once. The share of them that waited is a second figure, which the assumption must explain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from loadgo.fitting.reading import RunReading
from loadgo.fitting.trial import is_open
from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.figures import as_code, exact_share, in_words
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law
from loadgo.records.phases import spans_in
from loadgo.theory.queueing import single_server

MODELLED_LOCK_SHARE = 0.02
"""A lock whose waits are less than this share of the response times is not modelled."""
_MOST_WAITED_RATIO = 1.5
"""The share of interactions that waited may be off by this factor from that of the assumed lock."""
_FEWEST_WAITS = 20
"""With fewer waits a holding time is not inferred."""
_BLOCKS = 10
"""Parts of a run that are left out in turn for the doubt of a holding time."""
_HALVINGS = 60
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
    """Of the response times."""
    commands: tuple[str, ...]

    @property
    def name(self) -> str:
        """The lock in a sentence."""
        return f"{self.kind} ({self.place})" if self.place else self.kind


@dataclass(frozen=True)
class _Holding:
    """How long a lock is held, with the doubt of the logarithm, and the share of the interactions that wait for it."""

    service_s: float
    deviation: float
    waits: int
    waited_share: float
    expected_share: float


def fit_locks(readings: Sequence[RunReading], unmetered_ns: Mapping[str, float], *, busy: bool) -> FittedLocks:
    """The locks on files that matter, and warnings for locks that matter and are not in the machine.

    `unmetered_ns` has the mean unmetered part of the response of each command. A lock is held in that part, or the
    machine cannot have it. On a `busy` host that part is a median, so that nothing can be taken from it.
    """
    values: list[FittedValue] = []
    tables: list[tuple[str, str | int]] = []
    assumed: list[str] = []
    taken_ns: dict[str, float] = {}
    warnings: list[str] = []
    for use in _uses(readings):
        holding = None if busy or use.kind not in _FILE_KINDS else _holding(readings, use)
        taken = {} if holding is None else _taken_ns(readings, use, holding)
        if holding is None or not _fits(taken, taken_ns, unmetered_ns) or not _explains(holding):
            warnings.append(_not_modelled(use))
            continue
        for name, each_ns in taken.items():
            taken_ns[name] = taken_ns.get(name, 0.0) + each_ns
        store = f"lock-{len(values) + 1}"
        values.append(_service(store, use, holding))
        tables += [(dotted("storage", store, "kind"), "server"), (dotted("storage", store, "servers"), 1)]
        tables += [(dotted("commands", name, "requests", store), 1) for name in use.commands]
        assumed.append(_assumption(use, holding))
    return FittedLocks(FittedValues(tuple(values), tuple(assumed), tuple(tables)), taken_ns, tuple(warnings))


def holding_time_s(users: int, rate: float, waiting: float, variation: float = 1.0) -> float | None:
    """The holding time of a lock for which `waiting` of the users wait on average, and which they take `rate` a second.

    None where no holding time gives so many.
    """
    longest_s = (users - waiting) / rate
    low_s, high_s = 0.0, min(longest_s, 1.0 / rate) * (1.0 - 1e-9)
    if waiting <= 0.0 or high_s <= 0.0 or _waiting(users, longest_s, high_s, variation) < waiting:
        return None
    for _ in range(_HALVINGS):
        middle_s = (low_s + high_s) / 2.0
        if _waiting(users, longest_s, middle_s, variation) < waiting:
            low_s = middle_s
        else:
            high_s = middle_s
    return (low_s + high_s) / 2.0


def _waiting(users: int, longest_s: float, service_s: float, variation: float) -> float:
    return single_server(users, longest_s - service_s, service_s, variation).waiting


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
        deviation=math.sqrt(mean([one.deviation**2 for one in by_run])),
        waits=waits,
        waited_share=mean([one.waited_share for one in by_run]),
        expected_share=mean([one.expected_share for one in by_run]),
    )


def _holding_of_run(reading: RunReading, use: _LockUse) -> _Holding | None:
    waits, taking = _waits_for(reading, use), reading.rows.filter(pl.col("command").is_in(use.commands))
    if is_open(reading) or waits.is_empty() or taking.is_empty():
        return None
    rate, waiting = len(taking) / reading.span_s, float(waits["wait_ns"].sum()) / 1e9 / reading.span_s
    service_s = holding_time_s(reading.users, rate, waiting)
    constant_s = holding_time_s(reading.users, rate, waiting, variation=0.0)
    if service_s is None or constant_s is None:
        return None
    law_doubt = math.log(constant_s / service_s) / 2.0
    expected = single_server(reading.users, (reading.users - waiting) / rate - service_s, service_s)
    return _Holding(
        service_s=service_s,
        deviation=math.hypot(_sampling_doubt(reading, waits, taking), law_doubt),
        waits=int(waits["count"].sum()),
        waited_share=int(waits["count"].sum()) / len(taking),
        expected_share=expected.busy_at_arrival,
    )


def _sampling_doubt(reading: RunReading, waits: pl.DataFrame, taking: pl.DataFrame) -> float:
    """The standard error of the holding time's logarithm: a jackknife over blocks of the run."""
    stretch, width = reading.stretch, max(reading.stretch.span_ns, 1) / _BLOCKS
    instants = (waits["at_ns"].to_numpy().astype(np.float64) - 1.0, taking["ready_at"].to_numpy())
    wait_blocks, taking_blocks = (
        np.clip((instant - stretch.start_ns) // width, 0, _BLOCKS - 1).astype(np.int64) for instant in instants
    )
    wait_ns = np.bincount(wait_blocks, waits["wait_ns"].to_numpy().astype(np.float64), _BLOCKS)
    taken = np.bincount(taking_blocks, minlength=_BLOCKS)
    span_s = reading.span_s * (1.0 - 1.0 / _BLOCKS)
    logs = [
        math.log(service_s)
        for block in range(_BLOCKS)
        if (rate := float(taken.sum() - taken[block]) / span_s) > 0.0
        and (waiting := float(wait_ns.sum() - wait_ns[block]) / 1e9 / span_s) > 0.0
        and (service_s := holding_time_s(reading.users, rate, waiting)) is not None
    ]
    return math.sqrt((len(logs) - 1) * float(np.var(logs))) if len(logs) > 1 else 1.0


def _taken_ns(readings: Sequence[RunReading], use: _LockUse, holding: _Holding) -> dict[str, float]:
    """The mean wait and holding time of an interaction of each command that takes the lock."""
    taken: dict[str, float] = {}
    for name in use.commands:
        waits = [_waits_for(reading, use).filter(pl.col("command") == name) for reading in readings]
        count = sum(len(reading.rows.filter(pl.col("command") == name)) for reading in readings)
        wait_ns = sum(float(one["wait_ns"].sum()) for one in waits)
        taken[name] = wait_ns / max(count, 1) + holding.service_s * 1e9
    return taken


def _fits(taken: Mapping[str, float], others: Mapping[str, float], unmetered_ns: Mapping[str, float]) -> bool:
    """Whether the unmetered part of each command's response has room for the lock."""
    return all(each_ns + others.get(name, 0.0) <= unmetered_ns.get(name, 0.0) for name, each_ns in taken.items())


def _explains(holding: _Holding) -> bool:
    """Whether one taking by each interaction explains how many of them waited."""
    ratio = holding.waited_share / max(holding.expected_share, 1e-9)
    return 1.0 / _MOST_WAITED_RATIO <= ratio <= _MOST_WAITED_RATIO


def _service(store: str, use: _LockUse, holding: _Holding) -> FittedValue:
    law = Law("exponential", (float(round(holding.service_s * 1e9)),), timed=True)
    source = f"holding time of {use.name}, inferred from {holding.waits:,} waits of one holder's queue"
    return FittedValue(dotted("storage", store, "service"), law, source, deviation=holding.deviation)


def _assumption(use: _LockUse, holding: _Holding) -> str:
    return (
        f"each interaction of {in_words([*map(as_code, use.commands)])} takes the lock {use.name} once and computes "
        f"nothing while it holds it; {exact_share(holding.waited_share)} of them waited for it, and with this "
        f"{exact_share(holding.expected_share)} would"
    )


def _not_modelled(use: _LockUse) -> str:
    return (
        f"waits for the lock {use.name} were {exact_share(use.share)} of the response: on the machine they are a delay "
        "that does not grow with the number of users"
    )
