"""Transfers as a document: the columns of the RFC 392 tables for both ends, what else each used, and the costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, money, rate, seconds
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.pictures import method_pictures
from loadgo.transfers.prices import Prices
from loadgo.transfers.remedies import savings
from loadgo.transfers.remedies_tables import remedies_notes, remedies_tables
from loadgo.transfers.rounds import by_kind, in_the_middle
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT, Row
from loadgo.transfers.transfer import Transferred

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart

SENDS = {"s": "sends", "r": "receives"}


def render_transfer(
    made: Transferred,
    format: Format,
    *,
    prices: Prices,
    width: int | None = None,
    color: bool = False,
) -> str:
    """The transfers as `format`, at `prices`; raises `ValueError` for another format."""

    def document() -> Document:
        return transfer_document(made, prices)

    return render(format, document, lambda: transfer_json(made, prices), width=width, color=color)


def transfer_document(made: Transferred, prices: Prices) -> Document:
    """The page of transfers; of several rounds each end's middle one."""

    def charts() -> list[Chart]:
        from loadgo.transfers.charts import method_charts

        return method_charts(in_the_middle(made.rows), prices)

    rows = in_the_middle(made.rows)
    saved = savings(made.rows)
    rounds = max((len(of_kind) for of_kind in by_kind(made.rows).values()), default=0)
    tables = (_seeds_columns(rows), _used(rows), _costs(rows, prices))
    return Document(
        title="What a network bit costs the host",
        answer=_answer(rows, prices),
        warnings=(*(f"{_name(row)}: broke off: {row.broke_off}" for row in made.rows if row.broke_off), *made.notes),
        about=(f"{rounds} rounds; of each end the one with the median processor time",) if rounds > 1 else (),
        sections=(*tables, *method_pictures(rows, prices), Charts(charts), *remedies_tables(saved)),
        notes=(*_notes(rows, prices, made.left_out), *remedies_notes(saved)),
    )


def transfer_json(made: Transferred, prices: Prices) -> str:
    """All of it, numbers unrounded."""
    rows = [
        members_of(row, JSON_KEYS)
        | {"cost_megabit": prices.host(row, BITS_PER_MEGABIT), "cost_gigabyte": prices.host(row, BITS_PER_GIGABYTE)}
        for row in made.rows
    ]
    members = {
        "rows": rows,
        "savings": savings(made.rows),
        "notes": made.notes,
        "left_out": made.left_out,
        "stopped": made.stopped,
        "prices": prices,
    }
    return json_document(members, JSON_KEYS)


def _answer(rows: Sequence[Row], prices: Prices) -> str:
    whole = [row for row in rows if not row.broke_off and row.bits]
    if not whole:
        if rows and not any(row.broke_off for row in rows):
            return "There was nothing to move, and all of it came over."
        return "Nothing came over whole." if rows else "There was no transfer."
    ends = {side: [row for row in whole if row.direction == side] for side in ("s", "r")}
    parts = []
    for side, of_side in ends.items():
        if of_side:
            least = min(of_side, key=lambda row: row.cpu_s_per_bit or 0)
            doing = "sending" if side == "s" else "receiving"
            cost = money(prices.host(least, BITS_PER_GIGABYTE), prices.currency)
            parts.append(f"{doing} a gigabyte costs {cost} ({least.method})")
    sentence = "; ".join(parts)
    if prices.network_gigabyte:
        sentence += f"; the network takes {prices.currency}{prices.network_gigabyte:g}"
    return sentence[0].upper() + sentence[1:] + "."


def _seeds_columns(rows: Sequence[Row]) -> Table:
    return Table(
        "As RFC 392 printed it",
        (
            Column("", tuple(_name(row) for row in rows)),
            Column("real", _each(rows, lambda row: seconds(row.real_s))),
            Column("CPU", _each(rows, lambda row: seconds(row.cpu_s))),
            Column("bytes", _each(rows, lambda row: f"{row.bytes:,}"), spare=1),
            Column("bit/s", _each(rows, lambda row: rate(row.bits_per_s))),
            Column("CPU a bit", _each(rows, lambda row: seconds(row.cpu_s_per_bit))),
            Column("load", _each(rows, lambda row: f"{row.load_5min:.2f}"), spare=2),
        ),
    )


