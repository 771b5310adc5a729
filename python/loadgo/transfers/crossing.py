"""Crossings: the size of a message, or of a transfer, at which the prices of processor and network are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadgo.transfers.parts import Parts
from loadgo.transfers.prices import Prices

Of = Literal["message", "transfer"]
Where = Literal["at a size", "always above", "always below"]
_HOUR_S, _BYTES_PER_GIGABYTE = 3600.0, 1e9


@dataclass(frozen=True)
class Crossing:
    """The price of a gigabyte for the processor, `each / size + a_byte`, and for the network."""

    kind: str
    """The kind of transfer, as in `Parts.kind`."""
    of: Of
    """The unit whose size counts: a message, or a transfer if messages have no part of their own."""
    each: float
    """The price of one such unit, times 10⁹."""
    a_byte: float
    """The price of 10⁹ further bytes of a message or transfer."""
    network: float
    """The network's price of a gigabyte."""
    where: Where
    size: float | None
    """Size in bytes below which the processor's price is above the network's. None if there is no such size."""

    def gigabyte(self, size: float) -> float:
        """The processor's price of a gigabyte in messages, or transfers, of `size` bytes."""
        return self.each / size + self.a_byte


def crossings(kinds: Sequence[Parts], prices: Prices) -> list[Crossing]:
    """The crossing of each kind of transfer with a part for messages or transfers. Empty without a network price."""
    if not prices.network_gigabyte:
        return []
    priced = []
    for kind in kinds:
        each_s = {part.of: part.each_s for part in kind.parts}
        unit: Of = "message" if "message" in each_s else "transfer"
        if unit in each_s and "byte" in each_s:
            second = prices.cpu_hour / _HOUR_S * _BYTES_PER_GIGABYTE
            priced.append(
                _crossing(kind.kind, unit, each_s[unit] * second, each_s["byte"] * second, prices.network_gigabyte)
            )
    return priced


def _crossing(kind: str, of: Of, each: float, a_byte: float, network: float) -> Crossing:
    if a_byte >= network:
        return Crossing(kind, of, each, a_byte, network, "always above", None)
    size = each / (network - a_byte)
    if size < 1:
        return Crossing(kind, of, each, a_byte, network, "always below", None)
    return Crossing(kind, of, each, a_byte, network, "at a size", size)
