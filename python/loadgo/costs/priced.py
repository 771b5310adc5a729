"""The cost of a use at a tariff: of a mean interaction, each command or user, a user's hour and a megabit of output.

A mean cost is a sum of prices times mean quantities. Usage that was read at only some interactions therefore stands for
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from loadgo.costs.draws import INTERACTION_COUNT, Draws, ResampledUse, mixed, resample
from loadgo.measures.charged_use import RunUse
from loadgo.measures.charges import (
    CHARGED_QUANTITIES,
    HOUR_NS,
    Rate,
    SharedHoldings,
    charges_by_item,
    rates_of,
    sum_if_known,
)
from loadgo.measures.tariff import Tariff
from loadgo.stats.resample import Interval

By = Literal["command", "user"]
MEGABIT_BYTES = 1e6 / 8


@dataclass(frozen=True)
class Figure:
    """An amount of money, None if not known, and its 95 % interval, None with too few users and too little time."""

    value: float | None
    interval: Interval | None = None


@dataclass(frozen=True)
class Row:
    """The cost of the interactions of one command or one user, or of all."""

    name: str
    interactions: int
    each: Figure
    """The cost of a mean interaction."""
    parts: Mapping[str, float | None]
    """The cost of a mean interaction by charged item."""
    total: float | None
    """The cost of all the interactions together."""
    user_hour: float | None
    """The cost of an hour of a user who types only these lines."""
    megabit: float | None
    """The cost of a million bits of output."""
    measured: int
    """Number of the interactions with every charged quantity known; the means are of these."""


@dataclass(frozen=True)
class Item:
    """A charged item with the quantity used, in nanoseconds or bytes, and the amount of money."""

    name: str
    quantity: float | None
    amount: float | None


@dataclass(frozen=True)
class Priced:
    """The costs of a use at one tariff."""

    tariff: Tariff
    rates: tuple[Rate, ...]
    rows: tuple[Row, ...]
    """A row for each command, or for each user."""
    everything: Row
    user_hour: Figure
    megabit: Figure
    items: tuple[Item, ...]
    uncharged: float | None
    """The price of the busy time that no interaction used, for each interaction.

    None if the tariff has no price for processor time, or if the busy time is not known.
    """

    @property
    def interaction(self) -> Figure:
        """The cost of a mean interaction."""
        return self.everything.each

    @property
    def known(self) -> bool:
        """Whether every charged quantity is known."""
        return self.interaction.value is not None


def priced(use: RunUse, tariff: Tariff, by: By = "command") -> Priced:
    """Prices `use` at `tariff`, with a row for each command in the order of the script, or for each user."""
    resampled, rates = resample(use), rates_of(tariff, use.held)
    present_ratio = present_ratio_of(use.held)
    everything = _row("all", _sums(resampled.cells), rates, present_ratio, resampled.ratio(resampled.cells, rates))
    return Priced(
        tariff=tariff,
        rates=rates,
        rows=tuple(
            _commands(resampled, rates, present_ratio)
            if by == "command"
            else _users(resampled.cells, rates, present_ratio)
        ),
        everything=everything,
        user_hour=_figure(resampled.ratio(resampled.cells, rates, "present_ns").times(HOUR_NS * present_ratio)),
        megabit=_figure(resampled.ratio(resampled.cells, rates, "bytes_out").times(MEGABIT_BYTES)),
        items=_items(use, everything, rates),
        uncharged=_uncharged(use, tariff),
    )


def in_mix(use: RunUse, tariff: Tariff, mix: Mapping[str, float]) -> Figure:
    """The cost of an interaction in the mix of commands `mix`, whose shares add up to 1."""
    resampled, rates = resample(use), rates_of(tariff, use.held)
    cells_by_command = dict(_by_command(resampled.cells))
    if not mix or not mix.keys() <= cells_by_command.keys():
        return Figure(None)
    return _figure(mixed([(share, resampled.ratio(cells_by_command[name], rates)) for name, share in mix.items()]))


def present_ratio_of(held: SharedHoldings) -> float:
    """The time of all interactions, from prompt to prompt, over the time in which users were logged in."""
    return held.present_ns / held.logged_in_ns if held.logged_in_ns else 1.0


def _figure(draws: Draws) -> Figure:
    return Figure(draws.value, None if draws.value is None else draws.interval)


def _commands(resampled: ResampledUse, rates: tuple[Rate, ...], present_ratio: float) -> list[Row]:
    """A row for each command, in the order of the script."""
    return [
        _row(name, _sums(cells), rates, present_ratio, resampled.ratio(cells, rates))
        for name, cells in _by_command(resampled.cells)
    ]


def _by_command(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    order = cells.group_by("command", maintain_order=True).agg(pl.col("place").min())
    names = order.sort("place", maintain_order=True)["command"]
    return [(str(name), cells.filter(pl.col("command") == name)) for name in names]


def _users(cells: pl.DataFrame, rates: tuple[Rate, ...], present_ratio: float) -> list[Row]:
    """A row for each user, without intervals, since a single user cannot be resampled."""
    has_several_runs = cells["run"].n_unique() > 1
    rows = []
    for sums in cells.group_by("run", "user").agg(pl.col(_SUMMED).sum()).sort("run", "user").iter_rows(named=True):
        name = f"user {sums['user']}"
        rows.append(_row(f"run {sums['run'] + 1}, {name}" if has_several_runs else name, sums, rates, present_ratio))
    return rows


_SUMMED = [INTERACTION_COUNT, *CHARGED_QUANTITIES, *(f"{name} known" for name in CHARGED_QUANTITIES)]


def _sums(cells: pl.DataFrame) -> dict[str, float]:
    return cells.select(pl.col(_SUMMED).sum()).row(0, named=True)


def _row(
    name: str, sums: Mapping[str, float], rates: tuple[Rate, ...], present_ratio: float, draws: Draws | None = None
) -> Row:
    means, count = _means(sums), float(sums[INTERACTION_COUNT])
    parts, output_bytes = charges_by_item(means, rates), means["bytes_out"]
    each = _figure(draws) if draws is not None else Figure(sum_if_known(parts))
    total = None if each.value is None else each.value * count
    return Row(
        name=name,
        interactions=int(count),
        each=each,
        parts=parts,
        total=total,
        user_hour=_per(total, float(sums["present_ns"]), HOUR_NS * present_ratio),
        measured=min([int(count), *(int(sums[f"{rate.quantity} known"]) for rate in rates)]),
        megabit=_per(total, 0.0 if output_bytes is None else output_bytes * count, MEGABIT_BYTES),
    )


def _means(sums: Mapping[str, float]) -> dict[str, float | None]:
    """The quantities of a mean interaction. None for a quantity that was read at no interaction."""
    return {name: sums[name] / sums[f"{name} known"] if sums[f"{name} known"] else None for name in CHARGED_QUANTITIES}


def _per(total: float | None, quantity: float, unit: float) -> float | None:
    return None if total is None or quantity <= 0 else total / quantity * unit


def _items(use: RunUse, everything: Row, rates: Sequence[Rate]) -> tuple[Item, ...]:
    """The charged items. The quantity of a shared item is what the whole run held of it."""
    count = everything.interactions
    shared_quantities = {
        "logged in": use.held.logged_in_ns,
        "memory": use.held.memory_byte_ns,
        "the machine": use.held.rent_ns,
    }
    means = _means(_sums(use.cells))
    items = []
    for rate in rates:
        mean, cost = means[rate.quantity], everything.parts[rate.item]
        quantity = shared_quantities.get(rate.item, None if mean is None else mean * count)
        items.append(Item(rate.item, quantity, None if cost is None else cost * count))
    return tuple(items)


def _uncharged(use: RunUse, tariff: Tariff) -> float | None:
    """The price of the busy time that neither an interaction nor loadgo used, for each interaction."""
    count, cpu = float(use.cells[INTERACTION_COUNT].sum()), _means(_sums(use.cells))["cpu_ns"]
    if use.machine is None or not tariff.cpu_hour or cpu is None or not count:
        return None
    uncharged_ns = use.machine.busy_ns - use.machine.laboratory_ns - cpu * count
    return uncharged_ns / count * tariff.cpu_hour / HOUR_NS
