"""What a run costs at a tariff: its interactions, commands and users; of several runs, an interaction over the load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.costs.priced import By, Priced, priced
from loadgo.errors import BadArgument
from loadgo.measures.charged_use import Use, typed_of, use_of
from loadgo.measures.tariff import Tariff, shifts_on
from loadgo.records.phases import CHOICES

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class Point:
    """One load: a run, or several with the same number of users."""

    users: int
    runs: tuple[str, ...]
    use: Use
    typed: Mapping[str, int]
    """How often each command was typed, in all of the runs."""
    priced: tuple[Priced, ...]
    """At each tariff."""


@dataclass(frozen=True)
class Costs:
    """What the runs cost; points by their number of users."""

    title: str
    """What was typed, and where."""
    by: By
    points: tuple[Point, ...]
    differing: tuple[str, ...]
    """Conditions, beside the number of users, in which the runs differ."""
    notes: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether at some tariff everything that is charged for is known."""
        return any(one.known for point in self.points for one in point.priced)


def cost(
    runs: str | PathLike[str] | Sequence[str | PathLike[str]] = "last",
    *,
    tariff: str | Sequence[str] = "default",
    by: By = "command",
    phases: str = "steady",
) -> Costs:
    """What `runs` (folders, ids, `last`, with commas between several) cost, at one or several tariffs.

    A tariff is `NAME`, `NAME:SHIFT`, `FILE.toml`, or `machine` for a simulated machine's own; without a shift each of
    its shifts counts as one. Runs with the same number of users are one point. Raises `ValueError` for runs that are
    not of one script on one system, for one in which nobody typed anything, and for an unknown tariff;
    `errors.BadRun` for one that cannot be read.
    """
    from loadgo.costs.runs import found_runs

    if by not in ("command", "user"):
        raise BadArgument(f"by: {by!r} is neither of command, user")
    if phases not in CHOICES:
        raise BadArgument(f"phases: {phases!r} is neither of {', '.join(CHOICES)}")
    named = [fspath(runs)] if isinstance(runs, str | PathLike) else [fspath(one) for one in runs]
    found = found_runs([name for text in named for name in text.split(",") if name])
    asked = [tariff] if isinstance(tariff, str) else list(tariff)
    prices = [price for one in asked for price in shifts_on(one, found.runs[0].conditions.get("system", {}))]
    points = tuple(_point(users, runs_of, prices, by, phases) for users, runs_of in found.by_users())
    return Costs(title=found.title, by=by, points=points, differing=found.differing, notes=_notes(points))


def _point(users: int, runs: Sequence[tuple[Path, Tables]], prices: Sequence[Tariff], by: By, phases: str) -> Point:
    use = use_of([tables for _, tables in runs], [folder for folder, _ in runs], phases)
    names = tuple(folder.name for folder, _ in runs)
    if not use.interactions:
        raise BadArgument(f"nobody typed anything in {', '.join(names)}: there is nothing to price")
    typed = typed_of([tables for _, tables in runs])
    return Point(users, names, use, typed, tuple(priced(use, price, by) for price in prices))


def _notes(points: Sequence[Point]) -> tuple[str, ...]:
    found = [stretch.note for point in points for stretch in point.use.stretches if stretch.note]
    extrapolated = sum(stretch.extrapolated for point in points for stretch in point.use.stretches)
    if extrapolated:
        found.append(f"{extrapolated} interactions are extrapolated for users that died: they are in no figure.")
    sampled = max(point.use.sampled for point in points)
    if sampled > 1:
        found.append(f"Usage was read at every {sampled}th interaction of a user: its mean stands for all.")
    return tuple(dict.fromkeys(found))
