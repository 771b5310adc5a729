"""What each of several changes did: every choice of them is run with the same seeds, and the whole taken apart twice.

*Causes*: log-Shapley over the 2^k machines, with the bracket of each change made first and made last, and the pair that
interacts most. *Bookkeeping*: the meters of the machine with none of the changes and of that with all, as chains that
are identities. The two answer different questions and are never mixed. Runs are drawn again whole, the same seeds on
every machine, and everything is done again in every draw, so that the factors multiply to the whole in each.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loadgo.account import Account
from loadgo.chains import Chain, Whole, chains
from loadgo.compare_parts import each_of
from loadgo.compare_roads import Road, roads_of
from loadgo.compare_side import side_of_runs
from loadgo.resample import Floats, Interval, drawn, interval_of
from loadgo.shapley import MOST_CHANGES, effects, strongest_interaction

INTERACTS = 0.1
"""First and last further apart than this, as a part of 1: the change interacts with the others."""
NONE = 0

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Change:
    """A change, and what it is: values of the machine's file, or conditions of measured runs that differ by it."""

    name: str
    set: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cause:
    """What one change did to a figure, as factors: above 1, less is used with it."""

    name: str
    factor: float
    interval: Interval | None
    first: float
    """Made before all others."""
    last: float
    """Made after all others."""
    saved: float
    """Its part of the difference, in the figure's unit, by the logarithms."""
    apart: Interval | None = None
    """Of `first / last`."""

    @property
    def interacts(self) -> bool:
        """Whether it does more or less when the others are made, and not by chance."""
        chance = self.apart is not None and self.apart.holds(1.0)
        return abs(self.first / self.last - 1) > INTERACTS and not chance


@dataclass(frozen=True)
class Pair:
    """Two changes of which one matters to what the other does."""

    names: tuple[str, str]
    factor: float
    """Both together over what they do alone, multiplied: above 1, together they save more."""
    interval: Interval | None


@dataclass(frozen=True)
class Caused(Whole):
    """A ratio, and the factors of the changes, which multiply to it."""

    causes: tuple[Cause, ...]
    pair: Pair | None
    """The pair that interacts most; None with one change."""


