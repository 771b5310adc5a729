"""The tables of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from loadgo.comparison.compare import Comparison
from loadgo.comparison.difference import Difference
from loadgo.comparison.figures import Notation, change, change_interval, notation_for, notation_of, relative_change
from loadgo.comparison.judgement import Judgement
from loadgo.comparison.judgement_words import second_figures, two_intervals
from loadgo.comparison.rows import Row
from loadgo.decomposition.parts import Part
from loadgo.decomposition.tables import chain_tables, road_table
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, cut, duration, money, money_scale, number
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import EXTRAPOLATED_MARK, figure, name_of, percent, signed
from loadgo.notation.terms import CATEGORY_TERMS, category_name, category_term

_MOST_CONDITION_CHARS = 30
"""Most characters of a condition's value in a table."""
_MARK_FOOT = f"{EXTRAPOLATED_MARK}: with interactions that are extrapolated for a user who died."
_ESTIMATE_MARK = "≈"
_ESTIMATE_FOOT = (
    f"{_ESTIMATE_MARK}: estimated from random windows; the doubt of that is in the interval and the verdict."
)
_WHOLE_MEASURES = (
    *("response", "p50 response", "p90 response", "cpu", "programs", "work", "page", "faults", "major faults"),
    *("ready wait", "paging wait", "I/O wait", "output", "cost", "throughput"),
)


def comparison_tables(comparison: Comparison) -> list[Table]:
    """All tables of a comparison that have rows. The judgement is first, then the conditions that differ."""
    tables = [
        _judged(comparison),
        _conditions(comparison),
        _response(comparison),
        _processor(comparison),
    ]
    tables += [
        _whole(comparison),
        _parts(comparison),
        _output(comparison),
        *chain_tables(comparison.chains),
        road_table(comparison.roads),
    ]
    return [_with_mark_explained(table) for table in tables if table is not None]


def _with_mark_explained(table: Table) -> Table:
    """The table with a line on the mark of extrapolated figures, if one of its rows has it."""
    if not any(name.endswith(EXTRAPOLATED_MARK) for name in table.columns[0].cells):
        return table
    return replace(table, foot="\n".join(filter(None, (table.foot, _MARK_FOOT))))


def _conditions(comparison: Comparison) -> Table | None:
    conditions = comparison.conditions
    if not conditions:
        return None
    columns = (
        Column("condition", tuple(condition.shown_name for condition in conditions)),
        Column("A", tuple(cut(condition.shown_values[0], _MOST_CONDITION_CHARS) for condition in conditions)),
        Column("B", tuple(cut(condition.shown_values[1], _MOST_CONDITION_CHARS) for condition in conditions)),
    )
    return Table("Conditions that differ", columns, name_width=36)


def _judged(comparison: Comparison) -> Table | None:
    figures = comparison.judged
    if not figures:
        return None
    notation, second = notation_for(figures), second_figures(comparison.b)
    columns = (
        Column("figure", tuple(name_of(predicted.measure) for predicted in figures)),
        Column("predicted", tuple(figure(predicted.measure, predicted.before) for predicted in figures)),
        Column(second, tuple(figure(predicted.measure, predicted.after) for predicted in figures)),
        Column("difference", tuple(change(predicted, notation) for predicted in figures), spare=2),
        Column("95 % interval", tuple(change_interval(predicted, notation) for predicted in figures), spare=1),
        Column(
            f"right within {100 * figures[0].within:g} %",
            tuple(_RIGHT_WORDS[predicted.judgement] for predicted in figures),
        ),
    )
    title = f"A as a prediction of B: {_subject(comparison)}"
    return Table(title, columns, foot=two_intervals(comparison.judged))


_RIGHT_WORDS: dict[Judgement, str] = {
    "inside": "yes",
    "outside": "no",
    "too wide to judge": "cannot tell",
    "not to be judged": "no interval",
}
"""The judgements of a prediction in its table."""


def _subject(comparison: Comparison) -> str:
    if comparison.is_by_totals:
        return "a mean interaction, each side in its own mix"
    return (
        "a mean interaction, in the mix of both" if comparison.rows.by == "command" else "the whole script of one user"
    )


