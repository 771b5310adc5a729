"""The tables of a ratio taken apart by the meters, and of the roads that lead to it otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.decomposition.chains import Chain, Factor
from loadgo.decomposition.roads import Disagreement, Road, disagreeing, slightly_apart
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import digits
from loadgo.notation.measures import factor, factor_interval, figure, percent

_SMALLEST = 0.0005
"""A factor nearer to 1 than this is not shown: it is multiplied into the line of all the others."""
_JOINED = {"elapsed": "×", "CPU": "×", "response": "·"}


def chain_tables(chains: Sequence[Chain]) -> list[Table]:
    """One table of all ratios with their links, and one of each that has more parts."""
    if not chains:
        return []
    found = [_links(chains)]
    for chain in chains:
        if chain.measure in ("elapsed", "response") and len(chain.factors) > len(chain.links):
            found.append(_factors(chain))
    return found


def road_table(roads: Sequence[Road]) -> Table | None:
    """The same ratio by independent roads."""
    if not roads:
        return None
    ordered = sorted(roads, key=lambda road: [one.to for one in roads].index(road.to))
    columns = [
        Column("road", tuple(road.name for road in ordered)),
        Column("to the ratio of", tuple(road.to for road in ordered)),
        Column("A ÷ B", tuple(factor(road.ratio) for road in ordered)),
    ]
    if any(road.interval for road in ordered):
        columns.append(Column("95 % interval", tuple(factor_interval(road.interval) for road in ordered), spare=1))
    return Table("Cross-check: the same ratios by independent roads", tuple(columns), name_width=40)


def road_warnings(roads: Sequence[Road]) -> list[str]:
    """What to say first of roads that lead elsewhere."""
    return [f"Two roads to the ratio of {one.first.to} disagree: {_both(one)}." for one in disagreeing(roads)]


def road_notes(roads: Sequence[Road]) -> list[str]:
    """What to know about the roads: those that are a little apart, and how they are judged."""
    if len({road.to for road in roads if road.unit != "$"}) == len([road for road in roads if road.unit != "$"]):
        return []
    if any(road.apart for road in roads):
        judged = "Roads disagree when they are more than 5 % apart and the interval of that leaves out 0."
    else:
        judged = "Roads disagree when they are more than 5 % apart, by the figures alone: intervals need 5 runs a side."
    apart = [f"{_both(one)}: {percent(one.apart)}, more than chance." for one in slightly_apart(roads)]
    return [judged, *apart]


def _both(told: Disagreement) -> str:
    return f"{told.first.ratio:.3f} by {told.first.name}, {told.other.ratio:.3f} by {told.other.name}"


def _links(chains: Sequence[Chain]) -> Table:
    rows: list[tuple[str, str, str, str, str]] = []
    for chain in chains:
        ends = figure_of(chain, chain.before), figure_of(chain, chain.after)
        rows.append((chain.measure, *ends, factor(chain.ratio), factor_interval(chain.interval)))
        sign = _JOINED.get(chain.measure, "×")
        for place, link in enumerate(chain.links):
            name = f"  {'=' if not place else sign} {link.name}"
            rows.append((name, "", "", factor(link.factor), factor_interval(link.interval)))
    return _grid("Bookkeeping: what the meters moved by, for one interaction", ("", "A", "B", "A ÷ B"), rows)


def _factors(chain: Chain) -> Table:
    shown = [one for one in chain.factors if abs(one.factor - 1) >= _SMALLEST]
    small = [one for one in chain.factors if one not in shown]
    rows = [(_name(one), factor(one.factor), factor_interval(one.interval)) for one in shown]
    if small:
        left = 1.0
        for one in small:
            left *= one.factor
        rows.append((f"{len(small)} that moved nothing", factor(left), ""))
    rows.append(("all, multiplied", factor(chain.ratio), factor_interval(chain.interval)))
    grid = _grid(f"Bookkeeping: the factors of {chain.measure}, down to the meters", ("factor", "A ÷ B"), rows)
    return Table(grid.title, grid.columns, total_rows=1, name_width=44)


def _name(one: Factor) -> str:
    return one.name


def figure_of(chain: Chain, value: float) -> str:
    """A chain's figure in its unit."""
    return digits(value) if chain.unit == "$" else figure("response", value)


def _grid(title: str, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    columns = [Column(heading, tuple(row[at] for row in rows)) for at, heading in enumerate(headings)]
    if any(row[-1] not in ("", "–") for row in rows):
        columns.append(Column("95 % interval", tuple(row[-1] for row in rows), spare=1))
    return Table(title, tuple(columns), name_width=44)
