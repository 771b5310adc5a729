"""Transfers as a document: the columns of the RFC 392 tables for both ends, what else each used, and the costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Charts, Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import (
    NOT_MEASURED,
    digits,
    in_words,
    money,
    rates_in_one_unit,
    seconds,
    share,
)
from loadgo.stats.resample import FEWEST_UNITS
from loadgo.transfers.answer import answer_sentence, open_directions
from loadgo.transfers.chart_data import DIRECTION_VERBS
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.pictures import method_pictures
from loadgo.transfers.prices import Prices
from loadgo.transfers.remedies import BASE_METHODS, Saving, savings
from loadgo.transfers.rounds import by_method_and_end, median_rows
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT, OTHERS_LOAD, Row
from loadgo.transfers.transfer import Transferred
from loadgo.transfers.words import between, how_many, time_column

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart
_SAVINGS_TITLE = "What each remedy saves: how many times its processor time per bit `bytes` and `records` take"
_REMEDY_METHODS = (
    ("messages, blocks", "more bytes a call: the memo's longer bytes, and its block transfers"),
    ("mmap, sendfile, splice, zerocopy", "pages handed over instead of copied: its mapping onto the network"),
    ("unix, shm", "interprocess communication on one host: its first remedy"),
)


def transfer_document(transferred: Transferred, prices: Prices) -> Document:
    """The page of transfers; of several rounds, each end's row with the median processor time."""

    def charts() -> list[Chart]:
        from loadgo.transfers.charts import method_charts

        return method_charts(median_rows(transferred.rows), prices)

    rows = median_rows(transferred.rows)
    savings_by_method = savings(transferred.rows)
    rounds = max((len(kind_rows) for kind_rows in by_method_and_end(transferred.rows).values()), default=0)
    tables = (_costs_table(rows, prices), _rfc392_table(rows), _used_table(rows))
    return Document(
        title="What a network bit costs the host",
        answer=answer_sentence(transferred.rows, prices),
        trust=_trust(transferred.rows, rows, rounds, is_warned=bool(transfer_warnings(transferred))),
        warnings=transfer_warnings(transferred),
        about=(f"{rounds} rounds. Each row is the round in which that end's processor time was the median.",)
        if rounds > 1
        else (),
        sections=(*method_pictures(rows, prices), Charts(charts), *tables, *remedies_tables(savings_by_method)),
        notes=(*_notes(rows, prices, transferred.left_out), *remedies_notes(savings_by_method)),
    )


def _trust(all_rows: Sequence[Row], rows: Sequence[Row], rounds: int, *, is_warned: bool) -> str:
    """The line on whether to believe the costs; empty where nothing was moved. `rows` are the medians of the rounds."""
    if not any(row.bits and not row.broke_off for row in rows):
        return ""
    against, grounds = [], []
    if rounds < FEWEST_UNITS:
        against.append(
            f"{'one round' if rounds == 1 else f'{rounds} rounds'} cannot give an interval (`--times 5` does)"
        )
    else:
        grounds.append(f"medians of {rounds} rounds, in each of which every method had its turn")
    if any(row.interrupts_by == "ticks" for row in rows):
        against.append("the network's interrupts are not in the processor time")
    elif any(row.interrupts_by == "windows" for row in rows):
        against.append("a part of the interrupts' time is estimated")
    if any(row.interrupts_by != "ticks" and row.interrupts_why for row in rows):
        against.append("the interrupts are in doubt, as the notes say")
    if (load := max(row.load_5min for row in rows)) >= OTHERS_LOAD:
        against.append(f"the host was busy with other things (load average up to {digits(load)})")
    grounds.append("all data arrived" if not is_warned else "")
    open_verbs = open_directions(all_rows)
    untold = f"which method is cheapest for {in_words(open_verbs)}" if open_verbs else ""
    return trust_in_words(Evidence(tuple(against), tuple(filter(None, grounds))), is_warned=is_warned, untold=untold)


def transfer_warnings(transferred: Transferred) -> tuple[str, ...]:
    """A sentence for each end that broke off, and for each figure that is missing."""
    broken_off = (f"{_end_name(row)}: broke off: {row.broke_off}" for row in transferred.rows if row.broke_off)
    return (*broken_off, *transferred.notes)