def _processor(comparison: Comparison) -> Table | None:
    """The processor time of each row, split into page faults and the rest if the faults were timed."""
    rows = comparison.rows.rows
    if not _known(rows, "cpu"):
        return None
    is_split = _known(rows, "page")
    split_columns = [
        [
            Column(f"{letter} non-page", _cells(rows, "work", figure_of), spare=3),
            Column(
                f"{letter} page{', estimated' * bool(side.fault_error_share)}", _cells(rows, "page", figure_of), spare=3
            ),
        ]
        for letter, side, figure_of in (("A", comparison.a, _before), ("B", comparison.b, _after))
    ]
    columns = (
        Column(_heading(comparison), _labels(rows)),
        Column("A CPU" if is_split else "A", _cells(rows, "cpu", _before)),
        Column("B CPU" if is_split else "B", _cells(rows, "cpu", _after)),
        *_verdict_columns(rows, "cpu"),
        *_counts(rows),
        *(column for side in split_columns for column in side if is_split),
    )
    return Table("Processor time", columns, total_rows=1, charts=("changes-cpu", "sides-cpu"))


def _response(comparison: Comparison) -> Table | None:
    rows = comparison.rows.rows
    if not _known(rows, "response"):
        return None
    columns = (
        Column(_heading(comparison), _labels(rows)),
        Column("A", _cells(rows, "response", _before)),
        Column("B", _cells(rows, "response", _after)),
        *_verdict_columns(rows, "response"),
        *_counts(rows),
    )
    charts = ("changes-response", "sides-response", "distribution")
    return Table("Response time", columns, total_rows=1, charts=charts, foot=_margin_foot(rows, "response"))


def _margin_foot(rows: Sequence[Row], measure: str) -> str:
    """The margin in words, where it decides between no difference and cannot tell. Empty elsewhere."""
    differences = [row.measures[measure] for row in rows]
    if not any(one.verdict == "no difference" or one.cannot_tell_by == "width" for one in differences):
        return ""
    margin = differences[0].margin
    return (
        f"no difference: the interval lies within {percent(1 / (1 + margin) - 1).removesuffix(' %')} to "
        f"+{margin_in_words(margin)}; cannot tell: it includes 0 and reaches beyond."
    )


def _heading(comparison: Comparison) -> str:
    return "command" if comparison.rows.by == "command" else "line"


def _labels(rows: Sequence[Row]) -> tuple[str, ...]:
    marked = {row.label for row in rows if any(difference.extrapolated for difference in row.measures.values())}
    return tuple(f"{row.label} {EXTRAPOLATED_MARK}" if row.label in marked else row.label for row in rows)


