"""A run's rows as a page reads them: each table's new rows as one message of columns.

Computes only: from tables to bytes. A message is two lengths (of its head and of its columns, in bytes, little-endian
32-bit numbers), the head in JSON, and the columns one after another, each from a multiple of 8 bytes on. The page has
them in typed arrays and computes what it shows from them; a watcher who looks elsewhere in the run asks for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.total_time import GROUPS

NONE = 0xFFFFFFFF
"""A number that is null; a time that is null is NaN."""

LARGEST = 12
"""So many users' memory is told by name, span by span: those that have most, and those that most is taken from."""

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

    def messages(self, news: Mapping[str, pl.DataFrame]) -> list[bytes]:
        """New rows, a message for each table that has some; `news` has them by table, as `loadgo.tables` reads them."""
        reduced = {name: _reduced(name, news[name]) for name in TOLD if name in news and len(news[name])}
        return [self._message(name, frame) for name, frame in reduced.items() if len(frame)]

    def _message(self, table: str, frame: pl.DataFrame) -> bytes:
        fresh: dict[str, list[str]] = {}
        arrays: list[NDArray[Any]] = []
        for column, kind in TOLD[table].items():
            if kind == WORDS:
                codes, fresh[column] = self._coded((table, column), frame[column])
                arrays.append(codes)
            else:
                arrays.append(_plain(frame[column], kind))
        columns = [[name, "u4" if kind == WORDS else kind] for name, kind in TOLD[table].items()]
        words = {column: words for column, words in fresh.items() if words}
        return message({"table": table, "rows": len(frame), "columns": columns, "words": words}, arrays)

    def _coded(self, key: tuple[str, str], column: pl.Series) -> tuple[NDArray[Any], list[str]]:
        """The column as numbers of words, and the words that are new."""
        known = self._words.setdefault(key, {})
        spelt = column.cast(pl.String)
        fresh = [word for word in spelt.unique(maintain_order=True).to_list() if word is not None and word not in known]
        known.update(dict(zip(fresh, range(len(known), len(known) + len(fresh)), strict=True)))
        if not known:
            return np.full(len(spelt), NONE, np.uint32), []
        codes = spelt.replace_strict(list(known), list(known.values()), default=NONE, return_dtype=pl.UInt32)
        return codes.fill_null(NONE).to_numpy(), fresh


def message(head: Mapping[str, object], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """One message: its head and its columns."""
    spelt = json.dumps(head, allow_nan=False).encode()
    spelt += b" " * (-len(spelt) % 8)
    parts = [array.tobytes() + bytes(-array.nbytes % 8) for array in arrays]
    return b"".join([np.array([len(spelt), sum(map(len, parts))], "<u4").tobytes(), spelt, *parts])


def _plain(column: pl.Series, kind: str) -> NDArray[Any]:
    if kind == NUMBERS:
        return column.cast(pl.UInt32).fill_null(NONE).to_numpy()
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(f"<{kind}")


def _reduced(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """What the page needs of these rows: fewer of them, where a picture shows sums."""
    match table:
        case "interactions":
            return _answered(frame)
        case "faults":
            return frame.filter(pl.all_horizontal(pl.col("user", "command", "device").is_null()))
        case "queue":
            return frame.filter((pl.col("queue").cast(pl.String) == "processors") & _is("measure", *MEASURES))
        case "processes":
            return _named(frame)
        case "memory":
            return _memory(frame)
        case _:
            return frame


MEASURES = ("ready", "eligible", "asking")
"""Of the ready list."""


def _is(column: str, *words: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).is_in(words)


def _answered(frame: pl.DataFrame) -> pl.DataFrame:
    """The interactions that somebody typed and that ended, with durations instead of moments."""
    typed = frame.filter(pl.col("ready_ns").is_not_null() & ~_is("outcome", "extrapolated"))
    ns = {name: pl.col(name).cast(pl.Int64) for name in ("planned_ns", "sent_ns", "ready_ns")}
    return typed.with_columns(
        response_ns=ns["ready_ns"] - ns["sent_ns"],
        late_ns=(ns["sent_ns"] - ns["planned_ns"]).clip(0),
        cpu_ns=pl.col("cpu_user_ns") + pl.col("cpu_system_ns"),
    )


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """The processes of a name together, whose ever they are; a run's groups of processes are told elsewhere."""
    names = frame.filter(~_is("who", *GROUPS)).group_by("at_ns", "span_ns", "who", maintain_order=True)
    return names.agg(pl.col("cpu_ns", "ready_wait_ns").sum())


def _memory(frame: pl.DataFrame) -> pl.DataFrame:
    """Whose it is, span by span; of many users, all of them in a sum, and the largest by name."""
    if frame["user"].n_unique() <= LARGEST:
        return frame
    users = frame.filter(pl.col("user").is_not_null())
    amounts = pl.col("resident_bytes", "device_bytes", "taken_pages", "brought_pages")
    told = pl.any_horizontal(
        pl.col(name).rank("ordinal", descending=True).over("at_ns") <= LARGEST
        for name in ("resident_bytes", "taken_pages")
    )
    known = pl.when(amounts.is_not_null().any()).then(amounts.sum())
    sums = users.group_by("at_ns", "span_ns", "who", maintain_order=True).agg(known)
    return pl.concat([frame.filter(pl.col("user").is_null()), sums, users.filter(told)], how="diagonal").sort("at_ns")
