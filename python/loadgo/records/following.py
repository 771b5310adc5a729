"""Reads the tables of a run while they grow, or at once if the run has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.driver_streams import DriverStreams, has_drivers_at_work
from loadgo.records.fleet_streams import (
    HostStreams,
    are_hosts_received,
    has_hosts_at_work,
    rows_of_hosts,
    with_places,
)
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.fleets import HOST_COLUMN, METER_TABLES, is_fleet_run
from loadgo.records.live_usage import USAGE_TABLE, LiveUsage, with_live_usage
from loadgo.records.manifest import gone_losses
from loadgo.records.runs import find_run
from loadgo.records.streams import whole_part
from loadgo.records.tables import (
    COLUMNS_BY_TABLE,
    Tables,
    cut_streams,
    loss_rows,
    read_batches,
    read_conditions,
    read_table,
    tables,
    with_table_columns,
)

FOLLOWED_TABLES = ("interactions", "sessions", "time", "processes", "lost", "phases", "faults", "queue", "memory")
"""The tables that `loadgo watch` shows. Other tables are not read while a run grows."""

PROVISIONAL_KEY = "usage_is_provisional"
"""The key of a run that goes on, if readings on other hosts say what its interactions use."""
NewRows = Mapping[str, pl.DataFrame]
"""New rows by table; a table without new rows may be missing.

