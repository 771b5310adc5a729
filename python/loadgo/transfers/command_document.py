"""A command's transfer as a document: the RFC 392 columns, what it used, what its sockets moved, and the costs."""

from __future__ import annotations

import signal

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import NOT_MEASURED, as_code, digits, money, price_of, rate, seconds
from loadgo.transfers.command import UNIX_SOCKETS, CommandTransfer, NetworkInterrupts
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.prices import Prices, printed_amounts
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT

_PRECISE_SPLIT_TICKS = 50
"""From this many ticks of the kernel's clock on, the division into user and system time needs no note."""


def command_document(transfer: CommandTransfer, prices: Prices) -> Document:
    """The page of a command's transfer."""
    tables = [_rfc392_table(transfer), _used_table(transfer), _sockets_table(transfer), _costs_table(transfer, prices)]
    return Document(
        title="What a network bit costs the host",
        answer=_answer_sentence(transfer, prices),
        trust=_trust(transfer),
        warnings=tuple(_warnings(transfer)),
        about=(),
        sections=tuple(table for table in tables if table is not None),
        notes=tuple(_notes(transfer, prices)),
    )


def _trust(transfer: CommandTransfer) -> str:
    """The line on whether to believe the cost; empty where it is not known what moved."""
    if not transfer.bytes:
        return ""
    against = ["the command ran once, so chance is not known"]
    if transfer.interrupts is None:
        against.append("the network's interrupts are not in the processor time")
    grounds = [] if transfer.lost or transfer.unsent else ["the sockets themselves counted the bytes"]
    return trust_in_words(Evidence(tuple(against), tuple(grounds)), is_warned=bool(_warnings(transfer)))


def command_json(transfer: CommandTransfer, prices: Prices) -> str:
    """A command's transfer as one JSON object: numbers unrounded, null for what is not known."""
    more = {
        "cost_megabit": transfer.cost(prices.cpu_hour, BITS_PER_MEGABIT),
        "cost_gigabyte": transfer.cost(prices.cpu_hour, BITS_PER_GIGABYTE),
        "prices": prices,
        "warnings": _warnings(transfer),
    }
    return json_document(members_of(transfer, JSON_KEYS) | more, JSON_KEYS)


def _answer_sentence(transfer: CommandTransfer, prices: Prices) -> str:
    moved, name = transfer.moved, as_code(transfer.name)
    used = f"used {seconds(transfer.cpu_s)} of processor time"
    if moved is None:
        return f"{name} {used}; what its sockets moved is not known."
    if not transfer.kinds:
        return f"{name} {used}, and opened no socket that moved anything."
    sentence = f"{name} sent {moved.sent:,} bytes and received {moved.received:,}"
    if not transfer.bytes:
        return f"{sentence}: it {used}."
    gigabyte = transfer.cost(prices.cpu_hour, BITS_PER_GIGABYTE)
    amounts = printed_amounts([gigabyte])
    cost = money(gigabyte, prices.currency, amounts.count)
    sentence += f". Processor time, {prices.in_words()}: {amounts.of('gigabyte')} sent or received costs {cost}"
    if any("loopback" in kind.kind for kind in transfer.kinds):
        sentence += "; what both leaves and arrives here counts twice"
    sentence += "."
    if prices.network_gigabyte:
        network = price_of(prices.network_gigabyte * amounts.count, prices.currency)
        sentence += f" The network takes {network} for as much."
    return sentence


def _warnings(transfer: CommandTransfer) -> list[str]:
    warnings, name = [], as_code(transfer.name)
    if transfer.run.signal is not None:
        names_by_signal = {number.value: number.name for number in signal.Signals}
        warnings.append(
            f"{name} was killed by {names_by_signal.get(transfer.run.signal, f'signal {transfer.run.signal}')}"
        )
    elif transfer.run.exit_status:
        warnings.append(f"{name} ended with exit status {transfer.run.exit_status}")
    if transfer.unsent:
        warnings.append(
            f"{transfer.unsent} of its connections still had bytes to send 5 s after its end, which are not counted"
        )
    if transfer.lost:
        warnings.append(
            f"{transfer.lost} of its tasks or connections did not fit into the meter: the bytes are a lower bound"
        )
    return warnings


def _rfc392_table(transfer: CommandTransfer) -> Table:
    moved = transfer.moved
    counts = (None, None, None) if moved is None else (moved.sent, moved.received, transfer.bytes)
    rates = [None if count is None or not transfer.real_s else 8 * count / transfer.real_s for count in counts]
    real, load = seconds(transfer.real_s), f"{transfer.load_5min:.2f}"
    return Table(
        "As RFC 392 printed it",
        (
            Column("", ("sends", "receives", "both")),
            Column("real", (real,) * 3),
            Column("CPU", ("", "", seconds(transfer.cpu_s))),
            Column("bytes", tuple(_count(count) for count in counts), spare=1),
            Column("bit/s", tuple(rate(value) for value in rates)),
            Column("CPU per bit", ("", "", seconds(transfer.cpu_s_per_bit))),
            Column("load", (load,) * 3, spare=2),
        ),
    )


