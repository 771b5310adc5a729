"""The tables and the JSON of two compared meterings: processors' time, events a second, and the run queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loadgo.comparison.figures import change, change_interval, notation_for
from loadgo.comparison.metered_rates import ALL_NAME, ComparedRates, RateRow
from loadgo.comparison.short_form import cut_rows
from loadgo.documents.table import Column, Table
from loadgo.measures.metered_rates import BUSY_NAME, EVENT_KINDS, QUEUE_MEAN, RateKind
from loadgo.notation.figures import NOT_MEASURED, digits, duration, exact_share, in_words, number
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import percent
from loadgo.notation.terms import category_name, fault_name, operation_name
from loadgo.stats.resample import Interval

KIND_NAMES: dict[RateKind, str] = {
    "time": "processors' time",
    "primitives": "system calls",
    "faults": "faults",
    "interrupts": "interrupts",
    "queue": "run queue",
}
_TITLES: dict[RateKind, str] = {
    "time": "Processors' time, in shares of all time; changes in percentage points",
    "primitives": "System calls a second",
    "faults": "Faults a second",
    "interrupts": "Interrupts a second",
    "queue": "Run queue",
}
METERED_TITLES = tuple(_TITLES.values())
"""The beginnings of the tables' titles."""
_HEADINGS: dict[RateKind, str] = {
    "time": "category",
    "primitives": "system call",
    "faults": "kind",
    "interrupts": "interrupt",
    "queue": "figure",
}
_SHORT_ROWS: dict[RateKind, int] = {"time": 8, "primitives": 8, "faults": 5, "interrupts": 5, "queue": 3}
"""Rows of each table in the short form, beside the total."""
_QUEUE_NAMES = {QUEUE_MEAN: "mean length", "switches": "context switches/s", "pre-emptions": "preemptions/s"}
_MOST_POINT_DIGITS = 2
_NAMED_ROWS = 6
"""Most rows that a line below a table names."""


def metered_tables(compared: ComparedRates) -> list[Table]:
    """The tables of all kinds that both sides metered. The short form has the rows with the largest figures."""
    tables = []
    for kind in ("time", *EVENT_KINDS, "queue"):
        rows = compared.rows_of(kind)
        if rows:
            kept = sorted(range(len(rows) - _total_rows(rows)), key=lambda at: -_size(rows[at]))
            table = _table(kind, rows, compared)
            tables += cut_rows(table, sorted(kept[: _SHORT_ROWS[kind]]), _SHORT_ROWS[kind])
    return tables


def metered_json(compared: ComparedRates | None) -> dict[str, Any] | None:
    """The rates of meterings in JSON: shares from 0 to 1, events a second, mean lengths."""
    if compared is None:
        return None
    return {
        "meters": compared.tiers,
        "rows": [_rate_row(row) for row in compared.rows],
        "one_sided": compared.one_sided,
    }


def _rate_row(row: RateRow) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "name": row.name,
        "figure": row.difference,
        "estimated": row.estimated,
        "errors": row.errors,
        "each_ns": row.each_ns,
    }


def rate_name(row: RateRow) -> str:
    """The displayed name of a row."""
    if row.name in (BUSY_NAME, ALL_NAME):
        return row.name
    match row.kind:
        case "time":
            return category_name(row.name)
        case "primitives":
            return operation_name(row.name)
        case "queue":
            return _QUEUE_NAMES[row.name]
    return fault_name(row.name)


def rate_change(row: RateRow) -> str:
    """The change of a rate in percent, and that of a share in percentage points."""
    if row.kind != "time":
        return change(row.difference)
    return points(row.difference.change, row.difference.interval)


def rate_interval(row: RateRow) -> str:
    """The interval of the change, in the unit of `rate_change`."""
    if row.kind != "time":
        return change_interval(row.difference)
    interval = row.difference.interval
    if interval is None:
        return NOT_MEASURED
    return f"{points(interval.low, interval)} to {points(interval.high, interval)}"


def points(share: float | None, interval: Interval | None) -> str:
    """A change of a share in percentage points with its sign: `−2.31`. A narrow interval gets more digits."""
    if share is None:
        return NOT_MEASURED
    width = 100 * (interval.high - interval.low) if interval is not None else 1.0
    return percent(share, _MOST_POINT_DIGITS if width < 10 else 1).removesuffix(" %")


def _size(row: RateRow) -> float:
    """The size by which the short form orders rows: the larger share, or processor time of all events."""
    figure = max(row.difference.before or 0.0, row.difference.after or 0.0)
    return figure * max(1.0, row.each_ns[0] or 0.0, row.each_ns[1] or 0.0)


def _total_rows(rows: Sequence[RateRow]) -> int:
    return int(rows[-1].name in (BUSY_NAME, ALL_NAME))


