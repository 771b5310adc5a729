"""The tables of the working sets: page faults with less memory, and the memory referred to in a time."""

from __future__ import annotations

from loadgo.documents.table import Column, Table
from loadgo.measures.summary import Summary
from loadgo.measures.working_sets import FaultsAtMemory, WorkingSets
from loadgo.notation.figures import counted, number, seconds, share, size
from loadgo.stats.resample import FEWEST_UNITS, Interval

FAULTS_AT_MEMORY_TABLE = "faults-at-memory"
_STEADY_VARIATION_SHARE = 0.15
"""Variation of all users' memory above which the report says that it rises and falls."""
_SHOWN_WINDOWS_S = (1, 8, 64)
"""Windows that the foot of the first table names, where they were read."""


def working_set_tables(summary: Summary) -> list[Table]:
    """Both tables; none without readings."""
    sets = summary.working_sets
    return [] if sets is None else [_faults(summary, sets), _windows(sets)]


def _faults(summary: Summary, sets: WorkingSets) -> Table:
    a_second = summary.stretch.per_second
    intervals = tuple(_interval(row.interval) for row in sets.faults)
    columns = (
        Column("memory", tuple(size(row.bytes) for row in sets.faults)),
        Column("of what they hold", tuple(share(row.share) for row in sets.faults), spare=1),
        Column("taken when unused for", tuple(seconds(row.unused_s) for row in sets.faults), spare=3),
        Column("faults/s", tuple(_bounded(row, row.faults_per_s) for row in sets.faults)),
        *((Column("95 %", intervals, spare=2, of_previous=True),) if any(intervals) else ()),
        Column(
            "faults an interaction",
            tuple(_bounded(row, _over(row.faults_per_s, a_second)) for row in sets.faults),
            spare=4,
        ),
    )
    sense = "more or less" if any(row.share > 1 for row in sets.faults) else "less"
    title = f"Page faults with {sense} memory, foretold"
    return Table(title, columns, id=FAULTS_AT_MEMORY_TABLE, foot=_foot(summary, sets, has_intervals=any(intervals)))


def _windows(sets: WorkingSets) -> Table:
    held, intervals = sets.resident_bytes, tuple(_sizes(row.interval) for row in sets.windows)
    columns = (
        Column("in a time of", tuple(seconds(row.window_s) for row in sets.windows)),
        Column("referred to", tuple(size(row.bytes) for row in sets.windows)),
        *((Column("95 %", intervals, spare=1, of_previous=True),) if any(intervals) else ()),
        Column("of what they hold", tuple(share(row.bytes / held if held else None) for row in sets.windows), spare=2),
        Column("readings", tuple(number(row.readings) for row in sets.windows), spare=3),
    )
    return Table("Memory that the users refer to", columns, id="working-sets")


def _foot(summary: Summary, sets: WorkingSets, *, has_intervals: bool) -> str:
    shown = [row for row in sets.windows if round(row.window_s) in _SHOWN_WINDOWS_S]
    referred = ", ".join(f"{size(row.bytes)} in {seconds(row.window_s)}" for row in shown)
    used = f", and referred to {referred}" if referred else ""
    sentences = (
        f"{counted(round(sets.users), 'user')} held {size(sets.resident_bytes)} of their own on average{used}.",
        _paged(summary, sets),
        f"Their memory rises and falls by ± {share(sets.variation)}, since programs come and go: while it is high, "
        "there are more faults than this."
        if sets.variation > _STEADY_VARIATION_SHARE
        else "",
        ""
        if has_intervals
        else f"There are no intervals, which take {FEWEST_UNITS} users and windows that are long enough.",
        "The page that was not used for longest is taken first. Memory of files is not in it.",
    )
    return " ".join(filter(None, sentences))


def _paged(summary: Summary, sets: WorkingSets) -> str:
    """The sentence on memory on paging devices; empty where there was next to none."""
    if not any(row.share > 1 for row in sets.faults):
        return ""
    a_second, each = summary.stretch.per_second, summary.everything.usage.faults_major
    faults = (
        "" if a_second is None or each is None else f", and they had {number(a_second * each)} major faults a second"
    )
    return (
        f"{size(sets.device_bytes)} more were on paging devices{faults}. While memory is short the kernel clears the "
        "marks, too, so the figures for less memory are rough."
    )


def _over(faults_per_s: float | None, a_second: float | None) -> float | None:
    """The faults of one interaction; None where either rate is unknown."""
    return None if faults_per_s is None or not a_second else faults_per_s / a_second


def _bounded(row: FaultsAtMemory, value: float | None) -> str:
    sign = {"": "", "at most": "≤ ", "at least": "≥ "}[row.bound]
    return f"{sign}{number(value)}" if value is not None else number(None)


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f"{number(interval.low)} to {number(interval.high)}"


def _sizes(interval: Interval | None) -> str:
    return "" if interval is None else f"{size(interval.low)} to {size(interval.high)}"
