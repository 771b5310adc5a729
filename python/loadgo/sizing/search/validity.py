"""The test whether a trial measures the system: nothing lost, a driver in time, and Little's law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.audit import (
    LATENESS_SHARE_OF_TARGET,
    MOST_P99_LATENESS_NS,
    driver_audit,
    group_losses,
)
from loadgo.measures.littles_law import little_closed
from loadgo.measures.total_time import TotalTime
from loadgo.notation.figures import in_words, share
from loadgo.records.fleets import hosts_of_run, is_fleet_run
from loadgo.records.interactions import IS_UNANSWERED, classes_of
from loadgo.records.phases import Stretch
from loadgo.sizing.curve import Target
from loadgo.sizing.resources import processor_shares

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

MOST_LOST_SHARE = 0.01
"""A trial with more lost records than this share of its interactions is not valid."""
MOST_LATE_SHARE = 0.1
"""A trial is not valid if the driver sent more than this share of its lines late, as `late_lines` counts them."""
MOST_LATENESS_OF_CYCLE = 0.05
"""A trial is not valid if lateness is more than this share of the users' time: the load was less than asked."""
_USER_LOSSES = ("session", "log-in")
"""Losses that are counted as users who died or were refused, and not as lost records."""
_CENSORED_LOSS = "interaction"
"""Lines in flight when the trial was ended on purpose. They are censored observations, and no lost records."""


@dataclass(frozen=True)
class Invalidity:
    """The reason why a trial is not valid."""

    why: str
    of_driver: bool = False
    """Whether the driver cannot keep up, so that more trials would be alike."""


def invalidity_of(
    tables: Tables, rows: pl.DataFrame, stretch: Stretch, total: TotalTime | None, late: int, *, cut_short: bool
) -> Invalidity | None:
    """The reason why the trial with the counted interactions `rows` is not valid; None if it is valid.

    The reasons: a lost host, lost records, a late driver (`late` lines), or a broken Little's law. A few late lines
    make no trial invalid, since a response is measured from its own sending. The law is not checked for a trial that
    ended early, since its longest cycles are incomplete.
    """
    if lost_hosts := [host.name for host in hosts_of_run(tables.conditions) if host.lost]:
        return Invalidity(f"{in_words(lost_hosts)} {'was' if len(lost_hosts) == 1 else 'were'} lost")
    driver, lines = driver_audit(rows, total, tables, None), len(rows)
    lost = lost_records(tables, cut_short=cut_short) - _lost_far_meters(tables)
    if lost > MOST_LOST_SHARE * max(lines, 1):
        return Invalidity(f"{lost:,} records were lost of {lost + lines:,}")
    if late > max(MOST_LATE_SHARE * lines, 1):
        return Invalidity(
            f"{late:,} of {lines:,} lines were sent too late{_other_work_in_words(total)}", of_driver=True
        )
    if (lateness := _lateness_of_cycle(rows)) > MOST_LATENESS_OF_CYCLE:
        # Of users who hardly think, the times by which lines are late add up, though no line is late by much.
        less = f"the users waited {share(lateness)} of their time for the driver, so that the load was less than asked"
        return Invalidity(f"{less}{_other_work_in_words(total)}", of_driver=True)
    if driver.takes_too_much:
        return Invalidity(f"the driver took {share(driver.host_share)} of the processors' time", of_driver=True)
    audit = None if cut_short else little_closed(rows, tables.sessions, stretch)
    if audit is not None and audit.verdict == "broken":
        return Invalidity(
            f"Little's law does not hold: {audit.measured:.1f} users measured, {audit.computed:.1f} computed"
        )
    return None


def late_lines(rows: pl.DataFrame, targets: Sequence[Target]) -> int:
    """Number of lines that were late by over 5 % of the shortest response limit; without such a limit, by over 1 ms.

    Where nearly all lines are slower than that limit even without their lateness, it decides nothing, and 1 ms counts.
    No driver is in time for a limit of a microsecond, which no system meets.
    """
    limits_ns = [1e9 * target.limit for target in targets if target.share is not None or target.measure == "mean"]
    most_ns = LATENESS_SHARE_OF_TARGET * min(limits_ns) if limits_ns else MOST_P99_LATENESS_NS
    if limits_ns and _are_slow_anyway(rows, min(limits_ns)):
        most_ns = max(most_ns, MOST_P99_LATENESS_NS)
    return int((rows["lateness_ns"].cast(pl.Float64) > most_ns).sum())


def _are_slow_anyway(rows: pl.DataFrame, limit_ns: float) -> bool:
    """Whether nearly all lines take longer than the limit, however late they were. No answer is longer, too."""
    spare_ns = pl.col("response_ns").cast(pl.Float64) - pl.col("lateness_ns").cast(pl.Float64)
    slow = rows.select((IS_UNANSWERED | (spare_ns > limit_ns)).sum()).item()
    return bool(slow >= (1 - MOST_LATE_SHARE) * len(rows))


def lost_records(tables: Tables, *, cut_short: bool) -> int:
    """Number of lost records, without those that are counted as users or as lines in flight."""
    not_lost = (*_USER_LOSSES, _CENSORED_LOSS) if cut_short else _USER_LOSSES
    return sum(loss.count for loss in group_losses(tables.lost, tables.conditions) if loss.what not in not_lost)


def censored_lines(tables: Tables) -> int:
    """Number of lines that were in flight when the trial was ended early."""
    return sum(loss.count for loss in group_losses(tables.lost, tables.conditions) if loss.what == _CENSORED_LOSS)


def _lost_far_meters(tables: Tables) -> int:
    """Lost meters of another host. Without them, as over a slow network, responses are whole."""
    is_one = str(tables.conditions.get("system", {}).get("name", "")).startswith(SSH_SCHEME)
    is_far = is_one or is_fleet_run(tables.conditions)
    return (
        sum(loss.count for loss in group_losses(tables.lost, tables.conditions) if loss.what == "meters")
        if is_far
        else 0
    )


def _lateness_of_cycle(rows: pl.DataFrame) -> float:
    """The share of lateness in the users' time."""
    classes = classes_of(rows)
    return classes.driver_ns / classes.total_ns if classes.total_ns else 0.0


def _other_work_in_words(total: TotalTime | None) -> str:
    """A clause on other work; empty where it was not measured."""
    shares = None if total is None else processor_shares(total)
    if shares is None:
        return ""
    return f" while other work took {share(shares.others)} of the processors' time"
