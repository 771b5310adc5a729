"""What the remedies of RFC 392 would have saved: on the simulated TENEX, and by arithmetic on the memo's own figures.

A remedy is a change of four costs: of a byte and a message at the network, of how long a message is, and of the
program's own time for a byte. The machine is run with them (`loadgo simulate tenex --set …` does the same); beside it,
the memo's 600 to 700 us a byte less its 120 us of BIN or BOUT and 1 ms a message, plus what takes their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.published.catalogue import document
from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import number, priced
from loadgo.reproduction.models.scripts import of_lines

MACHINE = "tenex"
LONG = 100_000
"""Bytes of the transfer: so long that what a transfer costs in any case is a 4000th of it."""
NETWORK_PRICE = 0.30
"""What the network was to cost for a million bits: Roberts and Wessler, 1970."""
_WAYS = ("send", "receive")


@dataclass(frozen=True)
class Remedy:
    """A remedy as changed costs; times in us."""

    name: str
    byte_us: float = 120.0
    """A byte of 8 bits onto or off the network."""
    message_us: float = 1000.0
    message_bytes: int = 1000
    own: float = 1.0
    """How much is left of the program's own time for a byte: making records and blocks."""
    basis: str = ""
    """What is assumed beyond the memo; empty where its own words give the figures."""

    def changes(self) -> tuple[str, ...]:
        """The same as changes of the machine file."""
        own_s = {way: number(MACHINE, f"commands.{way}.network_byte_cpu") for way in _WAYS}
        return (
            f"supervisor.network_byte={self.byte_us:g}us",
            f"supervisor.network_message={self.message_us:g}us",
            f"supervisor.message_bytes={self.message_bytes}",
            *(f"commands.{way}.network_byte_cpu={1e6 * self.own * own_s[way]:g}us" for way in _WAYS),
        )

    def us_per_byte(self, whole_us: float) -> float:
        """By arithmetic: a byte that took `whole_us` in all, with the changed costs."""
        was = REMEDIES[0]
        own = whole_us - was.byte_us - was.message_us / was.message_bytes
        return self.own * own + self.byte_us + self.message_us / self.message_bytes


REMEDIES = (
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
"""The letters are the memo's."""


@dataclass(frozen=True)
class Remedied:
    """What a remedy comes to; times in us of processor time a bit."""

    remedy: Remedy
    sends_us: float
    receives_us: float
    low_us: float
    """By arithmetic on the memo's range."""
    high_us: float
    saves: float
    """A share of what sending and receiving took as it was, simulated."""
    cost: float
    """Of a million bits, simulated; the mean of sending and receiving."""

    @property
    def times(self) -> float:
        """Over the network's price."""
        return self.cost / NETWORK_PRICE

    @property
    def agrees(self) -> bool:
        """Whether what is simulated lies in what the memo's figures come to, or within 2 % of it."""
        return all(0.98 * self.low_us <= one <= 1.02 * self.high_us for one in (self.sends_us, self.receives_us))


def remedied(lab: Lab, remedies: Sequence[Remedy] = REMEDIES) -> tuple[Remedied, ...]:
    """Each remedy, run by one user on the machine; the first is what the others are compared with.

    Raises what `loadgo.run` raises.
    """
    script = of_lines(f"{way} {LONG}" for way in _WAYS)
    runs = lab.runs([Experiment(script, MACHINE, set=remedy.changes()) for remedy in remedies])
    costs = [tuple(1e6 * run.lines[1, at].cpu_s / LONG / 8 for at in (1, 2)) for run in runs]
    printed = document("rfc-392").figures["rfc-392/text/per-byte"].number
    found = []
    for remedy, (sends, receives) in zip(remedies, costs, strict=True):
        low, high = (remedy.us_per_byte(float(whole)) / 8 for whole in (printed.low, printed.high))
        saves = 1 - (sends + receives) / sum(costs[0])
        found.append(Remedied(remedy, sends, receives, low, high, saves, priced(MACHINE, (sends + receives) / 2)))
    return tuple(found)
