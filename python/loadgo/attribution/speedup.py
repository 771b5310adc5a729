"""Attributes the speed-up of a simulated machine to its changes, by running every combination with the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadgo.attribution.causes import check_changes
from loadgo.attribution.results import Change, Progress, Speedup
from loadgo.attribution.runs import Load, Machine, of_machines
from loadgo.errors import BadArgument
from loadgo.stats.shapley import MOST_CHANGES


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
        raise BadArgument(
            "a host is not changed by this: name a machine with `on`, or measure the host with each choice of the "
            "changes and name the runs with `measured`"
        ).about("on", "measured")
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
    from loadgo.attribution.between_machines import speedup_between

    if changes:
        raise BadArgument("the changes are what the machine after has otherwise: name no others beside it")
    if not seeds:
        raise BadArgument("0 runs cannot be done: at least 1, and 5 for intervals")
    return speedup_between(load, on, to, seeds, factors=factors, progress=progress)


def change_of(text: str) -> Change:
    """`KEY=VALUE`, or `NAME: KEY=VALUE; KEY=VALUE`; raises `ValueError` in words."""
    before, colon, after = text.partition(":")
    named = bool(colon) and "=" not in before
    values = tuple(part.strip() for part in (after if named else text).split(";") if part.strip())
    wrong = [value for value in values if "=" not in value]
    if wrong or not values:
        raise BadArgument(f"change {text!r}: write KEY=VALUE, or NAME: KEY=VALUE; KEY=VALUE")
    return Change(before.strip() if named else ", ".join(values), values)


def _sets(changes: tuple[Change, ...], choice: int) -> tuple[str, ...]:
    return tuple(value for bit, change in enumerate(changes) if choice >> bit & 1 for value in change.set)


def _called(changes: tuple[Change, ...], choice: int) -> str:
    made = [change.name for bit, change in enumerate(changes) if choice >> bit & 1]
    return " and ".join(made) or "none of the changes"