`USAGE_TABLE` has the usage of interactions that were given before, or are given now, on other hosts.
"""


@dataclass
class Following:
    """A run, with the position up to which each of its tables has been read."""

    folder: Path
    ended: bool = False
    """Whether the run has ended and all of its rows have been read."""
    conditions: dict[str, Any] = field(default_factory=dict)
    """The content of `run.toml`. While the run goes, with what is known of other hosts by now."""
    _run_toml: dict[str, Any] = field(default_factory=dict)
    _run_toml_version: tuple[int, int] | None = None
    _streams: dict[str, _loadgo.Growing] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    """The tables of whose streams something was read."""
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    _drivers: DriverStreams | None = None
    """The streams of the drivers of a run with several; None for any other run."""
    _hosts: HostStreams | None = None
    """The streams of other hosts; None where all rows are in the run's own tables."""
    _usage: LiveUsage = field(default_factory=LiveUsage)
    """The usage of interactions on other hosts."""
    _tables: Tables | None = None

    def new_rows(self) -> NewRows:
        """The rows that the run has written since the last call. Raises `BadRun` for a damaged or missing folder."""
        if self.ended:
            return {}
        conditions = self._read_conditions()
        is_over = self._is_over(conditions)
        if is_over:
            # The run may have ended well between the two checks.
            conditions = self._read_conditions()
        new_rows = {
            name: rows for name in FOLLOWED_TABLES if (rows := self._new_stream_rows(name, is_over)) is not None
        }
        new_rows |= self._new_rows_of_drivers() | self._new_rows_of_hosts(conditions, is_over=is_over)
        if is_over:
            metered = METER_TABLES if is_fleet_run(conditions) else ()
            elsewhere = [streams.tables for streams in (self._drivers, self._hosts) if streams is not None]
            read = {*self._streams, *metered, *(name for tables in elsewhere for name in tables)}
            new_rows |= {
                name: read_table(self.folder, name, conditions) for name in FOLLOWED_TABLES if name not in read
            }
            cut = [*gone_losses(self.folder, conditions), *cut_streams(self.folder, FOLLOWED_TABLES)]
            losses = loss_rows([*conditions.get("lost", []), *cut])
            lost = [new_rows["lost"], losses] if "lost" in new_rows else [losses]
            new_rows["lost"] = pl.concat(lost, how="diagonal")  # rows of several hosts name theirs
        if self._hosts is not None or not is_over:
            new_rows |= self._new_usage(new_rows, is_over=is_over)
        self.ended = is_over
        return new_rows

    def all_tables(self) -> Tables:
        """All rows that the run has written by now. Raises `BadRun` for a damaged or missing folder."""
        if self.ended:
            self._tables = self._tables or self._read_tables()
            return self._tables
        new_rows = dict(self.new_rows())
        usage = new_rows.pop(USAGE_TABLE, None)
        for name, rows in new_rows.items():
            kept = [self._frames[name], rows] if name in self._frames else [rows]
            self._frames[name] = pl.concat(kept, how="diagonal")  # at the end, rows of several hosts name theirs
        if self.ended:
            return self.all_tables()
        if usage is not None:
            self._frames["interactions"] = with_live_usage(self._frames["interactions"], usage)
        empty: dict[str, Any] = {name: pl.DataFrame(schema=columns) for name, columns in COLUMNS_BY_TABLE.items()}
        return Tables(**(empty | self._frames), conditions=self.conditions, is_written=True)

    def _read_tables(self) -> Tables:
        """The tables of a run that has ended, with those of other hosts that make sense together."""
        recorded = replace(tables_of_load(tables(self.folder)), conditions=self.conditions)
        if self._hosts is not None and not self.conditions.get("finished"):
            # The readings were not placed in the tables.
            usage = LiveUsage()
            usage.take({"interactions": recorded.interactions, "sessions": recorded.sessions})
            readings = HostStreams(self.folder, self.conditions).new_readings()
            charged = with_live_usage(recorded.interactions, usage.usage(readings, self.conditions))
            recorded = replace(recorded, interactions=charged)
        if self._frames and self._hosts is not None:
            rows: dict[str, Any] = {name: self._frames[name] for name in self._hosts.tables}
        elif has_hosts_at_work(self.folder, self.conditions):
            rows = self._last_rows_of_hosts(HostStreams(self.folder, self.conditions))
        else:
            rows = rows_of_hosts(self.folder, self.conditions) if is_fleet_run(self.conditions) else {}
        return replace(recorded, **rows)

    def _last_rows_of_hosts(self, streams: HostStreams) -> dict[str, pl.DataFrame]:
        """All rows that are left in the folders of other hosts, and those of hosts whose rows are in the tables."""
        left = streams.last_rows()
        if not is_fleet_run(self.conditions):
            return left
        for name, rows in rows_of_hosts(self.folder, self.conditions).items():
            placed = rows.filter(~pl.col(HOST_COLUMN).cast(pl.String).is_in(streams.read_hosts))
            left[name] = pl.concat([left[name], placed]).sort("at_ns", maintain_order=True) if name in left else placed
        return left

    @property
    def state_word(self) -> str:
        """The run's state: `live`, `ended` or `killed`."""
        if not self.ended:
            return "live"
        is_killed = not self.conditions.get("finished") or self.conditions.get("outcome") == "killed"
        return "killed" if is_killed else "ended"

    def _read_conditions(self) -> dict[str, Any]:
        """The content of `run.toml`, which is read again only if the file has changed."""
        try:
            status = (self.folder / "run.toml").stat()
        except FileNotFoundError:
            raise BadRun(f"{self.folder} is not a run's folder any more: its run.toml is gone") from None
        except OSError as error:
            raise BadRun(f"{self.folder} cannot be read any more: {error.strerror}") from error
        if self._run_toml_version != (status.st_mtime_ns, status.st_ino):
            self._run_toml = read_conditions(self.folder)
            self._run_toml_version = (status.st_mtime_ns, status.st_ino)
        if self._hosts is None and has_hosts_at_work(self.folder, self._run_toml):
            self._hosts = HostStreams(self.folder, self._run_toml)
        if self._hosts is None:
            self.conditions = with_places(self._run_toml, {})
        else:
            is_provisional = self._run_toml.get("kind") != "meter" and are_hosts_received(self.folder)
            placed = with_places(self._run_toml, self._hosts.places())
            self.conditions = placed | ({PROVISIONAL_KEY: True} if is_provisional else {})
        return self.conditions

    def _is_over(self, conditions: Mapping[str, Any]) -> bool:
        """Whether no more rows come: the run has ended, and so have the records of other hosts."""
        has_ended = bool(conditions.get("finished")) or not _loadgo.is_being_written(self.folder)
        return has_ended and not are_hosts_received(self.folder)

    def _new_rows_of_drivers(self) -> dict[str, pl.DataFrame]:
        """The new rows of all drivers, if the run has several; empty for any other run."""
        if self._drivers is None and has_drivers_at_work(self.folder, self.conditions):
            self._drivers = DriverStreams(self.folder, self.conditions)
        rows = self._drivers.new_rows() if self._drivers is not None else {}
        return {name: frame for name, frame in rows.items() if name in FOLLOWED_TABLES}

    def _new_rows_of_hosts(self, conditions: Mapping[str, Any], *, is_over: bool) -> dict[str, pl.DataFrame]:
        """The new rows of other hosts; empty for a run of this host. At the end no row waits for another."""
        if self._hosts is not None:
            return self._last_rows_of_hosts(self._hosts) if is_over else self._hosts.new_rows()
        return rows_of_hosts(self.folder, conditions) if is_over and is_fleet_run(conditions) else {}

    def _new_usage(self, new_rows: NewRows, *, is_over: bool) -> dict[str, pl.DataFrame]:
        """The usage of interactions on other hosts that has become known; at the end of a run that of its tables."""
        self._usage.take(new_rows)
        if is_over and self.conditions.get("finished"):
            usage = self._usage.usage_at_the_end(read_table(self.folder, "interactions", self.conditions))
        else:
            usage = self._usage.usage([] if self._hosts is None else self._hosts.new_readings(), self.conditions)
        return {USAGE_TABLE: usage} if len(usage) else {}

    def _new_stream_rows(self, name: str, is_over: bool) -> pl.DataFrame | None:
        """The new rows of a table's stream; None if there are none. Of a run that is over, those before any damage."""
        path = self.folder / f"{name}.arrows"
        if name not in self._streams:
            if not path.exists() or (self.folder / f"{name}.parquet").exists():
                return None
            self._streams[name] = _loadgo.Growing(self.folder, name)
        try:
            batches = self._streams[name].news()
        except BadRun:
            if path.exists() or name in self._begun:
                if not is_over or not whole_part(path).bytes:
                    raise
                return None  # `cut_streams` has the loss
            batches = b""
        if batches:
            self._begun.add(name)
            return with_table_columns(read_batches(batches, self.folder, name), self.folder, name)
        if name not in self._begun and not path.exists():
            del self._streams[name]  # the run has ended between two looks: at its end the table is read as a whole
        return None


def follow(run: str | PathLike[str]) -> Following:
    """Begins to follow `run`: a folder, an id or its beginning, or `last`. Raises `BadRun` for an unknown run."""
    return Following(find_run(run))


_INSTANT_COLUMNS = {
    "interactions": "ready_ns",
    "time": "at_ns",
    "processes": "at_ns",
    "phases": "at_ns",
    "lost": "at_ns",
}
"""The tables whose rows show how far a run has come, with the column of their instants."""


def latest_ns(run_tables: Tables) -> int:
    """The latest instant in a run's tables, in nanoseconds since the run began."""
    return latest_row_ns({name: getattr(run_tables, name) for name in _INSTANT_COLUMNS})


def latest_row_ns(rows: NewRows) -> int:
    """The latest instant in these rows, in nanoseconds since the run began."""
    latest = (rows[name][column].max() for name, column in _INSTANT_COLUMNS.items() if name in rows)
    return max((instant for instant in latest if isinstance(instant, int)), default=0)
