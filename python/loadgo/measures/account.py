"""The time account of one run: sums that can be divided by its interactions and decomposed by category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from loadgo.measures.category_events import events_by_category
from loadgo.measures.charges import HOUR_NS
from loadgo.measures.meters import Meters, meters_of
from loadgo.measures.tariff import Tariff
from loadgo.measures.total_time import total_time_of
from loadgo.records.fleets import hosts_of_run
from loadgo.records.phases import Stretch

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

OTHER_PROGRAMS_LABEL = "other programs"
"""The category of programs on a host that are not the users': the driver, and all other programs."""
OUTPUT_LINES = "line out"
"""The count of lines of output, which only a simulated machine has."""


@dataclass(frozen=True)
class RunAccount:
    """Sums over a run; what is absent or None is not known."""

    interactions: float
    elapsed_ns: float | None
    processors: float | None
    time_ns: Mapping[str, float]
    """Time by category, of all processors together. With a remainder it adds up to `elapsed_ns` × `processors`."""
    counts: Mapping[str, float]
    """Number of events by category, and the number of lines of output."""
    used: Mapping[str, float]
    """Sum over all interactions by measure, such as `cpu` and `response`; a measure without values is absent."""
    charges: Mapping[str, float] = field(default_factory=dict)
    """Cost of all interactions by tariff and shift."""
    currency: str = "$"
    """The sign of the charges' currency."""
    wait_charges: Mapping[str, float] = field(default_factory=dict)
    """The part of `charges` that is for paging wait."""
    roads: Mapping[str, float] = field(default_factory=dict)
    """Figures from other meters, for the cross-check."""

    alone: bool = True
    """Whether all busy time belongs to these interactions; false on a host, where other programs may run."""
    unanswered: int = 0
    """Number of simulated interactions without an answer: they are in no mean response."""

    @property
    def cpu_ns(self) -> float | None:
        """Processor time of all interactions."""
        return self.used.get("cpu")


def account_of(
    tables: Tables, stretch: Stretch, meters: Meters, rows: pl.DataFrame, price: Tariff
) -> RunAccount | None:
    """The account of a run, without extrapolated interactions. `rows` are its interactions as rows of a compared side.

    None without interactions, or where the processors' time was not measured. Usage that was sampled stands for all
    interactions. On a host, the spans that lie inside the stretch stand for all of it. The account of a run on several
    hosts is the sum of theirs. It is None if one of them has none, was lost, or has other categories.
    """
    if tables.by_host:
        return _account_of_hosts(tables, stretch, rows, price)
    total = total_time_of(tables, stretch, events_by_category(meters))
    measured = rows.filter(~pl.col("extrapolated"))
    if total is None or measured.is_empty() or not total.total_ns:
        return None
    count = tables.conditions.get("system", {}).get("processors")
    processors = float(count if total.processors == ("all",) and count else len(total.processors))
    lines = {row.name: float(row.count) for row in meters.primitives if row.name == OUTPUT_LINES and row.count}
    used = _interaction_sums(measured)
    wait_cost = used.get("paging wait", 0.0) * price.paging_wait_hour / HOUR_NS
    name = f"{price.name} {price.shift}".strip()
    alone = tables.conditions.get("system", {}).get("kind", "host") == "machine"
    span_ratio = 1.0 if alone or not stretch.span_ns else stretch.span_ns * processors / total.total_ns
    time_ns = {category.name: category.time_ns * span_ratio for category in total.categories}
    counts = {category.name: category.count * span_ratio for category in total.categories if category.count}
    return RunAccount(
        interactions=float(len(measured)),
        elapsed_ns=total.total_ns * span_ratio / processors,
        processors=processors,
        time_ns=_split_user_time(time_ns, used.get("programs"), alone),
        counts={**counts, **lines},
        used=used,
        charges={name: used["cost"]} if "cost" in used else {},
        currency=price.currency,
        wait_charges={name: wait_cost} if wait_cost else {},
        alone=alone,
    )


def _account_of_hosts(tables: Tables, stretch: Stretch, rows: pl.DataFrame, price: Tariff) -> RunAccount | None:
    """The sum of the accounts of all hosts of a run on several."""
    hosts = hosts_of_run(tables.conditions)
    of_users = [rows.filter(pl.col("user").is_between(host.first_user, host.last_user)) for host in hosts]
    accounts = [
        account_of(host, stretch, meters_of(host, stretch), own, price)
        for host, own in zip(tables.by_host, of_users, strict=True)
    ]
    known_accounts = [account for account in accounts if account is not None]
    totals = [total_time_of(host, stretch) for host in tables.by_host]
    if (
        len(known_accounts) < len(hosts)
        or any(host.lost for host in hosts)
        or len({total.kind for total in totals if total}) > 1
    ):
        return None
    processors = sum(account.processors or 0.0 for account in known_accounts)
    return RunAccount(
        interactions=sum(account.interactions for account in known_accounts),
        elapsed_ns=sum((account.elapsed_ns or 0.0) * (account.processors or 0.0) for account in known_accounts)
        / processors,
        processors=processors,
        time_ns=_sums([account.time_ns for account in known_accounts]),
        counts=_sums([account.counts for account in known_accounts]),
        used=_interaction_sums(rows.filter(~pl.col("extrapolated"))),
        charges=_sums([account.charges for account in known_accounts]),
        currency=price.currency,
        wait_charges=_sums([account.wait_charges for account in known_accounts]),
        alone=False,
    )


def _sums(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The sum of each name's values."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: sum(part.get(name, 0.0) for part in parts) for name in names}


def _split_user_time(time_ns: dict[str, float], programs: float | None, alone: bool) -> dict[str, float]:
    """The time by category; on a host, `user` is divided into the users' programs and other programs."""
    if alone or programs is None or "user" not in time_ns:
        return time_ns
    users_ns = min(programs, time_ns["user"])
    return {
        "user": users_ns,
        OTHER_PROGRAMS_LABEL: time_ns["user"] - users_ns,
        **{category: ns for category, ns in time_ns.items() if category != "user"},
    }


def _interaction_sums(rows: pl.DataFrame) -> dict[str, float]:
    """Sums over all interactions by measure; a measure without values is left out."""
    used = {}
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
        measured = rows[name].drop_nulls()
        if len(measured):
            used[name] = float(measured.sum()) * len(rows) / len(measured)
    return used
