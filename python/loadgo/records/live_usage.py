"""Usage of interactions on other hosts while their run goes on: each is told when the readings there have come.

Until the end of a run this is provisional. A user's newest answer has all that was read up to the first reading after
it. Later the usage is made as at the end of the run, but with the clocks as they are known by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.records.account_readings import NEVER_NS, InstantArray, Lines, Readings, readings_by_user
from loadgo.records.far_usage import (
    BETWEEN,
    CHARGED_COLUMNS,
    CUT_OFF,
    KNOWN,
    FarProcessors,
    Gaps,
    LinesUsage,
    SplitSoFar,
    bounds_of_users,
    last_gap,
    row_places,
    usage_of_lines,
)

PLACE_COLUMN = "place"
"""The column with the place of an interaction among all that were given so far."""
USAGE_TABLE = "usage"
"""The name of the table with the usage of interactions that were given before."""
_MOST_WAITING_LINES = 100
"""Largest number of a user's lines that wait for readings. Of older ones the usage is not known until the end."""
_Values = tuple[int, ...]
"""The place of an interaction, and its `CHARGED_COLUMNS`; -1 for what is not known."""
_UNKNOWN = (-1,) * len(CHARGED_COLUMNS)
_LINE_COLUMNS = ("sent_ns", "ready_ns", "think_ns", "typing_ns")


@dataclass(frozen=True)
class HostReadings:
    """New readings of the accounts on one host, on the run's clock."""

    first_user: int
    last_user: int
    rows: pl.DataFrame
    """Rows of `session_usage`."""
    error_ns: int
    """The largest error of these rows' instants beside the clock here."""
    processors: FarProcessors


@dataclass
class _User:
    """A user's lines whose usage may still change, and the readings that they need."""

    lines: list[tuple[int, ...]] = field(default_factory=list)
    """The place of each line, and its `_LINE_COLUMNS`; -1 for what there is not."""
    readings: Readings | None = None
    errors_ns: InstantArray = field(default_factory=lambda: np.empty(0, np.int64))
    """The largest error of the instants of each reading."""
    before: SplitSoFar = field(default_factory=SplitSoFar)
    """The sums of the lines that are kept no more."""
    given: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The usage of kept lines that was given last, by the line's place."""
    end: tuple[int | None, str] = (None, "")
    """The end of the last session and its outcome."""
    is_waiting: bool = False
    """Whether later readings give a line its usage."""


class LiveUsage:
    """The usage of a run's interactions, from the first on."""

    def __init__(self) -> None:
        self._users: dict[int, _User] = {}
        self._changed: set[int] = set()
        self._waiting: set[int] = set()
        self._given_users: list[NDArray[np.uint32]] = []
        """The user of each interaction that was given."""
        self._count = 0
        self._heard_ns: dict[int, int] = {}
        """Until when the accounts of a host were read, by its first user."""

    def take(self, rows: Mapping[str, pl.DataFrame]) -> None:
        """Notes the new rows of `interactions` and `sessions`."""
        if "interactions" in rows:
            self._take_lines(rows["interactions"])
        for user, ended_ns, outcome in _ends(rows["sessions"]) if "sessions" in rows else ():
            self._user(user).end = (ended_ns, outcome)
            self._changed.add(user)

    def _take_lines(self, interactions: pl.DataFrame) -> None:
        instants = (pl.col(name).cast(pl.Int64).fill_null(-1) for name in _LINE_COLUMNS)
        lines = interactions.lazy().with_row_index(PLACE_COLUMN, self._count).filter(pl.col("cpu_user_ns").is_null())
        for user, *line in lines.select("user", PLACE_COLUMN, *instants).collect().iter_rows():
            self._user(user).lines.append(tuple(line))
            self._changed.add(user)
        self._count += len(interactions)
        self._given_users.append(interactions["user"].to_numpy())

    def _user(self, name: int) -> _User:
        return self._users.setdefault(name, _User())

    def usage(self, hosts: Sequence[HostReadings], run_toml: Mapping[str, Any]) -> pl.DataFrame:
        """The usage of interactions for which it has become known or is another, by their `PLACE_COLUMN`.

        It is null where it is not known any more. `hosts` have what has come since the last call.
        """
        found = [line for host in hosts for line in self._usage_there(host, run_toml)]
        for user in self._changed:
            del self._users[user].lines[:-_MOST_WAITING_LINES]
        self._waiting |= self._changed
        self._changed.clear()
        return _frame(found)

    def usage_at_the_end(self, interactions: pl.DataFrame) -> pl.DataFrame:
        """The usage of all interactions in the run's table, by their `PLACE_COLUMN`.

        Users are left out who have lines in the table that were not given.
        """
        given = pl.DataFrame({"user": np.concatenate([np.empty(0, np.uint32), *self._given_users])})
        order = pl.int_range(pl.len()).over("user").alias("order")
        lines = pl.len().over("user").alias("lines")
        ended = interactions.sort("sent_ns", maintain_order=True).with_columns(order, lines)
        return (
            given.with_row_index(PLACE_COLUMN)
            .with_columns(order, lines)
            .join(ended, on=["user", "order", "lines"], maintain_order="left")
            .select(PLACE_COLUMN, *CHARGED_COLUMNS)
        )

    def _usage_there(self, host: HostReadings, run_toml: Mapping[str, Any]) -> list[_Values]:
        """The usage of interactions on one host."""
        for name, readings in readings_by_user(host.rows).items():
            kept = self._user(name)
            kept.readings = readings if kept.readings is None else kept.readings.followed_by(readings)
            kept.errors_ns = np.append(kept.errors_ns, np.full(len(readings.ends_ns), host.error_ns))
        heard_ns = host.rows.filter(pl.col("user").is_null())["at_ns"].cast(pl.Int64).max()
        before_ns = self._heard_ns.get(host.first_user, 0)
        last_ns = max(before_ns, heard_ns - host.error_ns if isinstance(heard_ns, int) else 0)
        self._heard_ns[host.first_user] = last_ns
        asked = self._changed | self._waiting if last_ns > before_ns else self._changed
        due = {user for user in asked if host.first_user <= user <= host.last_user}
        self._changed -= due
        self._waiting -= due
        bound_of, found = bounds_of_users(run_toml, 0), list[_Values]()
        for name in sorted(due):
            user = self._users[name]
            found += _charge(user, bound_of(name), last_ns, host.processors)
            if user.is_waiting:
                self._waiting.add(name)
        return found