def _used_table(transfer: CommandTransfer) -> Table:
    run = transfer.run
    faults = None if run.faults_minor is None else run.faults_minor + (run.faults_major or 0)
    return Table(
        "What it used, all its processes together",
        (
            Column("", (transfer.name,)),
            Column("user", (seconds(transfer.user_s),)),
            Column("system", (seconds(transfer.system_s),)),
            Column("interrupts", (seconds(transfer.interrupts_s),)),
            Column(
                "calls",
                (_count(None if transfer.moved is None else transfer.moved.sends + transfer.moved.receives),),
                spare=1,
            ),
            Column("faults", (_count(faults),)),
            Column("waits", (_count(run.waited.switches_voluntary),), spare=2),
        ),
    )


def _count(value: int | None) -> str:
    return NOT_MEASURED if value is None else f"{value:,}"


def _sockets_table(transfer: CommandTransfer) -> Table | None:
    if not transfer.kinds:
        return None
    rows = transfer.kinds
    is_tcp = [kind.kind.startswith("TCP") for kind in rows]

    def tcp_cells(numbers: list[int]) -> tuple[str, ...]:
        return tuple(f"{value:,}" if is_counted else "" for value, is_counted in zip(numbers, is_tcp, strict=True))

    return Table(
        "What its sockets moved",
        (
            Column("", tuple(row.kind for row in rows)),
            Column("sockets", tcp_cells([row.sockets for row in rows]), spare=2),
            Column("bytes sent", tuple(f"{row.sent:,}" for row in rows)),
            Column("in calls", tuple(f"{row.sends:,}" for row in rows), spare=1),
            Column("received", tuple(f"{row.received:,}" for row in rows)),
            Column("in calls", tuple(f"{row.receives:,}" for row in rows), spare=1),
            Column("sent again", tcp_cells([row.sent_again for row in rows]), spare=3),
        ),
    )


def _costs_table(transfer: CommandTransfer, prices: Prices) -> Table | None:
    if transfer.cpu_s_per_bit is None:
        return None
    gigabyte = transfer.cost(prices.cpu_hour, BITS_PER_GIGABYTE)
    megabit, amounts = transfer.cost(prices.cpu_hour, BITS_PER_MEGABIT), printed_amounts([gigabyte])
    columns = [
        Column("", (transfer.name,)),
        Column(amounts.of("megabit"), (money(megabit, prices.currency, amounts.count),)),
        Column(amounts.of("gigabyte"), (money(gigabyte, prices.currency, amounts.count),)),
    ]
    if prices.network_gigabyte and gigabyte is not None:
        columns.append(Column("times the network's price", (digits(gigabyte / prices.network_gigabyte),)))
    return Table("What the processor time of that costs", tuple(columns))


def _notes(transfer: CommandTransfer, prices: Prices) -> list[tuple[str, str]]:
    notes = [
        ("Prices", prices.about),
        ("Both ways", "a program's processor time cannot be divided between what it sends and what it receives"),
        ("CPU", f"user, system and interrupts, of all its processes, by {transfer.sources['cpu']}"),
    ]
    if transfer.interrupts is not None:
        notes.append(("Interrupts", _interrupts_in_words(transfer.interrupts)))
    if "ticks" in str(transfer.sources.get("split", "")) and (transfer.cpu_s or 0) < _PRECISE_SPLIT_TICKS * 0.004:
        notes.append(
            ("User, system", f"told apart by {transfer.sources['split']}: in so short a run only the sum is exact")
        )
    notes += _socket_notes(transfer)
    if transfer.run.left_running:
        notes.append(
            (
                "Left running",
                f"{transfer.run.left_running} processes of it run on; what they use and move now is not in it",
            )
        )
    return notes + [("Not known", note) for note in transfer.notes]


def _interrupts_in_words(interrupts: NetworkInterrupts) -> str:
    sentence = f"of the network, for its sockets: {seconds(interrupts.soft_s)} soft"
    if interrupts.hard_s:
        sentence += f" and {seconds(interrupts.hard_s)} of devices (shared as the soft ones are, an estimate)"
    sentence += f", of {seconds(interrupts.all_s)} on this host meanwhile; a packet's work is its receiver's"
    if interrupts.inside_s:
        sentence += f". {seconds(interrupts.inside_s)}, whomever for, came upon its processes, and are not in system"
    return sentence


def _socket_notes(transfer: CommandTransfer) -> list[tuple[str, str]]:
    kinds = transfer.kinds or ()
    names = {kind.kind for kind in kinds}
    notes = []
    if any(name.startswith("TCP") for name in names):
        notes.append(("TCP", "bytes as the sockets themselves count them, each once"))
    if names - {"TCP, network", "TCP, loopback"}:
        notes.append(("Other sockets", "bytes by the calls that moved them: what was lost on the way is not known"))
    if UNIX_SOCKETS in names and len(names) > 1:
        notes.append((UNIX_SOCKETS, "not in the bytes above, which are those of the network"))
    if any("loopback" in name for name in names):
        notes.append(("Loopback", "no network carries that; where both ends are the command's, it counts at each"))
    if transfer.held:
        notes.append(("Still open", f"{transfer.held} connections that are still held are counted as far as they were"))
    return notes
