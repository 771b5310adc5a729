"""Prices of a transfer: the host's processor by the hour, and the network by the gigabyte."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.measures.tariff import Tariff, load_tariff
from loadgo.notation.figures import counted, price_of
from loadgo.transfers.row import BITS_PER_GIGABYTE, Row

_SMALL_PRICE = 1e-3
"""A price below this has so many zeros that nobody reads them: that of a larger amount is printed. Chosen by hand."""
_UNITS = {"megabit": (1, "a megabit"), "gigabyte": (1, "a gigabyte")}
_LARGE_UNITS = {"megabit": (10**6, "a terabit"), "gigabyte": (10**3, "a terabyte")}
"""The units of the printed prices, and how many of the first unit each is."""


@dataclass(frozen=True)
class Amounts:
    """The amounts of data that prices are printed for: larger ones where a gigabyte costs next to nothing."""

    are_large: bool

    def of(self, unit: str) -> str:
        """The amount in words: `a gigabyte`, or `a terabyte`."""
        return (_LARGE_UNITS if self.are_large else _UNITS)[unit][1]

    def count(self, unit: str) -> int:
        """The number of megabits or gigabytes in the amount."""
        return (_LARGE_UNITS if self.are_large else _UNITS)[unit][0]


def printed_amounts(costs: Iterable[float | None]) -> Amounts:
    """The amounts of which the prices are printed, by the lowest of these costs of a gigabyte."""
    return Amounts(min((cost for cost in costs if cost), default=math.inf) < _SMALL_PRICE)


@dataclass(frozen=True)
class Prices:
    """Prices in `currency`."""

    currency: str
    cpu_hour: float
    """Price of an hour of one processor."""
    network_gigabyte: float | None
    """Price of a gigabyte on the network. None if it is not known."""
    about: str
    """Source of the prices, in words."""

    def of_network(self, amounts: Amounts) -> str:
        """A sentence on the network's own price, with a space before it; empty if that is not known."""
        if not self.network_gigabyte:
            return ""
        price = price_of(self.network_gigabyte * amounts.count("gigabyte"), self.currency)
        return f" The network itself costs {price} {amounts.of('gigabyte')}."

    def in_words(self) -> str:
        """The price of processor time in a clause: `at $0.05 a CPU hour`."""
        return f"at {price_of(self.cpu_hour, self.currency)} a CPU hour"

    def host(self, row: Row, bits: float) -> float | None:
        """Cost in processor time of moving `bits` at a row's rate. None if the row moved nothing."""
        return row.cost(self.cpu_hour, bits)

    def amounts(self, rows: Iterable[Row]) -> Amounts:
        """The amounts of which the prices of these rows are printed."""
        return printed_amounts(self.host(row, BITS_PER_GIGABYTE) for row in rows if not row.broke_off)

    def ratio(self, row: Row) -> float | None:
        """Ratio of the host's cost to the network's, for the same bits. None if one of them is not known."""
        host = self.host(row, BITS_PER_GIGABYTE)
        return host / self.network_gigabyte if host is not None and self.network_gigabyte else None


def prices(tariff: str = "default", network: str | None = None, *, processors: int = 1) -> Prices:
    """The prices of a tariff. The rent of the machine is divided by its `processors`.

    `network` is the price of a gigabyte in the tariff's currency, or another tariff that has such a price.

    Raises `ValueError` for a tariff that does not exist or has no such price.
    """
    host = load_tariff(tariff)
    cpu_hour = host.cpu_hour + host.machine_hour / processors
    if not cpu_hour:
        raise BadArgument(f"tariff {host.label} has no price for processor time: it needs cpu_hour or machine_hour")
    about = f"{host.title}: {host.in_words()}{', an assumption' if host.assumption else ''}"
    if host.machine_hour:
        about += f", shared by {counted(processors, 'processor')}"
    gigabyte = host.gigabyte_out or None
    if network is not None:
        gigabyte, source = _network(network, host)
        about += f"; network: {source}"
    return Prices(host.currency, cpu_hour, gigabyte, about)


def _network(text: str, host: Tariff) -> tuple[float, str]:
    try:
        price = float(text)
    except ValueError:
        other = load_tariff(text)
        if not other.gigabyte_out or other.currency != host.currency:
            raise BadArgument(
                f"`network={text}`: that tariff has no gigabyte_out in {host.currency}; name a price, or another tariff"
            ).about("network") from None
        return other.gigabyte_out, other.title
    if not 0 < price < float("inf"):
        raise BadArgument(f"`network={text}`: a price is a positive number").about("network")
    return price, f"{price_of(price, host.currency)} a gigabyte, as given"
