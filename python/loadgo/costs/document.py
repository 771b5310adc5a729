"""Costs of runs as a document: the answer in a sentence, tables, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from loadgo.costs.cost import Costs, Point
from loadgo.costs.curve import Curve, curves
from loadgo.costs.curve_document import curve_answer, curve_notes, curve_pictures, curve_tables
from loadgo.costs.priced import Item, Priced, Row
from loadgo.costs.trust import costs_trust, curve_trust
from loadgo.costs.words import (
    COST_SENTENCE_STARTS,
    FEW_MEANING,
    INTERVAL_NOTE,
    NO_INTERVALS_NOTE,
    UNKNOWN_COST_ANSWER,
    cost_by,
    interval,
    is_sum_told,
    is_told,
    money_column,
    of_scale,
    scale_of,
    tariff_in_title,
    tariffs_in_words,
)
from loadgo.documents.document import Charts, Document, SignPicture
from loadgo.documents.signs import bar
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import (
    NOT_MEASURED,
    TOO_FEW_TEXT,
    counted,
    cut,
    digits,
    duration,
    money,
    number,
    people,
    share,
    size,
)
from loadgo.notation.terms import factor_name

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_MOST_ROWS = 40
_BAR_NAME_CHARS = 24
_MOST_BAR_CHARS = 72


def costs_document(costs: Costs) -> Document:
    """The document: costs by command or user for one load, curves for several loads."""
    tariff_curves = curves(costs.points) if len(costs.points) > 1 else ()
    return _curve_document(costs, tariff_curves) if tariff_curves else _load_document(costs)


def _load_document(costs: Costs) -> Document:
    point = costs.points[0]
    priced = point.priced[0]

    def charts() -> list[Chart]:
        from loadgo.costs.row_charts import row_charts

        return row_charts(priced, shown(priced), costs.by)

    tables = [_at_tariffs(point)] if len(point.priced) > 1 else []
    tables += [_rows_table(costs, priced), _items(priced)]
    return Document(
        title=f"what {costs.title} costs",
        answer=answer(point),
        trust=costs_trust(costs),
        warnings=costs.warnings,
        about=(costs.title, _scope(point)),
        sections=(*row_pictures(priced, shown(priced), costs.by), Charts(charts), *tables),
        notes=tuple(notes(costs)),
    )


def _curve_document(costs: Costs, tariff_curves: Sequence[Curve]) -> Document:
    def charts() -> list[Chart]:
        from loadgo.costs.curve_charts import cost_charts

        return cost_charts(tariff_curves)

    return Document(
        title=f"what {costs.title} costs over the load",
        answer=curve_answer(tariff_curves),
        trust=curve_trust(costs, tariff_curves),
        warnings=costs.warnings,
        about=(costs.title, *(_scope(point) for point in costs.points)),
        sections=(*curve_pictures(tariff_curves), *curve_tables(costs, tariff_curves), Charts(charts)),
        notes=(*curve_notes(costs, tariff_curves), *notes(costs)),
    )


def answer(point: Point) -> str:
    """A sentence with the costs of an interaction and a user's hour, at the first tariff with known costs."""
    priced = next((priced for priced in point.priced if priced.known), point.priced[0])
    if not priced.known:
        return UNKNOWN_COST_ANSWER
    scale = priced.tariff.counted
    currency = priced.tariff.currency
    each = money(priced.interaction.value, currency, scale)
    ends = priced.interaction.interval
    bounds = f" (95 % interval {interval(ends, currency, scale)})" if ends else ""
    shift = f" on shift {priced.tariff.shift}" if priced.tariff.shift else ""
    hour = _hour_in_words(point, priced)
    return f"{COST_SENTENCE_STARTS[scale]} {each}{bounds}{hour}{shift}, at {priced.tariff.in_words()}."


def _hour_in_words(point: Point, priced: Priced) -> str:
    """The cost of a user's hour after a comma; empty if it is not known. Users of a rented machine share its rent."""
    cost, currency = priced.user_hour.value, priced.tariff.currency
    if cost is None:
        return ""
    scale = scale_of([cost])
    hour = "a user's hour" if scale == 1 else "a million users' hours"
    return f", {hour} {money(cost, currency, scale)}{_sharing_in_words(point) if priced.tariff.machine_hour else ''}"


def _sharing_in_words(point: Point) -> str:
    """The number of users whom the rent of the machine is divided by, and how busy they kept it."""
    sharing = f"{people(point.users)} {'sharing' if point.users > 1 else 'alone on'} the machine"
    machine = point.use.machine
    busy = "" if machine is None else f" ({share(machine.busy_ns / machine.total_ns)} busy)"
    return f" with {sharing}{busy}"


