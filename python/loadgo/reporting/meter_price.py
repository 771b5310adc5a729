"""The price of the meters in a report: a sentence with its interval, and a table by meter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loadgo.documents.table import Column, Table
from loadgo.measures.meter_price import FEWEST_WINDOWS, MeterPrice
from loadgo.notation.figures import counted, duration, exact_share, in_words, number
from loadgo.notation.terms import meter_name

if TYPE_CHECKING:
    from loadgo.measures.total_time import TotalTime

PRICE_LABEL = "Price"
PRICE_METER = "price of the meters"
"""The name of this measurement among the meters of a run and of a host."""
_LOWER_BOUND = " Programs that fork much may have paid more: what the meters displaced in caches is not in it."
"""The note for tiers whose price was measured to be too low for a forking script (docs/meters.md)."""


def price_line(total_time: TotalTime, meters_section: Mapping[str, Any]) -> str:
    """A sentence on the time of the meters, or why it is not known; empty where `run.toml` names no meters."""
    account = total_time.account
    if account.price is not None:
        bound = "" if meters_section.get("tier") == "cheap" else _LOWER_BOUND
        return f"{_measured(account.price, account.busy_ns)}{_without(account.price)}{bound}"
    if meters_section.get("tier") == "none":
        return f"No meter was loaded into the kernel{_reading(account.meters_ns, account.busy_ns)}."
    if PRICE_METER in meters_section.get("estimated", {}):
        return (
            "What the meters took was not measured: the kernel clocked their programs in fewer than "
            f"{FEWEST_WINDOWS} windows."
        )
    why = meters_section.get("not_here", {}).get(PRICE_METER)
    return f"What the meters took was not measured: {why}." if why else ""


def _measured(price: MeterPrice, busy_ns: int) -> str:
    share = f"{exact_share(price.share)} ± {exact_share(price.share_error)}"
    programs = f"their programs in the kernel {exact_share(price.programs_ns / busy_ns)}"
    mean_window = duration(price.windows_ns / price.windows)
    reading = "" if price.reading_ns is None else f", sampling and writing {exact_share(price.reading_ns / busy_ns)}"
    return (
        f"The meters took {share} of the busy time: {programs}, by {counted(price.windows, 'random window')} of "
        f"{mean_window}{reading}."
    )


def _without(price: MeterPrice) -> str:
    """A note on meters whose calls could not be measured."""
    names = [meter_name(one.meter) for one in price.by_meter if not one.has_calls]
    return f" The kernel's calls of {in_words(names)} are not in it." if names else ""


def _reading(reading_ns: int | None, busy_ns: int) -> str:
    known = reading_ns is not None and busy_ns > 0
    return f"; sampling and writing took {exact_share((reading_ns or 0) / busy_ns)} of the busy time" if known else ""


def price_table(total_time: TotalTime) -> Table | None:
    """The time of each meter's programs; None where it was not measured."""
    price, busy_ns = total_time.account.price, total_time.account.busy_ns
    if price is None:
        return None
    rows = [(meter_name(one.meter), one.runs, one.time_ns, one.error_ns) for one in price.by_meter]
    span_s = total_time.span_ns / 1e9
    total = ("all programs", None, price.programs_ns, price.error_ns)
    columns = (
        Column("meter", (*(name for name, *_ in rows), total[0])),
        Column("runs a second", (*(number(round(runs / span_s)) for _, runs, *_ in rows), ""), spare=2),
        Column("each", (*(duration(time / runs if runs else None) for _, runs, time, _ in rows), ""), spare=1),
        Column("time", tuple(duration(row[2]) for row in (*rows, total))),
        Column("of busy time", tuple(exact_share(row[2] / busy_ns) for row in (*rows, total))),
        Column("±", tuple(exact_share(row[3] / busy_ns) for row in (*rows, total))),
    )
    return Table("Price of the meters", columns, total_rows=1, id="price-of-meters", folded=True)