def transfer_json(transferred: Transferred, prices: Prices) -> str:
    """Transfers as one JSON object, with numbers unrounded."""
    rows = [
        members_of(row, JSON_KEYS)
        | {"cost_megabit": prices.host(row, BITS_PER_MEGABIT), "cost_gigabyte": prices.host(row, BITS_PER_GIGABYTE)}
        for row in transferred.rows
    ]
    members = {
        "rows": rows,
        "savings": savings(transferred.rows),
        "notes": transferred.notes,
        "left_out": transferred.left_out,
        "stopped": transferred.stopped,
        "prices": prices,
        "warnings": transfer_warnings(transferred),
    }
    return json_document(members, JSON_KEYS)


def _rfc392_table(rows: Sequence[Row]) -> Table:
    return Table(
        "Time and bytes, in the columns of RFC 392",
        (
            Column("method", tuple(_end_name(row) for row in rows)),
            time_column("real", [row.real_s for row in rows]),
            time_column("CPU", [row.cpu_s for row in rows]),
            Column("bytes", _cells(rows, lambda row: f"{row.bytes:,}"), spare=1),
            _rate_column([row.bits_per_s for row in rows]),
            time_column("CPU per bit", [row.cpu_s_per_bit for row in rows]),
            Column("load", _cells(rows, lambda row: f"{row.load_5min:.2f}"), spare=2),
        ),
        foot=_row_order(rows),
    )


def _row_order(rows: Sequence[Row]) -> str:
    first = "sender" if rows and rows[0].direction == "s" else "receiver"
    return f"In the order in which the methods ran; of each method the {first} first."


def _rate_column(bits_per_s: Sequence[float | None]) -> Column:
    prefix, cells = rates_in_one_unit(bits_per_s)
    return Column(f"{prefix}bit/s", cells)


def _used_table(rows: Sequence[Row]) -> Table:
    return Table(
        "What else each end used",
        (
            Column("method", tuple(_end_name(row) for row in rows)),
            time_column("user", [row.user_s for row in rows]),
            time_column("system", [row.system_s for row in rows]),
            Column("interrupts", _cells(rows, _interrupts_cell), spare=1),
            Column("calls", _cells(rows, lambda row: f"{row.calls:,}")),
            Column("messages", _cells(rows, lambda row: f"{row.messages:,}"), spare=2),
            Column("faults", _cells(rows, lambda row: f"{row.faults_minor + row.faults_major:,}")),
            Column("waits", _cells(rows, lambda row: f"{row.switches_voluntary:,}"), spare=3),
            Column("on the wire", _cells(rows, lambda row: f"{row.wire_bytes:,}"), spare=4),
        ),
        foot=_row_order(rows),
    )


def _costs_table(rows: Sequence[Row], prices: Prices) -> Table:
    # As in the picture above it.
    rows = sorted(rows, key=lambda row: -(prices.host(row, BITS_PER_GIGABYTE) or 0.0))
    priced = [(prices.host(row, BITS_PER_MEGABIT), prices.host(row, BITS_PER_GIGABYTE)) for row in rows]
    amounts, currency = prices.amounts(rows), prices.currency
    columns = [
        Column("method", tuple(_end_name(row) for row in rows)),
        Column(
            amounts.of("megabit"), tuple(money(megabit, currency, amounts.count("megabit")) for megabit, _ in priced)
        ),
        Column(
            amounts.of("gigabyte"),
            tuple(money(gigabyte, currency, amounts.count("gigabyte")) for _, gigabyte in priced),
        ),
    ]
    if prices.network_gigabyte:
        cells = tuple(NOT_MEASURED if (ratio := prices.ratio(row)) is None else digits(ratio) for row in rows)
        columns.append(Column("times the network's price", cells))
    return Table(
        "What the processor time costs",
        tuple(columns),
        charts=("transfer-methods",),
        charts_lead=True,
        foot="The most expensive is first." if len(rows) > 1 else "",
    )


