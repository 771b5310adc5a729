"""Messages for the web page: the new rows of each table as one message of columns.

Computes only: from tables to bytes. A message begins with two little-endian 32-bit numbers, the lengths of head and
columns in bytes. Then come the head in JSON and the columns one after another, each at a multiple of 8 bytes. The page
has them in typed arrays, and needs no further data to show another part of the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.records.fleets import HOST_COLUMN
from loadgo.records.interactions import CPU_NS, IS_ANSWERED, IS_MEASURED, LATENESS_NS, RESPONSE_NS
from loadgo.records.live_usage import PLACE_COLUMN, USAGE_TABLE
from loadgo.watching.memory_holders import Holders

NULL_WORD_INDEX = 0xFFFFFFFF
"""Marks a null in a column of integers or words. A null in a column of floats is NaN."""

FLOAT64_COLUMN, FLOAT32_COLUMN, UINT32_COLUMN, WORD_COLUMN = "f8", "f4", "u4", "w4"
"""Types of columns: 64-bit floats, 32-bit floats, integers, and indices of words, which the head has."""

Columns = Mapping[str, str]


def _columns(text: str) -> Columns:
    """Parses `f8 at_ns span_ns, w4 kind` into the type of each column."""
    groups = (group.split() for group in text.split(","))
    return {name: column_type for column_type, *names in groups for name in names}


FED_COLUMNS: Mapping[str, Columns] = {
    "phases": _columns("f8 at_ns, w4 phase"),
    "sessions": _columns("u4 user, f8 started_ns ended_ns, w4 outcome"),
    "time": _columns("f8 at_ns span_ns, u4 processor, w4 category, f8 time_ns"),
    "queue": _columns("f8 at_ns span_ns, w4 measure host, f8 value"),
    "faults": _columns("f8 at_ns span_ns, w4 kind, f8 bucket_ns count cpu_ns wait_ns"),
    "memory": _columns(
        "f8 at_ns span_ns, w4 who host, u4 user, f8 resident_bytes device_bytes size_bytes taken_pages brought_pages"
    ),
    "processes": _columns("f8 at_ns span_ns, w4 who, f8 cpu_ns ready_wait_ns"),
    "lost": _columns("f8 at_ns count"),
    "interactions": _columns(
        "u4 user line pass, w4 command outcome, f8 sent_ns response_ns, f4 typing_ns think_ns late_ns cpu_ns"
        " ready_wait_ns paging_wait_ns io_wait_ns faults_minor faults_major exit_status"
    ),
    USAGE_TABLE: _columns("u4 row, f4 cpu_ns ready_wait_ns paging_wait_ns io_wait_ns faults_minor faults_major"),
}
"""Columns that the page receives, by table. Small tables come first, so that the page can draw early.

