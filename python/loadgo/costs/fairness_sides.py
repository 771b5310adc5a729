"""One side of a comparison of prices: the charges and the times of an interaction, from runs or a printed column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo.comparison.compare import SideSpec
from loadgo.comparison.printed_side import EXTRAPOLATION_WORD, findings_of, is_printed, printed_side
from loadgo.costs.priced import priced
from loadgo.costs.runs import found_runs
from loadgo.errors import BadArgument
from loadgo.measures.charged_use import RunUse, use_of
from loadgo.measures.charges import HOUR_NS
from loadgo.measures.run_warnings import RunFacts, facts_of_runs, warnings_of_runs
from loadgo.measures.tariff import Tariff, load_shifts, shifts_on
from loadgo.published.finding import contradictions_in_words
from loadgo.records.conditions import has_passes, script_lines
from loadgo.records.phases import PHASE_CHOICES
from loadgo.records.runs import run_names

if TYPE_CHECKING:
    from loadgo.comparison.side import Side as PrintedSide


@dataclass(frozen=True)
class ShiftCharge:
    """The charge for an interaction on one shift."""

    shift: str
    """The shift's name. Empty if the tariff has no shifts."""
    each: float
    """The mean cost of an interaction."""
    tariff: Tariff | None
    """None for a published document that prints charges without prices."""


@dataclass(frozen=True)
class Side:
    """The charges of a system, and the times that an interaction takes there."""

    name: str
    title: str
    currency: str
    paid: tuple[ShiftCharge, ...]
    means: dict[str, float]
    """Mean times of an interaction in nanoseconds, under `cpu`, `response` and `elapsed`. Unknown ones are left out."""
    use: RunUse | None
    """None for a published document."""
    lines: tuple[tuple[str, str], ...]
    """The script's lines and their commands. Empty for a published document."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """The warnings that stand over the runs, or over the published document."""
    facts: tuple[RunFacts, ...] = ()
    """The facts about the runs on which trust in them depends. Empty for a published document."""


def side_of(spec: SideSpec, tariff: str | None, phases: str) -> Side:
    """The side that `spec` names, at `tariff`. None means the system's own tariff, or the printed charges.

    Raises `ValueError` if there are no charges, and `errors.BadRun` for a run that cannot be read.
    """
    names = run_names(spec)
    printed = [name for name in names if is_printed(name)]
    if printed and len(names) > 1:
        other = next((name for name in names if name != printed[0]), names[0])
        raise BadArgument(f"{printed[0]} is a printed column: it cannot be joined with {other}")
    if printed:
        return _printed(printed_side(printed[0]), tariff)
    return _measured(names, tariff or "default", phases)


def _measured(names: Sequence[str], tariff: str, phases: str) -> Side:
    priced_runs = found_runs(names)
    of_passes = all(has_passes(run.conditions) for run in priced_runs.runs)  # then all users did the same
    chosen = phases if phases in PHASE_CHOICES else "all" if of_passes else "steady"
    use = use_of(priced_runs.runs, priced_runs.folders, chosen)
    name = priced_runs.folders[0].name + (f" and {len(priced_runs.runs) - 1} more" if len(priced_runs.runs) > 1 else "")
    if not use.interactions:
        raise BadArgument(f"nobody typed anything in {name}: there is nothing to price")
    tariffs = shifts_on(tariff, priced_runs.runs[0].conditions.get("system", {}))
    names_of_runs, runs, stretches = priced_runs.stretches(chosen)
    charges = []
    for shift in tariffs:
        cost = priced(use, shift).interaction.value
        if cost is None:
            raise BadArgument(f"{name}: {shift.label} charges for something that the run did not measure")
        if not cost:
            raise BadArgument(f"{name}: nothing is charged at {shift.label}, so it cannot be compared")
        charges.append(ShiftCharge(shift.shift, cost, shift))
    return Side(
        name=name,
        title=priced_runs.title,
        currency=tariffs[0].currency,
        paid=tuple(charges),
        means={"elapsed": use.held.elapsed_ns / use.interactions},
        use=use,
        lines=script_lines(priced_runs.folders[0]),
        notes=tuple(f"The runs of {name} differ in {text}." for text in priced_runs.differing),
        warnings=tuple(warnings_of_runs(names_of_runs, runs, stretches, named=True)),
        facts=facts_of_runs(runs, stretches),
    )


def _printed(printed: PrintedSide, tariff: str | None) -> Side:
    account = printed.accounts[0] if printed.accounts else None
    count = account.interactions if account is not None else float(len(printed.rows))
    cpu = account.cpu_ns if account is not None else float(printed.rows["cpu"].sum()) or None
    means = {} if cpu is None else {"cpu": cpu / count}
    if account is not None and account.elapsed_ns is not None:
        means["elapsed"] = account.elapsed_ns / count
    if tariff is not None:
        charges = tuple(_cpu_charge(printed.name, shift, means.get("cpu")) for shift in load_shifts(tariff))
    else:
        amounts = {} if account is None else account.charges
        charges = tuple(
            ShiftCharge(label.removeprefix("shift "), amount / count, None) for label, amount in amounts.items()
        )
    if not charges:
        raise BadArgument(f"{printed.name} has no printed charges: name a tariff for it")
    return Side(
        name=printed.name,
        title=printed.title,
        currency=charges[0].tariff.currency if charges[0].tariff else printed.currency or "$",
        paid=charges,
        means=means,
        use=None,
        lines=(),
        notes=tuple(note for note in printed.notes if not note.startswith(EXTRAPOLATION_WORD)),
        warnings=_document_warnings(printed),
    )


def _document_warnings(printed: PrintedSide) -> tuple[str, ...]:
    """The warnings that the printed column's document contradicts itself, and that a part of it is extrapolated."""
    clause = contradictions_in_words(findings_of(printed))
    contradictory = (
        (f"{clause}: see `loadgo reproduce {printed.document.spec}`.",) if clause and printed.document else ()
    )
    return (
        *contradictory,
        *(f"{printed.name}: {note}" for note in printed.notes if note.startswith(EXTRAPOLATION_WORD)),
    )


def _cpu_charge(name: str, tariff: Tariff, cpu_ns: float | None) -> ShiftCharge:
    """The charge for the printed processor time. Raises `ValueError` if the tariff has other prices too."""
    if set(tariff.prices()) != {"cpu_hour"} or cpu_ns is None:
        raise BadArgument(
            f"{name} is printed, and can be priced by its processor time alone: "
            f"{tariff.label} charges {tariff.in_words()}"
        )
    return ShiftCharge(tariff.shift, cpu_ns * tariff.cpu_hour / HOUR_NS, tariff)
