"""The run folder of a metering of several hosts: the rows of all agents, on one clock, each with its host."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.notation.figures import duration
from loadgo.records.fleet_streams import BEGINNING_KEY
from loadgo.records.fleets import FLEET_FOLDER, FLEET_KIND, METER_TABLES
from loadgo.records.tables import COLUMNS_BY_TABLE, RUN_FORMAT, read_table
from loadgo.running.elsewhere.fleet_run_folder import EndedHost, PlacedHost, placed_host, remove_placed
from loadgo.running.elsewhere.run_folder import write_run_toml, write_table

_SUMMED = ("processors", "memory_bytes")
"""Sizes of a host that add up to those of all."""
_TABLES_OF_USERS = ("interactions", "sessions", "screens")
"""Tables without rows: nobody types."""
_METERS_DONE = (
    "each host was metered by loadgo's agent there{clocks}; `loadgo report RUN --host NAME` has the tables of one host"
)


class FleetRecords:
    """The folder, from the moment when the meters of all hosts run. It counts as being written within the context."""

    def __init__(
        self,
        folder: Path,
        path: str,
        options: Mapping[str, Any],
        entries: Sequence[dict[str, Any]],
        begun_ns: Sequence[int | None],
    ) -> None:
        """Makes the folder for the hosts of the list at `path`, with their `entries` in `run.toml`.

        `begun_ns` are the beginnings of their own records on the monotonic clock here.
        """
        import tomlkit

        self._folder, self._began = folder, datetime.now(UTC)
        self.origin_ns = time.monotonic_ns()
        """The beginning of the records on the monotonic clock here."""
        for entry, began_ns in zip(entries, begun_ns, strict=True):
            if began_ns is not None:
                entry[BEGINNING_KEY] = round((began_ns - self.origin_ns) / 1e9, 6)
        sums = {key: sum(int(entry.get(key, 0)) for entry in entries) for key in _SUMMED}
        self._run_toml: dict[str, Any] = {
            "format": RUN_FORMAT,
            "loadgo": _loadgo.__version__,
            "id": folder.name,
            "kind": "meter",
            "name": path,
            "started": self._began,
            "finished": False,
            "command": list(options["command_line"]),
            "notes": [],
            "system": {"kind": FLEET_KIND, "name": path, **sums, "login": "", "hosts": list(entries)},
            "meters": {"tier": options["meters"]},
        }
        self._records: _loadgo.AgentRecords | None = _loadgo.AgentRecords(
            folder, tomlkit.dumps(self._run_toml).encode()
        )
        (folder / FLEET_FOLDER).mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._records is not None:
            self._records.break_off("the metering was interrupted before its end")

    def complete(self, hosts: Sequence[EndedHost], length_ns: int, outcome: str) -> tuple[str, ...]:
        """Places the records of all hosts. Returns the notes. Raises `BadRun`."""
        import polars as pl
        import tomlkit

        ending = {"finished": True, "ended": datetime.now(UTC), "wall_s": length_ns / 1e9, "outcome": outcome}
        self._run_toml |= ending
        assert self._records is not None, "the folder is completed once"
        records, self._records = self._records, None
        records.finish(tomlkit.dumps(self._run_toml).encode())
        try:
            placed = [self._placed(host) for host in hosts]
            self._write(placed)
        except (OSError, pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as refusal:
            place = self._folder / FLEET_FOLDER
            raise BadRun(f"{self._folder} has no meters of its hosts: {refusal}; they are in {place}") from refusal
        remove_placed(self._folder, [host.name for host, rows in zip(hosts, placed, strict=True) if rows.is_placed])
        return tuple(note for rows in placed for note in rows.notes)

    def _placed(self, host: EndedHost) -> PlacedHost:
        interactions, sessions = read_table(self._folder, "interactions"), read_table(self._folder, "sessions")
        return placed_host(self._folder, host, interactions, sessions, self.origin_ns, self._run_toml)

    def _write(self, placed: Sequence[PlacedHost]) -> None:
        """Writes the rows of all hosts into the folder's tables, and what is known of each into `run.toml`."""
        import polars as pl

        for name in (*METER_TABLES, "lost"):
            write_table(self._folder, name, pl.concat([host.rows[name] for host in placed], how="diagonal"))
        for name in _TABLES_OF_USERS:
            write_table(self._folder, name, pl.DataFrame(schema=COLUMNS_BY_TABLE[name]))
        whole = pl.DataFrame({"at_ns": [0], "phase": ["steady"]}, schema=COLUMNS_BY_TABLE["phases"])
        write_table(self._folder, "phases", whole)
        entries = self._run_toml["system"]["hosts"]
        for entry, host in zip(entries, placed, strict=True):
            entry.update({key: value for key, value in host.sections.items() if key != "usage"})
        bounds = [entry["clock"]["bound_ns"] for entry in entries if "clock" in entry]
        clocks = f", and the clocks are known within {duration(max(bounds))}" if bounds else ""
        notes = [note for host in placed for note in host.notes]
        self._run_toml["notes"] = [_METERS_DONE.format(clocks=clocks), *notes]
        write_run_toml(self._folder, self._run_toml)
