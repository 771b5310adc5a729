"""A ratio of what was used, or of its price, in draws of the users and of stretches of time; the wider interval counts.

Users of one machine wait for each other, so what one of them met tells of all who were there then: users alone would
give a saturated machine too short an interval. Stretches are drawn as residuals from each command's own ratio, so that
what differs between commands is no spread. Usage that was read at some interactions only stands for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.measures.charged_use import MEANS, Use
from loadgo.measures.charges import Rate
from loadgo.stats.resample import FEWEST, Floats, Interval, drawn, grouped, interval_of

COUNT = "count"
"""What a ratio is over, when it is of a mean interaction."""


@dataclass(frozen=True)
class Draws:
    """A figure in every draw, the figure itself first; not a number is not known."""

    users: Floats
    stretches: Floats
    units: tuple[int, int]
    """How many users, and how many stretches, were drawn from; 0 where nothing was drawn."""

    @property
    def value(self) -> float | None:
        """The figure; None is not known."""
        return float(self.users[0]) if np.isfinite(self.users[0]) else None

    @property
    def interval(self) -> Interval | None:
        """The wider one; None where there are fewer than five users and fewer than five stretches."""
        every = zip((self.users, self.stretches), self.units, strict=True)
        found = [interval_of(values, units) for values, units in every if units >= FEWEST]
        known = [one for one in found if one is not None]
        return max(known, key=lambda one: one.high - one.low, default=None)

    def over(self, other: Draws) -> Draws:
        """The ratio to another figure that was drawn apart from it."""
        units = [min((n for n in pair if n), default=0) for pair in zip(self.units, other.units, strict=True)]
        with np.errstate(divide="ignore", invalid="ignore"):
            return Draws(self.users / other.users, self.stretches / other.stretches, (units[0], units[1]))

    def times(self, factor: float) -> Draws:
        """So many times the figure."""
        return Draws(self.users * factor, self.stretches * factor, self.units)


def constant(value: float) -> Draws:
    """A figure of which nothing can be drawn again, as printed ones are."""
    return Draws(np.array([value]), np.array([value]), (0, 0))


def mixed(parts: Sequence[tuple[float, Draws]]) -> Draws:
    """The sum of shares of figures that were drawn together.

    A draw in which nobody typed a command takes that command's own figure: what is rare would else be no interval.
    """
    return Draws(
        np.sum([share * _filled(one.users) for share, one in parts], axis=0),
        np.sum([share * _filled(one.stretches) for share, one in parts], axis=0),
        (max(one.units[0] for _, one in parts), max(one.units[1] for _, one in parts)),
    )


def _filled(values: Floats) -> Floats:
    found: Floats = np.where(np.isfinite(values), values, values[0])
    return found


@dataclass(frozen=True)
class Lots:
    """The cells of a use with the numbers of their users and stretches, and how often each of these is drawn."""

    cells: pl.DataFrame
    """As in `Use`, with the columns unit (the user in its run) and slot (the stretch in its run)."""
    users: Floats
    stretches: Floats
    units: int
    slots: int

    def ratio(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str = COUNT) -> Draws:
        """Of some of the cells: what is charged at the rates of `top`, over a quantity, or over the interactions."""
        there = cells["unit"].n_unique(), cells["slot"].n_unique()
        return Draws(self._by_users(cells, top, bottom), self._by_stretches(cells, top, bottom), there)

    def mean(self, quantity: str) -> Draws:
        """A quantity of a mean interaction."""
        return self.ratio(self.cells, (Rate(quantity, quantity, 1.0),))

    def _by_users(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str) -> Floats:
        names = [COUNT, *MEANS, *(f"{name} known" for name in MEANS)]
        sums = np.zeros((self.units, len(names)))
        np.add.at(sums, cells["unit"].to_numpy(), cells.select(names).to_numpy())
        totals = self.users @ grouped(sums)

        def mean(quantity: str) -> Floats:
            at = 1 + MEANS.index(quantity)
            found: Floats = totals[:, at] / totals[:, at + len(MEANS)]
            return found

        found: Floats = np.where(totals[:, 0] > 0, 0.0, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            for rate in top:
                found = found + (np.nan if rate.each is None else mean(rate.quantity) * rate.each)
            return found if bottom == COUNT else found / mean(bottom)

    def _by_stretches(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str) -> Floats:
        commands = cells["command"].cast(pl.Categorical).to_physical().to_numpy()
        _, at = np.unique(commands, return_inverse=True)
        shape = (self.slots, int(at.max(initial=0)) + 1)

        def laid(quantity: str) -> Floats:
            """By stretch and command, with what was not read."""
            found = np.zeros(shape)
            np.add.at(found, (cells["slot"].to_numpy(), at), cells[quantity].to_numpy())
            known = float(cells[COUNT if quantity == COUNT else f"{quantity} known"].sum())
            factor = float(cells[COUNT].sum()) / known if known else np.nan
            told: Floats = found * factor
            return told

        charged = np.zeros(shape)
        for rate in top:
            charged = charged + (np.nan if rate.each is None else laid(rate.quantity) * rate.each)
        under = laid(bottom)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(under.sum(axis=0) > 0, charged.sum(axis=0) / under.sum(axis=0), 0.0)
            residuals = (charged - own * under).sum(axis=1)
            found: Floats = (charged.sum() + self.stretches @ residuals - residuals.sum()) / under.sum()
        return found


def lots_of(use: Use, seed: int = 1) -> Lots:
    """The draws of a use; the same seed draws the same of users and stretches that are as many."""
    units = use.cells.select("run", "user").unique(maintain_order=True).with_row_index("unit")
    slots = use.cells.select("run", "stretch").unique(maintain_order=True).with_row_index("slot")
    cells = use.cells.join(units, on=["run", "user"], how="left", maintain_order="left")
    cells = cells.join(slots, on=["run", "stretch"], how="left", maintain_order="left")
    return Lots(cells, drawn(len(units), seed), drawn(len(slots), seed + 1), len(units), len(slots))
