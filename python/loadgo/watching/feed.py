"""A run's rows as a page reads them: each table's new rows as one message of columns.

Computes only: from tables to bytes. A message is two lengths (of its head and of its columns, in bytes, little-endian
32-bit numbers), the head in JSON, and the columns one after another, each from a multiple of 8 bytes on. The page has
them in typed arrays and computes what it shows from them; a watcher who looks elsewhere in the run asks for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.measures.total_time import GROUPS
from loadgo.records.interactions import ANSWERED, CPU_NS, LATENESS_NS, MEASURED, RESPONSE_NS
from loadgo.watching.memory_holders import USERS, Holders

NONE = 0xFFFFFFFF
"""A number that is null; a time that is null is NaN."""

TIMES, SHORT, NUMBERS, WORDS = "f8", "f4", "u4", "w4"
"""How a column is told: 64-bit floats, 32-bit floats, whole numbers, and numbers of words that the head brings."""

Columns = Mapping[str, str]


def _columns(spelt: str) -> Columns:
    """`f8 at_ns span_ns, w4 kind` as a kind for each column."""
    parts = (part.split() for part in spelt.split(","))
    return {name: kind for kind, *names in parts for name in names}


TOLD: Mapping[str, Columns] = {
    "phases": _columns("f8 at_ns, w4 phase"),
    "sessions": _columns("u4 user, f8 started_ns ended_ns, w4 outcome"),
    "time": _columns("f8 at_ns span_ns, u4 processor, w4 category, f8 time_ns"),
    "queue": _columns("f8 at_ns span_ns, w4 measure, f8 value"),
    "faults": _columns("f8 at_ns span_ns, w4 kind, f8 bucket_ns count cpu_ns wait_ns"),
    "memory": _columns(
        "f8 at_ns span_ns, w4 who, u4 user, f8 resident_bytes device_bytes size_bytes taken_pages brought_pages"
    ),
    "processes": _columns("f8 at_ns span_ns, w4 who, f8 cpu_ns ready_wait_ns"),
    "lost": _columns("f8 at_ns count"),
    "interactions": _columns(
        "u4 user line pass, w4 command outcome, f8 sent_ns response_ns, f4 typing_ns think_ns late_ns cpu_ns"
        " ready_wait_ns paging_wait_ns io_wait_ns faults_minor faults_major exit_status"
    ),
}
"""What the page is told, by table; the small tables come first, so that a picture is whole early."""


@dataclass
class Feed:
    """What has been told so far: the numbers of the words that the page knows."""

    _words: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    _holders: Holders = field(default_factory=Holders)

    def messages(self, news: Mapping[str, pl.DataFrame]) -> list[bytes]:
        """New rows, a message for each table that has some; `news` has them by table, as `loadgo.tables` reads them."""
        reduced = {name: self._reduced(name, news[name]) for name in TOLD if name in news and len(news[name])}
        return [self._message(name, frame) for name, frame in reduced.items() if len(frame)]

    def _reduced(self, table: str, frame: pl.DataFrame) -> pl.DataFrame:
        return self._holders.told(frame) if table == "memory" else _reduced(table, frame)

    def _message(self, table: str, frame: pl.DataFrame) -> bytes:
        columns = TOLD[table]
        plain = frame.select(_PLAINLY[table])
        words: dict[str, list[str]] = {}
        arrays = [
            self._coded((table, name), plain[name], words) if kind == WORDS else plain[name].to_numpy()
            for name, kind in columns.items()
        ]
        told = [[name, "u4" if kind == WORDS else kind] for name, kind in columns.items()]
        return message({"table": table, "rows": len(frame), "columns": told, "words": words}, arrays)

    def _coded(self, key: tuple[str, str], spelt: pl.Series, words: dict[str, list[str]]) -> NDArray[Any]:
        """The column as numbers of words; those that are new go into `words`."""
        known = self._words.setdefault(key, {})
        few = spelt.to_list() if len(spelt) <= FEW else spelt.unique(maintain_order=True).to_list()
        fresh = [word for word in dict.fromkeys(few) if word is not None and word not in known]
        known.update(dict(zip(fresh, range(len(known), len(known) + len(fresh)), strict=True)))
        if fresh:
            words[key[1]] = fresh
        if len(spelt) <= FEW:
            return np.array([NONE if word is None else known[word] for word in few], "<u4")
        codes = spelt.replace_strict(list(known), list(known.values()), default=NONE, return_dtype=pl.UInt32)
        return codes.fill_null(NONE).to_numpy()


FEW = 2000
"""Up to so many rows, a loop over words takes less time than asking for one over columns."""

_PLAIN: Mapping[str, Callable[[str], pl.Expr]] = {
    TIMES: lambda name: pl.col(name).cast(pl.Float64).fill_null(float("nan")),
    SHORT: lambda name: pl.col(name).cast(pl.Float32).fill_null(float("nan")),
    NUMBERS: lambda name: pl.col(name).cast(pl.UInt32).fill_null(NONE),
    WORDS: lambda name: pl.col(name).cast(pl.String),
}
_PLAINLY = {table: [_PLAIN[kind](name) for name, kind in columns.items()] for table, columns in TOLD.items()}


def message(head: Mapping[str, object], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """One message: its head and its columns."""
    spelt = json.dumps(head, allow_nan=False).encode()
    spelt += b" " * (-len(spelt) % 8)
    parts = [array.tobytes() + bytes(-array.nbytes % 8) for array in arrays]
    return b"".join([np.array([len(spelt), sum(map(len, parts))], "<u4").tobytes(), spelt, *parts])


def _reduced(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """What the page needs of these rows: fewer of them, where a picture shows sums."""
    match table:
        case "interactions":
            return _answered(frame)
        case "faults":
            return frame.filter(pl.all_horizontal(pl.col("user", "command", "device").is_null()))
        case "queue":
            return frame.filter((pl.col("queue").cast(pl.String) == "processors") & _is("measure", "ready"))
        case "processes":
            return _named(frame)
        case _:
            return frame


def _is(column: str, *words: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).is_in(words)


def _answered(frame: pl.DataFrame) -> pl.DataFrame:
    """The interactions that somebody typed and that ended, with durations instead of moments."""
    return frame.lazy().filter(_TYPED).with_columns(_DURATIONS).collect()


_TYPED = ANSWERED & MEASURED
_DURATIONS = (
    RESPONSE_NS,
    LATENESS_NS.alias("late_ns"),
    CPU_NS,
)


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """The processes of a name together, whose ever they are, and the users' in all; other groups are told elsewhere."""
    others = [name for name in GROUPS if name != USERS]
    names = frame.filter(~_is("who", *others)).group_by("at_ns", "span_ns", "who", maintain_order=True)
    return names.agg(pl.col("cpu_ns", "ready_wait_ns").sum())
