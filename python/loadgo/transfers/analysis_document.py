"""Transfers taken apart, as a document: what a transfer, a message, a byte and a fault cost, and what load changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, money, seconds, share, size
from loadgo.notation.measures import signed_digits
from loadgo.stats.resample import Interval
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import WORDS, name_of
from loadgo.transfers.compared import Ends, Level
from loadgo.transfers.csv_table import THIS_HOST, Observed
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.parts import Line, Part, Parts
from loadgo.transfers.pictures import apart_pictures
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import BITS_PER_MEGABIT
from loadgo.transfers.words import between, how_many

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_HOUR_S = 3600.0
_MOST_TOLD = 12
"""Of rows that are warned of, so many by name."""


def render_apart(made: Apart, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """It as `format`; raises `ValueError` for another format."""
    return render(format, lambda: apart_document(made), lambda: apart_json(made), width=width, color=color)


def apart_json(made: Apart) -> str:
    """All of it, numbers unrounded."""
    return json_document(members_of(made, JSON_KEYS), JSON_KEYS)


def apart_document(made: Apart) -> Document:
    """The page of it."""

    def charts() -> list[Chart]:
        from loadgo.transfers.charts import apart_charts

        return apart_charts(made)

    grids = []
    if made.kinds:
        grids.append(_parts(made.kinds))
    if made.ends:
        grids.append(_ends(made.ends))
    if made.levels:
        grids.append(_levels(made.levels))
    if made.lines:
        grids.append(_lines(made.lines))
    return Document(
        title=f"Transfers of {made.table.name}",
        answer=_answer(made),
        warnings=(
            *made.table.remarks,
            *_some("contradicts itself", made.table.contradictions),
            *_some("left out", made.table.left_out),
        ),
        about=(),
        sections=(_totals(made), *apart_pictures(made), Charts(charts), *grids),
        notes=tuple(_notes(made)),
    )


def _some(what: str, told: Sequence[str]) -> list[str]:
    """The first of them, and how many more there are."""
    more = [f"{what}: {len(told) - _MOST_TOLD:,} rows more"] if len(told) > _MOST_TOLD else []
    return [f"{what}: {one}" for one in told[:_MOST_TOLD]] + more


def _answer(made: Apart) -> str:
    """The cost of a million bits at each end; with several methods, of the cheapest and of the dearest."""
    ends = []
    for direction, doing in (("s", "sending"), ("r", "receiving"), ("b", "moving, both ways together,")):
        costs = {name: _megabit(group, made.prices) for way, name, group in _groups(made) if way == direction}
        told = sorted((cost, name) for name, cost in costs.items() if cost is not None)
        if told:
            ends.append(f"{doing} a million bits costs the host {' to '.join(_each_end(told, made.prices))}")
    words = "; ".join(ends)
    if not words:
        return "No transfer moved a byte."
    return " ".join([f"{words[0].upper()}{words[1:]}.", *_loaded(made)])


def _loaded(made: Apart) -> list[str]:
    """What the load changes, in a sentence; nothing where loads were not compared."""
    if not made.levels:
        return []
    low, high = made.levels[0], made.levels[-1]
    cpu, real = 100 * (high.cpu.times - 1), high.real.times
    return [
        f"From a load of {low.load:.1f} to {high.load:.1f} processor time a bit changes by {cpu:+.0f} %, "
        f"and real time is {digits(real)} times as long."
    ]


def _each_end(told: Sequence[tuple[float, str]], prices: Prices) -> list[str]:
    ends = [told[0]] if len(told) == 1 else [told[0], told[-1]]
    return [f"{_priced(cost, prices)}{f' ({name})' if name else ''}" for cost, name in ends]


def _groups(made: Apart) -> list[tuple[str, str, list[Observed]]]:
    """The transfers by direction and method."""
    kinds = dict.fromkeys((one.direction, one.method) for one in made.table.transfers)
    ordered = sorted(kinds, key=lambda kind: (list(WORDS).index(kind[0]), kind[1]))
    return [
        (way, method, [one for one in made.table.transfers if (one.direction, one.method) == (way, method)])
        for way, method in ordered
    ]


def _megabit(transfers: Sequence[Observed], prices: Prices) -> float | None:
    bits = sum(one.bits for one in transfers)
    return sum(one.cpu_s for one in transfers) / bits * BITS_PER_MEGABIT * prices.cpu_hour / _HOUR_S if bits else None


def _totals(made: Apart) -> Table:
    groups = [(f"{method} {WORDS[way]}".strip(), group) for way, method, group in _groups(made)]
    network = (made.prices.network_gigabyte or 0) * BITS_PER_MEGABIT / 8e9
    columns = [
        Column("", tuple(name for name, _ in groups)),
        Column("transfers", tuple(f"{len(group)}" for _, group in groups)),
        Column("bytes", tuple(f"{sum(one.bytes for one in group):,}" for _, group in groups)),
        Column("CPU", tuple(seconds(sum(one.cpu_s for one in group)) for _, group in groups)),
        Column("CPU a bit", tuple(_a_bit(group) for _, group in groups)),
        Column("a megabit", tuple(_priced(_megabit(group, made.prices), made.prices) for _, group in groups)),
    ]
    if network:
        ratios = [(_megabit(group, made.prices) or 0) / network for _, group in groups]
        columns.append(Column("times the network", tuple(digits(ratio) for ratio in ratios), spare=1))
    return Table("All of them", tuple(columns))


def _a_bit(group: Sequence[Observed]) -> str:
    bits = sum(one.bits for one in group)
    return seconds(sum(one.cpu_s for one in group) / bits) if bits else NOT_MEASURED


def _priced(value: float | None, prices: Prices) -> str:
    return money(value, prices.currency)


def _parts(kinds: Sequence[Parts]) -> Table:
    rows: list[tuple[str, Part]] = [(_named(kind), part) for kind in kinds for part in kind.parts]
    return Table(
        "Processor time taken apart",
        (
            Column("", tuple(f"{name}: a {part.of}" for name, part in rows)),
            Column("each", tuple(seconds(part.each_s) for _, part in rows)),
            Column("95 %", tuple(_interval(part.interval) for _, part in rows)),
            Column("of all", tuple(share(part.share) for _, part in rows)),
        ),
        name_width=40,
    )


def _lines(lines: Sequence[Line]) -> Table:
    return Table(
        "Against the load",
        (
            Column("", tuple(line.what for line in lines)),
            Column("at none", tuple(digits(line.at_none) for line in lines)),
            Column("95 %", tuple(_numbers(line.at_none_interval) for line in lines), spare=1),
            Column("more for 1 of load", tuple(signed_digits(line.slope) for line in lines)),
            Column("95 %", tuple(_numbers(line.slope_interval) for line in lines)),
        ),
        name_width=40,
    )


def _ends(ends: Sequence[Ends]) -> Table:
    return Table(
        "Receiving over sending, processor time a bit",
        (
            Column("", tuple(one.method or "all" for one in ends)),
            Column("times", tuple(how_many(one.receives) for one in ends)),
            Column("95 %", tuple(between(one.receives.interval) for one in ends)),
            Column(
                "compared",
                tuple(f"{one.compared} {'sizes' if one.alike else 'at least, all together'}" for one in ends),
                spare=1,
            ),
        ),
    )


def _levels(levels: Sequence[Level]) -> Table:
    def cells(of: Callable[[Level], str]) -> tuple[str, ...]:
        return tuple(of(level) for level in levels)

    return Table(
        "Against the load: the same transfers, times those of the lowest",
        (
            Column("load", cells(lambda level: f"{level.load:.1f}")),
            Column("compared", cells(lambda level: f"{level.transfers:,}"), spare=3),
            Column("CPU a bit", cells(lambda level: how_many(level.cpu))),
            Column("95 %", cells(lambda level: between(level.cpu.interval)), spare=1),
            Column("real time", cells(lambda level: how_many(level.real))),
            Column("95 %", cells(lambda level: between(level.real.interval)), spare=1),
            Column("real over CPU", cells(lambda level: how_many(level.stretch))),
            Column("95 %", cells(lambda level: between(level.stretch.interval)), spare=2),
        ),
    )


def _notes(made: Apart) -> list[tuple[str, str]]:
    notes = [("prices", made.prices.about)]
    if made.table.estimated:
        notes.append(("estimated", f"{', '.join(made.table.estimated)}, as the table itself says"))
    notes += [("price passes", _passes(made, at)) for at in range(len(made.crossings))]
    if made.levels or made.lines:
        notes.append(("load", made.load))
    if made.ends and made.table.name == THIS_HOST:
        notes.append(("ends", "on one host most of what the network's protocol does is in the time of who sends"))
    notes += [("not told", f"{_named(kind)}: {told}") for kind in made.kinds for told in kind.untold]
    notes += [("off", f"{_named(kind)}: a transfer is {share(kind.off)} from its parts") for kind in made.kinds]
    return notes


def _passes(made: Apart, at: int) -> str:
    """Where the processor's price passes the network's, of one kind."""
    one, currency = made.crossings[at], made.prices.currency
    what = f"{name_of(one) or 'all'}: the processor is"
    if one.where == "always above":
        return f"{what} dearer than the network however long the {one.of}s ({currency}{digits(one.a_byte)} a gigabyte)"
    if one.where == "always below" or one.size is None:
        return f"{what} cheaper than the network however short the {one.of}s"
    return f"{what} dearer than the network when {one.of}s are shorter than {size(one.size)}"


def _named(kind: Parts) -> str:
    way, _, method = kind.kind.partition(" ")
    return f"{method} {WORDS[way]}".strip()


def _interval(interval: Interval | None) -> str:
    return between(interval, seconds)


def _numbers(interval: Interval | None) -> str:
    return between(interval)
