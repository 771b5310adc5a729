"""The analysis of a table of transfers, as a document: what a transfer, a message, a byte and a fault cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import (
    capitalized,
    counted,
    digits,
    in_words,
    money,
    seconds,
    share,
    size,
)
from loadgo.notation.measures import signed_digits
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import DIRECTION_NOUNS, KIND_NOUNS, name_of
from loadgo.transfers.compared import Ends, Level, Times, loads_differ
from loadgo.transfers.csv_table import THIS_HOST, Observed
from loadgo.transfers.csv_table import Table as TransferTable
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.parts import POOLED_DIRECTIONS, Line, Part, Parts
from loadgo.transfers.pictures import apart_pictures
from loadgo.transfers.priced_amount import megabit_cost, pooled_groups, priced_amount, transfer_groups
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT, OTHERS_LOAD
from loadgo.transfers.stretch import StretchBand
from loadgo.transfers.words import between, how_many, time_column

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

_SINGULAR = {"contradict themselves": "contradicts itself", "are left out": "is left out"}
_MOST_KINDS_IN_WORDS = 2
"""The most kinds of transfers of which the answer has the parts."""
_NAMED_ROWS = 12
"""The warnings name at most this many rows; one more line counts the others."""


def apart_json(breakdown: Apart) -> str:
    """The analysis as one JSON object, with numbers unrounded."""
    return json_document({**members_of(breakdown, JSON_KEYS), "warnings": _warnings(breakdown.table)}, JSON_KEYS)


def apart_document(breakdown: Apart) -> Document:
    """The page of an analysis."""

    def charts() -> list[Chart]:
        from loadgo.transfers.charts import apart_charts

        return apart_charts(breakdown)

    tables = []
    if breakdown.kinds:
        tables.append(_parts_table((*breakdown.kinds, *breakdown.pooled)))
    if breakdown.ends:
        tables.append(_ends_table(breakdown.ends))
    if breakdown.levels:
        tables.append(_levels_table(breakdown.levels))
    if breakdown.stretches:
        tables.append(_stretches_table(breakdown.stretches))
    if breakdown.lines:
        tables.append(_lines_table(breakdown.lines))
    warnings = _warnings(breakdown.table)
    return Document(
        title=f"Transfers of {breakdown.table.name}",
        answer=_answer_sentence(breakdown),
        trust=_trust(breakdown, is_warned=bool(warnings)),
        warnings=warnings,
        about=(),
        sections=(*apart_pictures(breakdown), Charts(charts), _totals_table(breakdown), *tables),
        notes=tuple(_notes(breakdown)),
    )


def _trust(breakdown: Apart, *, is_warned: bool) -> str:
    """The line on whether to believe the costs; empty for a table in which nothing moved."""
    transfers = breakdown.table.transfers
    if not any(transfer.bits for transfer in transfers):
        return ""
    parts = [part for kind in breakdown.kinds for part in kind.parts]
    against, grounds = [], [f"{counted(len(transfers), 'transfer')}, of which no row contradicts itself"]
    if breakdown.table.name != THIS_HOST:
        against.append("the table comes from a file, so only its arithmetic is checked")
    if not any(part.interval for part in parts):
        against.append("the parts have no intervals")
    else:
        grounds.append("the 95 % intervals of the parts are from resampled transfers")
    load = max((transfer.load or 0.0 for transfer in transfers), default=0.0)
    if breakdown.table.name == THIS_HOST and not breakdown.levels and load >= OTHERS_LOAD:
        against.append(f"the host was busy with other things (load average up to {digits(load)})")
    if not _has_quiet_baseline(breakdown):
        against.append(f"no load was quiet: the lowest was {breakdown.levels[0].load:.1f}")
    if loads_differ(breakdown.levels) and breakdown.levels[-1].cpu.interval is None:
        against.append("what the load changes has no interval")
    if breakdown.table.estimated:
        against.append(f"the table calls {in_words(breakdown.table.estimated)} an estimate")
    evidence = Evidence(tuple(against), () if is_warned else tuple(grounds))
    return trust_in_words(evidence, is_warned=is_warned)


def _warnings(table: TransferTable) -> tuple[str, ...]:
    """The remarks on the table, its rows that contradict themselves, and its rows that are left out."""
    left_out = [row.partition(": ") for row in table.left_out]
    return (
        *table.remarks,
        *_first(
            [f"{table.name} contradicts itself in {row}." for row in table.contradictions], "contradict themselves"
        ),
        *_first([f"Of {table.name}, {place} is left out: {why}." for place, _, why in left_out], "are left out"),
    )


def _first(warnings: Sequence[str], verb: str) -> list[str]:
    """The first warnings about rows, and one that counts the others."""
    hidden = len(warnings) - _NAMED_ROWS
    more = f"{counted(hidden, 'more row')} {verb if hidden > 1 else _SINGULAR[verb]}."
    return [*warnings[:_NAMED_ROWS], *([more] if hidden > 0 else [])]


def _answer_sentence(breakdown: Apart) -> str:
    """The cost of an amount of data at each end; with several methods, of the cheapest and the most expensive one."""
    amount, sentences = priced_amount(breakdown), []
    for direction, verb in (("s", "sending"), ("r", "receiving"), ("b", "moving (sent and received)")):
        costs = {
            name: amount.cost(group, breakdown.prices)
            for row_direction, name, group in transfer_groups(breakdown)
            if row_direction == direction
        }
        ordered = sorted((cost, name) for name, cost in costs.items() if cost is not None)
        if ordered:
            sentences.append(f"{verb} {amount.words} costs {' to '.join(_priced_ends(ordered, breakdown))}")
    if not sentences:
        return "No transfer moved a byte."
    sentence = f"{capitalized('; '.join(sentences))}: processor time {breakdown.prices.in_words()}."
    return " ".join([sentence, *_parts_sentences(breakdown.kinds), *_load_sentences(breakdown)])


def _parts_sentences(kinds: Sequence[Parts]) -> list[str]:
    """A sentence with the processor time of each part of each kind of transfers. Of many kinds the table has them."""
    told = [
        f"{name_of(kind.kind)}, {' + '.join(f'{seconds(part.each_s)} a {part.of}' for part in kind.parts)}"
        for kind in kinds
        if kind.parts
    ]
    return [f"Parts of the processor time: {'; '.join(told)}."] if 0 < len(told) <= _MOST_KINDS_IN_WORDS else []


def _stretch_sentence(bands: Sequence[StretchBand]) -> list[str]:
    """A sentence on the median stretch at the lowest and the highest loads. With several methods the table has them."""
    if not bands or bands[0].method != bands[-1].method:
        return []
    low, high = bands[0], bands[-1]
    ends = [
        f"{digits(band.median)} times its processor time at {_loads_in_words(band)} ({between(band.interval)})"
        for band in ([low] if low is high else [low, high])
    ]
    return [f"The median transfer took {' and '.join(ends)}."]


def _load_sentences(breakdown: Apart) -> list[str]:
    """A sentence on what the load changes; none where loads are neither compared nor in bands."""
    if not breakdown.levels:
        return _stretch_sentence(breakdown.stretches)
    low, high = breakdown.levels[0], breakdown.levels[-1]
    if not loads_differ(breakdown.levels):
        return [f"The loads were all about {high.load:.1f}: they do not tell what a load changes."]
    changes = f"{_change_of('processor time per bit', high.cpu)}, and {_change_of('real time', high.real)}"
    changed = f"At a load of {high.load:.1f} against {low.load:.1f} {changes}."
    return [
        changed,
        *([] if _has_quiet_baseline(breakdown) else [f"There was no quiet load: the lowest was {low.load:.1f}."]),
    ]


def _has_quiet_baseline(breakdown: Apart) -> bool:
    """Whether loads are compared with one at which nothing but the transfers ran. Other hosts' loads are not judged."""
    levels = breakdown.levels
    return not levels or breakdown.table.name != THIS_HOST or levels[0].load < OTHERS_LOAD


