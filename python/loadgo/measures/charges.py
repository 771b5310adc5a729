"""What one interaction is charged: a tariff's prices on what it used, and its part of what the run held as a whole.

Processor time, paging wait and bytes are an interaction's own. Being logged in, memory and a machine rented whole are
paid for by the hour, whoever types: an interaction has the part of them that its own time has of all users' time, from
prompt to prompt. So the parts add up to the rent exactly, and on an idle machine an interaction costs more.
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
GIGABYTE = 1e9

QUANTITIES = ("cpu_ns", "paging_wait_ns", "present_ns", "bytes_out", "bytes_in")
"""What of an interaction is charged for; `present_ns` is from prompt to prompt: thinking, typing and waiting."""


@dataclass(frozen=True)
class Held:
    """What a run held as a whole."""

    elapsed_ns: float
    """How long it lasted."""
    logged_in_ns: float
    """How long users were logged in, all together."""
    present_ns: float
    """Their interactions' time, from prompt to prompt: what a stretch cuts off at its ends is in the other alone."""
    memory_byte_ns: float | None = None
    """The users' memory times how long they held it; None where it is not measured."""


@dataclass(frozen=True)
class Rate:
    """One thing that is charged for, on a run."""

    item: str
    quantity: str
    """Of `QUANTITIES`, what it is charged by."""
    each: float | None
    """The price of a nanosecond or a byte; None where it cannot be told."""


@dataclass(frozen=True)
class Cost:
    """A run's cost at a tariff; None where what is charged for is not measured."""

    tariff: Tariff
    interaction: float | None
    """The mean cost of an interaction."""
    user_hour: float | None
    """The cost of an hour of one user's time."""


def rates_of(tariff: Tariff, held: Held | None = None) -> tuple[Rate, ...]:
    """The tariff on a run that held `held`; only what is charged for. Without `held` its parts cannot be told."""
    memory = None if held is None or held.memory_byte_ns is None else held.memory_byte_ns / GIGABYTE
    elapsed, there = (None, None) if held is None else (held.elapsed_ns, held.logged_in_ns)
    every = (
        Rate("processor time", "cpu_ns", tariff.cpu_hour / HOUR_NS),
        Rate("paging wait", "paging_wait_ns", tariff.paging_wait_hour / HOUR_NS),
        Rate("logged in", "present_ns", _shared(tariff.connect_hour, there, held)),
        Rate("memory", "present_ns", _shared(tariff.memory_gigabyte_hour, memory, held)),
        Rate("output", "bytes_out", tariff.gigabyte_out / GIGABYTE),
        Rate("input", "bytes_in", tariff.gigabyte_in / GIGABYTE),
        Rate("the machine", "present_ns", _shared(tariff.machine_hour, elapsed, held)),
    )
    return tuple(rate for rate in every if rate.each != 0)


def charges(means: Mapping[str, float | None], rates: tuple[Rate, ...]) -> dict[str, float | None]:
    """What each thing comes to, of mean quantities; None of what is not known."""
    found: dict[str, float | None] = {}
    for rate in rates:
        quantity = means.get(rate.quantity)
        found[rate.item] = None if quantity is None or rate.each is None else quantity * rate.each
    return found


def summed(parts: Mapping[str, float | None]) -> float | None:
    """The sum of all parts; None when one is not known."""
    known = [part for part in parts.values() if part is not None]
    return sum(known) if len(known) == len(parts) else None


def interaction_cost(
    usage: Usage, tariff: Tariff, *, present_ns: float | None = None, held: Held | None = None
) -> float | None:
    """The mean cost of an interaction, in the tariff's currency; None when something that is charged for is not known.

    `present_ns` is its mean time from prompt to prompt, and `held` what its run held.
    """
    means = {
        "cpu_ns": usage.cpu_ns,
        "paging_wait_ns": usage.paging_wait_ns,
        "present_ns": present_ns,
        "bytes_out": usage.bytes_out,
    }
    return summed(charges(means, rates_of(tariff, held)))


def cost_of(usage: Usage, count: int, classes: TimeByClass, tariff: Tariff, held: Held | None = None) -> Cost:
    """The cost of a mean interaction, and of a user's hour, which is `count` of them over the users' time."""
    present = classes.total_ns / count if count else None
    each = interaction_cost(usage, tariff, present_ns=present, held=held)
    hours = (classes.total_ns if held is None else held.logged_in_ns) / HOUR_NS
    return Cost(tariff=tariff, interaction=each, user_hour=None if each is None or not hours else each * count / hours)


def _shared(price: float, amount: float | None, held: Held | None) -> float | None:
    """The price of a nanosecond of a user's time, where `amount` at `price` an hour is shared by all."""
    if not price:
        return 0.0
    if amount is None or held is None or not held.present_ns:
        return None
    return price * amount / HOUR_NS / held.present_ns