def notes(costs: Costs) -> list[tuple[str, str]]:
    """Labelled notes: tariffs with their sources, shared costs, time charged to nobody, intervals, and hidden rows."""
    priced_uses = [priced for point in costs.points for priced in point.priced]
    tariffs = list(dict.fromkeys(priced.tariff for priced in priced_uses))
    lines = [("Tariff", text) for text in tariffs_in_words(tariffs)]
    items = {item.name for priced in priced_uses for item in priced.items}
    if items & {"the machine", "memory"}:
        shared_items = " and ".join(name for name in ("the machine", "memory") if name in items)
        lines.append(("Shared", f"What {shared_items} costs is shared by users' time, from prompt to prompt."))
    lines += [("Not known", text) for text in dict.fromkeys(_missing(priced) for priced in priced_uses) if text]
    lines += _uncharged(costs.points)
    has_intervals = any(priced.interaction.interval for priced in priced_uses)
    lines.append(("Intervals", INTERVAL_NOTE if has_intervals else NO_INTERVALS_NOTE))
    if len(costs.points) == 1 and (hidden := len(priced_uses[0].rows) - len(shown(priced_uses[0]))):
        lines.append(
            ("Left out", f"{hidden:,} rows with lower costs; the JSON has them. The {_MOST_ROWS} dearest are shown.")
        )
    lines += [("Note", text) for text in costs.notes]
    return lines


def _scope(point: Point) -> str:
    """The runs of a point and what of them was priced."""
    stretch = point.use.stretches[0]
    part = "the steady part of the run" if stretch.name == "steady" else "the whole run"
    runs = f"{len(point.runs)} runs ({', '.join(point.runs)})" if len(point.runs) > 1 else point.runs[0]
    subject = f"{counted(point.use.interactions, 'interaction')} of {people(point.users)}"
    return f"{runs}: {subject}, {duration(point.use.held.elapsed_ns)}, {part}"


def _at_tariffs(point: Point) -> Table:
    """A row for each tariff. The lowest prices decide for how many interactions costs are printed."""
    uses = point.priced
    currencies = [use.tariff.currency for use in uses]
    scale = max(use.tariff.counted for use in uses)
    has_intervals = any(use.interaction.interval for use in uses)
    has_uncharged = any(use.uncharged is not None for use in uses)
    columns = [
        Column("tariff", tuple(use.tariff.label for use in uses)),
        Column(of_scale(scale), tuple(money(use.interaction.value, use.tariff.currency, scale) for use in uses)),
        *([Column("95 %", tuple(_interval(use, scale) for use in uses), spare=2)] if has_intervals else []),
        money_column("a user's hour", [use.user_hour.value for use in uses], currencies),
        money_column("a megabit of output", [use.megabit.value for use in uses], currencies, spare=1),
    ]
    if has_uncharged:
        cells = tuple(money(use.uncharged, use.tariff.currency, scale) for use in uses)
        columns.append(Column("charged to nobody", cells, spare=3))
    return Table("At each tariff", tuple(columns), name_width=32)


def _rows_table(costs: Costs, priced: Priced) -> Table:
    """A row for each command or user, and a row for all. Of more than `_MOST_ROWS`, the dearest are shown."""
    rows = [*shown(priced), priced.everything]
    currency, scale = priced.tariff.currency, priced.tariff.counted
    total = priced.everything.total
    items = [rate.item for rate in priced.rates] if len(priced.rates) > 1 else []
    columns = [
        Column(costs.by, tuple(row.name for row in rows)),
        Column("interactions", tuple(number(row.interactions) for row in rows), spare=3),
        Column(of_scale(scale), tuple(_told(row, money(row.each.value, currency, scale)) for row in rows)),
        Column("95 %", tuple(_told(row, interval(row.each.interval, currency, scale)) for row in rows), spare=2),
    ]
    if costs.by == "user" or priced.interaction.interval is None:
        del columns[-1]
    for name in items:
        cells = tuple(_told(row, money(row.parts[name], currency, scale)) for row in rows)
        columns.append(Column(name, cells, spare=4))

    def told(row: int, text: str) -> str:
        return _told(rows[row], text)

    currencies = [currency] * len(rows)
    factor = _part_factor(priced)
    columns += [
        money_column("a user's hour", [row.user_hour for row in rows], currencies, 5, told),
        money_column("a megabit of output", [row.megabit for row in rows], currencies, 6, told),
        Column(
            "in all" if factor is None else "part of all",
            tuple(_sum_told(row, _part(row.total, currency, factor)) for row in rows),
            spare=1,
        ),
        Column("share", tuple(_sum_told(row, _share_of(row.total, total)) for row in rows)),
    ]
    return Table(
        f"By {costs.by} {tariff_in_title(priced.tariff)}",
        tuple(columns),
        total_rows=1,
        charts=("cost-rows",),
        absent={TOO_FEW_TEXT: FEW_MEANING},
        foot=f"part of all: what the row adds to the cost of {scale:,} interactions." if factor is not None else "",
    )


