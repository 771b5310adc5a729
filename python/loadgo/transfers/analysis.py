"""Analysis of a table of transfers: parts of the cost, both ends, loads, and crossings with the network's price."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.documents.result import Result
from loadgo.transfers.compared import Ends, Level, by_load, receives_over_sends
from loadgo.transfers.crossing import Crossing, crossings
from loadgo.transfers.csv_table import Table
from loadgo.transfers.parts import Line, Parts, against_load, parts_of, pooled_parts_of
from loadgo.transfers.prices import Prices
from loadgo.transfers.stretch import StretchBand, stretch_by_load

LOAD_AVERAGE_NOTE = "the load in the table; for rows of this host, the load average of five minutes"
RUNNING_LOAD_NOTE = (
    "running and ready processes, as the kernel counted them when each transfer ended (no average of minutes)"
)


@dataclass(frozen=True, repr=False)
class Apart(Result, presented_by="loadgo.transfers.presentation:apart_presentation"):
    """The analysis of a table of transfers."""

    table: Table
    kinds: tuple[Parts, ...]
    lines: tuple[Line, ...]
    """Regressions on the load, for a table with many different loads."""
    prices: Prices
    ends: tuple[Ends, ...] = ()
    levels: tuple[Level, ...] = ()
    """Comparisons by load, for a table with the same transfers at several loads."""
    crossings: tuple[Crossing, ...] = ()
    load: str = LOAD_AVERAGE_NOTE
    """The definition of the load, in words."""
    pooled: tuple[Parts, ...] = ()
    """The parts over both directions, for each method whose transfers were sent and received."""
    stretches: tuple[StretchBand, ...] = ()
    """Medians of real over processor time by load, for a table with many different loads."""


def taken_apart(table: Table, prices: Prices, load: str = LOAD_AVERAGE_NOTE) -> Apart:
    """Analyses the transfers of `table`."""
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
        tuple(pooled_parts_of(table.transfers)),
        () if levels else tuple(stretch_by_load(table.transfers)),
    )
