"""The tables of several drivers while their run goes on: new rows of all, on the run's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.records.driver_tables import (
    DriverRows,
    merged_phases,
    of_driver,
    phase_instants,
    phase_rows,
    placed_rows,
    rows_of_driver,
)
from loadgo.records.drivers import DRIVERS_FOLDER, DriverOfRun, drivers_of_run
from loadgo.records.run_file import come_by_now_ns, start_in
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns

_INSTANTS = ("at_ns", "sent_ns", "first_output_ns", "ready_ns", "started_ns", "ended_ns")
"""Columns of instants that have come. What is planned may be later."""


class DriverStreams:
    """The streams of all drivers of the run in `folder`, each read once."""

    def __init__(self, folder: Path, conditions: Mapping[str, Any]) -> None:
        """The streams of the run with this `run.toml`."""
        self._folder = folder
        self._drivers = drivers_of_run(conditions)
        self._started = start_in(dict(conditions))
        self._streams: dict[tuple[str, str], _loadgo.Growing] = {}
        self._phases: dict[str, dict[str, int]] = {driver.name: {} for driver in self._drivers}
        self._told: set[str] = set()
        self.tables: set[str] = set()
        """The tables of which rows have come."""

    def new_rows(self) -> dict[str, pl.DataFrame]:
        """The rows of all drivers since the last call, by table. Raises `BadRun` for a damaged stream."""
        found: dict[str, list[pl.DataFrame]] = {}
        for driver in self._drivers:
            rows = self._rows_of(driver)
            self._phases[driver.name] |= phase_instants(rows.pop("phases"))
            for table, frame in rows.items():
                if len(frame):
                    found.setdefault(table, []).append(of_driver(frame, driver.name))
        joined = {table: pl.concat(frames) for table, frames in found.items()}
        if len(phases := self._new_phases()):
            joined["phases"] = phases
        self.tables |= joined.keys()
        return joined

    def _rows_of(self, driver: DriverOfRun) -> dict[str, pl.DataFrame]:
        """The new rows of one driver, placed."""
        rows = placed_rows(rows_of_driver(driver, lambda table: self._new_rows(driver.name, table)))
        now_ns = come_by_now_ns(self._started)
        return rows if now_ns is None else {table: _come_by(frame, now_ns) for table, frame in rows.items()}

    def _new_rows(self, name: str, table: str) -> pl.DataFrame:
        place = self._folder / DRIVERS_FOLDER / name
        key = (name, table)
        if key not in self._streams and (place / f"{table}.arrows").exists():
            self._streams[key] = _loadgo.Growing(place, table)
        batches = self._streams[key].news() if key in self._streams else b""
        return with_columns(pl.read_ipc_stream(batches) if batches else None, COLUMNS_BY_TABLE[table])

    def _new_phases(self) -> pl.DataFrame:
        """The phases of the run that have begun since the last call. A phase is not moved once it was told."""
        parts = [self._as_rows(driver) for driver in self._drivers]
        begun = {name: at for name, at in merged_phases(parts, self._phases).items() if name not in self._told}
        self._told |= begun.keys()
        return phase_rows(begun, COLUMNS_BY_TABLE["phases"])

    @staticmethod
    def _as_rows(driver: DriverOfRun) -> DriverRows:
        return replace(rows_of_driver(driver, lambda _table: pl.DataFrame()), frames={})


def _come_by(rows: pl.DataFrame, now_ns: int) -> pl.DataFrame:
    """The rows without those of the future, which no honest driver sends."""
    instants = [name for name in _INSTANTS if name in rows.columns]
    return rows.filter(pl.max_horizontal(*instants).fill_null(0) <= now_ns) if instants else rows


def has_drivers_at_work(folder: Path, conditions: Mapping[str, Any]) -> bool:
    """Whether the rows of a run are still in the folders of its drivers."""
    return bool(drivers_of_run(conditions)) and (folder / DRIVERS_FOLDER).is_dir()