def _charge(user: _User, bound_ns: int, last_ns: int, processors: FarProcessors) -> list[_Values]:
    """The usage of the user's lines that is new. Lines whose usage changes no more are kept no more."""
    user.is_waiting = bool(user.lines)
    if not user.lines or user.readings is None:
        del user.lines[:-_MOST_WAITING_LINES]
        return []
    user.lines.sort(key=lambda line: line[1])
    lines = Lines(*np.array(user.lines, np.int64).T)
    is_over = user.end[0] is not None and user.end[0] >= int(lines.sent_ns[-1])
    gaps = Gaps.of(lines, *_live_gap(lines, user.end, is_over=is_over))
    # Rows were placed by clocks that were known differently well: each is as much longer as its instants may be off.
    rows = user.readings.wider(user.errors_ns)
    usage = usage_of_lines(lines, gaps, rows, bound_ns, last_ns, processors, user.before)
    if not is_over and lines.last_ready_ns is None:
        usage.why_not[-1] = BETWEEN  # nobody knows when the prompt came
    user.is_waiting = bool((usage.why_not == CUT_OFF).any())
    settled = int((usage.why_not[: len(lines) if is_over else -1] != CUT_OFF).sum())
    new = _new_values(user, usage, settled)
    user.before = usage.split_after(user.before, settled)
    after, before = row_places(gaps, rows, bound_ns)
    is_kept = (after >= settled) | (before > settled)
    user.readings, user.errors_ns = user.readings.chosen(is_kept), user.errors_ns[is_kept]
    user.lines = user.lines[settled:][-_MOST_WAITING_LINES:]
    return new


def _live_gap(lines: Lines, end: tuple[int | None, str], *, is_over: bool) -> tuple[int, int]:
    """The last gap of a user. In a session that goes on, the next line has not been sent yet, as far as is known."""
    ready = lines.last_ready_ns
    return last_gap(lines, *end) if is_over or ready is None else (ready, NEVER_NS)


def _new_values(user: _User, usage: LinesUsage, settled: int) -> list[_Values]:
    """The usage of lines that is not the one that was given last. That of the first `settled` is given for ever."""
    columns = np.stack([usage.columns[name] for name in CHARGED_COLUMNS], axis=1).tolist()
    found = []
    for number, line in enumerate(user.lines):
        values = tuple(columns[number]) if usage.why_not[number] == KNOWN else _UNKNOWN
        if values != user.given.get(line[0], _UNKNOWN):
            found.append((line[0], *values))
        if number < settled:
            user.given.pop(line[0], None)
        else:
            user.given[line[0]] = values
    return found


def _frame(found: Sequence[_Values]) -> pl.DataFrame:
    """The usage of interactions as a table."""
    values = np.array(found, np.int64).reshape(-1, 1 + len(CHARGED_COLUMNS))
    columns = pl.DataFrame(values, [PLACE_COLUMN, *CHARGED_COLUMNS])
    known = (pl.when(pl.col(name) >= 0).then(pl.col(name)).cast(pl.UInt64).alias(name) for name in CHARGED_COLUMNS)
    return columns.select(pl.col(PLACE_COLUMN).cast(pl.UInt32), *known)


def _ends(sessions: pl.DataFrame) -> list[tuple[int, int, str]]:
    """The ends of sessions that have ended."""
    columns = (pl.col("user"), pl.col("ended_ns").cast(pl.Int64), pl.col("outcome").cast(pl.String))
    return sessions.filter(pl.col("ended_ns").is_not_null()).select(columns).rows()


def with_live_usage(interactions: pl.DataFrame, usage: pl.DataFrame) -> pl.DataFrame:
    """The interactions with this usage, by their place, in the place of what they had."""
    if usage.is_empty():
        return interactions
    new = usage.with_columns(pl.lit(value=True).alias("has usage"))
    joined = interactions.with_row_index(PLACE_COLUMN).join(
        new, on=PLACE_COLUMN, how="left", suffix=" new", maintain_order="left"
    )
    has_new = pl.col("has usage").fill_null(value=False)
    values = [
        pl.when(has_new).then(pl.col(f"{name} new")).otherwise(pl.col(name)).cast(interactions.schema[name]).alias(name)
        for name in CHARGED_COLUMNS
    ]
    return joined.with_columns(values).select(interactions.columns)