@dataclass(frozen=True)
class Speedup:
    """A speed-up taken apart."""

    title: str
    changes: tuple[Change, ...]
    runs: int
    """For each machine."""
    seeds: tuple[int, ...]
    causes: tuple[Caused, ...]
    bookkeeping: tuple[Chain, ...]
    roads: tuple[Road, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What of the runs does not hold, or differs otherwise than by the changes; they come before any figure."""
    measured: bool = False
    """Whether it is of runs that were there already."""


@dataclass(frozen=True)
class Load:
    """What users do on every one of the machines: what `loadgo.run` is given."""

    script: str | Path
    users: int = 1
    passes: int | None = None
    duration: str | None = None
    think: str | None = None
    set: tuple[str, ...] = ()
    tariff: str = "default"
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """One of the machines: a name or a file, what is set otherwise on it, and which changes it has, in words."""

    on: str
    set: tuple[str, ...]
    called: str


def speedup(
    script: str | Path,
    *,
    on: str,
    changes: Sequence[str] = (),
    to: str | None = None,
    users: int = 1,
    passes: int | None = None,
    duration: str | None = None,
    think: str | None = None,
    set: Sequence[str] = (),
    runs: int = 8,
    seed: int = 1,
    tariff: str = "default",
    factors: int = MOST_CHANGES,
    progress: Progress | None = None,
) -> Speedup:
    """Takes apart what `changes` of the simulated machine `on` do together to `users` who type `script`.

    A change is `KEY=VALUE` of the machine's file, or `NAME: KEY=VALUE; KEY=VALUE` of several that are made at once; at
    most six. Every choice of them is run `runs` times, with the seeds from `seed` on: 2^k × `runs` runs. `set` are
    values of every one of the machines. `to` names another machine in place of the changes: they are the tables in
    which its file differs; of more than `factors` (2 to 6) those that do least are one.

    Raises `ValueError` for what makes no sense, and what `loadgo.run` raises.
    """
    if on == "here" or to == "here":
        raise ValueError(
            "a host is not changed by this: name a machine with --on, or measure the host with each choice of the "
            "changes and name the runs with --measured"
        )
    load = Load(script, users, passes, duration, think, tuple(set), tariff)
    seeds = range(seed, seed + runs)
    if to is not None:
        return _to_machine(load, on, to, changes, seeds, factors, progress)
    made = tuple(change_of(text) for text in changes)
    check_changes(made, runs)
    machines = [Machine(on, _sets(made, choice), _called(made, choice)) for choice in range(1 << len(made))]
    title = f"{script}, {users} user{'s' if users > 1 else ''} on {on}"
    return of_machines(title, load, made, machines, seeds, progress)


def _to_machine(
    load: Load, on: str, to: str, changes: Sequence[str], seeds: range, factors: int, progress: Progress | None
) -> Speedup:
    """What is between two machines; the changes are found, and not given."""
    from loadgo.speedup_between import speedup_between

    if changes:
        raise ValueError("the changes are what the machine after has otherwise: name no others beside it")
    if not seeds:
        raise ValueError("0 runs cannot be done: at least 1, and 5 for intervals")
    return speedup_between(load, on, to, seeds, factors=factors, progress=progress)


def of_machines(
    title: str,
    load: Load,
    changes: tuple[Change, ...],
    machines: Sequence[Machine],
    seeds: Sequence[int],
    progress: Progress | None,
) -> Speedup:
    """The speed-up from every choice of the changes (bit i of a machine's place: change i is made), each run with every
    seed.
    """
    if progress is not None:
        progress(f"{len(machines)} machines × {len(seeds)} seeds = {len(machines) * len(seeds)} runs")
    accounts = accounts_on(load, machines, seeds)
    alone = _alone(load, (machines[NONE], machines[-1]), seeds[0])
    return taken_apart(title, changes, accounts, tuple(seeds), alone)


def change_of(text: str) -> Change:
    """`KEY=VALUE`, or `NAME: KEY=VALUE; KEY=VALUE`; raises `ValueError` in words."""
    before, colon, after = text.partition(":")
    named = bool(colon) and "=" not in before
    values = tuple(part.strip() for part in (after if named else text).split(";") if part.strip())
    wrong = [value for value in values if "=" not in value]
    if wrong or not values:
        raise ValueError(f"change {text!r}: write KEY=VALUE, or NAME: KEY=VALUE; KEY=VALUE")
    return Change(before.strip() if named else ", ".join(values), values)


def taken_apart(
    title: str,
    changes: tuple[Change, ...],
    accounts: Sequence[Sequence[Account]],
    seeds: tuple[int, ...],
    alone: tuple[Road, ...],
) -> Speedup:
    """The speed-up from the accounts of every choice of the changes (bit i of its place: change i is made), each with
    one account for every seed.
    """
    runs = len(seeds)
    if any(len(of) != runs for of in accounts):
        raise ValueError("the processors' time was not measured in every run: there is nothing to take apart")
    weights = drawn(runs)
    causes = []
    for measure, unit, figure in _figures(accounts):
        values = np.array([each_of(of, figure, weights) for of in accounts])
        if (values > 0).all():
            causes.append(_caused(measure, unit, values, changes, runs))
    book, lacking = chains(accounts[NONE], accounts[-1], paired=True)
    return Speedup(
        title=title,
        changes=changes,
        runs=runs,
        seeds=seeds,
        causes=tuple(causes),
        bookkeeping=book,
        roads=(*roads_of(accounts[NONE], accounts[-1], paired=True), *alone),
        notes=lacking,
    )


def check_changes(changes: tuple[Change, ...], runs: int) -> None:
    """Raises `ValueError` in words for too many changes, two of one name, or no runs."""
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise ValueError(f"{len(changes)} changes: there must be 1 to {MOST_CHANGES}; make some of them one")
    if len({change.name for change in changes}) < len(changes):
        raise ValueError("two changes have the same name")
    if runs < 1:
        raise ValueError(f"{runs} runs cannot be done: at least 1, and 5 for intervals")


def _figures(accounts: Sequence[Sequence[Account]]) -> list[tuple[str, str, Callable[[Account], float]]]:
    """What is taken apart: name, unit and figure."""
    found: list[tuple[str, str, Callable[[Account], float]]] = [
        ("elapsed", "ns", lambda one: one.elapsed_ns),
        ("CPU", "ns", lambda one: one.used.get("cpu", 0.0)),
        ("response", "ns", lambda one: one.used.get("response", 0.0)),
    ]
    for tariff in dict.fromkeys(name for of in accounts for one in of for name in one.charges):
        found.append((f"cost, {tariff}", "$", lambda one, key=tariff: one.charges.get(key, 0.0)))  # type: ignore[misc]
    return found


def _caused(measure: str, unit: str, values: Floats, changes: tuple[Change, ...], runs: int) -> Caused:
    logs = np.log(values)
    ratio = logs[NONE] - logs[-1]
    found = effects(logs)
    closed = np.abs(sum(one.log for one in found) - ratio)
    assert (closed < 1e-12 * (1 + np.abs(ratio))).all(), f"the causes of {measure} do not multiply to it"
    difference = float(values[NONE][0] - values[-1][0])
    whole = float(ratio[0])
    causes = tuple(
        Cause(
            name=changes[one.change].name,
            factor=float(np.exp(one.log[0])),
            interval=_exp(interval_of(one.log, runs)),
            first=float(np.exp(one.first[0])),
            last=float(np.exp(one.last[0])),
            saved=difference * float(one.log[0]) / whole if whole else 0.0,
            apart=_exp(interval_of(one.first - one.last, runs)),
        )
        for one in found
    )
    strongest = strongest_interaction(logs)
    pair = None
    if strongest is not None:
        i, j = strongest.pair
        names = (changes[i].name, changes[j].name)
        pair = Pair(names, float(np.exp(-strongest.log[0])), _exp(interval_of(-strongest.log, runs)))
    before, after = float(values[NONE][0]), float(values[-1][0])
    return Caused(measure, unit, before, after, before / after, _exp(interval_of(ratio, runs)), causes, pair)


def _exp(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(float(np.exp(interval.low)), float(np.exp(interval.high)))


def accounts_on(load: Load, machines: Sequence[Machine], seeds: Sequence[int]) -> list[list[Account]]:
    """Every machine with every seed, as many runs at a time as there are processors."""
    with _workers() as (workers, folder):
        asked = [[workers.submit(_account, load, machine, seed, folder) for seed in seeds] for machine in machines]
        return [[one.result() for one in of] for of in asked]


def _alone(load: Load, ends: tuple[Machine, Machine], seed: int) -> tuple[Road, ...]:
    """A measure of the processor only: one user alone, who does not think; the programs' own processor time."""
    single = Load(load.script, 1, load.passes or 1, None, "none", load.set, load.tariff)
    sides = [of[0] for of in accounts_on(single, ends, (seed,))]
    used = [one.used.get("programs", 0.0) / one.interactions for one in sides]
    if not all(value > 0 for value in used):
        return ()
    return (Road("one user alone, programs only", "work", used[0], used[1], "ns"),)


@contextmanager
def _workers() -> Iterator[tuple[ThreadPoolExecutor, Path]]:
    with tempfile.TemporaryDirectory(prefix="loadgo-speedup-", ignore_cleanup_errors=True) as folder:
        workers = ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix="machine")
        try:
            yield workers, Path(folder)
        finally:
            workers.shutdown(cancel_futures=True)


def _sets(changes: tuple[Change, ...], choice: int) -> tuple[str, ...]:
    return tuple(value for bit, change in enumerate(changes) if choice >> bit & 1 for value in change.set)


def _called(changes: tuple[Change, ...], choice: int) -> str:
    made = [change.name for bit, change in enumerate(changes) if choice >> bit & 1]
    return " and ".join(made) or "none of the changes"


def _account(load: Load, machine: Machine, seed: int, folder: Path) -> Account:
    """One run's account; its folder is not kept."""
    from loadgo.run import run
    from loadgo.tables import tables

    with tempfile.TemporaryDirectory(dir=folder) as own:
        done = run(
            load.script,
            on=machine.on,
            users=load.users,
            passes=load.passes,
            duration=load.duration,
            think=load.think,
            seed=seed,
            set=(*load.set, *machine.set),
            out=Path(own) / "run",
        )
        side = side_of_runs("", (tables(done),), "all" if load.duration is None else "steady", load.tariff, {})
    if not side.accounts:
        raise ValueError(f"nobody typed anything with {machine.called}")
    return side.accounts[0]
