"""The meters of several hosts while their metering goes on: new rows of all, on its clock, each with its host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.records.fleets import FLEET_FOLDER, HOST_COLUMN, HostOfRun, hosts_of_run, is_metering_of_hosts
from loadgo.records.tables import COLUMNS_BY_TABLE, read_batches, with_columns

WATCHED_TABLES = ("time", "queue", "faults")
"""Tables whose rows of several hosts make sense together. Memory and processes are of one host each."""
_LONGEST_WAIT_NS = 3_000_000_000
"""Longest time for which rows wait for those of a slower host, or of one that was lost."""
BEGINNING_KEY = "records_begin_s"
"""The key of a host in `run.toml` with the beginning of its own records on the metering's clock, in seconds."""


class HostStreams:
    """The streams of all hosts of the metering in `folder`, each read once."""

    def __init__(self, folder: Path, conditions: Mapping[str, Any]) -> None:
        """The streams of the metering with this `run.toml`."""
        self._folder, self._hosts = folder, hosts_of_run(conditions)
        self._streams: dict[tuple[str, str], _loadgo.Growing] = {}
        self._waiting: dict[str, list[pl.DataFrame]] = {}
        self._latest_ns = {host.name: 0 for host in self._hosts}
        self._given_ns = 0

    def new_rows(self) -> dict[str, pl.DataFrame]:
        """The new rows of all hosts, by table, in the order of time over all calls.

        They wait until every host has come so far, for a while. Raises `BadRun` for a damaged stream.
        """
        self._read()
        latest_ns = self._latest_ns.values()
        return self._rows_until(max(self._given_ns, min(latest_ns), max(latest_ns) - _LONGEST_WAIT_NS))

    def last_rows(self) -> dict[str, pl.DataFrame]:
        """All rows that are left once the metering has ended: no row waits any more for those of another host."""
        self._read()
        return self._rows_until(max(self._given_ns, *self._latest_ns.values()))

    def _read(self) -> None:
        """Reads what has come. The rows wait by table."""
        for host in self._hosts:
            for table in WATCHED_TABLES:
                rows = _placed(self._new_rows(host.name, table), host)
                if len(rows):
                    self._waiting.setdefault(table, []).append(rows)
                    self._latest_ns[host.name] = max(self._latest_ns[host.name], *rows["at_ns"].to_list())

    def _rows_until(self, until_ns: int) -> dict[str, pl.DataFrame]:
        """The rows that wait, up to an instant of the metering's clock."""
        before_ns, self._given_ns = self._given_ns, until_ns
        given = {table: self._given(table, before_ns) for table in self._waiting}
        return {table: rows for table, rows in given.items() if len(rows)}

    def _given(self, table: str, before_ns: int) -> pl.DataFrame:
        """The rows of a table up to what all hosts have; one that came too late is moved to what was given before."""
        rows = pl.concat(self._waiting[table])
        is_due = pl.col("at_ns") <= self._given_ns
        self._waiting[table] = [rows.filter(~is_due)]
        moved = pl.max_horizontal(pl.col("at_ns"), pl.lit(before_ns, pl.UInt64)).alias("at_ns")
        due = rows.filter(is_due).with_columns(moved).sort("at_ns", maintain_order=True)
        return with_processors_apart(due, self._hosts)

    def _new_rows(self, name: str, table: str) -> pl.DataFrame:
        place = self._folder / FLEET_FOLDER / name
        key = (name, table)
        if key not in self._streams and (place / f"{table}.arrows").exists():
            self._streams[key] = _loadgo.Growing(place, table)
        batches = self._streams[key].news() if key in self._streams else b""
        return with_columns(read_batches(batches, place, table) if batches else None, COLUMNS_BY_TABLE[table])


def _placed(rows: pl.DataFrame, host: HostOfRun) -> pl.DataFrame:
    """A host's rows on the metering's clock, as it was compared at the beginning, without those before it."""
    shift_ns = round(float(host.entry.get(BEGINNING_KEY, 0.0)) * 1e9)
    at_ns = pl.col("at_ns").cast(pl.Int64) + shift_ns
    rows = rows.filter(at_ns >= pl.col("span_ns").cast(pl.Int64))
    named = pl.lit(host.name).cast(pl.Categorical).alias(HOST_COLUMN)
    return rows.with_columns(at_ns.cast(pl.UInt64).alias("at_ns"), named)


def with_processors_apart(rows: pl.DataFrame, hosts: tuple[HostOfRun, ...]) -> pl.DataFrame:
    """The rows with the processors of all hosts counted through, so that no two of them share a number."""
    if "processor" not in rows.columns or HOST_COLUMN not in rows.columns:
        return rows
    first = first_processors(hosts)
    before = pl.col(HOST_COLUMN).cast(pl.String).replace_strict(first, default=0, return_dtype=pl.UInt16)
    return rows.with_columns(processor=(pl.col("processor").fill_null(0) + before).cast(pl.UInt16))


def first_processors(hosts: tuple[HostOfRun, ...]) -> dict[str, int]:
    """The number of each host's first processor, where those of all are counted through."""
    first, before = {}, 0
    for host in hosts:
        first[host.name] = before
        before += max(int(host.entry.get("processors") or 1), 1)
    return first


def watched_hosts(conditions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each host of a metering of several, with the first and the last of its processors, counted through."""
    if not is_metering_of_hosts(conditions):
        return []
    hosts = hosts_of_run(conditions)
    counts = {host.name: max(int(host.entry.get("processors") or 1), 1) for host in hosts}
    return [
        {"name": name, "first": first, "last": first + counts[name] - 1}
        for name, first in first_processors(hosts).items()
    ]


def has_hosts_at_work(folder: Path, conditions: Mapping[str, Any]) -> bool:
    """Whether the rows of a metering are still in the folders of its hosts."""
    return is_metering_of_hosts(conditions) and (folder / FLEET_FOLDER).is_dir()
