"""The costs of runs at tariffs: of an interaction, a command and a user; for several loads, a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.costs.priced import By, Priced, priced
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.measures.charged_use import RunUse, command_counts, use_of
from loadgo.measures.other_work import OtherWork, busy_clause, judged_together, most_other_work
from loadgo.measures.run_warnings import RunFacts, facts_of_runs, warnings_of_runs
from loadgo.measures.tariff import Tariff, shifts_on
from loadgo.notation.figures import people
from loadgo.records.phases import PHASE_CHOICES
from loadgo.records.runs import RunSpec, run_names

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class Point:
    """The runs with one number of users, and their costs."""

    users: int
    runs: tuple[str, ...]
    use: RunUse
    typed: Mapping[str, int]
    """Number of lines typed by command, in all runs of the point."""
    priced: tuple[Priced, ...]
    """The costs at each tariff."""
    other_work: OtherWork | None = None
    """The other work beside the run with the largest share of it; None if no run measured it."""


@dataclass(frozen=True, repr=False)
class Costs(Result, presented_by="loadgo.costs.presentation:presentation"):
    """The costs of runs, with the points in the order of their number of users."""

    title: str
    """The script and the system."""
    by: By
    points: tuple[Point, ...]
    differing: tuple[str, ...]
    """Sentences about conditions, besides the number of users, in which the runs differ."""
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """The warnings that stand over the runs."""
    facts: tuple[RunFacts, ...] = ()
    """The facts about the runs on which trust in them depends."""

    @property
    def known(self) -> bool:
        """Whether at least one tariff charges only for quantities that are known."""
        return any(priced.known for point in self.points for priced in point.priced)


def cost(
    runs: RunSpec | Sequence[RunSpec] = "last",
    *,
    tariff: str | Sequence[str] = "default",
    by: By = "command",
    phases: str = "steady",
) -> Costs:
    """Computes the cost of an interaction, of each command or user, and of a user's hour; for several loads, the curve.

        print(loadgo.cost("last", tariff="cloud").report("text"))

    Args:
        runs: A run's folder, its id or `last`; several runs in a sequence or with commas between. Runs with the same
            number of users are one point of the curve.
        tariff: One or more tariffs: `NAME`, `NAME:SHIFT`, the path of a TOML file, or `machine` for a simulated
            machine's own. A name without a shift stands for all shifts of the tariff.
        by: A row for each `command`, or for each `user`.
        phases: `steady` is the part of a run with all users, `all` the entire run.

    Returns:
        `Costs` with a point for each number of users. A point has one `Priced` for each tariff, in the tariff's
        currency.

    Raises:
        loadgo.errors.BadArgument: The runs differ in script or system, nobody typed anything in a run, or a tariff is
            unknown; it is a `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    See docs/cost.md for what each price is charged for.
    """
    from loadgo.comparison.printed_side import is_printed
    from loadgo.costs.runs import found_runs

    if by not in ("command", "user"):
        raise BadArgument(f"by: {by!r} is neither command nor user")
    if phases not in PHASE_CHOICES:
        raise BadArgument(f"phases: {phases!r} is neither of {', '.join(PHASE_CHOICES)}")
    names_of_runs = run_names(runs)
    if printed := [name for name in names_of_runs if is_printed(name)]:
        raise BadArgument(
            f"{printed[0]} is printed, and only runs are priced command by command: name another side with `against`"
        ).about("against")
    priced_runs = found_runs(names_of_runs)
    tariff_names = [tariff] if isinstance(tariff, str) else list(tariff)
    system = priced_runs.runs[0].conditions.get("system", {})
    tariffs = list(dict.fromkeys(shift for name in tariff_names for shift in shifts_on(name, system)))
    names, tables_of_runs, stretches = priced_runs.stretches(phases)
    points = [_point(users, same_users, tariffs, by, phases) for users, same_users in priced_runs.by_users()]
    works = judged_together(point.other_work for point in points)
    points = [replace(point, other_work=work) for point, work in zip(points, works, strict=True)]
    return Costs(
        title=priced_runs.title,
        by=by,
        points=tuple(points),
        differing=priced_runs.differing,
        notes=_notes(points),
        warnings=tuple(warnings_of_runs(names, tables_of_runs, stretches)),
        facts=facts_of_runs(tables_of_runs, stretches),
    )


def _point(users: int, runs: Sequence[tuple[Path, Tables]], tariffs: Sequence[Tariff], by: By, phases: str) -> Point:
    use = use_of([tables for _, tables in runs], [folder for folder, _ in runs], phases)
    names = tuple(folder.name for folder, _ in runs)
    if not use.interactions:
        raise BadArgument(f"nobody typed anything in {', '.join(names)}: there is nothing to price")
    typed = command_counts([tables for _, tables in runs])
    other_work = most_other_work(zip((tables for _, tables in runs), use.stretches, strict=True))
    return Point(users, names, use, typed, tuple(priced(use, tariff, by) for tariff in tariffs), other_work)


def _notes(points: Sequence[Point]) -> tuple[str, ...]:
    notes = [stretch.note for point in points for stretch in point.use.stretches if stretch.note]
    extrapolated = sum(stretch.extrapolated for point in points for stretch in point.use.stretches)
    if extrapolated:
        notes.append(
            f"{extrapolated} interactions are extrapolated for users whose session died: no figure counts them."
        )
    for point in points:
        up_to = "up to " if len(point.runs) > 1 else ""
        if point.other_work is None or point.other_work.level == "busy":
            continue
        if clause := busy_clause(point.other_work, f"With {people(point.users)} ", up_to):
            notes.append(f"{clause}. Processor time and waits may cost more than on a quiet host.")
    sampled = max(point.use.sampled for point in points)
    if sampled > 1:
        notes.append(f"Usage was read at every {sampled}th interaction of a user: the mean of these stands for all.")
    return tuple(dict.fromkeys(notes))
