"""What the two parts of a transfer are charged at: the host's processor by the hour, the network by the gigabyte."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.measures.tariff import Tariff, load_tariff
from loadgo.transfers.row import GIGABYTE, Row


@dataclass(frozen=True)
class Prices:
    """Prices in `currency`."""

    currency: str
    cpu_hour: float
    """An hour of one processor."""
    network_gigabyte: float | None
    """What the network takes for a gigabyte; None where nobody says."""
    about: str
    """Where they are from, in words."""

    def host(self, row: Row, bits: float) -> float | None:
        """What moving so many bits like a row's costs in processor time; None where nothing was moved."""
        return row.cost(self.cpu_hour, bits)

    def ratio(self, row: Row) -> float | None:
        """How many times the network's price the host's is, for the same bits; None where one of them is not known."""
        host = self.host(row, GIGABYTE)
        return host / self.network_gigabyte if host is not None and self.network_gigabyte else None


def prices(tariff: str = "default", network: str | None = None, *, processors: int = 1) -> Prices:
    """The prices of a tariff; the whole machine's rent is shared by its `processors`.

    `network` is a price for a gigabyte in the tariff's currency, or another tariff that has one.

    Raises `ValueError` for tariffs that do not exist, or charge for nothing of that.
    """
    host = load_tariff(tariff)
    cpu_hour = host.cpu_hour + host.machine_hour / processors
    if not cpu_hour:
        raise BadArgument(f"tariff {host.label} has no price for processor time: it needs cpu_hour or machine_hour")
    about = f"{host.title}: {host.in_words()}{', an assumption' if host.assumption else ''}"
    if host.machine_hour:
        about += f", which {processors} processors share"
    gigabyte = host.gigabyte_out or None
    if network is not None:
        gigabyte, told = _network(network, host)
        about += f"; network: {told}"
    return Prices(host.currency, cpu_hour, gigabyte, about)


def _network(asked: str, host: Tariff) -> tuple[float, str]:
    try:
        price = float(asked)
    except ValueError:
        other = load_tariff(asked)
        if not other.gigabyte_out or other.currency != host.currency:
            raise BadArgument(
                f"`network={asked}`: that tariff has no gigabyte_out in {host.currency}; name a price, or another"
            ).about("network") from None
        return other.gigabyte_out, other.title
    if not 0 < price < float("inf"):
        raise BadArgument(f"`network={asked}`: a price is a positive number").about("network")
    return price, f"{host.currency}{price:g} a gigabyte, as given"
