"""The curve of costs as parts of a document: the answer, tables by tariff and command, and bars of signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.costs.cost import Costs
from loadgo.costs.curve import Curve, Load, left_out
from loadgo.costs.words import (
    COST_SENTENCE_STARTS,
    UNKNOWN_COST_ANSWER,
    cost_by,
    curve_chart_name,
    interval,
    money_column,
    of_scale,
    tariff_in_title,
)
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import bar
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import as_code, digits, duration, money, number, people, share

_MOST_BAR_CHARS = 72
"""The largest number of characters of a bar, as in the other pictures for a terminal."""
_MOST_TARIFFS = 3
"""The largest number of tariffs with tables of their own. Shifts of one tariff differ only by a factor."""


def curve_answer(tariff_curves: Sequence[Curve]) -> str:
    """The highest and the lowest cost of an interaction, at the first tariff with known costs."""
    curve = next((curve for curve in tariff_curves if curve.times is not None), None)
    if curve is None or curve.dearest is None or curve.cheapest is None:
        return UNKNOWN_COST_ANSWER
    scale = curve.tariff.counted
    most, least = (
        f"{money(load.interaction.value, curve.tariff.currency, scale)} with {people(load.users)}"
        for load in (curve.dearest, curve.cheapest)
    )
    start = COST_SENTENCE_STARTS[scale]
    amount = f"With the same mix of commands, {start[0].lower()}{start[1:]}"
    times = f"the first is {digits(curve.times or 1.0)} times the second"
    if curve.told_apart is False:
        times = "these runs cannot tell which is higher"
    sentence = f"{amount} {most}, {least}: {times}, at {curve.tariff.in_words()}."
    return sentence + (_doubt(curve.dearest, curve.cheapest) if curve.told_apart is None else "")


def _doubt(*loads: Load) -> str:
    """The sentence on the loads without an interval that tells costs apart."""
    missing = [people(load.users) for load in dict.fromkeys(loads) if load.interaction.interval is None]
    reason = f"The cost with {' and with '.join(missing)} has no interval" if missing else "An interval reaches to 0"
    return f" {reason}, so chance alone may explain the difference."


def curve_tables(costs: Costs, tariff_curves: Sequence[Curve]) -> list[Table]:
    """A table for each tariff, and a table of the commands by load at the first tariff."""
    tables = [
        _loads(costs, curve, curve_chart_name(index)) for index, curve in enumerate(tariff_curves[:_MOST_TARIFFS])
    ]
    return [*tables, _commands(costs, tariff_curves[0])] if costs.by == "command" else tables


def curve_pictures(tariff_curves: Sequence[Curve]) -> list[SignPicture]:
    """Bars of the cost of an interaction by the number of users, for each tariff."""
    return [
        SignPicture(cost_by("the number of users", curve.tariff), _bars(curve))
        for curve in tariff_curves[:_MOST_TARIFFS]
        if curve.dearest is not None
    ]


def curve_notes(costs: Costs, tariff_curves: Sequence[Curve]) -> list[tuple[str, str]]:
    """Notes about the columns, and about differences between the runs."""
    notes = [
        (
            "Mix",
            "At every load, the cost is that of an interaction in one mix of commands, that of all these runs. `loadgo "
            "compare` of two of them weights commands by the mean of both runs' shares, so its change of CPU is "
            "another one.",
        )
    ]
    if left := left_out(costs.points):
        notes.append(("Mix", f"Left out of the mix, since not every load has them: {', '.join(map(as_code, left))}."))
    notes.append(("Busy", "is the processors' busy time while loadgo ran, but for loadgo's own (driver and meters)."))
    if any(load.whole is not None for curve in tariff_curves for load in curve.loads):
        notes.append(
            (
                "All busy time",
                "is an interaction's cost if users paid for all busy time of the machine but loadgo's own, at the "
                "price of processor time. On a host, that includes kernel workers and other programs.",
            )
        )
    if len(tariff_curves) > _MOST_TARIFFS:
        names = ", ".join(curve.tariff.label for curve in tariff_curves[_MOST_TARIFFS:])
        notes.append(("Left out", f"{names}. The JSON has them, or name them alone."))
    if costs.differing:
        notes.append(("Beware", f"the runs differ in more than users: {'; '.join(costs.differing)}."))
    return notes


def _others_in_words(costs: Costs) -> str:
    """The line below a table that has the price of all busy time; empty where other programs had little of it."""
    works = [run.other_work for run in costs.facts if run.other_work is not None and run.other_work.level != "quiet"]
    if not works:
        return ""
    most = share(max(work.share for work in works))
    return f"all busy time: with the work of other programs, which had up to {most} of the processors' time."


def _loads(costs: Costs, curve: Curve, chart: str) -> Table:
    loads, currency = curve.loads, curve.tariff.currency
    scale = curve.tariff.counted
    columns = [
        Column("users", tuple(number(load.users) for load in loads)),
        Column("interactions/s", tuple(number(load.throughput) for load in loads), spare=2),
        Column("busy (loadgo left out)", tuple(share(load.busy) for load in loads), spare=1),
        *_responses(loads),
        Column(of_scale(scale), tuple(money(load.interaction.value, currency, scale) for load in loads)),
    ]
    if any(load.interaction.interval for load in loads):
        cells = tuple(interval(load.interaction.interval, currency, scale) for load in loads)
        columns.append(Column("95 %", cells, spare=5))
    has_whole = any(load.whole is not None for load in loads)
    if has_whole:
        columns.append(Column("all busy time", tuple(money(load.whole, currency, scale) for load in loads), spare=4))
    columns.append(money_column("a user's hour", [load.user_hour.value for load in loads], [currency] * len(loads)))
    foot = _others_in_words(costs) if has_whole else ""
    return Table(f"By number of users {tariff_in_title(curve.tariff)}", tuple(columns), charts=(chart,), foot=foot)


def _responses(loads: Sequence[Load]) -> list[Column]:
    """The mean response; where lines had no answer, with the share that it is of: a mean without them is too short."""
    times = tuple(duration(load.response_ns) for load in loads)
    if all(load.answered_share >= 1 for load in loads):
        return [Column("response", times, spare=3)]
    answered = tuple(share(load.answered_share) for load in loads)
    return [Column("response of answered", times, spare=3), Column("answered", answered, spare=3)]


def _commands(costs: Costs, curve: Curve) -> Table:
    """The cost of each command by the number of users. On a narrow page the columns between the ends are left out."""
    priced_loads = [point.priced[0] for point in costs.points]
    names = list(dict.fromkeys(row.name for priced in priced_loads for row in priced.rows))
    tariff = priced_loads[0].tariff
    costs_by_load = [
        {row.name: row.each.value for row in priced.rows} | {"all": load.interaction.value}
        for priced, load in zip(priced_loads, curve.loads, strict=True)
    ]
    scale = tariff.counted
    columns = [Column("command", (*names, "all"))]
    for index, (point, cost_by_command) in enumerate(zip(costs.points, costs_by_load, strict=True)):
        is_inner = 0 < index < len(costs_by_load) - 1
        cells = tuple(money(cost_by_command.get(name), tariff.currency, scale) for name in (*names, "all"))
        columns.append(Column(people(point.users), cells, spare=index if is_inner else 0))
    return Table(cost_by("command", tariff), tuple(columns), total_rows=1)


def _bars(curve: Curve) -> Callable[[int], Sequence[str]]:
    """Draws a bar for each load, on a scale from zero to the highest cost."""
    loads, currency = curve.loads, curve.tariff.currency
    scale = curve.tariff.counted
    names = [people(load.users) for load in loads]
    cells = [money(load.interaction.value, currency, scale) for load in loads]
    most = max(load.interaction.value or 0.0 for load in loads)

    def lines(width: int) -> list[str]:
        room = max(8, min(_MOST_BAR_CHARS, width - max(map(len, names)) - max(map(len, cells)) - 4))
        shares = [(load.interaction.value or 0.0) / most if most else 0.0 for load in loads]
        bars = [bar(part, room) for part in shares]
        left, right = max(map(len, names)), max(map(len, cells))
        rows = zip(names, cells, bars, strict=True)
        return [f"{name:>{left}}  {cell:>{right}}  {drawn}" for name, cell, drawn in rows]

    return lines
