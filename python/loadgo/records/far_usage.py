"""Usage of each interaction on another host, from readings of the sessions' accounts there.

The agent reads each account every 50 ms, and a row of `session_usage` has what a session used between two readings. The
instants at which lines were sent and answered are known here alone. A row belongs to an interaction if it lies
between the prompt before its line and the sending of the next line. The clocks' bound is taken off both. A row from
before the answer to after the next line has work of both lines, and then neither has a usage.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo import _loadgo
from loadgo.records.account_readings import (
    COUNT_COLUMNS,
    NEVER_NS,
    TICK_COLUMNS,
    InstantArray,
    Lines,
    Readings,
    lines_by_user,
    readings_by_user,
)
from loadgo.records.drivers import drivers_of_run

_TYPED_COUNTS = COUNT_COLUMNS[2:]
CHARGED_COLUMNS = (*COUNT_COLUMNS, "typing_cpu_ns", *(f"typing_{name}" for name in _TYPED_COUNTS), "cpu_excess_ns")
"""The columns of `interactions` with what each used."""

BoundOfUser = Callable[[int], int]
"""The largest error of a host's clock beside that of the driver of a user, in nanoseconds."""


@dataclass(frozen=True)
class FarProcessors:
    """The processors of the other host, and the clock that measures the users' time on them."""

    count: int
    step_ns: int


def processors_of(run_toml: Mapping[str, Any]) -> FarProcessors:
    """The processors of the host with this `run.toml`."""
    step_ns = int(run_toml.get("usage", {}).get("cpu_resolution_ns", 1))
    return FarProcessors(int(run_toml.get("system", {}).get("processors") or 1), step_ns)


@dataclass
class UsageCounts:
    """Number of interactions whose usage is known, and of the others by their reason."""

    known: int = 0
    not_followed: int = 0
    """The session was not followed, or not from its first line on."""
    cut_off: int = 0
    """No account was read any more after the interaction."""
    between: int = 0
    """No reading lies between two lines of the user."""
    elsewhere: int = 0
    """Interactions with a usage that was measured on the driver's host."""

    @property
    def all(self) -> int:
        """Number of all interactions."""
        return self.known + self.not_followed + self.cut_off + self.between + self.elsewhere


@dataclass(frozen=True)
class SplitSoFar:
    """The processor time of a user's earlier lines in the program and in the system, and the clock ticks in each."""

    user_ns: int = 0
    system_ns: int = 0
    user_ticks_us: int = 0
    system_ticks_us: int = 0


@dataclass
class _Charged:
    """The columns of usage so far, by the interaction's place in the table."""

    rows: list[int] = field(default_factory=list)
    values: dict[str, list[int | None]] = field(default_factory=dict)

    def add(self, places: InstantArray, columns: dict[str, NDArray[np.int64]]) -> None:
        """Adds the values of a user's interactions; -1 for what is not known."""
        self.rows.extend(places.tolist())
        for name, column in columns.items():
            self.values.setdefault(name, []).extend(None if value < 0 else value for value in column.tolist())


def bounds_of_users(run_toml: Mapping[str, Any], bound_ns: int) -> BoundOfUser:
    """The bound of a host's clock beside the clock of each user's driver, if that is not this host.

    `bound_ns` is the bound of the host's clock beside the clock here.
    """
    drivers = drivers_of_run(run_toml)
    if not drivers:
        return lambda _user: bound_ns
    last_users = [driver.last_user for driver in drivers]

    def bound_of(user: int) -> int:
        number = min(bisect_left(last_users, user), len(drivers) - 1)
        return bound_ns + drivers[number].bound_ns

    return bound_of


def charge(
    interactions: pl.DataFrame,
    sessions: pl.DataFrame,
    readings: pl.DataFrame,
    bound_of: BoundOfUser,
    processors: FarProcessors,
) -> tuple[pl.DataFrame, UsageCounts]:
    """The interactions with the usage that `readings` show, and how many have one.

    `readings` is the table `session_usage` on the run's clock. `bound_of` tells for a user how far the instants of the
    readings may be off beside those of the user's lines. Interactions that have a usage already keep it.
    """
    counts, charged = UsageCounts(), _Charged()
    table = interactions.with_row_index("place")
    measured = table.filter(pl.col("cpu_user_ns").is_not_null())
    counts.elsewhere = len(measured)
    last_ns = readings.filter(pl.col("user").is_null())["at_ns"].cast(pl.Int64).max()
    by_user = readings_by_user(readings)
    ended = {user: (ended_ns, outcome) for user, ended_ns, outcome in _ends(sessions)}
    for user, lines in lines_by_user(table.filter(pl.col("cpu_user_ns").is_null())):
        rows = by_user.get(user)
        if rows is None:
            counts.not_followed += len(lines)
            continue
        gaps = Gaps.of(lines, *last_gap(lines, *ended.get(user, (None, ""))))
        usage = usage_of_lines(
            lines, gaps, rows, bound_of(user), last_ns if isinstance(last_ns, int) else 0, processors
        )
        tally = Counter(usage.why_not.tolist())
        counts.known += tally[KNOWN]
        counts.not_followed += tally[_NOT_FOLLOWED]
        counts.cut_off += tally[CUT_OFF]
        counts.between += tally[BETWEEN]
        charged.add(lines.places, usage.columns)
    return _with_usage(table, charged), counts


