"""Checks of a run's records against each other: parts and totals, processor time, Little's law, order and units.

Exact relations are checked exactly. Figures of two meters may differ by their resolution, and by what each of them
leaves out. A check that the records do not allow has the verdict `cannot be told`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from loadgo.measures.audit import CUT_OFF_LOSSES, driver_audit, group_losses
from loadgo.measures.littles_law import little_closed, little_open
from loadgo.measures.total_time import TICK_NS, TotalTime, total_time_of
from loadgo.measures.usage import audit_usage
from loadgo.notation.figures import counted, digits, duration, number, share
from loadgo.records.fleets import hosts_of_run
from loadgo.records.interactions import CPU_NS, IS_ANSWERED, RESPONSE_NS
from loadgo.records.phases import Stretch, classified_in, spans_in

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

CheckVerdict = Literal["holds", "broken", "cannot be told"]

CATEGORIES_CHECK = "the categories add up to the total time"
OWNERS_CHECK = "users and loadgo took no more than the busy time"
SHARE_CHECK = "interactions took no more than the busy time around them"
LITTLE_CHECK, DRIVER_CHECK = "Little's law", "the driver was not the bottleneck"
LOSSES_CHECK = "nothing is lost"
CHECKS_WITH_WARNINGS = (LITTLE_CHECK, DRIVER_CHECK, LOSSES_CHECK)
"""The first words of the checks that a run's warnings report, too (`run_warnings`)."""
_METER_CHECKS = (CATEGORIES_CHECK, OWNERS_CHECK, SHARE_CHECK)
"""The checks of one host's meters, which come first."""
METER_TOLERANCE = 1e-3
"""Share by which two meters of the same time may differ, since their spans do not end at one instant."""


@dataclass(frozen=True)
class RunCheck:
    """One check of one run, or of a printed document."""

    name: str
    verdict: CheckVerdict
    text: str


def checks_of(tables: Tables, stretch: Stretch) -> tuple[RunCheck, ...]:
    """All checks of a run over one stretch. Of several hosts, the worst result counts of each check of their meters."""
    if tables.by_host:
        of_load = _checks_of_one(tables, stretch)
        return (*_worst_of_hosts(tables, stretch), *of_load[len(_METER_CHECKS) :])
    return _checks_of_one(tables, stretch)


def _worst_of_hosts(tables: Tables, stretch: Stretch) -> tuple[RunCheck, ...]:
    """The checks of the hosts' meters. Each names the host that it is of."""
    hosts = hosts_of_run(tables.conditions)
    checks = [
        [replace(check, text=f"{host.name}: {check.text}") for check in _checks_of_one(own, stretch)]
        for host, own in zip(hosts, tables.by_host, strict=True)
    ]
    return tuple(worst([of_host[index] for of_host in checks]) for index in range(len(_METER_CHECKS)))


def worst(checks: Sequence[RunCheck]) -> RunCheck:
    """The first broken check, or else the first that cannot be told, or else the first."""
    broken = [check for check in checks if check.verdict == "broken"]
    unknown = [check for check in checks if check.verdict == "cannot be told"]
    return (broken or unknown or list(checks))[0]


def _checks_of_one(tables: Tables, stretch: Stretch) -> tuple[RunCheck, ...]:
    total = total_time_of(tables, stretch)
    rows = classified_in(tables, stretch)
    return (
        _check_categories(total),
        _check_owners(tables, stretch, total),
        _check_interaction_cpu(tables, stretch, total, rows),
        _check_littles_law(tables, stretch, rows),
        _check_order(rows),
        _check_usage(tables, rows),
        _check_losses(tables),
        _check_driver(tables, total, rows),
    )


