"""What runs cost as a document: the answer in a sentence, tables, and the fine print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.costs.as_json import costs_json
from loadgo.costs.cost import Costs, Point
from loadgo.costs.curve import Curve, curves
from loadgo.costs.curve_document import curve_answer, curve_notes, curve_pictures, curve_tables
from loadgo.costs.priced import Item, Priced, Row
from loadgo.costs.words import AMOUNTS, INTERVALS, NO_INTERVALS, interval, of_scale, tariffs_in_words
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import (
    NOT_MEASURED,
    counted,
    digits,
    duration,
    money,
    money_scale,
    number,
    people,
    share,
    size,
)

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_MOST_ROWS = 40


def render_costs(made: Costs, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The costs as `format`; `width` and `color` are for `text`. Raises `ValueError` for another format."""
    return render(format, lambda: costs_document(made), lambda: costs_json(made), width=width, color=color)


def costs_document(made: Costs) -> Document:
    """Of one load, what each command or user costs; of several, their curves."""
    every = curves(made.points) if len(made.points) > 1 else ()
    return _of_curve(made, every) if every else _of_load(made)


def _of_load(made: Costs) -> Document:
    point = made.points[0]
    grids = [_at_tariffs(point)] if len(point.priced) > 1 else []
    grids += [_by(made, point.priced[0]), _items(point.priced[0])]
    return Document(
        title=f"what {made.title} costs",
        answer=answer(point),
        about=(made.title, _scope(point)),
        sections=tuple(grids),
        notes=tuple(notes(made)),
    )


def _of_curve(made: Costs, every: Sequence[Curve]) -> Document:
    def charts() -> list[Chart]:
        from loadgo.costs.curve_charts import cost_charts

        return cost_charts(every)

    return Document(
        title=f"what {made.title} costs over the load",
        answer=curve_answer(every),
        about=(made.title, *(_scope(point) for point in made.points)),
        sections=(*curve_pictures(every), Charts(charts), *curve_tables(made, every)),
        notes=(*curve_notes(made, every), *notes(made)),
    )


def answer(point: Point) -> str:
    """What an interaction and a user's hour cost, at the first tariff of which it is known."""
    told = next((one for one in point.priced if one.known), point.priced[0])
    if not told.known:
        return "What it costs cannot be told: what is charged for was not measured."
    scale = money_scale([told.interaction.value])
    currency = told.tariff.currency
    each = money(told.interaction.value, currency, scale)
    between = f" ({interval(told.interaction.interval, currency, scale)})" if told.interaction.interval else ""
    hour = f", a user's hour {money(told.user_hour.value, currency)}" if told.user_hour.value is not None else ""
    return f"{AMOUNTS[scale]} {each}{between}{hour}, at {told.tariff.in_words()}."


def notes(made: Costs) -> list[tuple[str, str]]:
    """The fine print: the tariffs and where they are from, what is shared and how, what is charged to nobody."""
    told = [one for point in made.points for one in point.priced]
    tariffs = list(dict.fromkeys(one.tariff for one in told))
    found = []
    found += [("Tariff", text) for text in tariffs_in_words(tariffs)]
    items = {item.name for one in told for item in one.items}
    if items & {"the machine", "memory"}:
        held = " and ".join(name for name in ("the machine", "memory") if name in items)
        found.append(("Shared", f"What {held} costs is shared by users' time, from prompt to prompt."))
    found += [("Not known", text) for text in dict.fromkeys(_missing(one) for one in told) if text]
    found += _uncharged(made.points)
    if any(one.interaction.interval for one in told):
        found.append(("Intervals", INTERVALS))
    else:
        found.append(("Intervals", NO_INTERVALS))
    if len(made.points) == 1 and (left := len(told[0].rows) - len(shown(told[0]))):
        found.append(
            ("Left out", f"{left:,} more that cost less, which the JSON has: the dearest {_MOST_ROWS} are shown.")
        )
    found += [("Note", text) for text in made.notes]
    return found


def _scope(point: Point) -> str:
    stretch = point.use.stretches[0]
    part = "the steady part of the run" if stretch.name == "steady" else "the whole run"
    runs = f"{len(point.runs)} runs ({', '.join(point.runs)})" if len(point.runs) > 1 else point.runs[0]
    who = f"{counted(point.use.interactions, 'interaction')} of {people(point.users)}"
    return f"{runs}: {who}, {duration(point.use.held.elapsed_ns)}, {part}"