KNOWN, _NOT_FOLLOWED, CUT_OFF, BETWEEN = range(4)


@dataclass(frozen=True)
class Gaps:
    """The times in which a user has no answer to wait for, one before each line and one before the log-out."""

    begins_ns: InstantArray
    """The prompts."""
    ends_ns: InstantArray
    """The sendings."""

    @staticmethod
    def of(lines: Lines, prompt_ns: int, next_ns: int) -> Gaps:
        """The gaps of one user. The last one is from `prompt_ns` to `next_ns`."""
        return Gaps(np.append(lines.prompts_ns, prompt_ns), np.append(lines.sent_ns, next_ns))


def last_gap(lines: Lines, ended_ns: int | None, outcome: str) -> tuple[int, int]:
    """The beginning and the end of a user's last gap. `ended_ns` is the end of the session; None if it has no row."""
    sent, ready = int(lines.sent_ns[-1]), lines.last_ready_ns
    if ended_ns is None:
        return sent, sent
    if ready is None:
        # The line that a session died in has all until its end. After a time-out nobody knows when the prompt came.
        return (ended_ns, NEVER_NS) if outcome == "died" else (sent, sent)
    if ended_ns <= ready:
        return ready, NEVER_NS  # the line has ended the session
    return ready, min(ready + _loadgo.LOG_OUT_PAUSE_NS, ended_ns)


@dataclass(frozen=True)
class LinesUsage:
    """The usage of a user's lines."""

    why_not: NDArray[np.int64]
    """Why the usage of each line is not known: one of `KNOWN` and the others."""
    columns: dict[str, NDArray[np.int64]]
    """By the column of `interactions`; -1 for what is not known."""
    ticks: NDArray[np.int64]
    """Clock ticks of each line in the program and in the system, in microseconds. Shape (lines, 2)."""

    def split_after(self, before: SplitSoFar, lines: int) -> SplitSoFar:
        """The sums of the first `lines` of these, and of those before."""
        known = self.columns["cpu_user_ns"][:lines] >= 0
        user_ns, system_ns = (int(self.columns[name][:lines][known].sum()) for name in ("cpu_user_ns", "cpu_system_ns"))
        user_ticks_us, system_ticks_us = (int(value) for value in self.ticks[:lines][known].sum(axis=0))
        return SplitSoFar(
            before.user_ns + user_ns,
            before.system_ns + system_ns,
            before.user_ticks_us + user_ticks_us,
            before.system_ticks_us + system_ticks_us,
        )


def usage_of_lines(
    lines: Lines,
    gaps: Gaps,
    rows: Readings,
    bound_ns: int,
    last_ns: int,
    processors: FarProcessors,
    before: SplitSoFar | None = None,
) -> LinesUsage:
    """The usage of a user's lines, before which others had what `before` says. Accounts were read until `last_ns`."""
    why_not = _unknown(gaps, rows, bound_ns, last_ns)
    return _usage(lines, gaps, rows, bound_ns, why_not, processors, before or SplitSoFar())


def _unknown(gaps: Gaps, rows: Readings, bound_ns: int, last_ns: int) -> NDArray[np.int64]:
    """Why the usage of each of a user's lines is not known: one of `_KNOWN` and the others."""
    after, before = row_places(gaps, rows, bound_ns)
    changes = np.zeros(len(gaps.begins_ns) + 1, np.int64)
    across = before > after + 1
    np.add.at(changes, after[across] + 1, 1)
    np.add.at(changes, before[across], -1)
    is_crossed = np.cumsum(changes)[:-1] > 0
    why_not = np.where(is_crossed[:-1] | is_crossed[1:], BETWEEN, KNOWN)
    why_not = np.where(gaps.begins_ns[1:] + bound_ns > last_ns, CUT_OFF, why_not)
    return np.where(gaps.ends_ns[:-1] - bound_ns < rows.followed_ns, _NOT_FOLLOWED, why_not)


def row_places(gaps: Gaps, rows: Readings, bound_ns: int) -> tuple[InstantArray, InstantArray]:
    """For each row the last gap behind whose beginning it lies, and the first gap before whose end it lies.

    A row within line `n` has (n, n + 1), one within the gap before line `n` has (n, n) or (n, less).
    """
    after = np.searchsorted(gaps.begins_ns + bound_ns, rows.begins_ns, side="right") - 1
    before = np.searchsorted(gaps.ends_ns - bound_ns, rows.ends_ns, side="left")
    return after.astype(np.int64), before.astype(np.int64)


