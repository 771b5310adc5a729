"""Transfers taken apart, as a page: what each transfer, message, byte and fault costs, and what the load changes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadgo.pages import Page, html_page, markdown_page, text_page
from loadgo.report_grid import Column, Grid
from loadgo.resample import Interval
from loadgo.transfer_parts import Line, Part, Parts, against_load, parts_of
from loadgo.transfer_price import Prices
from loadgo.transfer_row import MEGABIT
from loadgo.transfer_table import Observed, Table

Format = Literal["text", "html", "json", "md"]
WORDS = {"s": "sent", "r": "received"}
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Apart:
    """A table of transfers, taken apart."""

    table: Table
    kinds: tuple[Parts, ...]
    lines: tuple[Line, ...]
    prices: Prices


def taken_apart(table: Table, prices: Prices) -> Apart:
    """What the transfers of `table` are made of."""
    return Apart(table, tuple(parts_of(table.transfers)), tuple(against_load(table.transfers)), prices)


def render_apart(made: Apart, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """It as `format`; raises `ValueError` for another format."""
    if format == "json":
        told = dataclasses.asdict(made)
        return json.dumps(told, indent=2) + "\n"
    page = apart_page(made)
    if format == "text":
        return text_page(page, width=width, color=color)
    if format == "md":
        return markdown_page(page)
    if format == "html":
        return html_page(page, [])
    raise ValueError(f"format {format!r} is none of text, html, json, md")


def apart_page(made: Apart) -> Page:
    """The page of it."""
    grids = [_totals(made)]
    if made.kinds:
        grids.append(_parts(made.kinds))
    if made.lines:
        grids.append(_lines(made.lines))
    return Page(
        title=f"Transfers of {made.table.name}",
        answer=_answer(made),
        warnings=(*(f"contradicts itself: {told}" for told in made.table.contradictions),
                  *(f"left out: {told}" for told in made.table.left_out)),
        about=(),
        grids=tuple(grids),
        notes=tuple(_notes(made)),
    )  # fmt: skip


def _answer(made: Apart) -> str:
    """The cost of a million bits at each end; with several methods, of the cheapest and of the dearest."""
    ends = []
    for direction, doing in (("s", "sending"), ("r", "receiving")):
        costs = {name: _megabit(group, made.prices) for way, name, group in _groups(made) if way == direction}
        told = sorted((cost, name) for name, cost in costs.items() if cost is not None)
        if told:
            ends.append(f"{doing} a million bits costs the host {' to '.join(_each_end(told, made.prices))}")
    words = "; ".join(ends)
    return f"{words[0].upper()}{words[1:]}." if words else "No transfer moved a byte."


def _each_end(told: Sequence[tuple[float, str]], prices: Prices) -> list[str]:
    ends = [told[0]] if len(told) == 1 else [told[0], told[-1]]
    return [f"{_priced(cost, prices)}{f' ({name})' if name else ''}" for cost, name in ends]


def _groups(made: Apart) -> list[tuple[str, str, list[Observed]]]:
    """The transfers by direction and method."""
    kinds = dict.fromkeys((one.direction, one.method) for one in made.table.transfers)
    ordered = sorted(kinds, key=lambda kind: (kind[0] != "s", kind[1]))
    return [
        (way, method, [one for one in made.table.transfers if (one.direction, one.method) == (way, method)])
        for way, method in ordered
    ]


def _megabit(transfers: Sequence[Observed], prices: Prices) -> float | None:
    bits = sum(one.bits for one in transfers)
    return sum(one.cpu_s for one in transfers) / bits * MEGABIT * prices.cpu_hour / _HOUR_S if bits else None


def _totals(made: Apart) -> Grid:
    groups = [(f"{method} {WORDS[way]}".strip(), group) for way, method, group in _groups(made)]
    network = (made.prices.network_gigabyte or 0) * MEGABIT / 8e9
    columns = [
        Column("", tuple(name for name, _ in groups)),
        Column("transfers", tuple(f"{len(group)}" for _, group in groups)),
        Column("bytes", tuple(f"{sum(one.bytes for one in group):,}" for _, group in groups)),
        Column("CPU", tuple(f"{sum(one.cpu_s for one in group):.4g} s" for _, group in groups)),
        Column("CPU a bit", tuple(_a_bit(group) for _, group in groups)),
        Column("a megabit", tuple(_priced(_megabit(group, made.prices), made.prices) for _, group in groups)),
    ]
    if network:
        ratios = [(_megabit(group, made.prices) or 0) / network for _, group in groups]
        columns.append(Column("times the network", tuple(f"{ratio:.3g}" for ratio in ratios), spare=1))
    return Grid("All of them", tuple(columns))


def _a_bit(group: Sequence[Observed]) -> str:
    bits = sum(one.bits for one in group)
    return _time(sum(one.cpu_s for one in group) / bits) if bits else "-"


def _priced(value: float | None, prices: Prices) -> str:
    return "-" if value is None else f"{prices.currency}{value:.3g}"


def _parts(kinds: Sequence[Parts]) -> Grid:
    rows: list[tuple[str, Part]] = [(_named(kind), part) for kind in kinds for part in kind.parts]
    return Grid(
        "Processor time taken apart",
        (
            Column("", tuple(f"{name}: a {part.of}" for name, part in rows)),
            Column("each", tuple(_time(part.each_s) for _, part in rows)),
            Column("95 %", tuple(_interval(part.interval) for _, part in rows)),
            Column("of all", tuple(f"{part.share:.1%}" for _, part in rows)),
        ),
        name_width=40,
    )


def _lines(lines: Sequence[Line]) -> Grid:
    return Grid(
        "Against the load",
        (
            Column("", tuple(line.what for line in lines)),
            Column("at none", tuple(f"{line.at_none:.3g}" for line in lines)),
            Column("95 %", tuple(_numbers(line.at_none_interval) for line in lines), spare=1),
            Column("more for 1 of load", tuple(f"{line.slope:+.3g}" for line in lines)),
            Column("95 %", tuple(_numbers(line.slope_interval) for line in lines)),
        ),
        name_width=40,
    )


def _notes(made: Apart) -> list[tuple[str, str]]:
    notes = [("prices", made.prices.about)]
    notes += [("not told", f"{_named(kind)}: {told}") for kind in made.kinds for told in kind.untold]
    notes += [("off", f"{_named(kind)}: a transfer is {kind.off:.1%} from its parts") for kind in made.kinds]
    return notes


def _named(kind: Parts) -> str:
    way, _, method = kind.kind.partition(" ")
    return f"{method} {WORDS[way]}".strip()


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{_time(interval.low)} to {_time(interval.high)}"


def _numbers(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:.3g} to {interval.high:.3g}"