Only rows of several hosts have a host. The usage of interactions comes after them, with their rows on the page.
"""
LONG_TABLES = ("interactions", USAGE_TABLE)
"""Tables that may have very many rows, in the order in which the page needs them."""


@dataclass
class Feed:
    """The state of a feed: the indices of the words that the page has received."""

    _words: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    _holders: Holders = field(default_factory=Holders)
    _page_rows: list[NDArray[np.int64]] = field(default_factory=list)
    """The row on the page of each interaction so far, by messages; -1 for those that the page does not have."""
    _fed: int = 0
    """Number of interactions on the page."""

    def messages(self, news: Mapping[str, pl.DataFrame]) -> list[bytes]:
        """One message for each table with new rows. `news` has the rows by table, as `loadgo.tables` reads them."""
        reduced = {name: self._reduced(name, news[name]) for name in FED_COLUMNS if name in news and len(news[name])}
        return [self._message(name, frame) for name, frame in reduced.items() if len(frame)]

    def _reduced(self, table: str, frame: pl.DataFrame) -> pl.DataFrame:
        if table == "interactions":
            return self._answered(frame)
        if table == USAGE_TABLE:
            return self._usage_on_page(frame)
        is_of_one = table == "memory" and HOST_COLUMN not in frame.columns
        reduced = self._holders.reduced(frame) if is_of_one else _reduced(table, frame)
        if HOST_COLUMN in FED_COLUMNS[table] and HOST_COLUMN not in reduced.columns:
            return reduced.with_columns(pl.lit(None, pl.Categorical).alias(HOST_COLUMN))
        return reduced

    def _answered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The interactions that were typed and answered, with durations instead of instants."""
        is_fed = frame.select(_TYPED.fill_null(value=False)).to_series().to_numpy()
        self._page_rows.append(np.where(is_fed, np.cumsum(is_fed) - 1 + self._fed, -1))
        self._fed += int(is_fed.sum())
        return frame.lazy().filter(_TYPED).with_columns(_DURATIONS).collect()

    def _usage_on_page(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The usage of interactions that the page has, with their rows there."""
        self._page_rows = [np.concatenate(self._page_rows)]
        rows = self._page_rows[0][frame[PLACE_COLUMN].to_numpy()]
        return frame.with_columns(CPU_NS, pl.Series("row", rows)).filter(pl.col("row") >= 0)

    def _message(self, table: str, frame: pl.DataFrame) -> bytes:
        columns = FED_COLUMNS[table]
        plain = frame.select(_SELECTIONS[table])
        words: dict[str, list[str]] = {}
        arrays = [
            self._coded((table, name), plain[name], words) if kind == WORD_COLUMN else plain[name].to_numpy()
            for name, kind in columns.items()
        ]
        described = [[name, "u4" if kind == WORD_COLUMN else kind] for name, kind in columns.items()]
        return message({"table": table, "rows": len(frame), "columns": described, "words": words}, arrays)

    def _coded(self, key: tuple[str, str], column: pl.Series, words: dict[str, list[str]]) -> NDArray[Any]:
        """The column as indices of words. New words are added to `words`."""
        indices = self._words.setdefault(key, {})
        texts = column.to_list() if len(column) <= LOOPED_ROWS else column.unique(maintain_order=True).to_list()
        fresh = [word for word in dict.fromkeys(texts) if word is not None and word not in indices]
        indices.update(dict(zip(fresh, range(len(indices), len(indices) + len(fresh)), strict=True)))
        if fresh:
            words[key[1]] = fresh
        if len(column) <= LOOPED_ROWS:
            return np.array([NULL_WORD_INDEX if word is None else indices[word] for word in texts], "<u4")
        codes = column.replace_strict(
            list(indices), list(indices.values()), default=NULL_WORD_INDEX, return_dtype=pl.UInt32
        )
        return codes.fill_null(NULL_WORD_INDEX).to_numpy()


LOOPED_ROWS = 2000
"""Largest number of rows for which a Python loop over words is faster than a column operation."""

_CONVERSIONS: Mapping[str, Callable[[str], pl.Expr]] = {
    FLOAT64_COLUMN: lambda name: pl.col(name).cast(pl.Float64).fill_null(float("nan")),
    FLOAT32_COLUMN: lambda name: pl.col(name).cast(pl.Float32).fill_null(float("nan")),
    UINT32_COLUMN: lambda name: pl.col(name).cast(pl.UInt32).fill_null(NULL_WORD_INDEX),
    WORD_COLUMN: lambda name: pl.col(name).cast(pl.String),
}
_SELECTIONS = {
    table: [_CONVERSIONS[kind](name) for name, kind in columns.items()] for table, columns in FED_COLUMNS.items()
}


def message(head: Mapping[str, object], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """One message: its head and its columns."""
    encoded = json.dumps(head, allow_nan=False).encode()
    encoded += b" " * (-len(encoded) % 8)
    columns = [array.tobytes() + bytes(-array.nbytes % 8) for array in arrays]
    return b"".join([np.array([len(encoded), sum(map(len, columns))], "<u4").tobytes(), encoded, *columns])


def _reduced(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that the page needs. Tables that it shows as sums have fewer rows."""
    match table:
        case "faults":
            return frame.filter(pl.all_horizontal(pl.col("user", "command", "device").is_null()))
        case "queue":
            return frame.filter(
                (pl.col("queue").cast(pl.String) == "processors") & (pl.col("measure").cast(pl.String) == "ready")
            )
        case "processes":
            return _named(frame)
        case _:
            return frame


_TYPED = IS_ANSWERED & IS_MEASURED
_DURATIONS = (
    RESPONSE_NS,
    LATENESS_NS.alias("late_ns"),
    CPU_NS,
)


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """The sums of processes with the same name, and of the groups of a run: all users, the driver, the sampling."""
    names = frame.group_by("at_ns", "span_ns", "who", maintain_order=True)
    return names.agg(pl.col("cpu_ns", "ready_wait_ns").sum())
