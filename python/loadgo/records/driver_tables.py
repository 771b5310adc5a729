"""The rows of several drivers as the tables of one run: on its clock, and with its steady phase.

A row's instants are all moved by the same time, that of the row's first cause. So the differences within a row, such as
the response time and the think time, stay as the driver's own clock has measured them.

The steady phase is the overlap of the drivers' steady phases. A driver's clock is known within a bound, so that each
end of its phase may be off by that. The overlap is made shorter by the bounds: its rows surely lie in all phases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.records.drivers import DRIVEN_TABLES, DRIVER_COLUMN, DriverOfRun
from loadgo.records.run_file import LAST_INSTANT_NS

_PHASES = ("warm-up", "steady", "ramp-down")
_ROW_INSTANTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "interactions": ("sent_ns", ("planned_ns", "sent_ns", "first_output_ns", "ready_ns")),
    "screens": ("sent_ns", ("at_ns", "sent_ns")),
    "lost": ("at_ns", ("at_ns",)),
    "phases": ("at_ns", ("at_ns",)),
}
"""For each table, the instant that says by how much a row is moved, and all its instants. Sessions last for the whole
run, so each of their instants is moved by itself."""
_SESSION_INSTANTS = ("planned_ns", "started_ns", "ready_ns", "ended_ns")

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class ClockShift:
    """The time to add to a driver's instants for those of the run: known at some instants, linear between them."""

    at_ns: Instants
    """The instants of the driver at which the shift is known, ascending."""
    shifts_ns: Instants

    @staticmethod
    def constant(shift_ns: int) -> ClockShift:
        """The same shift at all times."""
        return ClockShift(np.zeros(1, np.int64), np.array([shift_ns], np.int64))

    def of(self, instants_ns: Instants) -> Instants:
        """The shifts at these instants of the driver."""
        first = self.shifts_ns[0]
        moved = np.interp(instants_ns, self.at_ns, (self.shifts_ns - first).astype(np.float64))
        shifts: Instants = first + np.rint(moved).astype(np.int64)
        return shifts


@dataclass(frozen=True)
class DriverRows:
    """The rows that a driver has recorded."""

    name: str
    first_user: int
    last_user: int
    bound_ns: int
    """The largest error of the shift."""
    shift: ClockShift
    frames: Mapping[str, pl.DataFrame]
    """The tables `DRIVEN_TABLES` and `phases`."""
    is_lost: bool = False


@dataclass(frozen=True)
class MergedRows:
    """The rows of all drivers."""

    frames: dict[str, pl.DataFrame]
    """The tables `DRIVEN_TABLES`, with the column `driver`, and `phases`."""
    phases_by_driver: dict[str, dict[str, int]]
    """When each phase of each driver began, on the run's clock."""
    foreign_rows: dict[str, int]
    """Number of rows of each driver that were of no user of that driver, and are left out."""


def rows_of_driver(driver: DriverOfRun, read: Callable[[str], pl.DataFrame]) -> DriverRows:
    """The rows that a driver of a run which goes on has recorded so far. `read` reads a table of it.

    Its clock is known as at the beginning of the load.
    """
    shift = ClockShift.constant(int(driver.entry.get("shift_ns", 0)))
    frames = {name: read(name) for name in (*DRIVEN_TABLES, "phases")}
    return DriverRows(driver.name, driver.first_user, driver.last_user, 0, shift, frames, is_lost=bool(driver.lost))


def merged_rows(drivers: Sequence[DriverRows]) -> MergedRows:
    """The rows of all drivers on the run's clock, in the order of time."""
    placed = {driver.name: placed_rows(driver) for driver in drivers}
    phases = {name: phase_instants(frames["phases"]) for name, frames in placed.items()}
    begins = merged_phases(drivers, phases)
    frames = {}
    for table in DRIVEN_TABLES:
        rows = pl.concat([of_driver(frames[table], name) for name, frames in placed.items()])
        order = {"interactions": "ready_ns", "sessions": "ended_ns"}.get(table, "at_ns")
        frames[table] = rows.sort(order, maintain_order=True, nulls_last=True)
    frames["interactions"] = frames["interactions"].with_columns(_phase_in(begins))
    frames["phases"] = phase_rows(begins, placed[drivers[0].name]["phases"].schema)
    foreign = {driver.name: _foreign_count(driver) for driver in drivers}
    return MergedRows(frames, phases, {name: count for name, count in foreign.items() if count})


