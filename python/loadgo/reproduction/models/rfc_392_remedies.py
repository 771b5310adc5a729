"""The savings of RFC 392's remedies: on the simulated TENEX, and by arithmetic on the memo's own figures.

A remedy changes costs at the network (of a byte, of a message), the length of messages, and the program's own time for
a byte. The machine is run with these changes, as by `loadgo simulate tenex --set …`. The
arithmetic takes the memo's 600 to 700 us a byte. It replaces 120 us of BIN or BOUT and 1 ms a message by the new costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.published.catalogue import document
from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number, processor_price
from loadgo.reproduction.models.rfc_392 import MACHINE_NAME, NETWORK_PRICE
from loadgo.reproduction.models.scripts import script_from_lines

LONG_TRANSFER_BYTES = 100_000
"""Size of the transfer. At this size, the fixed cost of a transfer is a 4000th of the total."""
_COMMANDS = ("send", "receive")


@dataclass(frozen=True)
class Remedy:
    """A remedy as changed costs. Times are in microseconds."""

    name: str
    byte_us: float = 120.0
    """Time to move 8 bits to or from the network."""
    message_us: float = 1000.0
    message_bytes: int = 1000
    own: float = 1.0
    """Remaining share of the program's own time for a byte, in which it makes records and blocks."""
    basis: str = ""
    """The assumption beyond the memo; empty if the memo gives the figures."""

    def changes(self) -> tuple[str, ...]:
        """The remedy as changes of the machine file."""
        own_s = {command: machine_number(MACHINE_NAME, f"commands.{command}.network_byte_cpu") for command in _COMMANDS}
        return (
            f"supervisor.network_byte={self.byte_us:g}us",
            f"supervisor.network_message={self.message_us:g}us",
            f"supervisor.message_bytes={self.message_bytes}",
            *(f"commands.{command}.network_byte_cpu={1e6 * self.own * own_s[command]:g}us" for command in _COMMANDS),
        )

    def us_per_byte(self, unchanged_us: float) -> float:
        """The time of a byte by arithmetic, from its time without a remedy."""
        unchanged = COST_REMEDIES[0]
        own_us = unchanged_us - unchanged.byte_us - unchanged.message_us / unchanged.message_bytes
        return self.own * own_us + self.byte_us + self.message_us / self.message_bytes


COST_REMEDIES = (
    Remedy("as it was: BIN and BOUT of bytes of 8 bits"),
    Remedy("messages eight times as long", message_bytes=8000, basis="8000 bytes a message"),
    Remedy("bytes of 32 bits (c)", 30.0, 500.0),
    Remedy("bytes of 36 bits", 120 / 4.5, 500.0),
    Remedy("a string a call (SIN, SOUT), not a byte", 10.0, basis="10 us a byte: four instructions"),
    Remedy("interprocess communication, no bytes (a)", 0.0, 500.0, basis="500 us a message, as for long bytes"),
    Remedy(
        "pages mapped onto the network (b)", 0.0, 1500.0, 2048, basis="1.5 ms a page of 2048 bytes, as a page fault"
    ),
    Remedy(
        "bytes of 32 bits, in records and blocks too", 30.0, 500.0, own=0.25, basis="a quarter of the program's own"
    ),
    Remedy("pages mapped, records and blocks by words", 0.0, 1500.0, 2048, own=0.25, basis="both of the above"),
)
"""All remedies; the first changes nothing. The letters are the memo's."""


@dataclass(frozen=True)
class RemedyCost:
    """The result of a remedy. Times are processor time in microseconds per bit."""

    remedy: Remedy
    sends_us: float
    receives_us: float
    low_us: float
    """The lower end by arithmetic on the memo's range."""
    high_us: float
    saves: float
    """Saved share of the simulated processor time of sending and receiving."""
    cost: float
    """Simulated cost in dollars of a million bits, the mean of sending and receiving."""

    @property
    def times(self) -> float:
        """The cost over the network's price."""
        return self.cost / NETWORK_PRICE

    @property
    def agrees(self) -> bool:
        """Whether the simulated times lie in the range by arithmetic, or within 2 % of it."""
        return all(0.98 * self.low_us <= us <= 1.02 * self.high_us for us in (self.sends_us, self.receives_us))


def remedy_costs(lab: Lab, remedies: Sequence[Remedy] = COST_REMEDIES) -> tuple[RemedyCost, ...]:
    """The result of each remedy, from a run by one user. The others are compared with the first.

    Raises what `loadgo.run` raises.
    """
    script = script_from_lines(f"{command} {LONG_TRANSFER_BYTES}" for command in _COMMANDS)
    runs = lab.runs([Experiment(script, MACHINE_NAME, set=remedy.changes()) for remedy in remedies])
    us_per_bit = [tuple(1e6 * run.lines[1, line].cpu_s / LONG_TRANSFER_BYTES / 8 for line in (1, 2)) for run in runs]
    printed = document("rfc-392").figures["rfc-392/text/per-byte"].number
    costs = []
    for remedy, (sends, receives) in zip(remedies, us_per_bit, strict=True):
        low, high = (remedy.us_per_byte(float(byte_us)) / 8 for byte_us in (printed.low, printed.high))
        saves = 1 - (sends + receives) / sum(us_per_bit[0])
        costs.append(
            RemedyCost(remedy, sends, receives, low, high, saves, processor_price(MACHINE_NAME, (sends + receives) / 2))
        )
    return tuple(costs)
