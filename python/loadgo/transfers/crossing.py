"""Where the processor's price passes the network's: the size of a message, or of a transfer, that makes them equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadgo.transfers.parts import Parts
from loadgo.transfers.prices import Prices

Of = Literal["message", "transfer"]
Where = Literal["at a size", "always above", "always below"]
_HOUR_S, _BYTES = 3600.0, 1e9


@dataclass(frozen=True)
class Crossing:
    """What a gigabyte costs the processor by the size of its messages, `each / size + a_byte`, and the network."""

    kind: str
    """As `Parts.kind`."""
    of: Of
    """Of what the size is: of a message, or where those are not told apart of a whole transfer."""
    each: float
    """The price of one, times 10⁹."""
    a_byte: float
    """The price of 10⁹ bytes that no message or transfer is begun for."""
    network: float
    """The network's price of a gigabyte."""
    where: Where
    size: float | None
    """Bytes; below them the processor's price is above the network's. None where it is always on one side."""

    def gigabyte(self, size: float) -> float:
        """The processor's price of a gigabyte in messages, or transfers, of so many bytes."""
        return self.each / size + self.a_byte


def crossings(kinds: Sequence[Parts], prices: Prices) -> list[Crossing]:
    """One for each kind of transfer that a message or transfer can be told apart in; none without a network's price."""
    if not prices.network_gigabyte:
        return []
    found = []
    for kind in kinds:
        each = {part.of: part.each_s for part in kind.parts}
        of: Of = "message" if "message" in each else "transfer"
        if of in each and "byte" in each:
            a_second = prices.cpu_hour / _HOUR_S * _BYTES
            found.append(
                _crossing(kind.kind, of, each[of] * a_second, each["byte"] * a_second, prices.network_gigabyte)
            )
    return found


def _crossing(kind: str, of: Of, each: float, a_byte: float, network: float) -> Crossing:
    if a_byte >= network:
        return Crossing(kind, of, each, a_byte, network, "always above", None)
    size = each / (network - a_byte)
    if size < 1:
        return Crossing(kind, of, each, a_byte, network, "always below", None)
    return Crossing(kind, of, each, a_byte, network, "at a size", size)
