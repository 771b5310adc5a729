"""The cost of one interaction: a tariff's prices for its own use, and its part of the shared costs of the run.

Processor time, paging wait and bytes are an interaction's own use. Log-in time, memory and a rented machine are shared
costs, paid by the hour. They are divided among the interactions in proportion to their time from prompt to prompt. So
all interactions together pay the rent exactly, and on an idle machine an interaction costs more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo.measures.tariff import Tariff

if TYPE_CHECKING:
    from loadgo.measures.usage import Usage
    from loadgo.records.interactions import TimeByClass

HOUR_NS = 3.6e12
BYTES_PER_GIGABYTE = 1e9

CHARGED_QUANTITIES = ("cpu_ns", "paging_wait_ns", "present_ns", "bytes_out", "bytes_in")
"""Quantities of an interaction that a tariff charges. `present_ns` is its time from prompt to prompt."""


@dataclass(frozen=True)
class SharedHoldings:
    """The log-in time and memory of all users of a run, which its interactions share."""

    elapsed_ns: float
    """Length of the stretch."""
    logged_in_ns: float
    """Log-in time of all users together."""
    present_ns: float
    """Time of all interactions from prompt to prompt. `logged_in_ns` also has cycles that the stretch cuts off."""
    memory_byte_ns: float | None = None
    """The integral of the users' memory over time, in bytes × ns; None where it was not measured."""
    rented_ns: float | None = None
    """The time of all machines that are rented together, for a run on several hosts; None for one: `elapsed_ns`."""

    @property
    def rent_ns(self) -> float:
        """The time of all rented machines together."""
        return self.elapsed_ns if self.rented_ns is None else self.rented_ns


@dataclass(frozen=True)
class Rate:
    """The price of one charged item, in the terms of one run."""

    item: str
    quantity: str
    """The quantity of `CHARGED_QUANTITIES` that the item is charged by."""
    each: float | None
    """The price of a nanosecond or a byte; None where it is not known."""


@dataclass(frozen=True)
class Cost:
    """A run's cost at a tariff; None where a charged quantity was not measured."""

    tariff: Tariff
    interaction: float | None
    """The mean cost of an interaction."""
    user_hour: float | None
    """The cost of an hour of one user's time."""


def rates_of(tariff: Tariff, holdings: SharedHoldings | None = None) -> tuple[Rate, ...]:
    """The rates of a tariff on a run, without free items. Without `holdings`, shared costs are not known."""
    memory = (
        None if holdings is None or holdings.memory_byte_ns is None else holdings.memory_byte_ns / BYTES_PER_GIGABYTE
    )
    rented, logged_in = (None, None) if holdings is None else (holdings.rent_ns, holdings.logged_in_ns)
    rates = (
        Rate("processor time", "cpu_ns", tariff.cpu_hour / HOUR_NS),
        Rate("paging wait", "paging_wait_ns", tariff.paging_wait_hour / HOUR_NS),
        Rate("logged in", "present_ns", _shared_price(tariff.connect_hour, logged_in, holdings)),
        Rate("memory", "present_ns", _shared_price(tariff.memory_gigabyte_hour, memory, holdings)),
        Rate("output", "bytes_out", tariff.gigabyte_out / BYTES_PER_GIGABYTE),
        Rate("input", "bytes_in", tariff.gigabyte_in / BYTES_PER_GIGABYTE),
        Rate("the machine", "present_ns", _shared_price(tariff.machine_hour, rented, holdings)),
    )
    return tuple(rate for rate in rates if rate.each != 0)


def charges_by_item(means: Mapping[str, float | None], rates: tuple[Rate, ...]) -> dict[str, float | None]:
    """The cost of each charged item for `means` by quantity; None for an item that is not known."""
    charged: dict[str, float | None] = {}
    for rate in rates:
        quantity = means.get(rate.quantity)
        charged[rate.item] = None if quantity is None or rate.each is None else quantity * rate.each
    return charged


def sum_if_known(parts: Mapping[str, float | None]) -> float | None:
    """The sum of all parts; None when one is not known."""
    known = [part for part in parts.values() if part is not None]
    return sum(known) if len(known) == len(parts) else None


def interaction_cost(
    usage: Usage, tariff: Tariff, *, present_ns: float | None = None, holdings: SharedHoldings | None = None
) -> float | None:
    """The mean cost of an interaction, in the tariff's currency; None when a charged quantity is not known.

    `present_ns` is its mean time from prompt to prompt, and `holdings` are the shared holdings of its run.
    """
    means = {
        "cpu_ns": usage.cpu_ns,
        "paging_wait_ns": usage.paging_wait_ns,
        "present_ns": present_ns,
        "bytes_out": usage.bytes_out,
    }
    return sum_if_known(charges_by_item(means, rates_of(tariff, holdings)))


def cost_of(
    usage: Usage, count: int, classes: TimeByClass, tariff: Tariff, holdings: SharedHoldings | None = None
) -> Cost:
    """The cost of a mean interaction, and of a user-hour: that of `count` interactions, divided by the users' hours."""
    present = classes.total_ns / count if count else None
    interaction = interaction_cost(usage, tariff, present_ns=present, holdings=holdings)
    hours = (classes.total_ns if holdings is None else holdings.logged_in_ns) / HOUR_NS
    return Cost(
        tariff=tariff,
        interaction=interaction,
        user_hour=None if interaction is None or not hours else interaction * count / hours,
    )


def _shared_price(price: float, amount: float | None, holdings: SharedHoldings | None) -> float | None:
    """The price of a nanosecond of a user's time, where all users share `amount` at `price` an hour."""
    if not price:
        return 0.0
    if amount is None or holdings is None or not holdings.present_ns:
        return None
    return price * amount / HOUR_NS / holdings.present_ns
