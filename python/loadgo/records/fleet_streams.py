"""The tables of other hosts while a run or a metering of them goes on: new rows of all, on one clock, in time order.

Until the end the rows are in a folder for each host, by its own clock. A host's rows are placed by its clock as it is
known when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.far_usage import FarProcessors, processors_of
from loadgo.records.fleets import FLEET_FOLDER, HOST_COLUMN, HostOfRun, hosts_of_run, is_fleet_run, is_metering_of_hosts
from loadgo.records.host_places import PLACE_FILE, WIDEST_BOUND_NS, HostPlace, has_controller, read_place
from loadgo.records.live_usage import HostReadings
from loadgo.records.run_file import LAST_INSTANT_NS, come_by_now_ns, read_run_file, start_in
from loadgo.records.runs import FAR_FOLDER
from loadgo.records.tables import COLUMNS_BY_TABLE, read_batches, read_table, with_columns

WATCHED_TABLES = ("time", "queue", "faults", "memory")
"""Tables of which rows of several hosts are shown side by side. Processes are of one host each."""
_TABLES_OF_ONE_HOST = (*WATCHED_TABLES, "processes")
_READINGS = "session_usage"
"""The table with the readings of the users' accounts."""
_SHOWN_HOLDERS = ("free", "file cache")
"""Holders of a host's memory that are shown beside those of other hosts: all else is in use."""
_DRIVER = "driver"
"""A holder or process that an agent does not have."""
_MOST_USERS = 2**32 - 1
"""The largest number that a user can have."""
_LONGEST_WAIT_NS = 3_000_000_000
"""Longest time for which rows wait for those of a slower host."""
BEGINNING_KEY = "records_begin_s"
"""The key of a host in `run.toml` with the beginning of its own records on the metering's clock, in seconds."""


class HostStreams:
    """The streams of all other hosts of the run or metering in `folder`, each read once."""

    def __init__(self, folder: Path, conditions: Mapping[str, Any]) -> None:
        """The streams of the run or metering with this `run.toml`."""
        self._hosts = _all_records(folder, conditions)
        self._waiting: dict[str, list[pl.DataFrame]] = {}
        self._given_ns = 0
        self.tables: set[str] = set()
        """The tables of which rows were given."""

    @property
    def read_hosts(self) -> set[str]:
        """The names of the hosts of which something was read."""
        return {host.name for host in self._hosts if host.streams or host.read_whole}

    def places(self) -> dict[str, HostPlace]:
        """The place of each host's records, as it is known now."""
        return {host.name: place for host in self._hosts if (place := host.place()) is not None}

    def new_rows(self) -> dict[str, pl.DataFrame]:
        """The new rows of all hosts, by table, in the order of time over all calls.

        They wait until every host that is not lost has come so far, for a while. Raises `BadRun` for a damaged stream.
        """
        self._read()
        at_work = [host.latest_ns for host in self._hosts if not host.is_lost] or [0]
        latest_ns = max(host.latest_ns for host in self._hosts)
        return self._rows_until(max(self._given_ns, min(at_work), latest_ns - _LONGEST_WAIT_NS))

    def last_rows(self) -> dict[str, pl.DataFrame]:
        """All rows that are left once no more come: no row waits any more for those of another host."""
        self._read()
        return self._rows_until(max(self._given_ns, *(host.latest_ns for host in self._hosts)))

    def new_readings(self) -> list[HostReadings]:
        """The new readings of the users' accounts on each host whose clock is known well enough.

        Raises `BadRun` for a damaged stream.
        """
        return [readings for host in self._hosts if (readings := host.new_readings()) is not None]

    def _read(self) -> None:
        """Reads what has come. The rows wait by table."""
        for host in self._hosts:
            for table, rows in host.new_rows().items():
                self._waiting.setdefault(table, []).append(rows)

    def _rows_until(self, until_ns: int) -> dict[str, pl.DataFrame]:
        """The rows that wait, up to an instant of the common clock."""
        before_ns, self._given_ns = self._given_ns, until_ns
        given = {table: self._given(table, before_ns) for table in self._waiting}
        some = {table: rows for table, rows in given.items() if len(rows)}
        self.tables |= some.keys()
        return some

    def _given(self, table: str, before_ns: int) -> pl.DataFrame:
        """The rows of a table up to what all hosts have; one that came too late is moved to what was given before."""
        rows = pl.concat(self._waiting[table])
        is_due = pl.col("at_ns") <= self._given_ns
        self._waiting[table] = [rows.filter(~is_due)]
        moved = pl.max_horizontal(pl.col("at_ns"), pl.lit(before_ns, pl.UInt64)).alias("at_ns")
        return rows.filter(is_due).with_columns(moved).sort("at_ns", maintain_order=True)


