"""Attributes the speed-up of a simulated machine to its changes, by running every combination with the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from loadgo.attribution.causes import check_changes
from loadgo.attribution.results import Change, Progress, Speedup
from loadgo.attribution.runs import Load, Machine, of_machines
from loadgo.distribution.choice import WorkerChoice
from loadgo.errors import BadArgument
from loadgo.running.machines import fit_warnings_of
from loadgo.running.worker_runs import run_crew
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
    workers: int | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Speedup:
    """Attributes the speed-up of a simulated machine to its changes, by running every combination of them.

        result = loadgo.speedup("typical-user", on="multics-645", changes=["processors.speed=2", "memory.frames=512"])

    Args:
        script: A bundled script's name, or the path of a script.
        on: The machine without the changes: a bundled machine's name, or the path of a machine file.
        changes: Up to six changes. Each is `KEY=VALUE` of the machine file, or `NAME: KEY=VALUE; KEY=VALUE`.
        to: Another machine instead of `changes`. The tables in which its file differs are then the changes.
        users: Number of users.
        passes: How many times each user types the script. By default the script's number.
        duration: The load's length instead of passes, such as `30min` of the machine's time.
        think: The law of think times instead of the script's, such as `exponential(8s)`.
        set: Values of all machines, as `KEY=VALUE`.
        runs: Number of runs of each machine. All machines have the same seeds.
        seed: The first seed.
        tariff: Prices of the resources.
        factors: The largest number of changes with `to`, from 2 to 6. Those with the least effect become one.
        workers: Who simulates: a number of processes, `dask`, or the address of a Dask scheduler. By default threads of
            this process. The figures are the same.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        progress: A function that is called with sentences about the progress.

    Returns:
        `Speedup`. Its `causes` have a factor for each change and each figure, with 95 % intervals.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Mistake, loadgo.errors.Refused: As `loadgo.run` raises them.

    k changes take 2^k × `runs` runs. A factor is a Shapley value of logarithms: L. S. Shapley, *A value for n-person
    games* (1953).
    """
    if on == "here" or to == "here":
        raise BadArgument(
            "loadgo cannot change a host: name a machine with `on`, or measure the host with each combination of the "
            "changes and name the runs with `measured`"
        ).about("on", "measured")
    # The files are read before the runs: an error afterwards would lose the answer.
    doubts = tuple(dict.fromkeys(text for name in (on, to) if name is not None for text in fit_warnings_of(name, set)))
    choice = WorkerChoice(workers, executor)
    choice.check(is_simulated=True)
    seeds = range(seed, seed + runs)
    with run_crew(choice) as crew:
        load = Load(script, users, passes, duration, think, tuple(set), tariff, crew)
        if to is not None:
            attributed = _to_machine(load, on, to, changes, seeds, factors, progress)
        else:
            attributed = _with_changes(load, on, tuple(change_of(text) for text in changes), seeds, progress)
    return replace(
        attributed, warnings=(*attributed.warnings, *doubts), fit_warnings=doubts, conditions=_conditions(load)
    )


def _conditions(load: Load) -> str:
    """How long the users type, and the part of the runs that the figures are of."""
    if load.duration is not None:
        return f"the figures are of the steady phase of runs of {load.duration}"
    times = "" if load.passes is None else " once" if load.passes == 1 else f" {load.passes} times"
    return f"the figures are of whole runs, which end when every user has typed the script{times}"


def _with_changes(load: Load, on: str, changes: tuple[Change, ...], seeds: range, progress: Progress | None) -> Speedup:
    """Attributes the speed-up to these changes of one machine."""
    check_changes(changes, len(seeds))
    machines = [Machine(on, _sets(changes, choice), _names_of(changes, choice)) for choice in range(1 << len(changes))]
    title = f"{load.script}, {load.users} user{'s' if load.users > 1 else ''} on {on} (simulated)"
    return of_machines(title, load, changes, machines, seeds, progress)


def _to_machine(
    load: Load, on: str, to: str, changes: Sequence[str], seeds: range, factors: int, progress: Progress | None
) -> Speedup:
    """Attributes the difference between two machines. Their files give the changes."""
    from loadgo.attribution.between_machines import speedup_between

    if changes:
        raise BadArgument("with `to`, the differences between the machines are the changes: leave `changes` out")
    if not seeds:
        raise BadArgument("0 runs are too few: at least 1, and 5 for intervals")
    return speedup_between(load, on, to, seeds, factors=factors, progress=progress)


def change_of(text: str) -> Change:
    """Parses a change: `KEY=VALUE`, or `NAME: KEY=VALUE; KEY=VALUE`. Raises `ValueError` that says how to write it."""
    before, colon, after = text.partition(":")
    has_name = bool(colon) and "=" not in before
    values = tuple(value.strip() for value in (after if has_name else text).split(";") if value.strip())
    if not values or any("=" not in value for value in values):
        raise BadArgument(f"change {text!r}: write KEY=VALUE, or NAME: KEY=VALUE; KEY=VALUE")
    return Change(before.strip() if has_name else ", ".join(values), values)


def _sets(changes: tuple[Change, ...], choice: int) -> tuple[str, ...]:
    return tuple(value for bit, change in enumerate(changes) if choice >> bit & 1 for value in change.set)


def _names_of(changes: tuple[Change, ...], choice: int) -> str:
    chosen = [change.name for bit, change in enumerate(changes) if choice >> bit & 1]
    return " and ".join(chosen) or "none of the changes"