def placed_rows(driver: DriverRows) -> dict[str, pl.DataFrame]:
    """The driver's rows of its own users, on the run's clock; any of the tables `DRIVEN_TABLES` and `phases`."""
    frames = {}
    for table, frame in driver.frames.items():
        rows = frame if table == "phases" else frame.filter(_is_own(driver))
        if table == "sessions":
            rows = rows.with_columns(
                _moved(rows[name], driver.shift.of(_ints(rows[name]))) for name in _SESSION_INSTANTS
            )
        else:
            leading, names = _ROW_INSTANTS[table]
            shifts = driver.shift.of(_ints(rows[leading]))
            rows = rows.with_columns(_moved(rows[name], shifts) for name in names)
        frames[table] = rows
    return frames


def _is_own(driver: DriverRows) -> pl.Expr:
    """Whether a row is of a user of this driver, or of none."""
    return pl.col("user").is_null() | pl.col("user").is_between(driver.first_user, driver.last_user)


def _foreign_count(driver: DriverRows) -> int:
    return sum(len(driver.frames[table]) - len(driver.frames[table].filter(_is_own(driver))) for table in DRIVEN_TABLES)


def _ints(column: pl.Series) -> Instants:
    """The instants of a column; those that no clock reaches, and missing ones, are 0."""
    values = column.fill_null(0)
    return values.set(values > LAST_INSTANT_NS, 0).cast(pl.Int64).to_numpy()


def _moved(column: pl.Series, shifts: Instants) -> pl.Series:
    """The instants moved by `shifts`; before the run's beginning they are 0."""
    moved = pl.Series(np.maximum(_ints(column) + shifts, 0), dtype=pl.UInt64)
    return pl.select(pl.when(column.is_not_null()).then(moved)).to_series().alias(column.name)


def of_driver(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows with the name of their driver."""
    return frame.with_columns(pl.lit(name).cast(pl.Categorical).alias(DRIVER_COLUMN))


def phase_instants(phases: pl.DataFrame) -> dict[str, int]:
    """When each phase began, by a table `phases`."""
    found = phases.select(pl.col("phase").cast(pl.String), pl.col("at_ns").cast(pl.Int64))
    return {str(phase): int(at) for phase, at in found.iter_rows() if phase in _PHASES}


def merged_phases(drivers: Sequence[DriverRows], phases: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """When each phase of the run began. Without a steady phase if the drivers' steady phases do not overlap."""
    warm_ups = [of["warm-up"] for of in phases.values() if "warm-up" in of]
    if not warm_ups:
        return {}
    begins = {"warm-up": min(warm_ups)}
    downs = [phases[one.name]["ramp-down"] - one.bound_ns for one in drivers if "ramp-down" in phases[one.name]]
    if downs:
        begins["ramp-down"] = max(min(downs), begins["warm-up"])
    needed = [one for one in drivers if not one.is_lost or "steady" in phases[one.name]]
    if all("steady" in phases[one.name] for one in needed):
        steady = max(phases[one.name]["steady"] + one.bound_ns for one in needed)
        if steady < begins.get("ramp-down", LAST_INSTANT_NS):
            begins["steady"] = steady
    return begins


def _phase_in(begins: Mapping[str, int]) -> pl.Expr:
    """The phase of an interaction: steady if it was that for its own driver, and lies in the run's steady phase."""
    own, sent = pl.col("phase").cast(pl.String), pl.col("sent_ns").cast(pl.Int64)
    steady, down = begins.get("steady", LAST_INSTANT_NS), begins.get("ramp-down", LAST_INSTANT_NS)
    phase = (
        pl.when((own == "ramp-down") | (sent >= down))
        .then(pl.lit("ramp-down"))
        .when((own == "warm-up") | (sent < steady))
        .then(pl.lit("warm-up"))
        .otherwise(pl.lit("steady"))
    )
    return phase.cast(pl.Categorical).alias("phase")


def phase_rows(begins: Mapping[str, int], columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The table `phases` of a run whose phases began at these instants."""
    names = sorted(begins, key=lambda name: (begins[name], _PHASES.index(name)))
    rows = pl.DataFrame(
        {"at_ns": [begins[name] for name in names], "phase": names}, schema_overrides={"at_ns": pl.UInt64}
    )
    return rows.select(pl.col(name).cast(kind) for name, kind in columns.items())
