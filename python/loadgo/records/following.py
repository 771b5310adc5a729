"""A run followed: its tables while they grow, or at once when it has ended, and until when its records reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.records.runs import find_run
from loadgo.records.tables import COLUMNS, Tables, read_conditions, read_table, tables, told_lost

NEEDED = ("interactions", "sessions", "time", "processes", "lost", "phases", "faults", "queue", "memory")
"""What a watcher looks at; the rest stays unread while a run grows."""

News = Mapping[str, pl.DataFrame]
"""New rows by table; a table without any may be missing."""


@dataclass
class Following:
    """A run and how far it has been read: `news` gives what is new, `look` all tables as they are by now."""

    folder: Path
    ended: bool = False
    """All that the run will ever tell has been read."""
    conditions: dict[str, Any] = field(default_factory=dict)
    _stamp: tuple[int, int] | None = None
    _streams: dict[str, _loadgo.Growing] = field(default_factory=dict)
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    _tables: Tables | None = None

    def news(self) -> News:
        """What the run has written since the last call. Raises `BadRun` for what is not a run, or is damaged."""
        if self.ended:
            return {}
        conditions = self._conditions()
        over = bool(conditions.get("finished")) or not _loadgo.is_being_written(self.folder)
        if over:
            # It may have ended well between the two looks.
            conditions = self._conditions()
        found = {name: rows for name in NEEDED if (rows := self._grown(name)) is not None}
        if over:
            unread = [name for name in NEEDED if name not in self._streams]
            found |= {name: read_table(self.folder, name) for name in unread}
            found["lost"] = pl.concat([one for one in (found.get("lost"), told_lost(conditions)) if one is not None])
        self.ended = over
        return found

    def look(self) -> Tables:
        """All that the run has written by now. Raises `BadRun` for what is not a run's folder, or is damaged."""
        if self.ended:
            self._tables = self._tables or tables(self.folder)
            return self._tables
        for name, rows in self.news().items():
            self._frames[name] = pl.concat([self._frames[name], rows]) if name in self._frames else rows
        if self.ended:
            return self.look()
        empty: dict[str, Any] = {name: pl.DataFrame(schema=columns) for name, columns in COLUMNS.items()}
        return Tables(**(empty | self._frames), conditions=self.conditions)

    @property
    def how(self) -> str:
        """In a word: it is live, has ended, or was killed."""
        killed = not self.conditions.get("finished") or self.conditions.get("outcome") == "killed"
        return "live" if not self.ended else "killed" if killed else "ended"

    def _conditions(self) -> dict[str, Any]:
        """`run.toml`, read again when it has been written again."""
        try:
            now = (self.folder / "run.toml").stat()
        except FileNotFoundError:
            raise BadRun(f"{self.folder} is not a run's folder any more: its run.toml is gone") from None
        except OSError as error:
            raise BadRun(f"{self.folder} cannot be read any more: {error.strerror}") from error
        if self._stamp != (now.st_mtime_ns, now.st_ino):
            self.conditions = read_conditions(self.folder)
            self._stamp = (now.st_mtime_ns, now.st_ino)
        return self.conditions

    def _grown(self, name: str) -> pl.DataFrame | None:
        """The new rows of a table's stream; None when there are none."""
        begun = (self.folder / f"{name}.arrows").exists() and not (self.folder / f"{name}.parquet").exists()
        if name not in self._streams and not begun:
            return None
        stream = self._streams.setdefault(name, _loadgo.Growing(self.folder, name))
        news = stream.news()
        if not news:
            return None
        more = pl.read_ipc_stream(news)
        if dict(more.schema) == COLUMNS[name]:
            return more
        columns = COLUMNS[name].items()
        lacking = [pl.lit(None).alias(column) for column, _ in columns if column not in more.columns]
        return more.with_columns(lacking).select(pl.col(column).cast(kind) for column, kind in columns)


def follow(run: str | PathLike[str]) -> Following:
    """Begins to follow `run`: a folder, an id or its beginning, or `last`. Raises `BadRun` when there is none."""
    return Following(find_run(run))


def reach_of(seen: Tables) -> int:
    """Until when the records reach, in nanoseconds since the run began."""
    return reach_in({name: getattr(seen, name) for name in _REACH})


_REACH = ("interactions", "time", "processes", "phases", "lost")
"""Tables whose rows say how far a run has come."""


def reach_in(rows: News) -> int:
    """Until when these rows reach."""
    ends = dict.fromkeys(_REACH, "at_ns") | {"interactions": "ready_ns"}
    last = (rows[name][column].max() for name, column in ends.items() if name in rows)
    return max((one for one in last if isinstance(one, int)), default=0)
