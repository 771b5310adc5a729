"""A run followed: its tables while they grow, or at once when it has ended, and until when its records reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.runs import find_run
from loadgo.tables import COLUMNS, Tables, read_conditions, tables

NEEDED = ("interactions", "sessions", "time", "processes", "lost", "phases", "faults", "queue")
"""What a watcher looks at; the rest stays unread while a run grows."""


@dataclass
class Following:
    """The tables of a run, brought up to date by `look`."""

    folder: Path
    ended: bool = False
    """All that the run will ever tell has been read."""
    _streams: dict[str, _loadgo.Growing] = field(default_factory=dict)
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    _tables: Tables | None = None

    def look(self) -> Tables:
        """All that the run has written by now. Raises `BadRun` for what is not a run's folder, or is damaged."""
        if self._tables is not None and self.ended:
            return self._tables
        conditions = read_conditions(self.folder)
        self.ended = bool(conditions.get("finished")) or not _loadgo.is_being_written(self.folder)
        if self.ended:
            self._tables = tables(self.folder)
            return self._tables
        frames: dict[str, Any] = {name: self._grown(name) for name in COLUMNS}
        self._tables = Tables(**frames, conditions=conditions)
        return self._tables

    def _grown(self, name: str) -> pl.DataFrame:
        known = self._frames.setdefault(name, pl.DataFrame(schema=COLUMNS[name]))
        if name not in NEEDED or not (self.folder / f"{name}.arrows").exists():
            return known
        stream = self._streams.setdefault(name, _loadgo.Growing(self.folder, name))
        news = stream.news()
        if news:
            columns = COLUMNS[name].items()
            more = pl.read_ipc_stream(news)
            lacking = [pl.lit(None).alias(column) for column, _ in columns if column not in more.columns]
            more = more.with_columns(lacking).select(pl.col(column).cast(kind) for column, kind in columns)
            self._frames[name] = pl.concat([known, more])
        return self._frames[name]


def follow(run: str | PathLike[str]) -> Following:
    """Begins to follow `run`: a folder, an id or its beginning, or `last`. Raises `BadRun` when there is none."""
    return Following(find_run(run))


def reach_of(seen: Tables) -> int:
    """Until when the records reach, in nanoseconds since the run began."""
    ends = (seen.interactions["ready_ns"], seen.time["at_ns"], seen.processes["at_ns"], seen.phases["at_ns"])
    return max((int(last) for one in ends if isinstance(last := one.max(), int)), default=0)