def _part_factor(priced: Priced) -> float | None:
    """The factor from a part of a run's costs to that of so many interactions as money is printed for.

    None where parts of the run's own costs are printed. At low prices they are too small to be read.
    """
    scale, interactions = priced.tariff.counted, priced.everything.interactions
    return None if scale == 1 or not interactions else scale / interactions


def _part(amount: float | None, currency: str, factor: float | None) -> str:
    return money(None if amount is None else amount * (factor or 1.0), currency)


def _told(row: Row, text: str) -> str:
    """The text of a mean, or a word for a row with too few interactions for one."""
    return text if is_told(row) else TOO_FEW_TEXT


def _sum_told(row: Row, text: str) -> str:
    return text if is_sum_told(row) else TOO_FEW_TEXT


def _share_of(amount: float | None, total: float | None) -> str:
    return share(amount / total if amount is not None and total else None)


def shown(priced: Priced) -> list[Row]:
    """The rows that a page has room for: all, or those with the highest total cost."""
    if len(priced.rows) <= _MOST_ROWS:
        return list(priced.rows)
    return sorted(priced.rows, key=lambda row: -(row.total or 0.0))[:_MOST_ROWS]


def _items(priced: Priced) -> Table:
    """The items that the tariff charges for, with the quantity used and the amount."""
    currency, total = priced.tariff.currency, priced.everything.total
    factor = _part_factor(priced)
    columns = (
        Column("charged for", tuple(factor_name(item.name) for item in priced.items)),
        Column("used in all", tuple(_quantity(item) for item in priced.items)),
        Column(
            "costs" if factor is None else of_scale(priced.tariff.counted),
            tuple(_part(item.amount, currency, factor) for item in priced.items),
        ),
        Column(
            "share",
            tuple(share(item.amount / total if item.amount is not None and total else None) for item in priced.items),
        ),
    )
    return Table(f"What is charged for {tariff_in_title(priced.tariff)}", columns)


def _quantity(item: Item) -> str:
    if item.quantity is None:
        return NOT_MEASURED
    if item.name == "memory":
        return f"{size(item.quantity / 3.6e12)} × h"
    return size(item.quantity) if item.name in ("output", "input") else duration(item.quantity)


def _interval(priced: Priced, scale: int) -> str:
    return interval(priced.interaction.interval, priced.tariff.currency, scale)


def _missing(priced: Priced) -> str:
    names = [factor_name(item.name) for item in priced.items if item.amount is None]
    if not names:
        return ""
    return f"{priced.tariff.label} charges for {' and '.join(names)}, which the run did not measure."


def _uncharged(points: Sequence[Point]) -> list[tuple[str, str]]:
    """A note about the busy time that no interaction used, at the first tariff with a price for processor time."""
    if len(points) > 1:
        return []
    for priced in points[0].priced:
        value = priced.interaction.value
        if priced.uncharged is not None and value:
            return [("Nobody's", _uncharged_in_words(priced.uncharged / value))]
    return []


def _uncharged_in_words(ratio: float) -> str:
    """A sentence about the uncharged busy time, whose price is `ratio` of the cost of the interactions.

    The ratio is negative if the meters missed some of the busy time.
    """
    if ratio < 0:
        return (
            f"The machine's metered busy time without loadgo's own is {share(-ratio)} less than what the interactions "
            "used: not all of their time was metered, or it was metered in ticks. See loadgo report."
        )
    amount = f"{share(ratio)} more" if ratio < 2 else f"{digits(1 + ratio)} times as much"
    return (
        "If interactions paid for all other busy time too, without loadgo's own, they would "
        f"cost {amount} at the same price. On a host, that includes kernel workers and other programs."
    )


def row_pictures(priced: Priced, rows: Sequence[Row], by: str) -> list[SignPicture]:
    """A bar for each row whose cost can be told, the dearest first. Empty for fewer than two."""
    told = sorted(
        (row for row in rows if is_told(row) and row.each.value is not None), key=lambda row: -(row.each.value or 0.0)
    )
    if len(told) < 2 or not told[0].each.value:
        return []
    tariff = priced.tariff
    return [SignPicture(cost_by(by, tariff), partial(_bar_lines, told, tariff.currency, tariff.counted))]


def _bar_lines(rows: Sequence[Row], currency: str, scale: int, width: int) -> list[str]:
    names = [cut(row.name, _BAR_NAME_CHARS) for row in rows]
    cells = [money(row.each.value, currency, scale) for row in rows]
    left, right = max(map(len, names)), max(map(len, cells))
    room = max(8, min(_MOST_BAR_CHARS, width - left - right - 4))
    most = rows[0].each.value or 1.0
    bars = [bar((row.each.value or 0.0) / most, room) for row in rows]
    return [
        f"{name:<{left}}  {cell:>{right}}  {drawn}".rstrip()
        for name, cell, drawn in zip(names, cells, bars, strict=True)
    ]