def _at_tariffs(point: Point) -> Table:
    """A row for each tariff; money is of as many interactions as the least of them needs."""
    told = point.priced
    scale = max(money_scale([one.interaction.value]) for one in told)
    intervals = any(one.interaction.interval for one in told)
    beside = any(one.uncharged is not None for one in told)
    columns = [
        Column("tariff", tuple(one.tariff.label for one in told)),
        Column(of_scale(scale), tuple(money(one.interaction.value, one.tariff.currency, scale) for one in told)),
        *([Column("95 %", tuple(_interval(one, scale) for one in told), spare=2)] if intervals else []),
        Column("a user's hour", tuple(money(one.user_hour.value, one.tariff.currency) for one in told)),
        Column("a megabit out", tuple(money(one.megabit.value, one.tariff.currency) for one in told), spare=1),
    ]
    if beside:
        cells = tuple(money(one.uncharged, one.tariff.currency, scale) for one in told)
        columns.append(Column("charged to nobody", cells, spare=3))
    return Table("At each tariff", tuple(columns), name_width=32)


def _by(made: Costs, told: Priced) -> Table:
    """A row for each command, or each user, and one for all; of very many the dearest."""
    rows = [*shown(told), told.everything]
    currency, scale = told.tariff.currency, money_scale([row.each.value for row in told.rows])
    whole = told.everything.total
    items = [rate.item for rate in told.rates] if len(told.rates) > 1 else []
    columns = [
        Column(made.by, tuple(row.name for row in rows)),
        Column("interactions", tuple(number(row.interactions) for row in rows), spare=3),
        Column(of_scale(scale), tuple(money(row.each.value, currency, scale) for row in rows)),
        Column("95 %", tuple(interval(row.each.interval, currency, scale) for row in rows), spare=2),
    ]
    if made.by == "user" or told.interaction.interval is None:
        del columns[-1]
    for name in items:
        columns.append(Column(name, tuple(money(row.parts[name], currency, scale) for row in rows), spare=4))
    columns += [
        Column("a user's hour", tuple(money(row.user_hour, currency) for row in rows), spare=5),
        Column("a megabit out", tuple(money(row.megabit, currency) for row in rows), spare=6),
        Column("together", tuple(money(row.total, currency) for row in rows), spare=1),
        Column("share", tuple(share(row.total / whole if row.total is not None and whole else None) for row in rows)),
    ]
    return Table(f"By {made.by}, at {told.tariff.label}", tuple(columns), total_rows=1)


def shown(told: Priced) -> list[Row]:
    """The rows that a page has room for: all, or those that cost most together."""
    if len(told.rows) <= _MOST_ROWS:
        return list(told.rows)
    return sorted(told.rows, key=lambda row: -(row.total or 0.0))[:_MOST_ROWS]


def _items(told: Priced) -> Table:
    """What is charged for: how much of it, and what that comes to."""
    currency, whole = told.tariff.currency, told.everything.total
    columns = (
        Column("charged for", tuple(item.name for item in told.items)),
        Column("used", tuple(_quantity(item) for item in told.items)),
        Column("costs", tuple(money(item.amount, currency) for item in told.items)),
        Column(
            "share",
            tuple(share(item.amount / whole if item.amount is not None and whole else None) for item in told.items),
        ),
    )
    return Table(f"What is charged for, at {told.tariff.label}", columns)


def _quantity(item: Item) -> str:
    if item.quantity is None:
        return NOT_MEASURED
    if item.name == "memory":
        return f"{size(item.quantity / 3.6e12)} × h"
    return size(item.quantity) if item.name in ("output", "input") else duration(item.quantity)


def _interval(told: Priced, scale: int) -> str:
    return interval(told.interaction.interval, told.tariff.currency, scale)


def _missing(told: Priced) -> str:
    names = [item.name for item in told.items if item.amount is None]
    if not names:
        return ""
    return f"{told.tariff.label} charges for {' and '.join(names)}, which the run did not measure."


def _uncharged(points: Sequence[Point]) -> list[tuple[str, str]]:
    """What the machine did beside, at the first tariff that charges for processor time."""
    if len(points) > 1:
        return []
    for told in points[0].priced:
        value = told.interaction.value
        if told.uncharged is not None and value:
            return [("Nobody's", _beside_them(told.uncharged / value))]
    return []


def _beside_them(ratio: float) -> str:
    """What interactions would cost with all that the machine did; below nothing, that it was not all metered."""
    if ratio < 0:
        return (
            f"All that the machine was seen to do (without the laboratory's part) comes to {share(-ratio)} less than "
            "the interactions used: not all of their time was metered, or it was metered in ticks. See loadgo report."
        )
    amount = f"{share(ratio)} more" if ratio < 2 else f"{digits(1 + ratio)} times as much"
    return (
        "With all that the machine did beside them (without the laboratory's part) interactions would "
        f"cost {amount} at the same price; on a host that is kernel workers and others' processes too."
    )
