"""A table of transfers taken apart: its parts, its two ends, its loads, and where its price passes the network's."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.transfers.compared import Ends, Level, by_load, receives_over_sends
from loadgo.transfers.crossing import Crossing, crossings
from loadgo.transfers.csv_table import Table
from loadgo.transfers.parts import Line, Parts, against_load, parts_of
from loadgo.transfers.prices import Prices

LOAD_AVERAGE = "the table's own load; of this host's rows the load average of five minutes"
RUNNING = "processes running or ready to, as the kernel counted them when each transfer ended (no average of minutes)"


@dataclass(frozen=True)
class Apart:
    """A table of transfers, taken apart."""

    table: Table
    kinds: tuple[Parts, ...]
    lines: tuple[Line, ...]
    """Against the load, where loads are of all sorts."""
    prices: Prices
    ends: tuple[Ends, ...] = ()
    levels: tuple[Level, ...] = ()
    """Against the load, where the same transfers were made at several."""
    crossings: tuple[Crossing, ...] = ()
    load: str = LOAD_AVERAGE
    """What is counted as the load, in words."""


def taken_apart(table: Table, prices: Prices, load: str = LOAD_AVERAGE) -> Apart:
    """What the transfers of `table` are made of."""
    kinds, levels = tuple(parts_of(table.transfers)), tuple(by_load(table.transfers))
    return Apart(
        table,
        kinds,
        () if levels else tuple(against_load(table.transfers)),
        prices,
        tuple(receives_over_sends(table.transfers)),
        levels,
        tuple(crossings(kinds, prices)),
        load,
    )