def _table(kind: RateKind, rows: Sequence[RateRow], compared: ComparedRates) -> Table:
    show = exact_share if kind == "time" else number if kind in EVENT_KINDS else _mean
    notation = notation_for(row.difference for row in rows)
    is_share = kind == "time"
    changes = tuple(rate_change(row) if is_share else change(row.difference, notation) for row in rows)
    intervals = tuple(rate_interval(row) if is_share else change_interval(row.difference, notation) for row in rows)
    columns = (
        Column(_HEADINGS[kind], tuple(map(rate_name, rows)), kind="name"),
        *_side_columns("A", 0, rows, show),
        *_side_columns("B", 1, rows, show),
        Column("change", changes),
        *((Column("95 % interval", intervals, spare=2, of_previous=True),) if _has_intervals(rows) else ()),
        Column("B is", tuple(row.difference.verdict for row in rows), kept=True),
        *_each_columns(rows),
    )
    return Table(
        f"{_TITLES[kind]}{_estimated(kind, compared)}",
        columns,
        total_rows=_total_rows(rows),
        foot=_foot(kind, rows, compared),
        id=f"metered-{KIND_NAMES[kind].replace(' ', '-')}".replace("'", ""),
    )


def _side_columns(
    letter: str, side: int, rows: Sequence[RateRow], show: Callable[[float | None], str]
) -> tuple[Column, ...]:
    """The figures of a side, with the errors of those that are estimates."""
    figures = [row.difference.before if side == 0 else row.difference.after for row in rows]
    errors = [row.errors[side] for row in rows]
    column = Column(letter, tuple(NOT_MEASURED if figure is None else show(figure) for figure in figures))
    if all(error is None for error in errors):
        return (column,)
    shown = tuple("" if error is None else show(error) for error in errors)
    return (column, Column("±", shown, spare=1, of_previous=True))


def _each_columns(rows: Sequence[RateRow]) -> tuple[Column, ...]:
    """The mean processor time of one event, of each side that knows it."""
    return tuple(
        Column(f"CPU each, {letter}", tuple(duration(row.each_ns[side]) for row in rows), spare=3)
        for side, letter in enumerate("AB")
        if any(row.each_ns[side] is not None for row in rows)
    )


def _estimated(kind: RateKind, compared: ComparedRates) -> str:
    """The words in a title that say on which sides windows estimate the figures."""
    letters = [letter for letter, has_windows in zip("AB", compared.windows, strict=True) if has_windows]
    return f", estimated in {in_words(letters)}" if letters and kind in EVENT_KINDS else ""


def _has_intervals(rows: Sequence[RateRow]) -> bool:
    return any(row.difference.interval is not None for row in rows)


def _foot(kind: RateKind, rows: Sequence[RateRow], compared: ComparedRates) -> str:
    differences = [row.difference for row in rows]
    lines = []
    if any(one.verdict == "no difference" for one in differences):
        margin = differences[0].margin
        low = percent(1 / (1 + margin) - 1).removesuffix(" %")
        lines.append(f"no difference: the interval lies within {low} to +{margin_in_words(margin)} of A's figure.")
    if any(one.cannot_tell_by == "width" for one in differences):
        lines.append("cannot tell: the interval includes 0.")
    if any(one.cannot_tell_by == "estimate" for one in differences):
        lines.append(_estimate_line(kind, compared))
    if missing := [rate_name(row) for row in rows if row.difference.change is None]:
        lines.append(f"Only one side has {in_words(missing)}: its meters divide the time otherwise.")
    for letter, names in zip("AB", _absent(kind, rows), strict=True):
        if names:
            unseen = "Not seen in the windows of" if compared.windows["AB".index(letter)] else "Never in"
            lines.append(f"{unseen} {letter}: {in_words(names, _NAMED_ROWS)}.")
    return "\n".join(lines)


def _estimate_line(kind: RateKind, compared: ComparedRates) -> str:
    if kind == "time" and not compared.divides_alike:
        return (
            "cannot tell: a clock divides the busy time of one side, and the other's was divided exactly; they do not "
            "put the same time into these categories."
        )
    return "cannot tell, where the change lies within ±: it may be the doubt of the estimates alone."


def _absent(kind: RateKind, rows: Sequence[RateRow]) -> tuple[list[str], list[str]]:
    """The names that were never seen in A, and in B."""
    if kind not in EVENT_KINDS:
        return [], []
    figures = [(rate_name(row), row.difference.before, row.difference.after) for row in rows]
    return [name for name, a, b in figures if a == 0 and b], [name for name, a, b in figures if b == 0 and a]


def _mean(value: float | None) -> str:
    return NOT_MEASURED if value is None else digits(value)
