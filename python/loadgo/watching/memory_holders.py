"""Who holds memory, span by span, from a table in which many users have their rows in turns.

Computes only. A user's last row holds until the next one, so each span gets all that is known at its end: everybody's
rows, one for the users together, and those of the users that have most or that most is taken from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import polars as pl

LARGEST = 12
"""So many users' memory is told by name, of those that have most, and of those that most is taken from."""

USERS = "users"
AMOUNTS = ("resident_bytes", "device_bytes", "taken_pages", "brought_pages")

Row = dict[str, Any]


@dataclass
class Holders:
    """What every user is known to hold."""

    _held: dict[int, Row] = field(default_factory=dict)

    def told(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of `frame`, new rows of the table `memory`, with those of users as the module says."""
        rows = [row for span in _spans(frame) for row in self._span(span)]
        return pl.DataFrame(rows, schema=frame.schema)

    def _span(self, rows: list[Row]) -> Iterator[Row]:
        """One span: everybody else's rows, the users' sum, and the largest of them."""
        fresh = {row["user"]: row for row in rows if row["user"] is not None}
        self._held |= fresh
        yield from (row for row in rows if row["user"] is None)
        if not self._held:
            return
        at = {"at_ns": rows[0]["at_ns"], "span_ns": min(row["span_ns"] for row in rows)}
        sums = {name: _sum(self._held, name) for name in AMOUNTS[:2]} | {
            name: _sum(fresh, name) for name in AMOUNTS[2:]
        }
        yield {**at, "who": USERS, "user": None, "size_bytes": None, **sums}
        silent = dict.fromkeys(AMOUNTS[2:])
        for user in _largest(self._held, fresh):
            yield fresh[user] if user in fresh else {**self._held[user], **at, **silent}
        self._held = {user: row for user, row in self._held.items() if row["resident_bytes"] or row["device_bytes"]}


def _spans(frame: pl.DataFrame) -> Iterator[list[Row]]:
    """The rows by span, in the order of time."""
    words = frame.with_columns(pl.col("who").cast(pl.String)).sort("at_ns", maintain_order=True)
    for part in words.partition_by("at_ns", maintain_order=True):
        yield part.to_dicts()


def _sum(rows: dict[int, Row], name: str) -> int | None:
    """Of those that are known; None when nobody's is."""
    known = [row[name] for row in rows.values() if row[name] is not None]
    return sum(known) if known else None


def _largest(held: dict[int, Row], fresh: dict[int, Row]) -> list[int]:
    """All users, or of many those that hold most, and of those with a new row those that most was taken from."""
    if len(held) <= LARGEST:
        return sorted(held)
    most = nlargest(LARGEST, held, key=lambda user: held[user]["resident_bytes"] or 0)
    losing = nlargest(LARGEST, fresh, key=lambda user: fresh[user]["taken_pages"] or 0)
    return sorted({*most, *(user for user in losing if fresh[user]["taken_pages"])})


@dataclass(frozen=True)
class Holdings:
    """Memory at the end of a window, and what happened to it in the window."""

    resident: Mapping[str, int]
    """Bytes by who has them, all users together."""
    devices: Mapping[str, tuple[int, int | None]]
    """Bytes used of each paging device, and its size."""
    taken: Mapping[str, int]
    """Pages taken, by whom they were taken from: `user 3`, or a word of the table; none of those that lost none."""


def holdings(memory: pl.DataFrame, start_ns: int, end_ns: int) -> Holdings | None:
    """What the rows of the table `memory` say; None where there are none by then."""
    known = memory.filter(pl.col("at_ns") <= end_ns).with_columns(pl.col("who").cast(pl.String))
    if known.is_empty():
        return None
    last = known.sort("at_ns", maintain_order=True).group_by("who", "user", maintain_order=True).last()
    by = last.group_by("who", maintain_order=True).agg(pl.col("resident_bytes").sum())
    nobodys = last.filter(pl.col("user").is_null() & pl.col("resident_bytes").is_null())
    devices = nobodys.filter(pl.col("device_bytes").is_not_null()).select("who", "device_bytes", "size_bytes")
    lost = known.filter((pl.col("at_ns") > start_ns) & (pl.col("taken_pages") > 0))
    sums = lost.group_by("who", "user").agg(pl.col("taken_pages").sum()).sort("taken_pages", "user", descending=True)
    return Holdings(
        resident={who: amount for who, amount in by.rows() if who not in devices["who"]},
        devices={who: (used, size) for who, used, size in devices.rows()},
        taken={who if user is None else f"user {user}": pages for who, user, pages in sums.rows()},
    )
