"""The tables of a comparison as rows of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.comparison.compare import Comparison
from loadgo.comparison.figures import change, change_interval
from loadgo.comparison.rows import Difference, Row
from loadgo.decomposition.parts import Part
from loadgo.decomposition.tables import chain_tables, road_table
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, duration, number
from loadgo.notation.measures import MARK, figure, name_of, percent, signed

_WIDEST = 30
"""How much of a condition's value a table shows."""
_IN_ALL = (
    *("response", "p50 response", "p90 response", "cpu", "programs", "work", "page", "faults", "major faults"),
    *("ready wait", "paging wait", "I/O wait", "output", "cost", "throughput"),
)


def comparison_tables(made: Comparison) -> list[Table]:
    """All tables of a comparison, those without rows left out: a verdict first, then conditions that differ."""
    found = [_judged(made), _conditions(made), _processor(made), _of_measure(made, "response", "Response time")]
    found += [_whole(made), _parts(made), _output(made), *chain_tables(made.chains), road_table(made.roads)]
    return [grid for grid in found if grid is not None]


def _conditions(made: Comparison) -> Table | None:
    told = made.conditions
    if not told:
        return None
    columns = (
        Column("condition", tuple(one.name for one in told)),
        Column("A", tuple(_cut(one.before) for one in told)),
        Column("B", tuple(_cut(one.after) for one in told)),
    )
    return Table("Conditions that differ", columns, name_width=36)


def _cut(text: str) -> str:
    shown = text or NOT_MEASURED
    return shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 1]}…"


def _judged(made: Comparison) -> Table | None:
    told = made.judged
    if not told:
        return None
    columns = (
        Column("figure", tuple(name_of(one.measure) for one in told)),
        Column("predicted", tuple(figure(one.measure, one.before) for one in told)),
        Column("measured", tuple(figure(one.measure, one.after) for one in told)),
        Column("measured less predicted", tuple(change(one) for one in told), spare=2),
        Column("95 % interval", tuple(change_interval(one) for one in told), spare=1),
        Column("the prediction is", tuple(one.judgement for one in told)),
    )
    return Table(f"A as a prediction of B: {_of_what(made)}", columns)


def _of_what(made: Comparison) -> str:
    return "a mean interaction, in the mix of both" if made.rows.by == "command" else "the whole script of one user"


def _processor(made: Comparison) -> Table | None:
    """Processor time as seed tables have it: without page faults, of page faults, together."""
    rows = made.rows.rows
    if not _known(rows, "cpu"):
        return None
    split = _known(rows, "page")
    apart = [
        [
            Column(f"{side} non-page", _cells(rows, "work", of), spare=3),
            Column(f"{side} page", _cells(rows, "page", of), spare=3),
        ]
        for side, of in (("A", _before), ("B", _after))
    ]
    columns = (
        Column(_heading(made), _labels(rows)),
        *(apart[0] if split else []),
        Column("A CPU" if split else "A", _cells(rows, "cpu", _before)),
        *(apart[1] if split else []),
        Column("B CPU" if split else "B", _cells(rows, "cpu", _after)),
        *_judging(rows, "cpu"),
    )
    return Table("Processor time", columns, total_rows=1)


def _of_measure(made: Comparison, measure: str, title: str) -> Table | None:
    rows = made.rows.rows
    if not _known(rows, measure):
        return None
    columns = (
        Column(_heading(made), _labels(rows)),
        Column("A", _cells(rows, measure, _before)),
        Column("B", _cells(rows, measure, _after)),
        *_judging(rows, measure),
    )
    return Table(title, columns, total_rows=1)


def _heading(made: Comparison) -> str:
    return "command" if made.rows.by == "command" else "line"


def _labels(rows: Sequence[Row]) -> tuple[str, ...]:
    marked = {row.label for row in rows if any(told.extrapolated for told in row.measures.values())}
    return tuple(f"{row.label} {MARK}" if row.label in marked else row.label for row in rows)


