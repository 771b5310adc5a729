"""What RFC 392 is beside today: its tables with this host's rows in them, its conclusions, and its remedies."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Table
from loadgo.notation.figures import digits, joined, rate, seconds
from loadgo.published.document import Figure
from loadgo.published.document import Table as PrintedTable
from loadgo.reproduction.models.rfc_392_here import Again, Here
from loadgo.reproduction.models.rfc_392_remedies import LONG, NETWORK_PRICE, Remedied
from loadgo.reproduction.reproduce import DocumentAgain
from loadgo.reproduction.shown import Shown, ShownRow, listed, stacked
from loadgo.transfers.parts import Part, Parts
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT

_BYTE = 8
_HOUR_S = 3600.0
_UNDER = ("here", "ratio")


def remedy_tables(remedies: Sequence[Remedied]) -> list[Table]:
    """What the remedies would have saved; none where there are none."""
    if not remedies:
        return []
    assumed = "; ".join(f"{one.remedy.name}, {one.remedy.basis}" for one in remedies if one.remedy.basis)
    lead = (
        f"Processor time a bit of {LONG:,} bytes on the simulated machine; beside it what the memo's figures come to "
        "(600 to 700 us a byte, less 120 us of BIN or BOUT and 1 ms a message of 1000 bytes, plus what takes their "
        f"place). Assumed: {assumed}."
    )
    columns = ("send us/bit", "receive us/bit", "by the memo", "saves", "$ a million bits", "times network")
    rows = [ShownRow(one.remedy.name, tuple(map(Shown, _remedy_cells(one)))) for one in remedies]
    return [stacked("What each remedy would have saved", columns, rows, lead=lead)]


def _remedy_cells(one: Remedied) -> tuple[str, ...]:
    mark = "" if one.agrees else " ≠"
    arithmetic = f"{digits(one.low_us)}–{digits(one.high_us)}{mark}"
    saves = f"{100 * one.saves:.1f} %"
    return digits(one.sends_us), digits(one.receives_us), arithmetic, saves, digits(one.cost), digits(one.times)


def here_tables(again: DocumentAgain) -> list[Table]:
    """The seed's conclusions and tables with this host's figures under each; none where it was not measured."""
    if again.here is None:
        return []
    return [_conclusions(again, again.here), *(_table(table, again.here) for table in again.document.tables)]


def _table(table: PrintedTable, here: Here) -> Table:
    rows = []
    for row in table.rows:
        again = here.rows[f"{table.name}/{row.name}"]
        printed = {column.name: cell for column, cell in zip(table.columns, row.cells, strict=True)}
        ours = _ours(again)
        cells = []
        for name, cell in printed.items():
            number = None if cell.figure is None else float(cell.figure.number.low)
            told, value = ours.get(name, ("", None))
            cells.append(Shown(cell.text, told, _ratio(value, number), is_figure=cell.figure is not None))
        rows.append(ShownRow(row.label, tuple(cells)))
    headings = tuple(column.label for column in table.columns)
    lead = (
        f"In 1972, and under it today: {here.host}, in blocked records over loopback, of several the transfer with the "
        "median runtime. The load is of processes that want this end's processor, the transfer among them."
    )
    return stacked(f"{table.title}, and this host", headings, rows, lead=lead, under=_UNDER)


def _ours(again: Again) -> dict[str, tuple[str, float | None]]:
    """The cells of a row by column, and what each is in the printed column's unit."""
    row = again.row
    bits_per_s, a_bit = row.bits_per_s or 0.0, 1e6 * (row.cpu_s_per_bit or 0.0)
    return {
        "clock": (seconds(row.real_s), row.real_s),
        "cpu": (seconds(row.cpu_s), row.cpu_s),
        "bits-per-s": (rate(bits_per_s), bits_per_s),
        "us-per-bit": (seconds(row.cpu_s_per_bit), a_bit),
        "load": (f"{again.load}", None),
    }