def _change_of(name: str, times: Times) -> str:
    """The effect of a higher load on a figure. No change is named that the interval does not show."""
    interval = times.interval
    if interval is not None and interval.low <= 1 <= interval.high:
        return f"no change of {name} can be told ({how_many(times)} times, {between(interval)})"
    doubt = "" if interval is not None else " (without an interval: chance may explain it)"
    return f"{name} is {how_many(times)} times as long{doubt}"


def _priced_ends(ordered: Sequence[tuple[float, str]], breakdown: Apart) -> list[str]:
    ends = [ordered[0]] if len(ordered) == 1 else [ordered[0], ordered[-1]]
    return [f"{_format_cost(cost, breakdown)}{f' ({name})' if name else ''}" for cost, name in ends]


def _totals_table(breakdown: Apart) -> Table:
    groups = [
        (f"{method} {DIRECTION_NOUNS[direction]}".strip(), group)
        for direction, method, group in transfer_groups(breakdown)
    ]
    groups += [
        (f"{method} {KIND_NOUNS[POOLED_DIRECTIONS]}".strip(), group) for method, group in pooled_groups(breakdown)
    ]
    amount = priced_amount(breakdown)
    network = (breakdown.prices.network_gigabyte or 0) * BITS_PER_MEGABIT / BITS_PER_GIGABYTE
    columns = [
        Column("", tuple(name for name, _ in groups)),
        Column("transfers", tuple(f"{len(group)}" for _, group in groups)),
        Column("bytes", tuple(f"{sum(transfer.bytes for transfer in group):,}" for _, group in groups)),
        time_column("CPU", [sum(transfer.cpu_s for transfer in group) for _, group in groups]),
        time_column("CPU per bit", [_cpu_per_bit(group) for _, group in groups]),
        Column(
            amount.words,
            tuple(_format_cost(amount.cost(group, breakdown.prices), breakdown) for _, group in groups),
        ),
    ]
    if network:
        ratios = [(megabit_cost(group, breakdown.prices) or 0) / network for _, group in groups]
        columns.append(Column("times the network", tuple(digits(ratio) for ratio in ratios), spare=1))
    return Table("All transfers", tuple(columns), charts=("transfer-cost", "transfer-price"), charts_lead=True)


