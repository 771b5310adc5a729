"""The effect of each difference between two simulated machines. Too many differences are reduced to the largest."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from loadgo.attribution.machine_differences import MachineDifferences, between
from loadgo.attribution.results import Progress, Speedup
from loadgo.attribution.runs import Load, Machine, accounts_on, of_machines
from loadgo.errors import BadArgument
from loadgo.measures.account import RunAccount
from loadgo.stats.shapley import MOST_CHANGES

OTHER_CHANGES_LABEL = "the rest"


def speedup_between(
    load: Load, on: str, to: str, seeds: Sequence[int], *, factors: int = MOST_CHANGES, progress: Progress | None = None
) -> Speedup:
    """Attributes the difference between the machines `on` and `to` to the tables of their files.

    At most `factors` changes (2 to 6) are attributed. If more tables differ, each is first changed alone, and those
    with the least effect become one change. Raises `ValueError`, and the errors of `loadgo.run`.
    """
    if not 2 <= factors <= MOST_CHANGES:
        raise BadArgument(f"factors {factors}: there can be 2 to {MOST_CHANGES}")
    differences = between(on, to, load.set)
    with tempfile.TemporaryDirectory(prefix="loadgo-machines-", ignore_cleanup_errors=True) as folder:
        is_reduced = len(differences.groups) > factors
        if is_reduced:
            if progress is not None:
                progress(
                    f"{len(differences.groups)} tables differ: each is changed alone, "
                    f"to find the {factors - 1} with the largest effects"
                )
            differences = _with_largest(differences, load, seeds[0], factors, Path(folder))
        changes = list(differences.changes())
        if is_reduced:
            changes[-1] = replace(changes[-1], name=f"{OTHER_CHANGES_LABEL} ({changes[-1].name})")
        machines = [_machine(differences, choice, Path(folder)) for choice in range(1 << len(changes))]
        title = f"{load.script}, {load.users} user{'s' if load.users > 1 else ''}, from {on} to {to} (simulated)"
        return of_machines(title, replace(load, set=()), tuple(changes), machines, seeds, progress)


def _machine(differences: MachineDifferences, choice: int, folder: Path) -> Machine:
    """Writes the machine with the chosen changes to a file in `folder`."""
    path = folder / f"{len(differences.groups)}-{choice}.toml"
    path.write_text(differences.text(choice), encoding="utf-8")
    chosen = [change.name for bit, change in enumerate(differences.changes()) if choice >> bit & 1]
    return Machine(str(path), (), " and ".join(chosen) or "none of the changes")


def _with_largest(
    differences: MachineDifferences, load: Load, seed: int, factors: int, folder: Path
) -> MachineDifferences:
    """The differences in `factors` groups: those with the least effect, if changed alone, are joined as the last."""
    count = len(differences.groups)
    machines = [_machine(differences, choice, folder) for choice in (0, *(1 << bit for bit in range(count)))]
    accounts = accounts_on(replace(load, set=()), machines, (seed,))
    unchanged, *changed = [machine_accounts[0] for machine_accounts in accounts]
    effects = [_distance(unchanged, account) for account in changed]
    least = sorted(sorted(range(count), key=lambda group: effects[group])[: count - factors + 1])
    return differences.joined(least)


def _distance(before: RunAccount, after: RunAccount) -> float:
    """The effect of a change: its largest ratio of a figure of an interaction, as a logarithm."""
    pairs = [(before.elapsed_ns or 0.0, after.elapsed_ns or 0.0)]
    pairs += [(before.used.get(name, 0.0), after.used.get(name, 0.0)) for name in ("cpu", "response")]
    pairs += [(charge, after.charges.get(name, 0.0)) for name, charge in before.charges.items()]
    figures = [(a / before.interactions, b / after.interactions) for a, b in pairs if a > 0 and b > 0]
    return max((abs(float(np.log(a / b))) for a, b in figures), default=0.0)
