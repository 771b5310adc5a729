"""RFC 392 compared with this host: its tables with this host's rows, its conclusions, and its remedies."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Table
from loadgo.notation.figures import digits, joined, rate, seconds
from loadgo.published.document import Figure
from loadgo.published.document import Table as PrintedTable
from loadgo.reproduction.models.rfc_392 import NETWORK_PRICE
from loadgo.reproduction.models.rfc_392_here import LocalTransfers, RepeatedTransfer
from loadgo.reproduction.models.rfc_392_remedies import LONG_TRANSFER_BYTES, RemedyCost
from loadgo.reproduction.reproduce import ReproducedDocument
from loadgo.reproduction.shown import ShownCell, ShownRow, listed_table, stacked_table
from loadgo.transfers.parts import Part, Parts
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT

_BITS_PER_BYTE = 8
_HOUR_S = 3600.0
_UNDER = ("here", "ratio")


def remedy_tables(remedies: Sequence[RemedyCost]) -> list[Table]:
    """The table of the remedies' savings; no table without remedies."""
    if not remedies:
        return []
    assumed = "; ".join(f"{cost.remedy.name}, {cost.remedy.basis}" for cost in remedies if cost.remedy.basis)
    lead = (
        f"Processor time per bit of {LONG_TRANSFER_BYTES:,} bytes on the simulated machine; beside it the same "
        "computed from the memo's figures (600 to 700 µs a byte, less 120 µs of BIN or BOUT and 1 ms a message of 1000 "
        f"bytes, plus the remedy's costs). Assumed: {assumed}."
    )
    columns = ("send µs/bit", "receive µs/bit", "by the memo", "saves", "$ a million bits", "times network")
    rows = [ShownRow(cost.remedy.name, tuple(map(ShownCell, _remedy_cells(cost)))) for cost in remedies]
    return [stacked_table("What each remedy would have saved", columns, rows, lead=lead)]


def _remedy_cells(cost: RemedyCost) -> tuple[str, ...]:
    mark = "" if cost.agrees else " ≠"
    arithmetic = f"{digits(cost.low_us)}–{digits(cost.high_us)}{mark}"
    saves = f"{100 * cost.saves:.1f} %"
    return digits(cost.sends_us), digits(cost.receives_us), arithmetic, saves, digits(cost.cost), digits(cost.times)


def here_tables(reproduced: ReproducedDocument) -> list[Table]:
    """The document's conclusions and tables with this host's figures; no table if this host was not measured."""
    if reproduced.here is None:
        return []
    return [
        _conclusions(reproduced, reproduced.here),
        *(_table(table, reproduced.here) for table in reproduced.document.tables),
    ]


def _table(table: PrintedTable, here: LocalTransfers) -> Table:
    rows = []
    for row in table.rows:
        printed = {column.name: cell for column, cell in zip(table.columns, row.cells, strict=True)}
        ours = _local_cells(here.rows[f"{table.name}/{row.name}"])
        cells = []
        for name, cell in printed.items():
            number = None if cell.figure is None else float(cell.figure.number.low)
            text, value = ours.get(name, ("", None))
            cells.append(ShownCell(cell.text, text, _ratio_text(value, number), is_figure=cell.figure is not None))
        rows.append(ShownRow(row.label, tuple(cells)))
    headings = tuple(column.label for column in table.columns)
    lead = (
        f"Printed in 1972, and below it today: {here.host}, in blocked records over loopback; of several transfers the "
        "one with the median processor time. The load counts the processes that want this end's processor, with the "
        "transfer itself."
    )
    return stacked_table(f"{table.title}, and this host", headings, rows, lead=lead, under=_UNDER)


def _local_cells(repeated: RepeatedTransfer) -> dict[str, tuple[str, float | None]]:
    """Our cells of a row, by the printed column's name: text, and value in that column's unit."""
    row = repeated.row
    bits_per_s, us_per_bit = row.bits_per_s or 0.0, 1e6 * (row.cpu_s_per_bit or 0.0)
    return {
        "clock": (seconds(row.real_s), row.real_s),
        "cpu": (seconds(row.cpu_s), row.cpu_s),
        "bits-per-s": (rate(bits_per_s), bits_per_s),
        "us-per-bit": (seconds(row.cpu_s_per_bit), us_per_bit),
        "load": (f"{repeated.load}", None),
    }