def _cpu_per_bit(group: Sequence[Observed]) -> float | None:
    bits = sum(transfer.bits for transfer in group)
    return sum(transfer.cpu_s for transfer in group) / bits if bits else None


def _format_cost(cost: float | None, breakdown: Apart) -> str:
    return money(cost, breakdown.prices.currency)


def _parts_table(kinds: Sequence[Parts]) -> Table:
    rows: list[tuple[str, Part]] = [(name_of(kind.kind), part) for kind in kinds for part in kind.parts]
    return Table(
        "Processor time taken apart",
        (
            Column("", tuple(f"{name}: a {part.of}" for name, part in rows)),
            Column("each", tuple(seconds(part.each_s) for _, part in rows)),
            Column("95 %", tuple(between(part.interval, seconds) for _, part in rows)),
            Column("of all", tuple(share(part.share) for _, part in rows)),
        ),
        name_width=40,
    )


def _lines_table(lines: Sequence[Line]) -> Table:
    return Table(
        "Against the load",
        (
            Column("", tuple(line.what.replace(", us", ", µs") for line in lines)),
            Column("at load 0", tuple(digits(line.at_none) for line in lines)),
            Column("95 %", tuple(between(line.at_none_interval) for line in lines), spare=1),
            Column("per 1 of load", tuple(signed_digits(line.slope) for line in lines)),
            Column("95 %", tuple(between(line.slope_interval) for line in lines)),
        ),
        name_width=40,
        charts=("transfer-load",),
    )


def _stretches_table(bands: Sequence[StretchBand]) -> Table:
    names = [_loads_in_words(band) for band in bands]
    return Table(
        "Real ÷ processor time by load: medians of both directions",
        (
            Column(
                "",
                tuple(
                    f"{band.method}, {name}" if band.method else name for band, name in zip(bands, names, strict=True)
                ),
            ),
            Column("transfers", tuple(f"{band.transfers:,}" for band in bands), spare=2),
            Column("median", tuple(digits(band.median) for band in bands)),
            Column("95 %", tuple(between(band.interval) for band in bands), spare=1),
            Column("half of them", tuple(between(band.middle_half) for band in bands)),
        ),
        name_width=40,
    )


