"""Do a run's records bear each other out? Parts against totals, processor time against elapsed × share, Little, units.

What must be exactly so is checked exactly; what two meters tell by different roads may differ by their resolution and
by what each of them says that it leaves out. A check that the records do not allow says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.audit import driver_of, losses_of
from loadgo.measures.littles_law import little_closed, little_open
from loadgo.measures.total_time import TICK_NS, TotalTime, total_time_of
from loadgo.notation.figures import digits, duration, number, share
from loadgo.records.interactions import CPU_NS, IS_ANSWERED, RESPONSE_NS
from loadgo.records.phases import Stretch, classified_in, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

Verdict = Literal["holds", "broken", "cannot be told"]

CLOSE = 1e-3
"""Meters of the same time may differ by so much of it: spans are not read at one instant."""


@dataclass(frozen=True)
class Check:
    """One check of one run, or of a printed document."""

    name: str
    verdict: Verdict
    text: str


def checks_of(tables: Tables, stretch: Stretch) -> tuple[Check, ...]:
    """All checks of a run over a stretch of it."""
    total = total_time_of(tables, stretch)
    rows = classified_in(tables, stretch)
    return (
        _parts(total),
        _processes(tables, stretch, total),
        _charged(tables, stretch, total, rows),
        _little(tables, stretch, rows),
        _times(rows),
        _units(tables, rows),
        _lost(tables),
        _driver(tables, total, rows),
    )


def _parts(total: TotalTime | None) -> Check:
    name = "the categories are all of the time"
    if total is None or total.wall_ns is None:
        return Check(name, "cannot be told", "total time was not measured")
    slack = CLOSE * total.wall_ns + (2 * TICK_NS * len(total.processors) if total.kind == "kernel's ticks" else 0)
    text = f"{duration(total.total_ns)} in categories, {duration(total.wall_ns)} of all processors"
    return Check(name, "holds" if abs(total.total_ns - total.wall_ns) <= slack else "broken", text)


def _processes(tables: Tables, stretch: Stretch, total: TotalTime | None) -> Check:
    """Users, driver, meters and supervisor used no more than the processors were busy.

    A process is charged when it leaves a processor: what it ran in the span before may be in the first of the stretch.
    """
    name = "whose time it was is at most the busy time"
    if total is None or total.account.unattributed_ns is None:
        return Check(name, "cannot be told", "it was not measured whose time it was")
    longest = int(spans_in(tables.time, stretch)["span_ns"].cast(pl.Int64).max() or 0)  # type: ignore[arg-type]
    before = total_time_of(tables, replace(stretch, start_ns=stretch.start_ns - longest))
    busy = max(total.account.busy_ns, before.account.busy_ns if before else 0)
    somebodys = total.account.busy_ns - total.account.unattributed_ns
    slack = total.account.resolution_ns + CLOSE * total.total_ns
    text = f"busy {duration(total.account.busy_ns)}, of it {duration(max(total.account.unattributed_ns, 0))} nobody's"
    return Check(name, "holds" if somebodys <= busy + slack else "broken", text)


def _charged(tables: Tables, stretch: Stretch, total: TotalTime | None, rows: pl.DataFrame) -> Check:
    """The interactions' processor time against elapsed × processors × busy share, of all spans that they touch."""
    name = "CPU is at most elapsed × share"
    every = int(tables.conditions.get("usage", {}).get("every", 1))
    charged = float(rows.select(CPU_NS.cast(pl.Float64).sum()).item() or 0.0)
    around = None if total is None else total_time_of(tables, _around(tables, stretch, rows))
    if around is None or not charged or every > 1:
        return Check(name, "cannot be told", "the processors' time, or every interaction's, is not known")
    slack = CLOSE * around.total_ns + 2 * TICK_NS * len(around.processors)
    text = (
        f"interactions {duration(charged)}; {duration(around.span_ns)} × {number(len(around.processors))} processors × "
        f"{share(around.busy_share)} busy = {duration(around.account.busy_ns)}"
    )
    return Check(name, "holds" if charged <= around.account.busy_ns + slack else "broken", text)


