"""What a use costs at a tariff: a mean interaction, each command, each user, a user's hour, a megabit, with intervals.

A mean cost is a sum of prices times mean quantities, so that usage that was read at some interactions only stands for
all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from loadgo.costs.draws import INTERACTION_COUNT, Draws, Lots, lots_of, mixed
from loadgo.measures.charged_use import Use
from loadgo.measures.charges import HOUR_NS, QUANTITIES, Held, Rate, charges, rates_of, summed
from loadgo.measures.tariff import Tariff
from loadgo.stats.resample import Interval

By = Literal["command", "user"]
MEGABIT_BYTES = 1e6 / 8


@dataclass(frozen=True)
class Figure:
    """An amount of money, with its 95 % interval, where there are enough users or time for one; None is not known."""

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
    lots, rates = lots_of(use), rates_of(tariff, use.held)
    longer = longer_of(use.held)
    everything = _row("all", _sums(lots.cells), rates, longer, lots.ratio(lots.cells, rates))
    return Priced(
        tariff=tariff,
        rates=rates,
        rows=tuple(_commands(lots, rates, longer) if by == "command" else _users(lots.cells, rates, longer)),
        everything=everything,
        user_hour=_figure(lots.ratio(lots.cells, rates, "present_ns").times(HOUR_NS * longer)),
        megabit=_figure(lots.ratio(lots.cells, rates, "bytes_out").times(MEGABIT_BYTES)),
        items=_items(use, everything, rates),
        uncharged=_uncharged(use, tariff),
    )


def in_mix(use: Use, tariff: Tariff, mix: Mapping[str, float]) -> Figure:
    """The cost of an interaction in a mix of commands (shares that add up to 1), whatever mix the users typed."""
    lots, rates = lots_of(use), rates_of(tariff, use.held)
    parts = dict(_by_command(lots.cells))
    if not mix or not mix.keys() <= parts.keys():
        return Figure(None)
    return _figure(mixed([(share, lots.ratio(parts[name], rates)) for name, share in mix.items()]))


def longer_of(held: Held) -> float:
    """The interactions' time over that in which users were logged in."""
    return held.present_ns / held.logged_in_ns if held.logged_in_ns else 1.0


def _figure(draws: Draws) -> Figure:
    return Figure(draws.value, None if draws.value is None else draws.interval)


def _commands(lots: Lots, rates: tuple[Rate, ...], longer: float) -> list[Row]:
    """A row for each command, in the order of the script."""
    parts = _by_command(lots.cells)
    return [_row(name, _sums(part), rates, longer, lots.ratio(part, rates)) for name, part in parts]


def _by_command(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    order = cells.group_by("command", maintain_order=True).agg(pl.col("place").min())
    names = order.sort("place", maintain_order=True)["command"]
    return [(str(name), cells.filter(pl.col("command") == name)) for name in names]


def _users(cells: pl.DataFrame, rates: tuple[Rate, ...], longer: float) -> list[Row]:
    """A row for each user, without intervals: there is nobody to draw."""
    several = cells["run"].n_unique() > 1
    found = []
    for sums in cells.group_by("run", "user").agg(pl.col(_SUMMED).sum()).sort("run", "user").iter_rows(named=True):
        name = f"user {sums['user']}"
        found.append(_row(f"run {sums['run'] + 1}, {name}" if several else name, sums, rates, longer))
    return found


_SUMMED = [INTERACTION_COUNT, *QUANTITIES, *(f"{name} known" for name in QUANTITIES)]


def _sums(cells: pl.DataFrame) -> dict[str, float]:
    return cells.select(pl.col(_SUMMED).sum()).row(0, named=True)


def _row(
    name: str, sums: Mapping[str, float], rates: tuple[Rate, ...], longer: float, draws: Draws | None = None
) -> Row:
    means, count = _means(sums), float(sums[INTERACTION_COUNT])
    parts, out = charges(means, rates), means["bytes_out"]
    each = _figure(draws) if draws is not None else Figure(summed(parts))
    total = None if each.value is None else each.value * count
    return Row(
        name=name,
        interactions=int(count),
        each=each,
        parts=parts,
        total=total,
        user_hour=_per(total, float(sums["present_ns"]), HOUR_NS * longer),
        megabit=_per(total, 0.0 if out is None else out * count, MEGABIT_BYTES),
    )


def _means(sums: Mapping[str, float]) -> dict[str, float | None]:
    """Of a mean interaction; None where it was read at none."""
    return {name: sums[name] / sums[f"{name} known"] if sums[f"{name} known"] else None for name in QUANTITIES}


def _per(total: float | None, quantity: float, of: float) -> float | None:
    return None if total is None or quantity <= 0 else total / quantity * of


def _items(use: Use, everything: Row, rates: Sequence[Rate]) -> tuple[Item, ...]:
    """What the amount is made of; of what is shared, all that was held."""
    count = everything.interactions
    whole_run = use.held
    held = {
        "logged in": whole_run.logged_in_ns,
        "memory": whole_run.memory_byte_ns,
        "the machine": whole_run.elapsed_ns,
    }
    means = _means(_sums(use.cells))
    found = []
    for rate in rates:
        mean = means[rate.quantity]
        own = None if mean is None else mean * count
        part = everything.parts[rate.item]
        found.append(Item(rate.item, held.get(rate.item, own), None if part is None else part * count))
    return tuple(found)


def _uncharged(use: Use, tariff: Tariff) -> float | None:
    """Busy time that is neither an interaction's nor the laboratory's, at the price of processor time."""
    count, cpu = float(use.cells[INTERACTION_COUNT].sum()), _means(_sums(use.cells))["cpu_ns"]
    if use.machine is None or not tariff.cpu_hour or cpu is None or not count:
        return None
    left = use.machine.busy_ns - use.machine.laboratory_ns - cpu * count
    return left / count * tariff.cpu_hour / HOUR_NS
