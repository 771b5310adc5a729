"""Memory by holder for each span, from a table in which many users have rows in turns.

Computes only. A user's last row is valid until the next one, so each span gets the holdings known at its end. Other
holders keep their rows. All users together have one row, and only the users with the largest holdings or losses have
rows of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import polars as pl

SHOWN_HOLDERS = 12
"""Number of users with rows of their own by largest memory, and as many by pages lost."""

USERS_LABEL = "users"
AMOUNT_COLUMNS = ("resident_bytes", "device_bytes", "taken_pages", "brought_pages")

MemoryRow = dict[str, Any]


@dataclass
class Holders:
    """The latest known holdings of every user."""

    _held: dict[int, MemoryRow] = field(default_factory=dict)

    def reduced(self, frame: pl.DataFrame) -> pl.DataFrame:
        """New rows of the table `memory`, with the rows of users reduced to the sum and the largest."""
        rows = [row for span in _spans(frame) for row in self._span(span)]
        return pl.DataFrame(rows, schema=frame.schema)

    def _span(self, rows: list[MemoryRow]) -> Iterator[MemoryRow]:
        """The rows of one span: holders that are no users, the users' sum, and the largest users."""
        fresh = {row["user"]: row for row in rows if row["user"] is not None}
        self._held |= fresh
        yield from (row for row in rows if row["user"] is None)
        if not self._held:
            return
        at = {"at_ns": rows[0]["at_ns"], "span_ns": min(row["span_ns"] for row in rows)}
        sums = {name: _sum(self._held, name) for name in AMOUNT_COLUMNS[:2]} | {
            name: _sum(fresh, name) for name in AMOUNT_COLUMNS[2:]
        }
        yield {**at, "who": USERS_LABEL, "user": None, "size_bytes": None, **sums}
        no_pages = dict.fromkeys(AMOUNT_COLUMNS[2:])
        for user in _largest(self._held, fresh):
            yield fresh[user] if user in fresh else {**self._held[user], **at, **no_pages}
        self._held = {user: row for user, row in self._held.items() if row["resident_bytes"] or row["device_bytes"]}


def _spans(frame: pl.DataFrame) -> Iterator[list[MemoryRow]]:
    """The rows by span, in the order of time."""
    words = frame.with_columns(pl.col("who").cast(pl.String)).sort("at_ns", maintain_order=True)
    for span in words.partition_by("at_ns", maintain_order=True):
        yield span.to_dicts()


def _sum(rows: dict[int, MemoryRow], name: str) -> int | None:
    """The sum of the known amounts. None if there are none."""
    amounts = [row[name] for row in rows.values() if row[name] is not None]
    return sum(amounts) if amounts else None


def _largest(held: dict[int, MemoryRow], fresh: dict[int, MemoryRow]) -> list[int]:
    """All users, or the users with the largest memory and those with a new row that lost the most pages."""
    if len(held) <= SHOWN_HOLDERS:
        return sorted(held)
    largest = nlargest(SHOWN_HOLDERS, held, key=lambda user: held[user]["resident_bytes"] or 0)
    losing = nlargest(SHOWN_HOLDERS, fresh, key=lambda user: fresh[user]["taken_pages"] or 0)
    return sorted({*largest, *(user for user in losing if fresh[user]["taken_pages"])})


@dataclass(frozen=True)
class Holdings:
    """Memory at the end of a window, and pages taken during it."""

    resident: Mapping[str, int]
    """Bytes by holder, all users together."""
    devices: Mapping[str, tuple[int, int | None]]
    """Bytes used of each paging device, and its size."""
    taken: Mapping[str, int]
    """Pages taken, by the holder that lost them: `user 3`, or a name of the table."""


def holdings(memory: pl.DataFrame, start_ns: int, end_ns: int) -> Holdings | None:
    """The holdings in the table `memory` for a window. None if it has no row before the window's end."""
    rows = memory.filter(pl.col("at_ns") <= end_ns).with_columns(pl.col("who").cast(pl.String))
    if rows.is_empty():
        return None
    last = rows.sort("at_ns", maintain_order=True).group_by("who", "user", maintain_order=True).last()
    by_holder = last.group_by("who", maintain_order=True).agg(pl.col("resident_bytes").sum())
    not_resident = last.filter(pl.col("user").is_null() & pl.col("resident_bytes").is_null())
    devices = not_resident.filter(pl.col("device_bytes").is_not_null()).select("who", "device_bytes", "size_bytes")
    lost = rows.filter((pl.col("at_ns") > start_ns) & (pl.col("taken_pages") > 0))
    sums = lost.group_by("who", "user").agg(pl.col("taken_pages").sum()).sort("taken_pages", "user", descending=True)
    return Holdings(
        resident={holder: amount for holder, amount in by_holder.rows() if holder not in devices["who"]},
        devices={device: (used, size) for device, used, size in devices.rows()},
        taken={holder if user is None else f"user {user}": pages for holder, user, pages in sums.rows()},
    )