def _conclusions(again: DocumentAgain, here: Here) -> Table:
    """The memo's summary figures and its costs, with this host's."""
    told = again.document
    figures = {
        one: told.figures[f"{told.name}/text/{one}"] for one in ("per-byte", "per-bit", "seconds", "cost", "times")
    }
    ends = sorted(here.us_per_bit(way) for way in ("s", "r"))
    costs = [BITS_PER_MEGABIT * one * 1e-6 * here.prices.cpu_hour / _HOUR_S for one in ends]
    currency, network = here.prices.currency, (here.prices.network_gigabyte or 0) * BITS_PER_MEGABIT / BITS_PER_GIGABYTE
    rows = [
        _compared("processor time a byte, us", figures["per-byte"], [_BYTE * one for one in ends]),
        _compared("processor time a bit, us", figures["per-bit"], ends),
        _compared("processor time of a million bits, s", figures["seconds"], ends),
        _compared("an hour of a processor", told.figures[f"{told.name}/text/price"], [here.prices.cpu_hour], currency),
        _compared("a million bits, at the host", figures["cost"], costs, currency),
    ]
    if network:
        then = f"${NETWORK_PRICE:.2f}"
        rows.append(
            _line("a million bits, at the network", then, f"{currency}{_figure(network)}", network / NETWORK_PRICE)
        )
        rows.append(_compared("times the network's price", figures["times"], [cost / network for cost in costs]))
    printed = {one.total.id.rpartition("/")[2]: one.printed for one in again.totals}
    for label, total, ours in (
        ("sends, us a bit", "sends-us-per-bit", here.us_per_bit("s")),
        ("receives, us a bit", "receives-us-per-bit", here.us_per_bit("r")),
        ("real over processor time, all transfers", "stretch", here.stretch),
    ):
        rows.append(_line(label, digits(printed[total]), digits(ours), ours / printed[total]))
    rows += _parts(here)
    among = "" if here.running is None else f"; {digits(here.running)} processes were running, whoever they were of"
    lead = (
        f"This host: {here.host}{among}; {here.prices.about}. Over loopback most of what the network's protocol does "
        "is in the time of who sends."
    )
    return listed("What the memo concludes, then and here", "1972", rows, lead=lead, under=_UNDER)


def _compared(label: str, figure: Figure, ours: Sequence[float], currency: str = "") -> ShownRow:
    """A printed figure or range, and ours; the ratio is that of the lower ends."""
    told = f"{currency}{'–'.join(_figure(one) for one in ours)}"
    return _line(label, figure.text, told, ours[0] / float(figure.number.low))


def _figure(value: float) -> str:
    """Three digits, and an exponent where there would be more than five noughts."""
    return digits(value) if value >= 1e-5 else f"{value:.3g}"


def _line(label: str, then: str, now: str, ratio: float | None) -> ShownRow:
    return ShownRow(label, (Shown(then, now, _times(ratio)),))


def _parts(here: Here) -> list[ShownRow]:
    """What each transfer and byte takes, then and here, with intervals."""
    then = {(kind.kind[0], part.of): part for kind in here.then for part in kind.parts}
    rows = []
    for kind in here.parts:
        for part in kind.parts:
            was = then.get((kind.kind[0], part.of))
            ratio = part.each_s / was.each_s if was is not None and was.each_s else None
            rows.append(_line(f"{_way(kind)}: each {part.of}", _each(was), _each(part), ratio or None))
            if part.interval is not None:
                rows.append(_line("    95 %", _between(was), _between(part), None))
    return rows


def _each(part: Part | None) -> str:
    return "" if part is None else seconds(part.each_s)


def _between(part: Part | None) -> str:
    return (
        "" if part is None or part.interval is None else joined(seconds(part.interval.low), seconds(part.interval.high))
    )


def _way(kind: Parts) -> str:
    return {"s": "a send", "r": "a receive"}[kind.kind[0]]


def _ratio(value: float | None, printed: float | None) -> str:
    return _times(value / printed) if value and printed else ""


def _times(ratio: float | None) -> str:
    """`×1.2k` or `1/1.2k`."""
    if ratio is None:
        return ""
    shown = rate(max(ratio, 1 / ratio)).replace(" ", "")
    return f"×{shown}" if ratio >= 1 else f"1/{shown}"
