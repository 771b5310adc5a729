"""Ratios of usage or of its price. Intervals come from resampling users and stretches of time; the wider one counts.

Users of one machine wait for each other, so their response times are not independent. Resampling users alone would give
a saturated machine too short an interval. Stretches are resampled as residuals from each command's own ratio, so that
differences between commands do not widen the interval. Usage that was read at only some interactions stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.measures.charged_use import AVERAGED_QUANTITIES, RunUse
from loadgo.measures.charges import Rate
from loadgo.stats.resample import FEWEST_UNITS, Floats, Interval, drawn, grouped, interval_of

INTERACTION_COUNT = "count"
"""The denominator of a ratio for a mean interaction."""


@dataclass(frozen=True)
class Draws:
    """A figure and its resamples, the figure itself first. Unknown values are NaN."""

    users: Floats
    stretches: Floats
    units: tuple[int, int]
    """Number of users and number of stretches that were resampled. 0 if there was no resampling."""

    @property
    def value(self) -> float | None:
        """The figure. None if it is not known."""
        return float(self.users[0]) if np.isfinite(self.users[0]) else None

    @property
    def interval(self) -> Interval | None:
        """The wider 95 % interval. None with fewer than five users and fewer than five stretches."""
        resamples = zip((self.users, self.stretches), self.units, strict=True)
        intervals = [interval_of(values, units) for values, units in resamples if units >= FEWEST_UNITS]
        known = [interval for interval in intervals if interval is not None]
        return max(known, key=lambda interval: interval.high - interval.low, default=None)

    def over(self, other: Draws) -> Draws:
        """The ratio to another figure, resample by resample."""
        units = [min((n for n in pair if n), default=0) for pair in zip(self.units, other.units, strict=True)]
        with np.errstate(divide="ignore", invalid="ignore"):
            return Draws(self.users / other.users, self.stretches / other.stretches, (units[0], units[1]))

    def times(self, factor: float) -> Draws:
        """The figure multiplied by a factor."""
        return Draws(self.users * factor, self.stretches * factor, self.units)


def constant(value: float) -> Draws:
    """A figure without resamples, such as a printed one."""
    return Draws(np.array([value]), np.array([value]), (0, 0))


def mixed(parts: Sequence[tuple[float, Draws]]) -> Draws:
    """The weighted sum of figures that were resampled together.

    A resample that lacks a command uses the command's figure itself, or a rare command would prevent an interval.
    """
    return Draws(
        np.sum([share * _filled(figure.users) for share, figure in parts], axis=0),
        np.sum([share * _filled(figure.stretches) for share, figure in parts], axis=0),
        (max(figure.units[0] for _, figure in parts), max(figure.units[1] for _, figure in parts)),
    )


def _filled(values: Floats) -> Floats:
    filled: Floats = np.where(np.isfinite(values), values, values[0])
    return filled


@dataclass(frozen=True)
class ResampledUse:
    """The cells of a use, with the weights of users and stretches in every resample."""

    cells: pl.DataFrame
    """The cells of `RunUse`, with the columns unit (index of user and run) and slot (index of stretch and run)."""
    users: Floats
    stretches: Floats
    units: int
    slots: int

    def ratio(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str = INTERACTION_COUNT) -> Draws:
        """The charge of `cells` at the rates of `top`, divided by the quantity `bottom`; by default per interaction."""
        units = cells["unit"].n_unique(), cells["slot"].n_unique()
        return Draws(self._by_users(cells, top, bottom), self._by_stretches(cells, top, bottom), units)

    def mean(self, quantity: str) -> Draws:
        """The mean of a quantity over the interactions."""
        return self.ratio(self.cells, (Rate(quantity, quantity, 1.0),))

    def _by_users(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str) -> Floats:
        names = [INTERACTION_COUNT, *AVERAGED_QUANTITIES, *(f"{name} known" for name in AVERAGED_QUANTITIES)]
        sums = np.zeros((self.units, len(names)))
        np.add.at(sums, cells["unit"].to_numpy(), cells.select(names).to_numpy())
        totals = self.users @ grouped(sums)

        def mean(quantity: str) -> Floats:
            column = 1 + AVERAGED_QUANTITIES.index(quantity)
            means: Floats = totals[:, column] / totals[:, column + len(AVERAGED_QUANTITIES)]
            return means

        charged: Floats = np.where(totals[:, 0] > 0, 0.0, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            for rate in top:
                charged = charged + (np.nan if rate.each is None else mean(rate.quantity) * rate.each)
            return charged if bottom == INTERACTION_COUNT else charged / mean(bottom)

    def _by_stretches(self, cells: pl.DataFrame, top: Sequence[Rate], bottom: str) -> Floats:
        commands = cells["command"].cast(pl.Categorical).to_physical().to_numpy()
        _, columns = np.unique(commands, return_inverse=True)
        shape = (self.slots, int(columns.max(initial=0)) + 1)

        def summed(quantity: str) -> Floats:
            """Sums by stretch and command, scaled up for interactions whose usage was not read."""
            sums = np.zeros(shape)
            np.add.at(sums, (cells["slot"].to_numpy(), columns), cells[quantity].to_numpy())
            known = float(cells[INTERACTION_COUNT if quantity == INTERACTION_COUNT else f"{quantity} known"].sum())
            factor = float(cells[INTERACTION_COUNT].sum()) / known if known else np.nan
            scaled: Floats = sums * factor
            return scaled

        charged = np.zeros(shape)
        for rate in top:
            charged = charged + (np.nan if rate.each is None else summed(rate.quantity) * rate.each)
        denominator = summed(bottom)
        with np.errstate(divide="ignore", invalid="ignore"):
            command_ratios = np.where(denominator.sum(axis=0) > 0, charged.sum(axis=0) / denominator.sum(axis=0), 0.0)
            residuals = (charged - command_ratios * denominator).sum(axis=1)
            ratios: Floats = (charged.sum() + self.stretches @ residuals - residuals.sum()) / denominator.sum()
        return ratios


def resample(use: RunUse, seed: int = 1) -> ResampledUse:
    """Resamples a use. The same seed gives the same weights for equal numbers of users and stretches."""
    units = use.cells.select("run", "user").unique(maintain_order=True).with_row_index("unit")
    slots = use.cells.select("run", "stretch").unique(maintain_order=True).with_row_index("slot")
    cells = use.cells.join(units, on=["run", "user"], how="left", maintain_order="left")
    cells = cells.join(slots, on=["run", "stretch"], how="left", maintain_order="left")
    return ResampledUse(cells, drawn(len(units), seed), drawn(len(slots), seed + 1), len(units), len(slots))
