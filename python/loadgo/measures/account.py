"""Where the time of one run went, as sums that can be divided by its interactions and taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from loadgo.measures.meters import Meters
from loadgo.measures.tariff import Tariff
from loadgo.measures.total_time import counts_of, total_time_of
from loadgo.records.phases import Stretch

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

HOUR_NS = 3.6e12
OTHERS = "other programs"
"""The category of programs on a host that are not the users': the driver, and whoever else was at work."""
OUTPUT_LINES = "line out"
"""The count of lines of output, where the system tells it."""


@dataclass(frozen=True)
class Account:
    """Sums over a run; absent and None is not known."""

    interactions: float
    elapsed_ns: float
    processors: float | None
    time_ns: Mapping[str, float]
    """By category, of all processors together; with a remainder they add up to `elapsed_ns` times `processors`."""
    counts: Mapping[str, float]
    """By category, how many there were; and lines of output."""
    used: Mapping[str, float]
    """By measure, what the interactions took together; only what is known of all of them."""
    charges: Mapping[str, float] = field(default_factory=dict)
    """What they cost, by tariff or shift."""
    wait_charges: Mapping[str, float] = field(default_factory=dict)
    """The part of it that is for waiting."""
    roads: Mapping[str, float] = field(default_factory=dict)
    """Figures that were come by otherwise, to check the rest by."""

    alone: bool = True
    """Whether all busy time is for these interactions; false on a host, where others may be at work."""

    @property
    def cpu_ns(self) -> float | None:
        """Processor time that was charged to interactions."""
        return self.used.get("cpu")


def account_of(tables: Tables, stretch: Stretch, meters: Meters, rows: pl.DataFrame, price: Tariff) -> Account | None:
    """The account of a run whose interactions are `rows` (as a side has them; extrapolated ones are left out).

    None where the processors' time was not measured, or nobody typed anything. Usage that was read of some interactions
    only stands for all of them; on a host, where the stretch begins and ends amid spans, those within it stand for all.
    """
    total = total_time_of(tables, stretch, counts_of(meters))
    measured = rows.filter(~pl.col("extrapolated"))
    if total is None or measured.is_empty() or not total.total_ns:
        return None
    told = tables.conditions.get("system", {}).get("processors")
    processors = float(told) if total.processors == ("all",) and told else float(len(total.processors))
    lines = {row.name: float(row.count) for row in meters.primitives if row.name == OUTPUT_LINES and row.count}
    used = _used(measured)
    wait = used.get("paging wait", 0.0) * price.paging_wait_hour / HOUR_NS
    name = f"{price.name} {price.shift}".strip()
    alone = tables.conditions.get("system", {}).get("kind", "host") == "machine"
    uncut = 1.0 if alone or not stretch.span_ns else stretch.span_ns * processors / total.total_ns
    return Account(
        interactions=float(len(measured)),
        elapsed_ns=total.total_ns * uncut / processors,
        processors=processors,
        time_ns=_of_users({one.name: one.time_ns * uncut for one in total.categories}, used.get("programs"), alone),
        counts={**{one.name: one.count * uncut for one in total.categories if one.count}, **lines},
        used=used,
        charges={name: used["cost"]} if "cost" in used else {},
        wait_charges={name: wait} if wait else {},
        alone=alone,
    )


def _of_users(time_ns: dict[str, float], programs: float | None, alone: bool) -> dict[str, float]:
    """The categories; on a host, where meters are of everybody's time, the users' own programs apart from others'."""
    if alone or programs is None or "user" not in time_ns:
        return time_ns
    own = min(programs, time_ns["user"])
    return {"user": own, OTHERS: time_ns["user"] - own, **{n: ns for n, ns in time_ns.items() if n != "user"}}


def _used(rows: pl.DataFrame) -> dict[str, float]:
    """Sums over all interactions; measures that nothing is known of are left out."""
    found = {}
    for name in (
        "response",
        "cpu",
        "programs",
        "work",
        "page",
        "faults",
        "major faults",
        "ready wait",
        "paging wait",
        "I/O wait",
        "cost",
    ):
        known = rows[name].drop_nulls()
        if len(known):
            found[name] = float(known.sum()) * len(rows) / len(known)
    return found
