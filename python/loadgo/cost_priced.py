"""What a use costs at a tariff: a mean interaction, each command, each user, a user's hour, a megabit, with intervals.

A mean cost is a sum of prices times mean quantities, so that usage that was read at some interactions only stands for
all of them. Intervals come of drawing users again, each with all that he did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from loadgo.cost_rates import HOUR_NS, Rate, charges, rates_of
from loadgo.cost_tariff import Tariff
from loadgo.cost_use import MEANS, Use
from loadgo.resample import FEWEST, Floats, Interval, drawn, grouped, interval_of

By = Literal["command", "user"]
MEGABIT_BYTES = 1e6 / 8


@dataclass(frozen=True)
class Figure:
    """An amount of money, with its 95 % interval; None is not known, and from fewer than five users no interval."""

    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Row:
    """What some of the interactions cost."""

    name: str
    interactions: int
    each: Figure
    """A mean interaction."""
    parts: Mapping[str, float | None]
    """What of it is for what."""
    total: float | None
    """All of them together."""
    user_hour: float | None
    """An hour of a user who does only this."""
    megabit: float | None
    """For each million bits of output."""


@dataclass(frozen=True)
class Item:
    """One thing that is charged for: so much of it, and what that comes to; quantities in nanoseconds and bytes."""

    name: str
    quantity: float | None
    amount: float | None


@dataclass(frozen=True)
class Priced:
    """A use at a tariff."""

    tariff: Tariff
    rates: tuple[Rate, ...]
    rows: tuple[Row, ...]
    """Of each command, or of each user."""
    everything: Row
    user_hour: Figure
    megabit: Figure
    items: tuple[Item, ...]
    uncharged: float | None
    """What an interaction would cost beside it, were all that the machine did charged to users at the price of
    processor time; None where that is not charged for, or not known."""

    @property
    def interaction(self) -> Figure:
        """The cost of a mean interaction."""
        return self.everything.each

    @property
    def known(self) -> bool:
        """Whether everything that is charged for is known."""
        return self.interaction.value is not None


def priced(use: Use, tariff: Tariff, by: By = "command") -> Priced:
    """What `use` costs at `tariff`, with a row for each command in the order of the script, or for each user."""
    cells, drawing = _drawing(use, tariff)
    everything = _row("all", cells, drawing)
    return Priced(
        tariff=tariff,
        rates=drawing.rates,
        rows=tuple(_row(name, part, drawing) for name, part in _parts(cells, by)),
        everything=everything,
        user_hour=_over(cells, drawing, "present_ns", HOUR_NS * drawing.longer),
        megabit=_over(cells, drawing, "bytes_out", MEGABIT_BYTES),
        items=_items(use, everything, drawing.rates),
        uncharged=_uncharged(use, tariff, cells),
    )


def in_mix(use: Use, tariff: Tariff, mix: Mapping[str, float]) -> Figure:
    """The cost of an interaction in a mix of commands (shares that add up to 1), whatever mix the users typed."""
    cells, drawing = _drawing(use, tariff)
    parts = dict(_parts(cells, "command"))
    if not mix.keys() <= parts.keys():
        return Figure(None)
    each = [share * drawing.each(_Sums.of(parts[name], drawing.units)) for name, share in mix.items()]
    return _figure(np.sum(each, axis=0), cells)


def costs_drawn(use: Use, tariff: Tariff, seed: int = 1) -> Floats:
    """The mean cost of an interaction in every draw of the users; row 0 is all of them. Not a number is not known."""
    cells, drawing = _drawing(use, tariff, seed)
    return drawing.each(_Sums.of(cells, drawing.units))


def means_drawn(use: Use, quantity: str, seed: int = 1) -> Floats:
    """The mean of one of `MEANS` of an interaction, in the same draws."""
    cells, drawing = _drawing(use, None, seed)
    return drawing.mean(_Sums.of(cells, drawing.units), quantity)


def _drawing(use: Use, tariff: Tariff | None, seed: int = 1) -> tuple[pl.DataFrame, _Drawing]:
    """The cells with the number of their unit, a user in a run; and the draws of these."""
    units = use.cells.select("run", "user").unique(maintain_order=True).with_row_index("unit")
    cells = use.cells.join(units, on=["run", "user"], how="left", maintain_order="left")
    rates = () if tariff is None else rates_of(tariff, use.held)
    longer = use.held.present_ns / use.held.logged_in_ns if use.held.logged_in_ns else 1.0
    return cells, _Drawing(rates, drawn(len(units), seed), len(units), longer)


@dataclass(frozen=True)
class _Sums:
    """By unit: how many interactions, and of each quantity the sum and of how many it is known."""

    counts: Floats
    sums: Floats
    known: Floats

    @classmethod
    def of(cls, cells: pl.DataFrame, units: int) -> _Sums:
        names = ["count", *MEANS, *(f"{name} known" for name in MEANS)]
        found = np.zeros((units, len(names)))
        np.add.at(found, cells["unit"].to_numpy(), cells.select(names).to_numpy())
        found = grouped(found)
        middle = 1 + len(MEANS)
        return cls(found[:, 0], found[:, 1:middle], found[:, middle:])


@dataclass(frozen=True)
class _Drawing:
    """How often each unit is in each draw, and the rates."""

    rates: tuple[Rate, ...]
    weights: Floats
    units: int
    longer: float
    """The interactions' time over that in which users were logged in."""

    def mean(self, sums: _Sums, quantity: str) -> Floats:
        """A quantity of a mean interaction in every draw."""
        at = MEANS.index(quantity)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = (self.weights @ sums.sums[:, at]) / (self.weights @ sums.known[:, at])
        return found

    def each(self, sums: _Sums) -> Floats:
        """The cost of a mean interaction in every draw."""
        found: Floats = np.where(self.weights @ sums.counts > 0, 0.0, np.nan)
        for rate in self.rates:
            found = found + (np.nan if rate.each is None else self.mean(sums, rate.quantity) * rate.each)
        return found