@dataclass
class _HostRecords:
    """The records of one host, and what was read of them."""

    name: str
    """Empty for the only other host of a run, whose rows name no host."""
    folder: Path
    first_processor: int = 0
    users: tuple[int, int] = (0, _MOST_USERS)
    """The first and the last user."""
    known_place: HostPlace | None = None
    started: datetime | None = None
    """When the run began; None if it is not known."""
    streams: dict[str, _loadgo.Growing] = field(default_factory=dict)
    read_whole: set[str] = field(default_factory=set)
    """The tables that were read from Parquet, since the host's records had ended before."""
    latest_ns: int = 0
    """The latest instant of its rows that is not in the future. Later rows wait for their time."""
    _version: tuple[int, int] | None = None
    _processors: FarProcessors | None = None

    @property
    def is_lost(self) -> bool:
        """Whether no more rows come, because the host was lost."""
        return self.known_place is not None and bool(self.known_place.lost)

    def place(self) -> HostPlace | None:
        """The place of the records, as it is known now; None if nobody has said it yet."""
        try:
            status = (self.folder / PLACE_FILE).stat()
        except OSError:
            return self.known_place  # after the end the folder may be gone
        if self._version != (status.st_mtime_ns, status.st_ino):
            self._version = (status.st_mtime_ns, status.st_ino)
            self.known_place = read_place(self.folder) or self.known_place
        return self.known_place

    def new_rows(self) -> dict[str, pl.DataFrame]:
        """The new rows by table, placed; none while their place is not known. Raises `BadRun` for a damaged stream."""
        place = self.place()
        if place is None or place.begins_ns is None:
            return {}
        new = {}
        for table in WATCHED_TABLES if self.name else _TABLES_OF_ONE_HOST:
            rows = self._shown(_placed(self._read(table), place.begins_ns), table)
            if len(rows):
                new[table] = rows
                self._come_to(rows["at_ns"].to_list())
        return new

    def new_readings(self) -> HostReadings | None:
        """The new readings of the users' accounts; None while the clock there is not known well enough."""
        place = self.place()
        if place is None or place.begins_ns is None or place.bound_ns is None or place.bound_ns > WIDEST_BOUND_NS:
            return None
        assert place.error_ns is not None
        if self._processors is None:
            with suppress(OSError, ValueError):
                self._processors = processors_of(read_run_file(self.folder))
        rows = _placed(self._read(_READINGS), place.begins_ns)
        processors = self._processors or FarProcessors(1, 1)
        return HostReadings(*self.users, rows, place.error_ns, processors)

    def _come_to(self, instants_ns: list[int]) -> None:
        """Notes how far the host has come by the instants of its rows. Those of the future do not count."""
        now_ns = come_by_now_ns(self.started)
        self.latest_ns = max(self.latest_ns, 0, *(at for at in instants_ns if now_ns is None or at <= now_ns))

    def _read(self, table: str) -> pl.DataFrame:
        """The new rows of a table, as the agent sent them."""
        if table not in self.streams and table not in self.read_whole:
            self._open(table)
            if table in self.read_whole:
                return read_table(self.folder, table)
        batches = self.streams[table].news() if table in self.streams else b""
        rows = read_batches(batches, self.folder, table) if batches else None
        return with_columns(rows, COLUMNS_BY_TABLE[table])

    def _open(self, table: str) -> None:
        """Opens the table's stream; where the records have ended, the table is read as a whole."""
        if (self.folder / f"{table}.parquet").exists():
            self.read_whole.add(table)
        elif (self.folder / f"{table}.arrows").exists():
            try:
                self.streams[table] = _loadgo.Growing(self.folder, table)
            except BadRun:
                return  # the records were placed meanwhile, and their folder is gone

    def _shown(self, rows: pl.DataFrame, table: str) -> pl.DataFrame:
        """The rows that are shown, each with its host if there are several."""
        if not self.name:
            return rows.filter(pl.col("who").cast(pl.String) != _DRIVER) if "who" in rows.columns else rows
        if table == "memory":
            rows = of_shown_holders(rows)
        if "processor" in rows.columns:
            rows = _counted_from(rows, self.first_processor)
        return rows.with_columns(pl.lit(self.name).cast(pl.Categorical).alias(HOST_COLUMN))


def _all_records(folder: Path, conditions: Mapping[str, Any]) -> list[_HostRecords]:
    """The records of each host below the run's or the metering's folder, of which nothing was read yet."""
    hosts, started = hosts_of_run(conditions), start_in(dict(conditions))
    if not hosts:
        return [_HostRecords("", folder / FAR_FOLDER, started=started)]
    first = first_processors(hosts)
    return [
        _HostRecords(
            host.name,
            folder / FLEET_FOLDER / host.name,
            first[host.name],
            (host.first_user, host.last_user),
            _place_in(host, conditions),
            started,
        )
        for host in hosts
    ]