def _conclusions(reproduced: ReproducedDocument, here: LocalTransfers) -> Table:
    """The memo's summary figures and its costs, with this host's."""
    document = reproduced.document
    names = ("per-byte", "per-bit", "seconds", "price", "cost", "times")
    figures = {name: document.figures[f"{document.name}/text/{name}"] for name in names}
    us_per_bit = sorted(here.us_per_bit(direction) for direction in ("s", "r"))
    costs = [BITS_PER_MEGABIT * us * 1e-6 * here.prices.cpu_hour / _HOUR_S for us in us_per_bit]
    currency, network = here.prices.currency, (here.prices.network_gigabyte or 0) * BITS_PER_MEGABIT / BITS_PER_GIGABYTE
    rows = [
        _compared("processor time a byte, µs", figures["per-byte"], [_BITS_PER_BYTE * us for us in us_per_bit]),
        _compared("processor time per bit, µs", figures["per-bit"], us_per_bit),
        _compared("processor time of a million bits, s", figures["seconds"], us_per_bit),
        _compared("an hour of a processor", figures["price"], [here.prices.cpu_hour], currency),
        _compared("a million bits, at the host", figures["cost"], costs, currency),
    ]
    if network:
        then, now = f"${NETWORK_PRICE:.2f}", f"{currency}{_figure(network)}"
        rows.append(_line("a million bits, at the network", then, now, network / NETWORK_PRICE))
        rows.append(_compared("times the network's price", figures["times"], [cost / network for cost in costs]))
    printed = {total.total.id.rpartition("/")[2]: total.printed for total in reproduced.totals}
    for label, name, ours in (
        ("sends, µs a bit", "sends-us-per-bit", here.us_per_bit("s")),
        ("receives, µs a bit", "receives-us-per-bit", here.us_per_bit("r")),
        ("real over processor time, all transfers", "stretch", here.stretch),
    ):
        rows.append(_line(label, digits(printed[name]), digits(ours), ours / printed[name]))
    rows += _part_lines(here)
    among = "" if here.running is None else f"; on the whole host {digits(here.running)} processes were running"
    lead = (
        f"This host: {here.host}{among}; {here.prices.about}. Over loopback the sender's time has most of the "
        "network protocol's work."
    )
    return listed_table("What the memo concludes, then and here", "1972", rows, lead=lead, under=_UNDER)


def _compared(label: str, figure: Figure, ours: Sequence[float], currency: str = "") -> ShownRow:
    """A row with a printed figure or range, and ours. The ratio is that of the lower ends."""
    text = f"{currency}{'–'.join(map(_figure, ours))}"
    return _line(label, figure.text, text, ours[0] / float(figure.number.low))


def _figure(value: float) -> str:
    """Three significant digits, with an exponent for numbers below 0.00001."""
    return digits(value) if value >= 1e-5 else f"{value:.3g}"


def _line(label: str, then: str, now: str, ratio: float | None) -> ShownRow:
    return ShownRow(label, (ShownCell(then, now, _times_text(ratio)),))


def _part_lines(here: LocalTransfers) -> list[ShownRow]:
    """The processor time of each transfer, byte and so on, in 1972 and on this host, with intervals."""
    then = {(kind.kind[0], part.of): part for kind in here.then for part in kind.parts}
    rows = []
    for kind in here.parts:
        for part in kind.parts:
            printed = then.get((kind.kind[0], part.of))
            ratio = part.each_s / printed.each_s if printed is not None and printed.each_s else None
            rows.append(
                _line(f"{_direction(kind)}: each {part.of}", _each_text(printed), _each_text(part), ratio or None)
            )
            if part.interval is not None:
                rows.append(_line("    95 %", _interval_text(printed), _interval_text(part), None))
    return rows


def _each_text(part: Part | None) -> str:
    return "" if part is None else seconds(part.each_s)


def _interval_text(part: Part | None) -> str:
    if part is None or part.interval is None:
        return ""
    return joined(seconds(part.interval.low), seconds(part.interval.high))


def _direction(kind: Parts) -> str:
    return {"s": "a send", "r": "a receive"}[kind.kind[0]]


def _ratio_text(value: float | None, printed: float | None) -> str:
    return _times_text(value / printed) if value and printed else ""


def _times_text(ratio: float | None) -> str:
    """A ratio as `×1.2k` or `1/1.2k`; empty for None."""
    if ratio is None:
        return ""
    shown = rate(max(ratio, 1 / ratio)).replace(" ", "")
    return f"×{shown}" if ratio >= 1 else f"1/{shown}"
