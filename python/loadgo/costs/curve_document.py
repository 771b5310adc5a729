"""The curve of costs as parts of a page: the answer, a table for each tariff, bars of signs, commands by load."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.costs.cost import Costs
from loadgo.costs.curve import Curve, left_out
from loadgo.costs.words import AMOUNTS, interval, of_scale
from loadgo.documents.document import SignPicture
from loadgo.documents.signs import bar
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import digits, duration, money, money_scale, number, people, share

_WIDEST = 72
"""How many signs the longest bar has at most: as the other pictures of a terminal."""
_MOST_TARIFFS = 3
"""Of more tariffs only so many have a table of their own; shifts differ by a factor."""


def curve_answer(every: Sequence[Curve]) -> str:
    """Where an interaction costs least and where most, at the first tariff of which it is known."""
    told = next((curve for curve in every if curve.times is not None), None)
    if told is None or told.dearest is None or told.cheapest is None:
        return "What it costs cannot be told: what is charged for was not measured."
    scale = money_scale([told.cheapest.interaction.value])
    most, least = (
        f"{money(load.interaction.value, told.tariff.currency, scale)} with {people(load.users)}"
        for load in (told.dearest, told.cheapest)
    )
    amount = AMOUNTS[scale]
    times = f"the first is {digits(told.times or 1.0)} times the second"
    return f"{amount} {most}, {least}: {times}, at {told.tariff.in_words()}."


def curve_tables(made: Costs, every: Sequence[Curve]) -> list[Table]:
    """A table for each tariff; and, at the first, a row for each command with a column for each load."""
    found = [_loads(curve) for curve in every[:_MOST_TARIFFS]]
    return [*found, _commands(made, every[0])] if made.by == "command" else found


def curve_pictures(every: Sequence[Curve]) -> list[SignPicture]:
    """Bars for the cost of an interaction by the number of users, for each tariff."""
    return [
        SignPicture(f"An interaction by the number of users, at {curve.tariff.label}", _bars(curve))
        for curve in every[:_MOST_TARIFFS]
        if curve.dearest is not None
    ]


def curve_notes(made: Costs, every: Sequence[Curve]) -> list[tuple[str, str]]:
    """What the columns mean, and what differs between the runs."""
    found = [("Mix", "An interaction is in the mix of commands of all these runs together, whatever each load had.")]
    if left := left_out(made.points):
        found.append(("Mix", f"Left out of it, since not every load has them: {', '.join(left)}."))
    if any(load.whole is not None for curve in every for load in curve.loads):
        found.append(
            (
                "All busy time",
                "is an interaction's cost, were all that the machine did (without the laboratory's part) charged to "
                "users at the price of processor time; on a host also kernel workers, and whoever else was there.",
            )
        )
    if len(every) > _MOST_TARIFFS:
        names = ", ".join(curve.tariff.label for curve in every[_MOST_TARIFFS:])
        found.append(("Left out", f"{names}: in the JSON, or name them alone."))
    if made.differing:
        found.append(("Beware", f"the runs differ in more than users: {'; '.join(made.differing)}."))
    return found


def _loads(curve: Curve) -> Table:
    loads, currency = curve.loads, curve.tariff.currency
    scale = money_scale([curve.cheapest.interaction.value if curve.cheapest else None])
    columns = [
        Column("users", tuple(number(load.users) for load in loads)),
        Column("interactions/s", tuple(number(load.throughput) for load in loads), spare=2),
        Column("busy but loadgo", tuple(share(load.busy) for load in loads), spare=1),
        Column("response", tuple(duration(load.response_ns) for load in loads), spare=3),
        Column(of_scale(scale), tuple(money(load.interaction.value, currency, scale) for load in loads)),
    ]
    if any(load.interaction.interval for load in loads):
        cells = tuple(interval(load.interaction.interval, currency, scale) for load in loads)
        columns.append(Column("95 %", cells, spare=5))
    if any(load.whole is not None for load in loads):
        columns.append(Column("all busy time", tuple(money(load.whole, currency, scale) for load in loads), spare=4))
    columns.append(Column("a user's hour", tuple(money(load.user_hour.value, currency) for load in loads)))
    return Table(f"Over the load, at {curve.tariff.label}", tuple(columns))


def _commands(made: Costs, curve: Curve) -> Table:
    """What a command costs by the number of users; of many loads, a narrow page shows the ends."""
    told = [point.priced[0] for point in made.points]
    names = list(dict.fromkeys(row.name for one in told for row in one.rows))
    currency = told[0].tariff.currency
    by = [
        {row.name: row.each.value for row in one.rows} | {"all": load.interaction.value}
        for one, load in zip(told, curve.loads, strict=True)
    ]
    scale = max(money_scale([costs["all"]]) for costs in by)
    columns = [Column("command", (*names, "all"))]
    for place, (point, costs) in enumerate(zip(made.points, by, strict=True)):
        inner = 0 < place < len(by) - 1
        cells = tuple(money(costs.get(name), currency, scale) for name in (*names, "all"))
        columns.append(Column(people(point.users), cells, spare=place if inner else 0))
    return Table(f"By command, {of_scale(scale)}, at {told[0].tariff.label}", tuple(columns), total_rows=1)


def _bars(curve: Curve) -> Callable[[int], Sequence[str]]:
    """A bar for each load, from nothing to the dearest."""
    loads, currency = curve.loads, curve.tariff.currency
    scale = money_scale([curve.cheapest.interaction.value if curve.cheapest else None])
    names = [people(load.users) for load in loads]
    cells = [money(load.interaction.value, currency, scale) for load in loads]
    most = max(load.interaction.value or 0.0 for load in loads)

    def lines(width: int) -> list[str]:
        room = max(8, min(_WIDEST, width - max(map(len, names)) - max(map(len, cells)) - 4))
        shares = [(load.interaction.value or 0.0) / most if most else 0.0 for load in loads]
        bars = [bar(part, room) for part in shares]
        left, right = max(map(len, names)), max(map(len, cells))
        rows = zip(names, cells, bars, strict=True)
        return [f"{name:>{left}}  {cell:>{right}}  {drawn}" for name, cell, drawn in rows]

    return lines