def _loads_in_words(band: StretchBand) -> str:
    low, high = digits(band.lowest_load), digits(band.highest_load)
    return f"a load of {low}" if low == high else f"loads of {low} to {high}"


def _ends_table(ends: Sequence[Ends]) -> Table:
    return Table(
        "Receiving ÷ sending, processor time per bit",
        (
            Column("", tuple(end.method or "all" for end in ends)),
            Column("times", tuple(how_many(end.receives) for end in ends)),
            Column("95 %", tuple(between(end.receives.interval) for end in ends)),
            Column(
                "compared",
                tuple(
                    f"{end.compared} sizes" if end.alike else f"at least {end.compared}, of all sizes" for end in ends
                ),
                spare=1,
            ),
        ),
    )


def _levels_table(levels: Sequence[Level]) -> Table:
    def cells(text_of: Callable[[Level], str]) -> tuple[str, ...]:
        return tuple(text_of(level) for level in levels)

    return Table(
        "Against the load: the same transfers, as multiples of their figures at the lowest load",
        (
            Column("load", cells(lambda level: f"{level.load:.1f}")),
            Column("compared", cells(lambda level: f"{level.transfers:,}"), spare=3),
            Column("CPU per bit", cells(lambda level: how_many(level.cpu))),
            Column("95 %", cells(lambda level: between(level.cpu.interval)), spare=1),
            Column("real time", cells(lambda level: how_many(level.real))),
            Column("95 %", cells(lambda level: between(level.real.interval)), spare=1),
            Column("real ÷ CPU", cells(lambda level: how_many(level.stretch))),
            Column("95 %", cells(lambda level: between(level.stretch.interval)), spare=2),
        ),
        charts=("transfer-load",),
    )


def _notes(breakdown: Apart) -> list[tuple[str, str]]:
    notes = [("Prices", breakdown.prices.about)]
    notes += [("Rounding", f"{slight}") for slight in breakdown.table.slight]
    if breakdown.table.estimated:
        notes.append(("Estimated", f"{', '.join(breakdown.table.estimated)}, as the table itself says"))
    notes += [("Price crossing", _crossing_sentence(breakdown, index)) for index in range(len(breakdown.crossings))]
    if breakdown.levels or breakdown.lines:
        notes.append(("Load", breakdown.load))
    if breakdown.ends and breakdown.table.name == THIS_HOST:
        notes.append(("Ends", "on one host the sender's time has most of the network protocol's work"))
    notes += [("Pooled", sentence) for sentence in _pooled_sentences(breakdown)]
    notes += [("Not known", f"{name_of(kind.kind)}: {reason}") for kind in breakdown.kinds for reason in kind.untold]
    notes += [
        ("Sum of parts", f"{name_of(kind.kind)}: a transfer differs by {share(kind.off)} from the sum of its parts")
        for kind in breakdown.kinds
    ]
    return notes


def _pooled_sentences(breakdown: Apart) -> list[str]:
    """Sentences on methods whose ends differ in price, so that their pooled parts depend on the mix of directions."""
    pooled = {kind.kind.partition(" ")[2] for kind in breakdown.pooled}
    return [
        f"{name_of(f'{POOLED_DIRECTIONS} {end.method}'.strip())}: a bit received costs {how_many(end.receives)} times "
        "a bit sent, so pooled figures are those of this table's mix of directions"
        for end in breakdown.ends
        if end.method in pooled and end.receives.interval is not None and not end.receives.interval.holds(1.0)
    ]


def _crossing_sentence(breakdown: Apart, index: int) -> str:
    """A sentence on the size at which the processor's price of a transfer passes the network's."""
    crossing, currency = breakdown.crossings[index], breakdown.prices.currency
    subject = f"{name_of(crossing.kind) or 'all'}: the processor is"
    if crossing.where == "always above":
        least = f"{currency}{digits(crossing.a_byte)} a gigabyte"
        return f"{subject} dearer than the network for {crossing.of}s of any size (at least {least})"
    if crossing.where == "always below" or crossing.size is None:
        return f"{subject} cheaper than the network for {crossing.of}s of any size"
    return f"{subject} dearer than the network when {crossing.of}s are shorter than {size(crossing.size)}"
