"""Transfers drawn in signs, for a page of text: cost by message size, and each method against the network's price."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from loadgo.documents.document import SignPicture
from loadgo.documents.signs import legend
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
    ends_x, ends_y = (min(x), max(x)), (min(y), max(y))
    for point, at_x, at_y in zip(points, x, y, strict=True):
        column, row = round(_part(at_x, ends_x) * (columns - 1)), round(_part(at_y, ends_y) * (_ROWS - 1))
        canvas[_ROWS - 1 - row][column] = _SIGNS[names.index(point.name) % len(_SIGNS)]
    shown = {0: labels[0], _ROWS // 2: labels[1], _ROWS - 1: labels[2]}
    lines = [f"{shown.get(at, ''):>{margin}} │{''.join(line)}".rstrip() for at, line in enumerate(canvas)]
    left, right = size(math.exp(min(x))), size(math.exp(max(x)))
    ends = f"{'':>{margin}}  {left}{right:>{columns - len(left)}}"
    signs = [f"{_SIGNS[at % len(_SIGNS)]} {name or 'all'}" for at, name in enumerate(names)]
    return [*lines, f"{'':>{margin}} └{'─' * columns}", ends, *legend(signs, width)]


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
        scale = [" "] * room
        if network:
            scale[round(_part(math.log(network), logs) * (room - 1))] = _NETWORK
        scale[round(_part(math.log(one.cost), logs) * (room - 1))] = "●" if one.end == "sent" else "○"
        lines.append(f"{name:<{left}}  {cell:>{right}}  {''.join(scale)}".rstrip())
    return lines


def _levels(made: Apart) -> Callable[[int], Sequence[str]]:
    def lines(width: int) -> list[str]:
        logs = [math.log(times) for level in made.levels for times in (level.real.times, level.cpu.times)] + [0.0]
        names = [f"load {level.load:.1f}" for level in made.levels]
        left = max(map(len, names))
        room = max(8, min(_WIDEST, width - left - 18))
        found = []
        for name, level in zip(names, made.levels, strict=True):
            scale = [" "] * room
            scale[round(_part(math.log(level.cpu.times), logs) * (room - 1))] = "○"
            scale[round(_part(math.log(level.real.times), logs) * (room - 1))] = "●"
            real, cpu = digits(level.real.times), digits(level.cpu.times)
            found.append(f"{name:<{left}}  {real:>6} {cpu:>6}  {''.join(scale)}".rstrip())
        return found

    return lines


def _part(value: float, of: Sequence[float]) -> float:
    low, high = min(of), max(of)
    return (value - low) / (high - low) if high > low else 0.0