def _used(rows: Sequence[Row]) -> Table:
    return Table(
        "What else each end used",
        (
            Column("", tuple(_name(row) for row in rows)),
            Column("user", _each(rows, lambda row: seconds(row.user_s))),
            Column("system", _each(rows, lambda row: seconds(row.system_s))),
            Column("interrupts", _each(rows, _interrupts), spare=1),
            Column("calls", _each(rows, lambda row: f"{row.calls:,}")),
            Column("messages", _each(rows, lambda row: f"{row.messages:,}"), spare=2),
            Column("faults", _each(rows, lambda row: f"{row.faults_minor + row.faults_major:,}")),
            Column("waits", _each(rows, lambda row: f"{row.switches_voluntary:,}"), spare=3),
            Column("on the wire", _each(rows, lambda row: f"{row.wire_bytes:,}"), spare=4),
        ),
    )


def _costs(rows: Sequence[Row], prices: Prices) -> Table:
    priced = [(prices.host(row, BITS_PER_MEGABIT), prices.host(row, BITS_PER_GIGABYTE)) for row in rows]
    columns = [
        Column("", tuple(_name(row) for row in rows)),
        Column("a megabit", tuple(money(megabit, prices.currency) for megabit, _ in priced)),
        Column("a gigabyte", tuple(money(gigabyte, prices.currency) for _, gigabyte in priced)),
    ]
    if prices.network_gigabyte:
        cells = tuple(NOT_MEASURED if (ratio := prices.ratio(row)) is None else digits(ratio) for row in rows)
        columns.append(Column("times the network's price", cells))
    return Table("What the processor time of that costs", tuple(columns))


def _notes(rows: Sequence[Row], prices: Prices, left_out: Sequence[str]) -> list[tuple[str, str]]:
    notes = [
        *(("left out", why) for why in left_out),
        ("prices", prices.about),
        *_processor_time(rows),
    ]
    off = [row for row in rows if row.counted_bytes not in (None, row.wire_bytes)]
    notes += [("sockets", f"{_name(row)}: its socket counted {row.counted_bytes:,} bytes") for row in off]
    return notes


def _processor_time(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What the columns of processor time and of interrupts mean, for the rows that there are."""
    divided = "user and system as the kernel divides it, by ticks"
    ticks = [row for row in rows if row.interrupts_by == "ticks"]
    told = []
    if len(ticks) < len(rows):
        own = "user, system and interrupts: of the thread that moved the data, without those that came upon it"
        told.append(("CPU", f"{own}, and the interrupt work done for this end, wherever it was done; {divided}"))
    if any(row.interrupts_by == "exact" for row in rows):
        told.append(("interrupts", "of the network, for this end's socket alone, exactly; devices' an estimate"))
    told += [("interrupts", of_row) for row in rows if (of_row := _windows(row))]
    if ticks:
        starred = "where interrupts have a star, " if len(ticks) < len(rows) else ""
        told.append(("CPU", f"{starred}of the thread that moved the data, exactly; {divided}"))
        whole = "* soft ones of the whole host meanwhile, whoever they were for, in ticks of 10 ms, and not in CPU"
        told += [("interrupts", f"{whole}: {why}") for why in dict.fromkeys(row.interrupts_why for row in ticks)]
    doubts = dict.fromkeys(row.interrupts_why for row in rows if row.interrupts_by != "ticks")
    return [*told, *(("in doubt", doubt) for doubt in doubts if doubt)]


def _windows(row: Row) -> str:
    if row.interrupts_by != "windows" or row.interrupts_clocked is None:
        return ""
    error = "" if row.interrupts_error_s is None else f", give or take {seconds(2 * row.interrupts_error_s)}"
    share = f"{row.interrupts_clocked:.0%} of its time was clocked, and stands for the rest"
    return f"~ {_name(row)}: of the network, for its socket alone; {share}{error}"


def _interrupts(row: Row) -> str:
    if row.interrupt_work_s is None:
        return f"{seconds(row.soft_interrupt_s)} *"
    about = "~ " if row.interrupts_by == "windows" else ""
    return f"{about}{seconds(row.interrupt_work_s)}" if row.interrupt_work_s else "0"


def _name(row: Row) -> str:
    return f"{row.method} {SENDS[row.direction]}{'' if row.side == 'here' else ' there'}"


def _each(rows: Sequence[Row], cell: Callable[[Row], str]) -> tuple[str, ...]:
    return tuple(cell(row) for row in rows)
