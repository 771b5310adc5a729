"""A command's transfer as a document: the RFC 392 columns, what it used, what its sockets moved, and the costs."""

from __future__ import annotations

import signal

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits, money, rate, seconds
from loadgo.transfers.command import UNIX_SOCKETS, CommandTransfer, NetworkInterrupts
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT

_SPLIT_TICKS = 50
"""So many ticks of the kernel's clock tell user and system apart well enough to say nothing of it."""


def render_command(
    made: CommandTransfer, format: Format, *, prices: Prices, width: int | None = None, color: bool = False
) -> str:
    """The command's transfer as `format`, at `prices`; raises `ValueError` for another format."""

    def document() -> Document:
        return command_document(made, prices)

    return render(format, document, lambda: command_json(made, prices), width=width, color=color)


def command_document(made: CommandTransfer, prices: Prices) -> Document:
    """The page of a command's transfer."""
    grids = [_seeds_columns(made), _used(made), _sockets(made), _costs(made, prices)]
    return Document(
        title="What a network bit costs the host",
        answer=_answer(made, prices),
        warnings=tuple(_warnings(made)),
        about=(),
        sections=tuple(grid for grid in grids if grid is not None),
        notes=tuple(_notes(made, prices)),
    )


def command_json(made: CommandTransfer, prices: Prices) -> str:
    """All of it, numbers unrounded; null is not known."""
    costs = {
        "cost_megabit": made.cost(prices.cpu_hour, BITS_PER_MEGABIT),
        "cost_gigabyte": made.cost(prices.cpu_hour, BITS_PER_GIGABYTE),
        "prices": prices,
    }
    return json_document(members_of(made, JSON_KEYS) | costs, JSON_KEYS)


def _answer(made: CommandTransfer, prices: Prices) -> str:
    moved = made.moved
    used = f"{made.name} used {seconds(made.cpu_s)} of processor time"
    if moved is None:
        return f"{used}; what its sockets moved is not known."
    if not made.kinds:
        return f"{used}, and opened no socket that moved anything."
    sentence = f"{made.name} sent {moved.sent:,} bytes and received {moved.received:,}"
    if not made.bytes:
        return f"{sentence}: {used.removeprefix(made.name + ' ')} moved nothing."
    sentence += f"; moving a gigabyte so costs {money(made.cost(prices.cpu_hour, BITS_PER_GIGABYTE), prices.currency)}"
    if prices.network_gigabyte:
        sentence += f"; the network takes {prices.currency}{prices.network_gigabyte:g}"
    return sentence + "."


def _warnings(made: CommandTransfer) -> list[str]:
    told = []
    if made.run.signal is not None:
        known = {each.value: each.name for each in signal.Signals}
        told.append(f"{made.name} was killed by {known.get(made.run.signal, f'signal {made.run.signal}')}")
    elif made.run.exit_status:
        told.append(f"{made.name} ended with exit status {made.run.exit_status}")
    if made.unsent:
        told.append(f"{made.unsent} of its connections still had bytes to send 5 s after its end: they are not in it")
    if made.lost:
        told.append(f"{made.lost} of its tasks or connections found no room: bytes are at least what is shown")
    return told


def _seeds_columns(made: CommandTransfer) -> Table:
    moved = made.moved
    each = (None, None, None) if moved is None else (moved.sent, moved.received, made.bytes)
    a_second = [None if count is None or not made.real_s else 8 * count / made.real_s for count in each]
    real, load = seconds(made.real_s), f"{made.load_5min:.2f}"
    return Table(
        "As RFC 392 printed it",
        (
            Column("", ("sends", "receives", "both")),
            Column("real", (real,) * 3),
            Column("CPU", ("", "", seconds(made.cpu_s))),
            Column("bytes", tuple(_count(count) for count in each), spare=1),
            Column("bit/s", tuple(rate(value) for value in a_second)),
            Column("CPU a bit", ("", "", seconds(made.cpu_s_per_bit))),
            Column("load", (load,) * 3, spare=2),
        ),
    )


def _used(made: CommandTransfer) -> Table:
    run = made.run
    faults = None if run.faults_minor is None else run.faults_minor + (run.faults_major or 0)
    return Table(
        "What it used, all its processes together",
        (
            Column("", (made.name,)),
            Column("user", (seconds(made.user_s),)),
            Column("system", (seconds(made.system_s),)),
            Column("interrupts", (seconds(made.interrupts_s),)),
            Column("calls", (_count(None if made.moved is None else made.moved.sends + made.moved.receives),), spare=1),
            Column("faults", (_count(faults),)),
            Column("waits", (_count(run.waited.switches_voluntary),), spare=2),
        ),
    )