def _counts(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The numbers of interactions of A and B. One number where both are the same. Empty if a side is printed."""
    cells = tuple("" if row.counts is None else _count(*row.counts) for row in rows)
    return (Column("count", cells, spare=2, folded=True),) if any(cells) else ()


def _count(a: int, b: int) -> str:
    return f"{a:,}" if a == b else f"{a:,} and {b:,}"


def _known(rows: Sequence[Row], measure: str) -> bool:
    return any(row.measures[measure].change is not None for row in rows)


def _before(difference: Difference) -> float | None:
    return difference.before


def _after(difference: Difference) -> float | None:
    return difference.after


def _cells(rows: Sequence[Row], measure: str, figure_of: Callable[[Difference], float | None]) -> tuple[str, ...]:
    return tuple(figure(measure, figure_of(row.measures[measure])) for row in rows)


def _verdict_columns(rows: Sequence[Row], measure: str) -> tuple[Column, ...]:
    differences = [row.measures[measure] for row in rows]
    notation = notation_for(differences)
    return (
        Column("change", tuple(change(difference, notation) for difference in differences)),
        *_intervals(differences, notation),
        Column("B is", tuple(difference.verdict for difference in differences), kept=True),
    )


def _intervals(differences: Sequence[Difference], notation: Notation) -> tuple[Column, ...]:
    """The column of intervals. Empty if there are no intervals."""
    if not any(difference.interval for difference in differences):
        return ()
    intervals = tuple(change_interval(difference, notation) for difference in differences)
    return (Column("95 % interval", intervals, spare=1, of_previous=True),)


def _whole(comparison: Comparison) -> Table | None:
    measured = [comparison.rows.whole[name] for name in _WHOLE_MEASURES if name in comparison.rows.whole]
    shown = [difference for difference in measured if difference.before is not None or difference.after is not None]
    if not shown:
        return None
    if comparison.is_by_totals:
        shown.sort(key=lambda difference: difference.change is None)
    notation = notation_for(comparison.rows.whole.values())
    columns = (
        Column("", tuple(_whole_name(row) for row in shown)),
        Column("A", tuple(_whole_figure(row, row.before, comparison.a.currency) for row in shown)),
        Column("B", tuple(_whole_figure(row, row.after, comparison.b.currency) for row in shown)),
        Column("change", tuple(change(row, notation) for row in shown)),
        *_intervals(shown, notation),
        Column("B is", tuple(row.verdict for row in shown), kept=True),
    )
    foot = _ESTIMATE_FOOT if any(row.estimate_doubt for row in shown) else ""
    return Table(f"In all: {_subject(comparison)}", columns, foot=foot)


def _whole_name(row: Difference) -> str:
    """The measure's name. Of small costs it says for how many interactions they are."""
    scale = money_scale([row.before, row.after]) if row.measure == "cost" else 1
    name = name_of(row.measure) if scale == 1 else f"{name_of(row.measure)} of {scale:,}"
    name = f"{name} {_ESTIMATE_MARK}" if row.estimate_doubt else name
    return f"{name} {EXTRAPOLATED_MARK}" if row.extrapolated else name


def _whole_figure(row: Difference, amount: float | None, currency: str) -> str:
    if row.measure != "cost":
        return figure(row.measure, amount)
    return money(amount, currency, money_scale([row.before, row.after]))


def _parts(comparison: Comparison) -> Table | None:
    busy = comparison.parts.busy
    if busy is None:
        return None
    shown = [*(part for part in comparison.parts.parts if part.busy), busy]
    has_counts = any(part.by_count is not None for part in shown)
    all_change = busy.change
    columns = (
        Column(
            "processor time",
            tuple(category_name(part.name) for part in shown),
            hints=tuple(category_term(part.name).sentence for part in shown),
        ),
        Column("A", tuple(duration(part.before) for part in shown), spare=1),
        Column("B", tuple(duration(part.after) for part in shown), spare=1),
        Column("change", tuple(signed(part.change) for part in shown)),
        *_interval_columns(shown),
        Column("of the change", tuple(_share_of(part.change, all_change) for part in shown)),
        *(_counted(shown) if has_counts else ()),
    )
    return Table("Where one interaction's processor time went, and what changed it", columns, total_rows=1)


def _share_of(change: float, all_change: float) -> str:
    """A part's share of the whole change; a minus says that the part moved the other way."""
    return percent(change / all_change).removeprefix("+") if all_change else NOT_MEASURED


def _interval_columns(shown: Sequence[Part]) -> tuple[Column, ...]:
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
        Column("number B", tuple(number(part.count_after) for part in shown), spare=2),
        Column("each A", tuple(duration(part.each_before) for part in shown), spare=3),
        Column("each B", tuple(duration(part.each_after) for part in shown), spare=3),
        Column("by number", tuple(signed(part.by_count) for part in shown)),
        Column("by time each", tuple(signed(part.by_each) for part in shown)),
    )


def _output(comparison: Comparison) -> Table | None:
    lines = comparison.parts.output
    if not lines:
        return None

    def shown(unit: str, value: float) -> str:
        return duration(value) if unit == "ns" else number(value)

    shares = [line.after / line.before - 1 if line.before else None for line in lines]
    notation = notation_of((share, None) for share in shares)
    columns = (
        Column("for each line of output", tuple(_output_name(line.name) for line in lines)),
        Column("A", tuple(shown(line.unit, line.before) for line in lines)),
        Column("B", tuple(shown(line.unit, line.after) for line in lines)),
        Column(
            "change",
            tuple("from 0" if share is None else relative_change(share, None, notation) for share in shares),
        ),
    )
    return Table("By line of output", columns)


def _output_name(name: str) -> str:
    """The displayed name of a quantity: today's term for the stored plural `wall crossings`."""
    stored = name.removesuffix("s")
    return f"{category_name(stored)}s" if stored in CATEGORY_TERMS else name
