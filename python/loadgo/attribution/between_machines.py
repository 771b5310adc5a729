"""What each difference between two simulated machines does; of too many to be told apart, the largest."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from loadgo.attribution.machine_differences import Between, between
from loadgo.attribution.results import Progress, Speedup
from loadgo.attribution.runs import Load, Machine, accounts_on, of_machines
from loadgo.errors import BadArgument
from loadgo.measures.account import Account
from loadgo.stats.shapley import MOST_CHANGES

REST = "the rest"


def speedup_between(
    load: Load, on: str, to: str, seeds: Sequence[int], *, factors: int = MOST_CHANGES, progress: Progress | None = None
) -> Speedup:
    """Takes apart what the machine `to` does otherwise than the machine `on`, by the tables of their files.

    With more than `factors` tables (2 to 6) each is made alone, once, and those that do least are one change.
    Raises `ValueError` in words, and what `loadgo.run` raises.
    """
    if not 2 <= factors <= MOST_CHANGES:
        raise BadArgument(f"factors {factors}: there can be 2 to {MOST_CHANGES}")
    found = between(on, to, load.set)
    with tempfile.TemporaryDirectory(prefix="loadgo-machines-", ignore_cleanup_errors=True) as place:
        many = len(found.groups) > factors
        if many:
            if progress is not None:
                progress(
                    f"{len(found.groups)} tables differ: each is changed alone, to find the {factors - 1} that matter"
                )
            found = _largest(found, load, seeds[0], factors, Path(place))
        changes = list(found.changes())
        if many:
            changes[-1] = type(changes[-1])(f"{REST} ({changes[-1].name})", changes[-1].set)
        machines = [_machine(found, choice, Path(place)) for choice in range(1 << len(changes))]
        title = f"{load.script}, {load.users} user{'s' if load.users > 1 else ''}, from {on} to {to}"
        plain = Load(load.script, load.users, load.passes, load.duration, load.think, (), load.tariff)
        return of_machines(title, plain, tuple(changes), machines, seeds, progress)


def _machine(found: Between, choice: int, place: Path) -> Machine:
    """The machine as a file in `place`."""
    path = place / f"{len(found.groups)}-{choice}.toml"
    path.write_text(found.text(choice), encoding="utf-8")
    made = [change.name for bit, change in enumerate(found.changes()) if choice >> bit & 1]
    return Machine(str(path), (), " and ".join(made) or "none of the changes")


def _largest(found: Between, load: Load, seed: int, factors: int, place: Path) -> Between:
    """With the groups that do least when they are made alone as one, the last."""
    count = len(found.groups)
    machines = [_machine(found, choice, place) for choice in (0, *(1 << bit for bit in range(count)))]
    plain = Load(load.script, load.users, load.passes, load.duration, load.think, (), load.tariff)
    none, *alone = [of[0] for of in accounts_on(plain, machines, (seed,))]
    does = [_distance(none, one) for one in alone]
    least = sorted(sorted(range(count), key=lambda place: does[place])[: count - factors + 1])
    return found.joined(least)


def _distance(before: Account, after: Account) -> float:
    """How far any figure of an interaction is from what it was, as a logarithm."""
    pairs = [(before.elapsed_ns, after.elapsed_ns)]
    pairs += [(before.used.get(name, 0.0), after.used.get(name, 0.0)) for name in ("cpu", "response")]
    pairs += [(charge, after.charges.get(name, 0.0)) for name, charge in before.charges.items()]
    each = [(a / before.interactions, b / after.interactions) for a, b in pairs if a > 0 and b > 0]
    return max((abs(float(np.log(a / b))) for a, b in each), default=0.0)