def _check_categories(total: TotalTime | None) -> RunCheck:
    name = CATEGORIES_CHECK
    if total is None or total.wall_ns is None:
        return RunCheck(name, "cannot be told", "total time was not measured")
    slack = METER_TOLERANCE * total.wall_ns + (
        2 * TICK_NS * len(total.processors) if total.kind == "kernel's ticks" else 0
    )
    text = f"{duration(total.total_ns)} in categories; the processors together had {duration(total.wall_ns)}"
    return RunCheck(name, "holds" if abs(total.total_ns - total.wall_ns) <= slack else "broken", text)


def _check_owners(tables: Tables, stretch: Stretch, total: TotalTime | None) -> RunCheck:
    """Checks that users, driver, sampling and supervisor used at most the busy time.

    A process is charged when it leaves a processor, so time of the span before may be in the first span of the stretch.
    """
    name = OWNERS_CHECK
    if total is None or total.account.unattributed_ns is None:
        return RunCheck(name, "cannot be told", "the owners of the time were not measured")
    longest = int(spans_in(tables.time, stretch)["span_ns"].cast(pl.Int64).max() or 0)  # type: ignore[arg-type]
    before = total_time_of(tables, replace(stretch, start_ns=stretch.start_ns - longest))
    busy = max(total.account.busy_ns, before.account.busy_ns if before else 0)
    owned_ns = total.account.busy_ns - total.account.unattributed_ns
    slack = total.account.resolution_ns + METER_TOLERANCE * total.total_ns
    others_ns = max(total.account.unattributed_ns, 0)
    text = (
        f"{duration(max(owned_ns, 0))} of {duration(total.account.busy_ns)} busy in the phase of the figures; "
        f"the rest, {duration(others_ns)}, belongs to neither"
    )
    return RunCheck(name, "holds" if owned_ns <= busy + slack else "broken", text)


def _check_interaction_cpu(tables: Tables, stretch: Stretch, total: TotalTime | None, rows: pl.DataFrame) -> RunCheck:
    """Checks that interactions used at most elapsed × processors × busy share, over all spans that they touch."""
    name = SHARE_CHECK
    sampled = int(tables.conditions.get("usage", {}).get("every", 1))
    charged_ns = float(rows.select(CPU_NS.cast(pl.Float64).sum()).item() or 0.0)
    touched = _touched_stretch(tables, stretch, rows)
    around = None if total is None else total_time_of(tables, touched)
    if around is None or not charged_ns or sampled > 1:
        return RunCheck(name, "cannot be told", "the time of the processors, or of every interaction, is not known")
    first, last = _first_and_last_ns(rows)
    if around.span_ns < (1 - METER_TOLERANCE) * (last - first):
        # As in a run that was cut off, or whose meters were lost.
        return RunCheck(
            name, "cannot be told", "the meters do not cover the time from the first line to the last answer"
        )
    slack = METER_TOLERANCE * around.total_ns + 2 * TICK_NS * len(around.processors)
    text = (
        f"{duration(charged_ns)} of {duration(around.account.busy_ns)} busy, metered over the "
        f"{duration(around.span_ns)} from the first line to the last answer "
        f"({number(len(around.processors))} processors, {share(around.busy_share)} busy)"
    )
    return RunCheck(name, "holds" if charged_ns <= around.account.busy_ns + slack else "broken", text)


def _touched_stretch(tables: Tables, stretch: Stretch, rows: pl.DataFrame) -> Stretch:
    """The stretch extended to the spans of `time` that these interactions touch, from first sent to last ready."""
    first, last = _first_and_last_ns(rows)
    begins = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    touched = tables.time.filter((pl.col("at_ns").cast(pl.Int64) > first) & (begins < last))
    if touched.is_empty():
        return stretch
    start, end = touched.select(start=begins.min(), end=pl.col("at_ns").cast(pl.Int64).max()).row(0)
    return replace(stretch, start_ns=start, end_ns=end)


def _first_and_last_ns(rows: pl.DataFrame) -> tuple[int, int]:
    """When the first line was sent, and when the last answer came."""
    sent, ready = rows.select(
        sent=pl.col("sent_ns").cast(pl.Int64).min(), ready=pl.col("ready_ns").cast(pl.Int64).max()
    ).row(0)
    return sent or 0, max(sent or 0, ready or 0)


