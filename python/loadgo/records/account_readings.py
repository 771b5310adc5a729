"""The lines of users on another host, and the readings of their accounts there, as arrays for each user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo import _loadgo

COUNT_COLUMNS = _loadgo.USAGE_COLUMNS
"""The columns of counts that a reading has."""
TICK_COLUMNS = ("user_ticks_us", "system_ticks_us")
NEVER_NS = np.iinfo(np.int64).max // 2
InstantArray = NDArray[np.int64]


@dataclass(frozen=True)
class Readings:
    """The rows of one user: where each begins and ends, and what was used; -1 where a count is not known."""

    begins_ns: InstantArray
    ends_ns: InstantArray
    counts: NDArray[np.int64]
    """Shape (rows, counts)."""
    ticks: NDArray[np.int64]
    """Clock ticks in the program and in the system, in microseconds. Shape (rows, 2)."""
    followed_ns: int
    """When the session was first read."""
    is_counted: NDArray[np.bool_]
    """Tells for each count whether it can be had at all."""

    def followed_by(self, more: Readings) -> Readings:
        """These rows and later ones of the same user."""
        first = self if self.followed_ns < NEVER_NS else more
        return Readings(
            np.append(self.begins_ns, more.begins_ns),
            np.append(self.ends_ns, more.ends_ns),
            np.vstack([self.counts, more.counts]),
            np.vstack([self.ticks, more.ticks]),
            first.followed_ns,
            first.is_counted,
        )

    def wider(self, errors_ns: InstantArray) -> Readings:
        """The rows with the times in which they may lie, by the largest error of each one's instants."""
        return Readings(
            self.begins_ns - errors_ns,
            self.ends_ns + errors_ns,
            self.counts,
            self.ticks,
            self.followed_ns + int(errors_ns.max(initial=0)) if self.followed_ns < NEVER_NS else NEVER_NS,
            self.is_counted,
        )

    def chosen(self, wanted: NDArray[np.bool_]) -> Readings:
        """Only the rows that are wanted."""
        begins, ends, counts, ticks = (
            column[wanted] for column in (self.begins_ns, self.ends_ns, self.counts, self.ticks)
        )
        return Readings(begins, ends, counts, ticks, self.followed_ns, self.is_counted)


@dataclass(frozen=True)
class Lines:
    """Lines of one user, in the order in which they were sent."""

    places: InstantArray
    """The place of each in its table."""
    sent_ns: InstantArray
    ready_ns: InstantArray
    """-1 for a line without an answer."""
    think_ns: InstantArray
    typing_ns: InstantArray

    def __len__(self) -> int:
        return len(self.places)

    @property
    def prompts_ns(self) -> InstantArray:
        """When each prompt came."""
        return self.sent_ns - self.think_ns - self.typing_ns

    @property
    def last_ready_ns(self) -> int | None:
        """When the last line was answered; None if it was not."""
        return int(self.ready_ns[-1]) if self.ready_ns[-1] >= 0 else None


def lines_by_user(table: pl.DataFrame) -> list[tuple[int, Lines]]:
    """Each user's lines, in the order in which they were sent."""
    names = ("place", "sent_ns", "ready_ns", "think_ns", "typing_ns")
    lines = table.sort("sent_ns").select("user", *(pl.col(name).cast(pl.Int64).fill_null(-1) for name in names))
    columns = [lines[name].to_numpy() for name in names]
    return [(user, Lines(*(column[rows] for column in columns))) for user, rows in _rows_by_user(lines["user"])]


def readings_by_user(readings: pl.DataFrame) -> dict[int, Readings]:
    """The rows of each user in the table `session_usage`."""
    frame = readings.filter(pl.col("user").is_not_null()).sort("at_ns")
    ends, spans = (frame[name].cast(pl.Int64).to_numpy() for name in ("at_ns", "span_ns"))
    counts = frame.select(pl.col(name).cast(pl.Int64, strict=False).fill_null(-1) for name in COUNT_COLUMNS).to_numpy()
    ticks = frame.select(pl.col(name).cast(pl.Int64, strict=False).fill_null(0) for name in TICK_COLUMNS).to_numpy()
    found = {}
    for user, rows in _rows_by_user(frame["user"]):
        first = rows[spans[rows] == 0][:1]
        followed_ns = int(ends[first[0]]) if len(first) else NEVER_NS
        is_counted = counts[first[0]] >= 0 if len(first) else np.zeros(len(COUNT_COLUMNS), bool)
        found[user] = Readings(ends[rows] - spans[rows], ends[rows], counts[rows], ticks[rows], followed_ns, is_counted)
    return found


def _rows_by_user(users: pl.Series) -> list[tuple[int, NDArray[np.int64]]]:
    """The rows of each user, in their order."""
    names = users.to_numpy()
    order = np.argsort(names, kind="stable")
    known, begins = np.unique(names[order], return_index=True)
    return list(zip(known.tolist(), np.split(order, begins[1:]), strict=True)) if len(known) else []