def _usage(
    lines: Lines,
    gaps: Gaps,
    rows: Readings,
    bound_ns: int,
    why_not: NDArray[np.int64],
    processors: FarProcessors,
    split: SplitSoFar,
) -> LinesUsage:
    """The usage of a user's lines where `why_not` says that this is known."""
    is_known = why_not == KNOWN
    after, before = row_places(gaps, rows, bound_ns)
    is_of_line = (after >= 0) & (after < len(lines)) & (before <= after + 1)
    typed = lines.typing_ns > 0
    is_typing = is_of_line & (before <= after) & typed[np.clip(after, 0, len(lines) - 1)]
    is_own = is_of_line & ~is_typing
    columns = dict(zip(COUNT_COLUMNS, _sums(after, rows, is_own, is_known).T, strict=True))
    cpu = _added(columns["cpu_user_ns"], columns["cpu_system_ns"])
    ticks = np.zeros((len(lines), len(TICK_COLUMNS)), np.int64)
    np.add.at(ticks, after[is_own], rows.ticks[is_own])
    columns["cpu_user_ns"], columns["cpu_system_ns"] = _divided(cpu, ticks, split)
    typing = dict(zip(COUNT_COLUMNS, _sums(after, rows, is_typing, is_known & typed).T, strict=True))
    columns["typing_cpu_ns"] = _added(typing["cpu_user_ns"], typing["cpu_system_ns"])
    columns |= {f"typing_{name}": typing[name] for name in _TYPED_COUNTS}
    response = lines.ready_ns - lines.sent_ns
    excess = np.maximum(0, cpu - response * processors.count - 2 * processors.step_ns)
    columns["cpu_excess_ns"] = np.where((cpu < 0) | (response < 0), -1, excess)
    return LinesUsage(why_not, columns, ticks)


def _sums(
    places: InstantArray, rows: Readings, chosen: NDArray[np.bool_], is_known: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The sums of the chosen rows' counts by line; -1 for what is not known. Shape (lines, counts)."""
    sums = np.zeros((len(is_known), len(COUNT_COLUMNS)), np.int64)
    is_lacking = np.zeros(sums.shape, bool)
    counts = rows.counts[chosen]
    np.add.at(sums, places[chosen], np.maximum(counts, 0))
    np.logical_or.at(is_lacking, places[chosen], counts < 0)
    return np.where(is_known[:, None] & rows.is_counted[None, :] & ~is_lacking, sums, -1)


def _divided(
    cpu: NDArray[np.int64], ticks: NDArray[np.int64], split: SplitSoFar
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The processor time of a user's lines in the program and in the system, in the ratio of the ticks so far.

    `split` is that of earlier lines. `cpu` is -1 where it is not known.
    The method is that of a run on the host itself: `crates/host/src/usage/split.rs`.
    """
    parts = np.full((len(cpu), 2), -1, np.int64)
    user, system, user_ticks, system_ticks = split.user_ns, split.system_ns, split.user_ticks_us, split.system_ticks_us
    for number in np.flatnonzero(cpu >= 0):
        before = (user, system)
        user_ticks, system_ticks = user_ticks + int(ticks[number, 0]), system_ticks + int(ticks[number, 1])
        total, all_ticks = user + system + int(cpu[number]), user_ticks + system_ticks
        share = total * system_ticks // all_ticks if all_ticks else 0
        system = min(max(share, before[1]), total - before[0])
        user = total - system
        parts[number] = user - before[0], system - before[1]
    return parts[:, 0], parts[:, 1]


def _added(user: NDArray[np.int64], system: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where((user < 0) | (system < 0), -1, user + system)


def _ends(sessions: pl.DataFrame) -> list[tuple[int, int, str]]:
    columns = (pl.col("user"), pl.col("ended_ns").cast(pl.Int64), pl.col("outcome").cast(pl.String))
    return sessions.select(columns).rows()


def _with_usage(table: pl.DataFrame, charged: _Charged) -> pl.DataFrame:
    """The table with the values of `charged` in place of nulls."""
    if not charged.rows:
        return table.drop("place")
    values = {name: pl.Series(column, dtype=pl.Int64) for name, column in charged.values.items()}
    found = pl.DataFrame({"place": pl.Series(charged.rows, dtype=pl.UInt32), **values})
    joined = table.join(found, on="place", how="left", suffix="_found", maintain_order="left")
    filled = [pl.coalesce(name, pl.col(f"{name}_found").cast(pl.UInt64)).alias(name) for name in values]
    return joined.with_columns(filled).select(column for column in table.columns if column != "place")