def _place_in(host: HostOfRun, conditions: Mapping[str, Any]) -> HostPlace | None:
    """The place of a host's records by the `run.toml` of a metering; None for that of a run, which has none."""
    if not is_metering_of_hosts(conditions):
        return None
    return HostPlace(round(float(host.entry.get(BEGINNING_KEY, 0.0)) * 1e9))


def _placed(rows: pl.DataFrame, begins_ns: int) -> pl.DataFrame:
    """A host's rows on the common clock, without those that began before it."""
    rows = rows.filter(pl.col("at_ns") <= LAST_INSTANT_NS, pl.col("span_ns") <= LAST_INSTANT_NS)
    at_ns = pl.col("at_ns").cast(pl.Int64) + begins_ns
    rows = rows.filter(at_ns >= pl.col("span_ns").cast(pl.Int64))
    return rows.with_columns(at_ns.cast(pl.UInt64).alias("at_ns"))


def rows_of_hosts(folder: Path, conditions: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """The rows of all hosts that are in the tables of a run or a metering of several, in the order of time."""
    hosts, rows = hosts_of_run(conditions), {}
    for name in WATCHED_TABLES:
        table = read_table(folder, name)
        if HOST_COLUMN in table.columns:
            shown = of_shown_holders(table) if name == "memory" else table
            rows[name] = with_processors_apart(shown, hosts).sort("at_ns", maintain_order=True)
    return rows


def of_shown_holders(memory: pl.DataFrame) -> pl.DataFrame:
    """The rows of the table `memory` from which the memory in use is known."""
    return memory.filter(pl.col("who").cast(pl.String).is_in(_SHOWN_HOLDERS))


def with_processors_apart(rows: pl.DataFrame, hosts: tuple[HostOfRun, ...]) -> pl.DataFrame:
    """The rows with the processors of all hosts counted through, so that no two of them share a number."""
    if "processor" not in rows.columns:
        return rows
    first = first_processors(hosts)
    before = pl.col(HOST_COLUMN).cast(pl.String).replace_strict(first, default=0, return_dtype=pl.UInt16)
    return _counted_from(rows, before)


def _counted_from(rows: pl.DataFrame, first: int | pl.Expr) -> pl.DataFrame:
    """The rows with their host's processors counted from `first`."""
    return rows.with_columns(processor=(pl.col("processor").fill_null(0) + first).cast(pl.UInt16))


def first_processors(hosts: tuple[HostOfRun, ...]) -> dict[str, int]:
    """The number of each host's first processor, where those of all are counted through."""
    first, before = {}, 0
    for host in hosts:
        first[host.name] = before
        before += max(int(host.entry.get("processors") or 1), 1)
    return first


def with_places(conditions: Mapping[str, Any], places: Mapping[str, HostPlace]) -> dict[str, Any]:
    """The content of `run.toml` with what is known of each host while the run goes, as it stands there at the end.

    The loss of the only other host is beside the name of the system.
    """
    if not is_fleet_run(conditions):
        place = places.get("", HostPlace())
        clock = {} if place.bound_ns is None else {"clock": {"bound_ns": place.bound_ns}}
        loss = {"lost": place.lost, "lost_at_s": place.lost_at_s} if place.lost else {}
        return {**clock, **conditions, "system": {**loss, **conditions.get("system", {})}}
    entries = []
    for entry in conditions["system"].get("hosts", []):
        place = places.get(str(entry.get("name")), HostPlace())
        known: dict[str, Any] = {}
        if place.lost:
            known |= {"lost": place.lost, "lost_at_s": place.lost_at_s}
        if place.bound_ns is not None:
            known["clock"] = {"bound_ns": place.bound_ns}
        entries.append({**known, **entry})
    return {**conditions, "system": {**conditions["system"], "hosts": entries}}


def has_hosts_at_work(folder: Path, conditions: Mapping[str, Any]) -> bool:
    """Whether rows of a run or a metering are in the folders of other hosts."""
    if is_fleet_run(conditions):
        return (folder / FLEET_FOLDER).is_dir()
    return conditions.get("kind") != "meter" and (folder / FAR_FOLDER / "run.toml").exists()


def are_hosts_received(folder: Path) -> bool:
    """Whether a controller still receives the rows of other hosts, or places them in the tables."""
    return any(has_controller(folder / name) for name in (FLEET_FOLDER, FAR_FOLDER))
