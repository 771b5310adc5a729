"""Transfers drawn in signs, for a page of text: cost by message size, and each method against the network's price."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from loadgo.documents.document import SignPicture
from loadgo.documents.signs import legend, marks, place, plot
from loadgo.notation.figures import digits, seconds, size
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import WORDS, Point, Priced, longest, points_by_size, priced_methods
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import Row

_ROWS, _WIDEST = 12, 72
_SIGNS = "●◆■▲○◇□△✚✖"
_NETWORK = "┊"


def apart_pictures(made: Apart) -> tuple[SignPicture, ...]:
    """What there is to draw of a table taken apart."""
    what, points = points_by_size(made.table.transfers)
    lines = longest(points) if what == "bytes a message" else list(points)
    if len({point.x for point in lines}) < 2:
        return ()
    title = f"Processor time a bit by {what}{', of the longest transfers' if what == 'bytes a message' else ''}"
    found = [SignPicture(f"{title} (both logarithmic)", lambda width: _scattered(lines, width))]
    if made.levels:
        title = "Against load: ● real time, ○ processor time a bit, times the lowest load's (logarithmic)"
        found.append(SignPicture(title, _levels(made)))
    return tuple(found)


def method_pictures(rows: Sequence[Row], prices: Prices) -> tuple[SignPicture, ...]:
    """Each method and end on a logarithmic scale of what a gigabyte costs; nothing for a single one."""
    told = priced_methods(rows, prices)
    if len(told) < 2:
        return ()
    network = f"; {_NETWORK} the network" if prices.network_gigabyte else ""
    title = f"What a gigabyte costs the processor (logarithmic{network})"
    return (SignPicture(title, lambda width: _dots(told, prices, width)),)


def _scattered(points: Sequence[Point], width: int) -> list[str]:
    ordered = sorted(points, key=lambda point: (point.method, point.end != WORDS["s"]))
    names = list(dict.fromkeys(point.name for point in ordered))
    x, y = [math.log(point.x) for point in points], [math.log(point.y) for point in points]
    labels = [seconds(math.exp(max(y))), seconds(math.exp((max(y) + min(y)) / 2)), seconds(math.exp(min(y)))]
    margin = max(map(len, labels))
    columns = max(10, min(_WIDEST, width - margin - 2))
    canvas = [[" "] * columns for _ in range(_ROWS)]
    for point, at_x, at_y in zip(points, x, y, strict=True):
        column, row = place(at_x, min(x), max(x), columns), place(at_y, min(y), max(y), _ROWS)
        canvas[_ROWS - 1 - row][column] = _SIGNS[names.index(point.name) % len(_SIGNS)]
    beside = ((0, labels[0]), (_ROWS // 2, labels[1]), (_ROWS - 1, labels[2]))
    ends = size(math.exp(min(x))), size(math.exp(max(x)))
    signs = [f"{_SIGNS[at % len(_SIGNS)]} {name or 'all'}" for at, name in enumerate(names)]
    return [*plot(canvas, beside, ends), *legend(signs, width)]


def _dots(told: Sequence[Priced], prices: Prices, width: int) -> list[str]:
    """A line for each: its name, its price, and a sign on the scale."""
    names = [f"{one.name} {one.end}" for one in told]
    cells = [f"{prices.currency}{digits(one.cost)}" for one in told]
    network = prices.network_gigabyte
    logs = [math.log(one.cost) for one in told] + ([math.log(network)] if network else [])
    left, right = max(map(len, names)), max(map(len, cells))
    room = max(8, min(_WIDEST, width - left - right - 4))
    lines = []
    for name, cell, one in zip(names, cells, told, strict=True):
        placed = [(place(math.log(network), min(logs), max(logs), room), _NETWORK)] if network else []
        placed.append((place(math.log(one.cost), min(logs), max(logs), room), "●" if one.end == "sent" else "○"))
        lines.append(f"{name:<{left}}  {cell:>{right}}  {marks(room, placed)}".rstrip())
    return lines


def _levels(made: Apart) -> Callable[[int], Sequence[str]]:
    def lines(width: int) -> list[str]:
        logs = [math.log(times) for level in made.levels for times in (level.real.times, level.cpu.times)] + [0.0]
        names = [f"load {level.load:.1f}" for level in made.levels]
        left = max(map(len, names))
        room = max(8, min(_WIDEST, width - left - 18))
        found = []
        for name, level in zip(names, made.levels, strict=True):
            ends = ((level.cpu.times, "○"), (level.real.times, "●"))
            placed = [(place(math.log(times), min(logs), max(logs), room), sign) for times, sign in ends]
            real, cpu = digits(level.real.times), digits(level.cpu.times)
            found.append(f"{name:<{left}}  {real:>6} {cpu:>6}  {marks(room, placed)}".rstrip())
        return found

    return lines