def _known(rows: Sequence[Row], measure: str) -> bool:
    return any(row.measures[measure].change is not None for row in rows)


def _before(told: Difference) -> float | None:
    return told.before


def _after(told: Difference) -> float | None:
    return told.after


def _cells(rows: Sequence[Row], measure: str, of: Callable[[Difference], float | None]) -> tuple[str, ...]:
    return tuple(figure(measure, of(row.measures[measure])) for row in rows)


def _judging(rows: Sequence[Row], measure: str) -> tuple[Column, ...]:
    told = [row.measures[measure] for row in rows]
    return (
        Column("change", tuple(change(one) for one in told)),
        *_intervals(told),
        Column("B is", tuple(one.verdict for one in told)),
    )


def _intervals(told: Sequence[Difference]) -> tuple[Column, ...]:
    """The column of intervals; none where nothing has one."""
    if not any(one.interval for one in told):
        return ()
    return (Column("95 % interval", tuple(change_interval(one) for one in told), spare=1),)


def _whole(made: Comparison) -> Table | None:
    told = [made.rows.whole[name] for name in _IN_ALL if name in made.rows.whole]
    told = [one for one in told if one.before is not None or one.after is not None]
    if not told:
        return None
    columns = (
        Column("", tuple(f"{name_of(one.measure)}{f' {MARK}' if one.extrapolated else ''}" for one in told)),
        Column("A", tuple(figure(one.measure, one.before) for one in told)),
        Column("B", tuple(figure(one.measure, one.after) for one in told)),
        Column("change", tuple(change(one) for one in told)),
        *_intervals(told),
        Column("B is", tuple(one.verdict for one in told)),
    )
    return Table(f"In all: {_of_what(made)}", columns)


def _parts(made: Comparison) -> Table | None:
    busy = made.parts.busy
    if busy is None:
        return None
    shown = [*(part for part in made.parts.parts if part.busy), busy]
    counted = any(part.by_count is not None for part in shown)
    all_change = busy.change
    columns = (
        Column("processor time", tuple(part.name for part in shown)),
        Column("A", tuple(duration(part.before) for part in shown), spare=1),
        Column("B", tuple(duration(part.after) for part in shown), spare=1),
        Column("change", tuple(signed(part.change) for part in shown)),
        *_spreads(shown),
        Column("of all", tuple(percent(part.change / all_change) if all_change else NOT_MEASURED for part in shown)),
        *(_counted(shown) if counted else ()),
    )
    return Table("Where one interaction's processor time went, and what changed it", columns, total_rows=1)


def _spreads(shown: Sequence[Part]) -> tuple[Column, ...]:
    if not any(part.interval for part in shown):
        return ()
    cells = [
        f"{signed(part.interval.low)} to {signed(part.interval.high)}" if part.interval else NOT_MEASURED
        for part in shown
    ]
    return (Column("95 % interval", tuple(cells), spare=4),)


def _counted(shown: Sequence[Part]) -> tuple[Column, ...]:
    return (
        Column("number A", tuple(number(part.count_before) for part in shown), spare=2),
        Column("B", tuple(number(part.count_after) for part in shown), spare=2),
        Column("each A", tuple(duration(part.each_before) for part in shown), spare=3),
        Column("B", tuple(duration(part.each_after) for part in shown), spare=3),
        Column("by number", tuple(signed(part.by_count) for part in shown)),
        Column("by time each", tuple(signed(part.by_each) for part in shown)),
    )


def _output(made: Comparison) -> Table | None:
    told = made.parts.output
    if not told:
        return None

    def shown(unit: str, value: float) -> str:
        return duration(value) if unit == "ns" else number(value)

    columns = (
        Column("for each line of output", tuple(one.name for one in told)),
        Column("A", tuple(shown(one.unit, one.before) for one in told)),
        Column("B", tuple(shown(one.unit, one.after) for one in told)),
        Column("change", tuple(percent(one.after / one.before - 1) if one.before else "from 0" for one in told)),
    )
    return Table("By line of output", columns)
