"""Text plots of transfers: cost by message size, and each method against the network's price."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from loadgo.documents.document import SignPicture
from loadgo.documents.signs import legend, marks, place, plot
from loadgo.notation.figures import digits, seconds, size
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import (
    DIRECTION_NOUNS,
    PricedMethod,
    TransferPoint,
    longest_transfers,
    points_by_size,
    priced_methods,
)
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import Row

_PLOT_LINES, _MOST_PLOT_CHARS = 12, 72
_POINT_SIGNS = "●◆■▲○◇□△✚✖"
_NETWORK_SIGN = "┊"


def apart_pictures(breakdown: Apart) -> tuple[SignPicture, ...]:
    """The text plots of the analysis of a table of transfers."""
    x_title, points = points_by_size(breakdown.table.transfers)
    lines = longest_transfers(points) if x_title == "bytes a message" else list(points)
    if len({point.x for point in lines}) < 2:
        return ()
    title = f"Processor time per bit by {x_title}{', of the largest transfers' if x_title == 'bytes a message' else ''}"
    pictures = [SignPicture(f"{title} (both logarithmic)", lambda width: _scatter_plot(lines, width))]
    if breakdown.levels:
        title = "Against load: ● real time, ○ processor time per bit, as multiples of the lowest load's (logarithmic)"
        pictures.append(SignPicture(title, _load_lines(breakdown)))
    return tuple(pictures)


def method_pictures(rows: Sequence[Row], prices: Prices) -> tuple[SignPicture, ...]:
    """Each method and end on a logarithmic scale of the printed cost; no plot for a single method and end."""
    methods = priced_methods(rows, prices)
    if len(methods) < 2:
        return ()
    network = f"; {_NETWORK_SIGN} the network" if prices.network_gigabyte else ""
    amounts = prices.amounts(rows)
    title = f"What {amounts.of('gigabyte')} costs in processor time (logarithmic{network})"
    network_price = None if prices.network_gigabyte is None else prices.network_gigabyte * amounts.count("gigabyte")
    return (SignPicture(title, lambda width: _price_lines(methods, prices.currency, network_price, width)),)


def _scatter_plot(points: Sequence[TransferPoint], width: int) -> list[str]:
    ordered = sorted(points, key=lambda point: (point.method, point.end != DIRECTION_NOUNS["s"]))
    names = list(dict.fromkeys(point.name for point in ordered))
    x, y = [math.log(point.x) for point in points], [math.log(point.y) for point in points]
    labels = [seconds(math.exp(max(y))), seconds(math.exp((max(y) + min(y)) / 2)), seconds(math.exp(min(y)))]
    margin = max(map(len, labels))
    columns = max(10, min(_MOST_PLOT_CHARS, width - margin - 2))
    canvas = [[" "] * columns for _ in range(_PLOT_LINES)]
    for point, log_x, log_y in zip(points, x, y, strict=True):
        column, row = place(log_x, min(x), max(x), columns), place(log_y, min(y), max(y), _PLOT_LINES)
        canvas[_PLOT_LINES - 1 - row][column] = _POINT_SIGNS[names.index(point.name) % len(_POINT_SIGNS)]
    beside = ((0, labels[0]), (_PLOT_LINES // 2, labels[1]), (_PLOT_LINES - 1, labels[2]))
    ends = size(math.exp(min(x))), size(math.exp(max(x)))
    signs = [f"{_POINT_SIGNS[index % len(_POINT_SIGNS)]} {name or 'all'}" for index, name in enumerate(names)]
    return [*plot(canvas, beside, ends), *legend(signs, width)]


def _price_lines(methods: Sequence[PricedMethod], currency: str, network: float | None, width: int) -> list[str]:
    """A line for each method and end: its name, its price, and a marker on the scale."""
    names = [f"{method.name} {method.end}" for method in methods]
    cells = [f"{currency}{digits(method.cost)}" for method in methods]
    logs = [math.log(method.cost) for method in methods] + ([math.log(network)] if network else [])
    name_width, cell_width = max(map(len, names)), max(map(len, cells))
    scale_width = max(8, min(_MOST_PLOT_CHARS, width - name_width - cell_width - 4))
    lines = []
    for name, cell, method in zip(names, cells, methods, strict=True):
        placed = [(place(math.log(network), min(logs), max(logs), scale_width), _NETWORK_SIGN)] if network else []
        placed.append(
            (place(math.log(method.cost), min(logs), max(logs), scale_width), "●" if method.end == "sent" else "○")
        )
        lines.append(f"{name:<{name_width}}  {cell:>{cell_width}}  {marks(scale_width, placed)}".rstrip())
    return lines


def _load_lines(breakdown: Apart) -> Callable[[int], Sequence[str]]:
    def lines(width: int) -> list[str]:
        logs = [math.log(times) for level in breakdown.levels for times in (level.real.times, level.cpu.times)] + [0.0]
        names = [f"load {level.load:.1f}" for level in breakdown.levels]
        name_width = max(map(len, names))
        scale_width = max(8, min(_MOST_PLOT_CHARS, width - name_width - 18))
        rows = []
        for name, level in zip(names, breakdown.levels, strict=True):
            markers = ((level.cpu.times, "○"), (level.real.times, "●"))
            placed = [(place(math.log(times), min(logs), max(logs), scale_width), sign) for times, sign in markers]
            real, cpu = digits(level.real.times), digits(level.cpu.times)
            rows.append(f"{name:<{name_width}}  {real:>6} {cpu:>6}  {marks(scale_width, placed)}".rstrip())
        return rows

    return lines
