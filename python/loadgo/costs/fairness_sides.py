"""One side of a comparison of prices: what an interaction is charged and takes, of runs or of a printed column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING

from loadgo.comparison.printed_side import is_printed, printed_side
from loadgo.costs.priced import priced
from loadgo.costs.runs import found_runs
from loadgo.errors import BadArgument
from loadgo.measures.charged_use import Use, use_of
from loadgo.measures.charges import HOUR_NS
from loadgo.measures.tariff import Tariff, load_shifts, shifts_on
from loadgo.records.conditions import lines_of
from loadgo.records.phases import CHOICES

if TYPE_CHECKING:
    from loadgo.comparison.side import Side as Printed
    from loadgo.records.tables import Tables

Asked = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A run's folder or id, several of them, or a column of a published document."""


@dataclass(frozen=True)
class Paid:
    """What is charged on one shift."""

    shift: str
    """Empty where there is one price for all."""
    each: float
    """The mean cost of an interaction."""
    tariff: Tariff | None
    """None where the charges are printed, and the prices are not."""


@dataclass(frozen=True)
class Side:
    """What is charged, and what for; `means` are of an interaction, in nanoseconds."""

    name: str
    title: str
    currency: str
    paid: tuple[Paid, ...]
    means: dict[str, float]
    """By `cpu`, `response`, `elapsed`; what is not known is not there."""
    use: Use | None
    """None of print."""
    lines: tuple[tuple[str, str], ...]
    """The script's lines and their commands; empty of print."""
    notes: tuple[str, ...] = ()


def side_of(asked: Asked, tariff: str | None, phases: str) -> Side:
    """The side that `asked` names, at `tariff` (the system's own, or what is printed, when None).

    Raises `ValueError` for what has no charges, `errors.BadRun` for a run that cannot be read.
    """
    named = [fspath(asked)] if isinstance(asked, str | PathLike) else [fspath(one) for one in asked]
    names = [name for text in named for name in text.split(",") if name]
    if names and is_printed(names[0]):
        if len(names) > 1:
            raise BadArgument(f"{names[0]} is printed: it is a side alone, not with {names[1]}")
        return _printed(printed_side(names[0]), tariff)
    return _measured(names, tariff or "default", phases)


def _measured(names: Sequence[str], tariff: str, phases: str) -> Side:
    found = found_runs(names)
    use = use_of(found.runs, found.folders, phases if phases in CHOICES else _whole(found.runs))
    name = found.folders[0].name + (f" and {len(found.runs) - 1} more" if len(found.runs) > 1 else "")
    if not use.interactions:
        raise BadArgument(f"nobody typed anything in {name}: there is nothing to price")
    tariffs = shifts_on(tariff, found.runs[0].conditions.get("system", {}))
    paid = []
    for price in tariffs:
        each = priced(use, price).interaction.value
        if each is None:
            raise BadArgument(f"{name}: {price.label} charges for something that the run did not measure")
        if not each:
            raise BadArgument(f"{name}: nothing is charged at {price.label}, and so nothing can be held against it")
        paid.append(Paid(price.shift, each, price))
    return Side(
        name=name,
        title=found.title,
        currency=tariffs[0].currency,
        paid=tuple(paid),
        means={"elapsed": use.held.elapsed_ns / use.interactions},
        use=use,
        lines=lines_of(found.folders[0]),
        notes=tuple(f"The runs of {name} differ in {text}." for text in found.differing),
    )


def _whole(runs: Sequence[Tables]) -> str:
    """All of runs whose users did a number of passes, since each did the same; else the steady part."""
    loads = [run.conditions.get("load", {}) for run in runs]
    return "all" if all("duration_s" not in load and "until" not in load for load in loads) else "steady"


def _printed(told: Printed, tariff: str | None) -> Side:
    account = told.accounts[0] if told.accounts else None
    count = account.interactions if account is not None else float(len(told.rows))
    cpu = account.cpu_ns if account is not None else float(told.rows["cpu"].sum()) or None
    means = {} if cpu is None else {"cpu": cpu / count}
    if account is not None:
        means["elapsed"] = account.elapsed_ns / count
    charged = {} if account is None else {key.removeprefix("shift "): each for key, each in account.charges.items()}
    if tariff is not None:
        paid = tuple(_at(told.name, price, means.get("cpu")) for price in load_shifts(tariff))
    else:
        paid = tuple(Paid(shift, each / count, None) for shift, each in charged.items())
    if not paid:
        raise BadArgument(f"{told.name} has no printed charges: name a tariff for it")
    return Side(
        name=told.name,
        title=told.title,
        currency=paid[0].tariff.currency if paid[0].tariff else "$",
        paid=paid,
        means=means,
        use=None,
        lines=(),
        notes=told.notes,
    )


def _at(name: str, tariff: Tariff, cpu_ns: float | None) -> Paid:
    """What the printed processor time costs."""
    if set(tariff.prices()) != {"cpu_hour"} or cpu_ns is None:
        raise BadArgument(
            f"{name} is printed, and can be priced by its processor time alone: "
            f"{tariff.label} charges {tariff.in_words()}"
        )
    return Paid(tariff.shift, cpu_ns * tariff.cpu_hour / HOUR_NS, tariff)