def _notes(rows: Sequence[Row], prices: Prices, left_out: Sequence[str]) -> list[tuple[str, str]]:
    notes = [
        *(("Left out", reason) for reason in left_out),
        ("Prices", prices.about),
        *_processor_time(rows),
    ]
    miscounted = [row for row in rows if row.counted_bytes not in (None, row.wire_bytes)]
    notes += [("Sockets", f"{_end_name(row)}: its socket counted {row.counted_bytes:,} bytes") for row in miscounted]
    return notes


def _processor_time(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Notes that explain the columns of processor time and of interrupts, as these rows need them."""
    divided = "user and system as the kernel divides it, by ticks"
    ticks = [row for row in rows if row.interrupts_by == "ticks"]
    notes = []
    if len(ticks) < len(rows):
        meaning = "user, system and interrupts: of the thread that moved the data, without those that came upon it"
        notes.append(("CPU", f"{meaning}, and the interrupt work done for this end, wherever it was done; {divided}"))
    if any(row.interrupts_by == "exact" for row in rows):
        notes.append(("Interrupts", "of the network, for this end's socket alone, exactly; devices' an estimate"))
    notes += [("Interrupts", note) for row in rows if (note := _windows_note(row))]
    if ticks:
        starred = "where interrupts have a star, " if len(ticks) < len(rows) else ""
        notes.append(("CPU", f"{starred}of the thread that moved the data, exactly; {divided}"))
        host_wide = "* soft ones of the whole host meanwhile, whoever they were for, in ticks of 10 ms, and not in CPU"
        notes += [
            ("Interrupts", f"{host_wide}: {reason}") for reason in dict.fromkeys(row.interrupts_why for row in ticks)
        ]
    doubts = dict.fromkeys(row.interrupts_why for row in rows if row.interrupts_by != "ticks")
    return [*notes, *(("In doubt", doubt) for doubt in doubts if doubt)]


def _windows_note(row: Row) -> str:
    if row.interrupts_by != "windows" or row.interrupts_clocked is None:
        return ""
    error = "" if row.interrupts_error_s is None else f", give or take {seconds(2 * row.interrupts_error_s)}"
    clocked = f"{share(row.interrupts_clocked)} of its time was clocked, and stands for the rest"
    return f"~ {_end_name(row)}: of the network, for its socket alone; {clocked}{error}"


def _interrupts_cell(row: Row) -> str:
    if row.interrupt_work_s is None:
        return f"{seconds(row.soft_interrupt_s)} *"
    about = "~ " if row.interrupts_by == "windows" else ""
    return f"{about}{seconds(row.interrupt_work_s)}" if row.interrupt_work_s else "0"


def _end_name(row: Row) -> str:
    return f"{row.method} {DIRECTION_VERBS[row.direction]}{'' if row.side == 'here' else ' there'}"


def _cells(rows: Sequence[Row], cell: Callable[[Row], str]) -> tuple[str, ...]:
    return tuple(cell(row) for row in rows)


def remedies_tables(savings: Sequence[Saving]) -> list[Table]:
    """The table of savings; no table where no method can be compared."""
    if not savings:
        return []
    names = [
        f"{saving.method} {DIRECTION_VERBS[saving.direction]}{'' if saving.side == 'here' else ' there'}"
        for saving in savings
    ]
    columns = [
        Column("", tuple(names)),
        Column("CPU per bit", tuple(seconds(saving.cpu_s_per_bit) for saving in savings)),
    ]
    for index, base in enumerate(BASE_METHODS):
        ratios = [saving.over.get(base) for saving in savings]
        if any(ratios):
            columns.append(Column(base, tuple(how_many(ratio) for ratio in ratios)))
            interval_cells = tuple(between(ratio.interval if ratio else None) for ratio in ratios)
            if any(ratio and ratio.interval for ratio in ratios):
                columns.append(Column("95 %", interval_cells, spare=2 - index))
    return [Table(_SAVINGS_TITLE, tuple(columns))]


def remedies_notes(savings: Sequence[Saving]) -> list[tuple[str, str]]:
    """Notes that explain the remedies, and whether the figures have intervals."""
    if not savings:
        return []
    methods = {saving.method for saving in savings}
    notes = [("Remedies", f"{names}: {what}") for names, what in _REMEDY_METHODS if methods & set(names.split(", "))]
    if max(saving.rounds for saving in savings) < 3:
        notes.append(("Remedies", "one round gives no interval: --times 5 does"))
    return notes
