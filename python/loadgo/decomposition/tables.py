"""The tables of the decomposition of a ratio by meters, and of independent estimates of the same ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from loadgo.decomposition.chains import Chain
from loadgo.decomposition.reading import (
    B_OVER_A,
    measure_in_heading,
    measure_name,
    read_amount,
    read_factor,
    read_interval,
)
from loadgo.decomposition.roads import DISAGREEMENT_SHARE, Disagreement, Road, disagreeing, slightly_apart
from loadgo.decomposition.waterfall import has_waterfall, waterfall_name
from loadgo.documents.table import Column, Table
from loadgo.notation.measures import percent
from loadgo.notation.terms import factor_name
from loadgo.stats.resample import FEWEST_UNITS

_SMALLEST_FACTOR_SHARE = 0.0005
"""A factor that differs from 1 by less than this has no row: it is multiplied into the row of all such factors."""
_LINK_SIGNS = {"elapsed": "×", "CPU": "×", "response": "·"}


def chain_tables(chains: Sequence[Chain], *, first_chart: int = 1) -> list[Table]:
    """One table of all ratios with their links, and one table for each ratio that has further factors.

    A page shows the chart of each waterfall beside the table of its factors. `first_chart` is the first one's number.
    """
    if not chains:
        return []
    charted = [chain for chain in chains if has_waterfall(chain)]
    names = {chain.measure: waterfall_name(number) for number, chain in enumerate(charted, first_chart)}
    tables = [
        _factors_table(chain, names.pop(chain.measure)) for chain in charted if len(chain.factors) > len(chain.links)
    ]
    return [replace(_links_table(chains), charts=tuple(names.values())), *tables]


def road_table(roads: Sequence[Road]) -> Table | None:
    """The table of the same ratios from other meters. None if processor time alone is known, which checks nothing."""
    if not roads or (len(roads) == 1 and roads[0].unit == "ns"):
        return None
    targets = [road.to for road in roads]
    ordered = sorted(roads, key=lambda road: targets.index(road.to))
    columns = [
        Column("estimated from", tuple(road.name for road in ordered)),
        Column("ratio of", tuple(road.to for road in ordered)),
        Column(B_OVER_A, tuple(read_factor(road.ratio) for road in ordered)),
    ]
    if any(road.interval for road in ordered):
        columns.append(Column("95 % interval", tuple(read_interval(road.interval) for road in ordered), spare=1))
    return Table("Cross-check: the same ratios from other meters", tuple(columns), name_width=40)


def road_warnings(roads: Sequence[Road]) -> list[str]:
    """A warning for each pair of roads that disagree."""
    return [
        f"Two meters disagree on {disagreement.first.to}, B over A: {_both_ratios(disagreement)}."
        for disagreement in disagreeing(roads)
    ]


def road_notes(roads: Sequence[Road]) -> list[str]:
    """Notes about the roads: the rule by which they disagree, and the pairs that differ by less than that."""
    if len({road.to for road in roads if road.unit == "ns"}) == len([road for road in roads if road.unit == "ns"]):
        return []
    apart = f"Estimates disagree when they are more than {100 * DISAGREEMENT_SHARE:g} % apart"
    if any(road.apart for road in roads):
        rule = f"{apart} and the interval of that leaves out 0."
    else:
        rule = f"{apart}, without intervals, which need {FEWEST_UNITS} runs a side."
    differing = [
        f"{_both_ratios(pair)}: {percent(pair.b_over_a_apart)}, more than chance." for pair in slightly_apart(roads)
    ]
    return [rule, *differing]


def _both_ratios(disagreement: Disagreement) -> str:
    return ", ".join(f"{read_factor(road.ratio)} from {road.name}" for road in (disagreement.first, disagreement.other))


def _links_table(chains: Sequence[Chain]) -> Table:
    rows: list[tuple[str, str, str, str, str]] = []
    for chain in chains:
        ends = read_amount(chain, chain.before), read_amount(chain, chain.after)
        rows.append((measure_name(chain), *ends, read_factor(chain.ratio), read_interval(chain.interval)))
        sign = _LINK_SIGNS.get(chain.measure, "×")
        for index, link in enumerate(chain.links):
            name = f"  {'=' if not index else sign} {factor_name(link.name)}"
            rows.append((name, "", "", read_factor(link.factor), read_interval(link.interval)))
    return _ratio_table("Where the changes show in the meters, for one interaction", ("", "A", "B", B_OVER_A), rows)


def _factors_table(chain: Chain, chart_name: str) -> Table:
    shown = [row for row in chain.factors if abs(row.factor - 1) >= _SMALLEST_FACTOR_SHARE]
    small = [row.factor for row in chain.factors if row not in shown]
    rows = [(factor_name(row.name), read_factor(row.factor), read_interval(row.interval)) for row in shown]
    if small:
        rows.append((f"{len(small)} without effect", read_factor(math.prod(small)), ""))
    rows.append(("all, multiplied", read_factor(chain.ratio), read_interval(chain.interval)))
    table = _ratio_table(
        f"Where the change of {measure_in_heading(chain)} shows in the meters: all factors", ("factor", B_OVER_A), rows
    )
    return replace(table, total_rows=1, charts=(chart_name,))


def _ratio_table(title: str, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    columns = [Column(heading, tuple(row[column] for row in rows)) for column, heading in enumerate(headings)]
    if any(row[-1] not in ("", "–") for row in rows):
        columns.append(Column("95 % interval", tuple(row[-1] for row in rows), spare=1))
    return Table(title, tuple(columns), name_width=44)