def _count(value: int | None) -> str:
    return NOT_MEASURED if value is None else f"{value:,}"


def _sockets(made: CommandTransfer) -> Table | None:
    if not made.kinds:
        return None
    rows = made.kinds
    is_tcp = [kind.kind.startswith("TCP") for kind in rows]

    def of_tcp(numbers: list[int]) -> tuple[str, ...]:
        return tuple(f"{value:,}" if known else "" for value, known in zip(numbers, is_tcp, strict=True))

    return Table(
        "What its sockets moved",
        (
            Column("", tuple(row.kind for row in rows)),
            Column("sockets", of_tcp([row.sockets for row in rows]), spare=2),
            Column("bytes sent", tuple(f"{row.sent:,}" for row in rows)),
            Column("in calls", tuple(f"{row.sends:,}" for row in rows), spare=1),
            Column("received", tuple(f"{row.received:,}" for row in rows)),
            Column("in calls", tuple(f"{row.receives:,}" for row in rows), spare=1),
            Column("sent again", of_tcp([row.sent_again for row in rows]), spare=3),
        ),
    )


def _costs(made: CommandTransfer, prices: Prices) -> Table | None:
    if made.cpu_s_per_bit is None:
        return None
    gigabyte = made.cost(prices.cpu_hour, BITS_PER_GIGABYTE)
    columns = [
        Column("", (made.name,)),
        Column("a megabit", (money(made.cost(prices.cpu_hour, BITS_PER_MEGABIT), prices.currency),)),
        Column("a gigabyte", (money(gigabyte, prices.currency),)),
    ]
    if prices.network_gigabyte and gigabyte is not None:
        columns.append(Column("times the network's price", (digits(gigabyte / prices.network_gigabyte),)))
    return Table("What the processor time of that costs", tuple(columns))


def _notes(made: CommandTransfer, prices: Prices) -> list[tuple[str, str]]:
    notes = [
        ("prices", prices.about),
        ("both", "a program's processor time cannot be divided between what it sends and what it receives"),
        ("CPU", f"user, system and interrupts, of all its processes, by {made.sources['cpu']}"),
    ]
    if made.interrupts is not None:
        notes.append(("interrupts", _about_interrupts(made.interrupts)))
    if "ticks" in str(made.sources.get("split", "")) and (made.cpu_s or 0) < _SPLIT_TICKS * 0.004:
        notes.append(
            ("user, system", f"told apart by {made.sources['split']}: in so short a run only the sum is exact")
        )
    notes += _about_sockets(made)
    if made.run.left_running:
        notes.append(
            ("left", f"{made.run.left_running} processes of it run on; what they use and move now is not in it")
        )
    return notes + [("not known", note) for note in made.notes]


def _about_interrupts(interrupts: NetworkInterrupts) -> str:
    told = f"of the network, for its sockets: {seconds(interrupts.soft_s)} soft"
    if interrupts.hard_s:
        told += f" and {seconds(interrupts.hard_s)} of devices (shared as the soft ones are, an estimate)"
    told += f", of {seconds(interrupts.all_s)} on this host meanwhile; a packet's work is its receiver's"
    if interrupts.inside_s:
        told += f". {seconds(interrupts.inside_s)}, whomever for, came upon its processes, and are not in system"
    return told


def _about_sockets(made: CommandTransfer) -> list[tuple[str, str]]:
    kinds = made.kinds or ()
    names = {kind.kind for kind in kinds}
    notes = []
    if any(name.startswith("TCP") for name in names):
        notes.append(("TCP", "bytes as the sockets themselves count them, each once"))
    if names - {"TCP, network", "TCP, loopback"}:
        notes.append(("others", "bytes by the calls that moved them: what was lost on the way is not known"))
    if UNIX_SOCKETS in names and len(names) > 1:
        notes.append((UNIX_SOCKETS, "not in the bytes above, which are those of the network"))
    if any("loopback" in name for name in names):
        notes.append(("loopback", "no network carries that; where both ends are the command's, it counts at each"))
    if made.held:
        notes.append(("open", f"{made.held} connections that are still held are counted as far as they were"))
    return notes