def _around(tables: Tables, stretch: Stretch, rows: pl.DataFrame) -> Stretch:
    """The stretch as far as the spans of `time` go that these interactions touch, first sent to last ready."""
    sent, ready = rows.select(
        sent=pl.col("sent_ns").cast(pl.Int64).min(), ready=pl.col("ready_ns").cast(pl.Int64).max()
    ).row(0)
    begins = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    last = max(sent or 0, ready or 0)
    touched = tables.time.filter((pl.col("at_ns").cast(pl.Int64) > (sent or 0)) & (begins < last))
    if touched.is_empty():
        return stretch
    start, end = touched.select(start=begins.min(), end=pl.col("at_ns").cast(pl.Int64).max()).row(0)
    return replace(stretch, start_ns=start, end_ns=end)


def _little(tables: Tables, stretch: Stretch, typed: pl.DataFrame) -> Check:
    open_load = tables.conditions.get("load", {}).get("model") == "open"
    audit = little_open(tables.sessions, stretch) if open_load else little_closed(typed, tables.sessions, stretch)
    if audit is None or audit.verdict == "too short to tell":
        return Check("Little's law", "cannot be told", "too short to tell")
    text = f"{audit.law}: {digits(audit.measured)} users by the sessions, {digits(audit.computed)} by the law"
    return Check(f"Little's law, {audit.law}", audit.verdict, text)


def _times(rows: pl.DataFrame) -> Check:
    """A line is ready after it was sent, and sent after it was due."""
    name = "times are in order"
    answered = rows.filter(IS_ANSWERED)
    first = pl.col("first_output_ns").is_not_null() & (pl.col("first_output_ns") < pl.col("sent_ns"))
    wrong = answered.filter((pl.col("ready_ns") < pl.col("sent_ns")) | first)
    text = f"{number(len(wrong))} of {number(len(rows))} interactions are ready, or answer, before they were sent"
    return Check(name, "broken" if len(wrong) else "holds", text)


def _units(tables: Tables, rows: pl.DataFrame) -> Check:
    """What an interaction used fits into its response on all processors: else a unit is another than it is said."""
    name = "usage fits into responses"
    processors = int(tables.conditions.get("system", {}).get("processors") or 1)
    resolution = int(tables.conditions.get("usage", {}).get("cpu_resolution_ns", 1))
    cpu = CPU_NS.cast(pl.Float64)
    waits = pl.sum_horizontal("paging_wait_ns", "io_wait_ns", ignore_nulls=True).cast(pl.Float64)
    response = RESPONSE_NS.cast(pl.Float64)
    known = rows.filter(IS_ANSWERED & pl.col("cpu_user_ns").is_not_null())
    if known.is_empty():
        return Check(name, "cannot be told", "usage was not measured")
    took, used, waited = known.select(response.sum().alias("r"), cpu.sum().alias("c"), waits.sum().alias("w")).row(0)
    slack = CLOSE * took + 2 * resolution * len(known)
    fits = used <= processors * took + slack
    text = f"CPU {duration(used)}, waits {duration(waited)}, responses {duration(took)} on {processors} processors"
    return Check(name, "holds" if fits else "broken", text)


def _lost(tables: Tables) -> Check:
    lost = sum(loss.count for loss in losses_of(tables.lost))
    return Check("nothing is lost", "broken" if lost else "holds", f"{number(lost)} things the records do not hold")


def _driver(tables: Tables, total: TotalTime | None, typed: pl.DataFrame) -> Check:
    driver = driver_of(typed, total, tables, None)
    text = f"{number(driver.late_lines)} lines were sent late; {share(driver.host_share)} of the host is the driver's"
    return Check("the driver was not the bottleneck", "holds" if driver.valid else "broken", text)