def _parts(cells: pl.DataFrame, by: By) -> list[tuple[str, pl.DataFrame]]:
    if by == "command":
        order = cells.group_by("command", maintain_order=True).agg(pl.col("place").min())
        names = order.sort("place", maintain_order=True)["command"]
        return [(str(name), cells.filter(pl.col("command") == name)) for name in names]
    several = cells["run"].n_unique() > 1
    found = []
    for (run, user), part in cells.sort("run", "user").group_by("run", "user", maintain_order=True):
        name = f"user {user}"
        found.append((f"run {int(str(run)) + 1}, {name}" if several else name, part))
    return found


def _row(name: str, cells: pl.DataFrame, drawing: _Drawing) -> Row:
    sums = _Sums.of(cells, drawing.units)
    each = drawing.each(sums)
    value = float(each[0]) if np.isfinite(each[0]) else None
    count = float(sums.counts.sum())
    total = None if value is None else value * count
    return Row(
        name=name,
        interactions=int(count),
        each=_figure(each, cells),
        parts=charges(_means(sums), drawing.rates),
        total=total,
        user_hour=_per(total, float(cells["present_ns"].sum()), HOUR_NS * drawing.longer),
        megabit=_per(total, _all_of(sums, "bytes_out"), MEGABIT_BYTES),
    )


def _figure(values: Floats, cells: pl.DataFrame) -> Figure:
    """The first of the values, with the interval that the others give where enough users were there."""
    if not np.isfinite(values[0]):
        return Figure(None)
    there = int(cells["unit"].n_unique())
    return Figure(float(values[0]), interval_of(values, there) if there >= FEWEST else None)


def _means(sums: _Sums) -> dict[str, float | None]:
    known = sums.known.sum(axis=0)
    return {name: float(sums.sums[:, at].sum() / known[at]) if known[at] else None for at, name in enumerate(MEANS)}


def _all_of(sums: _Sums, quantity: str) -> float:
    """The quantity of all interactions, those at which it was not read too; 0 where it is not known."""
    mean = _means(sums)[quantity]
    return 0.0 if mean is None else mean * float(sums.counts.sum())


def _per(total: float | None, quantity: float, of: float) -> float | None:
    return None if total is None or quantity <= 0 else total / quantity * of


def _over(cells: pl.DataFrame, drawing: _Drawing, quantity: str, of: float) -> Figure:
    """The cost of so much of a quantity."""
    sums = _Sums.of(cells, drawing.units)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _figure(drawing.each(sums) / drawing.mean(sums, quantity) * of, cells)


def _items(use: Use, everything: Row, rates: Sequence[Rate]) -> tuple[Item, ...]:
    """What the amount is made of; of what is shared, all that was held."""
    count = everything.interactions
    whole_run = use.held
    held = {
        "logged in": whole_run.logged_in_ns,
        "memory": whole_run.memory_byte_ns,
        "the machine": whole_run.elapsed_ns,
    }
    found = []
    for rate in rates:
        known, whole = (float(use.cells[name].sum()) for name in (f"{rate.quantity} known", rate.quantity))
        own = whole / known * count if known else None
        part = everything.parts[rate.item]
        found.append(Item(rate.item, held.get(rate.item, own), None if part is None else part * count))
    return tuple(found)


def _uncharged(use: Use, tariff: Tariff, cells: pl.DataFrame) -> float | None:
    """Busy time that is neither an interaction's nor the laboratory's, at the price of processor time."""
    count, known = float(cells["count"].sum()), float(cells["cpu_ns known"].sum())
    if use.machine is None or not tariff.cpu_hour or not known or not count:
        return None
    charged = float(cells["cpu_ns"].sum()) / known * count
    left = use.machine.busy_ns - use.machine.laboratory_ns - charged
    return left / count * tariff.cpu_hour / HOUR_NS
