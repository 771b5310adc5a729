"""The amount of data whose price the analysis of a table of transfers prints, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import DIRECTION_NOUNS
from loadgo.transfers.csv_table import Observed
from loadgo.transfers.parts import POOLED_DIRECTIONS
from loadgo.transfers.prices import Prices, printed_amounts
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT

_HOUR_S = 3600.0
_LEAST_PRINTED_PRICE = 1e-3
"""A million bits that cost less have so many zeros that nobody reads them. Chosen by hand."""


@dataclass(frozen=True)
class PricedAmount:
    """The data whose price is printed."""

    bits: float
    words: str

    def cost(self, transfers: Sequence[Observed], prices: Prices) -> float | None:
        """The cost of the data at the rate of these transfers; None if they moved nothing."""
        megabit = megabit_cost(transfers, prices)
        return None if megabit is None else megabit * self.bits / BITS_PER_MEGABIT


def priced_amount(breakdown: Apart) -> PricedAmount:
    """A million bits, as RFC 392 had it; or gigabytes, as other transfers have them, where a million bits are cheap."""
    costs = [megabit_cost(group, breakdown.prices) for _, _, group in transfer_groups(breakdown)]
    if min((cost for cost in costs if cost), default=0.0) >= _LEAST_PRINTED_PRICE:
        return PricedAmount(BITS_PER_MEGABIT, "a million bits")
    times = BITS_PER_GIGABYTE / BITS_PER_MEGABIT
    amounts = printed_amounts(None if cost is None else cost * times for cost in costs)
    return PricedAmount(amounts.count("gigabyte") * BITS_PER_GIGABYTE, amounts.of("gigabyte"))


def transfer_groups(breakdown: Apart) -> list[tuple[str, str, list[Observed]]]:
    """The transfers by direction and method."""
    transfers = breakdown.table.transfers
    pairs = dict.fromkeys((transfer.direction, transfer.method) for transfer in transfers)
    ordered = sorted(pairs, key=lambda kind: (list(DIRECTION_NOUNS).index(kind[0]), kind[1]))
    return [
        (
            direction,
            method,
            [transfer for transfer in transfers if (transfer.direction, transfer.method) == (direction, method)],
        )
        for direction, method in ordered
    ]


def pooled_groups(breakdown: Apart) -> list[tuple[str, list[Observed]]]:
    """The transfers of each method that were sent and received, both directions together."""
    groups: dict[str, list[Observed]] = {}
    for direction, method, group in transfer_groups(breakdown):
        if direction in POOLED_DIRECTIONS:
            groups.setdefault(method, []).extend(group)
    return [(method, group) for method, group in groups.items() if len({one.direction for one in group}) > 1]


def megabit_cost(transfers: Sequence[Observed], prices: Prices) -> float | None:
    """The processor time of a million bits at its price, over all these transfers; None if they moved nothing."""
    bits = sum(transfer.bits for transfer in transfers)
    return (
        sum(transfer.cpu_s for transfer in transfers) / bits * BITS_PER_MEGABIT * prices.cpu_hour / _HOUR_S
        if bits
        else None
    )