def _check_littles_law(tables: Tables, stretch: Stretch, rows: pl.DataFrame) -> RunCheck:
    open_load = tables.conditions.get("load", {}).get("model") == "open"
    audit = little_open(tables.sessions, stretch) if open_load else little_closed(rows, tables.sessions, stretch)
    if audit is None or audit.verdict == "too short to tell":
        return RunCheck(LITTLE_CHECK, "cannot be told", "the run is too short to tell")
    text = f"{audit.law}: {digits(audit.measured)} users by the sessions, {digits(audit.computed)} by the law"
    return RunCheck(f"{LITTLE_CHECK}, {audit.law}", audit.verdict, text)


def _check_order(rows: pl.DataFrame) -> RunCheck:
    """Checks that no line is ready, or has output, before it was sent."""
    name = "no output and no answer comes before its line"
    answered = rows.filter(IS_ANSWERED)
    first = pl.col("first_output_ns").is_not_null() & (pl.col("first_output_ns") < pl.col("sent_ns"))
    disordered = answered.filter((pl.col("ready_ns") < pl.col("sent_ns")) | first)
    text = f"{number(len(disordered))} such of {counted(len(rows), 'interaction')}"
    return RunCheck(name, "broken" if len(disordered) else "holds", text)


def _check_usage(tables: Tables, rows: pl.DataFrame) -> RunCheck:
    """Checks that processor time fits into the response times on all processors, which finds a wrong unit."""
    name = "processor time fits into the response times"
    processors = _processors_of_one(tables)
    resolution = int(tables.conditions.get("usage", {}).get("cpu_resolution_ns", 1))
    waits = pl.sum_horizontal("paging_wait_ns", "io_wait_ns", ignore_nulls=True)
    measured = rows.filter(IS_ANSWERED & pl.col("cpu_user_ns").is_not_null())
    if measured.is_empty():
        return RunCheck(name, "cannot be told", "usage was not measured")
    sums = {"response": RESPONSE_NS, "cpu": CPU_NS, "waits": waits}
    spent = measured.select(**{name: column.cast(pl.Float64).sum() for name, column in sums.items()}).row(0, named=True)
    slack = METER_TOLERANCE * spent["response"] + 2 * resolution * len(measured)
    fits = spent["cpu"] <= processors * spent["response"] + slack
    words = f"CPU {duration(spent['cpu'])}, waits {duration(spent['waits'])}, responses {duration(spent['response'])}"
    text = f"{words} on {processors} processors"
    if audit := audit_usage(rows):
        text += f"; {number(audit.impossible)} of {number(audit.judged)} rows have more than fits their response"
    return RunCheck(name, "holds" if fits else "broken", text)


def _processors_of_one(tables: Tables) -> int:
    """The number of processors that an interaction can use: those of the largest host, for a run on several."""
    systems = [host.conditions.get("system", {}) for host in tables.by_host or (tables,)]
    return max(int(system.get("processors") or 1) for system in systems)


def _check_losses(tables: Tables) -> RunCheck:
    lost = sum(loss.count for loss in group_losses(tables.lost, tables.conditions))
    if not lost and tables.outcome == "killed":
        return RunCheck(LOSSES_CHECK, "cannot be told", CUT_OFF_LOSSES.rstrip("."))
    return RunCheck(
        LOSSES_CHECK, "broken" if lost else "holds", f"{counted(lost, 'record')} {'was' if lost == 1 else 'were'} lost"
    )


def _check_driver(tables: Tables, total: TotalTime | None, rows: pl.DataFrame) -> RunCheck:
    driver = driver_audit(rows, total, tables, None)
    text = f"{number(driver.late_lines)} lines were sent late; the driver used {share(driver.host_share)} of the host"
    return RunCheck(DRIVER_CHECK, "holds" if driver.valid else "broken", text)
