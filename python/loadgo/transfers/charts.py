"""The charts of transfers: cost by size and method, price against the network's, and slowdown against load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import polars as pl

from loadgo.documents.chart import (
    ACCENT_COLOR,
    AMOUNT_LABEL,
    ROW_HEIGHT_PX,
    TIME_LABEL,
    Chart,
    chart_of,
    figure_tooltips,
    legend,
    safe,
)
from loadgo.documents.log_axis import log_ticks
from loadgo.documents.palette import GREY_COLOR, SERIES_COLORS, WARM_COLOR
from loadgo.documents.quick_drawing import quick_drawing
from loadgo.notation.figures import money, price_of
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import (
    DIRECTION_NOUNS,
    PricedMethod,
    TransferPoint,
    longest_transfers,
    name_of,
    points_by_size,
    price_curve,
    price_sizes,
    priced_methods,
    shared_crossings,
    size_marks,
    thin_points,
)
from loadgo.transfers.compared import Level, Times, loads_differ
from loadgo.transfers.priced_amount import priced_amount
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import BITS_PER_GIGABYTE, Row

_COLORS = (
    *SERIES_COLORS, "#c23b3b", "#1f8f86", "#d678a8", "#9aa83a", "#6f9fd8", "#55c79a", "#7a6a5a", "#b39ddb",
)  # fmt: skip
_SHAPES = ["circle", "triangle-up", "square"]
_DASHES = [[1, 0], [5, 3], [2, 2]]
_LOG = alt.Scale(type="log", nice=False, padding=12)
_SIZE_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.3~r') + ' GiB'"
    " : datum.value >= 1048576 ? format(datum.value / 1048576, '.3~r') + ' MiB'"
    " : datum.value >= 1024 ? format(datum.value / 1024, '.3~r') + ' KiB' : format(datum.value, '.3~r')"
)


@quick_drawing()
def apart_charts(breakdown: Apart) -> list[Chart]:
    """All charts of a table of transfers that have data to show."""
    charts = [
        _cost_chart(breakdown),
        _price_chart(breakdown),
        _levels_chart(breakdown.levels) if breakdown.levels else _stretch_chart(breakdown),
    ]
    return [chart for chart in charts if chart is not None]


@quick_drawing()
def method_charts(rows: Sequence[Row], prices: Prices) -> list[Chart]:
    """A chart of the printed cost of each method at each end, when there are two or more to compare."""
    methods = priced_methods(rows, prices)
    if len(methods) < 2:
        return []
    frame = safe(pl.DataFrame([{"method": method.name, "end": method.end, "cost": method.cost} for method in methods]))
    names = list(dict.fromkeys(method.name for method in methods))
    amounts = prices.amounts(rows)
    network = None if prices.network_gigabyte is None else prices.network_gigabyte * amounts.count("gigabyte")
    title = f"cost of {amounts.of('gigabyte')} ({prices.currency})"
    x = alt.X("cost:Q", title=title, scale=_LOG, axis=_log_axis([*frame["cost"], network]))
    tips = ["method:N", "end:N", alt.Tooltip("cost:Q", title=title, format=".4~g")]
    ends, y = _ends_of_points(methods), alt.Y("method:N", sort=names, title=None)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, y=y, color=_ends_color(ends), shape=_shape(ends), tooltip=tips)
    )
    layers: list[alt.Chart] = [points]
    caption = "The price of the processor time, on a logarithmic scale."
    if network:
        rule = alt.Chart(pl.DataFrame({"cost": [network]})).mark_rule(strokeDash=[4, 3])
        layers.append(rule.encode(x=x))
        caption += f" The dashed line is the network's price, {price_of(network, prices.currency)}."
    heading = f"What {amounts.of('gigabyte')} costs by method"
    height = ROW_HEIGHT_PX * max(3, len(names))
    return [chart_of("transfer-methods", heading, caption, alt.layer(*layers), height)]


def _cost_chart(breakdown: Apart) -> Chart | None:
    x_title, points = points_by_size(breakdown.table.transfers)
    if len({point.x for point in points}) < 2:
        return None
    lines = longest_transfers(points)
    on_line = set(lines)
    rows = [
        {
            "method": point.method or "all",
            "end": point.end,
            "x": point.x,
            "y": point.y,
            "bytes": point.bytes,
            "of": point.count,
            "on": point in on_line,
        }
        for point in points
    ]
    frame = safe(pl.DataFrame(rows))
    x = alt.X("x:Q", title=x_title, scale=_LOG, axis=_size_axis([point.x for point in points]))
    axis = _log_axis([point.y for point in points], TIME_LABEL)
    y = alt.Y("y:Q", title="processor time per bit", scale=_LOG, axis=axis)
    color = _color("method", [point.method or "all" for point in points])
    tips = [
        "method:N",
        "end:N",
        alt.Tooltip("x:Q", title=x_title),
        alt.Tooltip("bytes:Q", format=","),
        alt.Tooltip("y:Q", title="processor time per bit (s)", format=".3~s"),
        alt.Tooltip("of:Q", title="transfers"),
    ]
    base = alt.Chart(frame).encode(x=x, y=y, color=color)
    line = (
        base.transform_filter("datum.on").mark_line(strokeWidth=1.5).encode(strokeDash=_dash(_ends_of_points(points)))
    )
    ends, methods = _ends_of_points(points), {point.method for point in points}
    dots = base.mark_point(filled=True, size=45).encode(
        shape=_shape(ends) if len(methods) > 1 else _shape_with_legend(ends),
        opacity=alt.condition("datum.on", alt.value(1.0), alt.value(0.28)),
        tooltip=tips,
    )
    by_message = x_title == "bytes a message"
    caption = "Medians." + (
        " Lines: the largest transfers; pale: smaller ones, in which the cost of the transfer itself weighs more."
        if by_message
        else ""
    )
    layered = alt.layer(*([line] if by_message else []), dots)
    return chart_of("transfer-cost", f"Processor time per bit by {x_title}", caption, layered, 300)


def _price_chart(breakdown: Apart) -> Chart | None:
    if not breakdown.crossings or breakdown.prices.network_gigabyte is None:
        return None
    sizes = price_sizes(breakdown)
    if min(sizes) == max(sizes):
        return None
    crossings, amount = shared_crossings(breakdown), priced_amount(breakdown)
    title, scale = f"{amount.words} ({breakdown.prices.currency})", amount.bits / BITS_PER_GIGABYTE
    network = breakdown.prices.network_gigabyte * scale
    curves = [
        {"method": curve.kind.partition(" ")[2] or "all", "end": DIRECTION_NOUNS[curve.kind[0]], "x": x, "y": y}
        for curve in crossings
        for x, y in price_curve(curve, sizes, scale)
    ]
    frame, unit = safe(pl.DataFrame(curves)), crossings[0].of
    ends = _legend_ends(str(curve["end"]) for curve in curves)
    x = alt.X("x:Q", title=f"bytes a {unit}", scale=_LOG, axis=_size_axis(sizes))
    axis = _log_axis([*(float(str(curve["y"])) for curve in curves), network])
    y = alt.Y("y:Q", title=title, scale=_LOG, axis=axis)
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.8)
        .encode(x=x, y=y, color=_color("method", [str(curve["method"]) for curve in curves]), strokeDash=_dash(ends))
    )
    flat = alt.Chart(pl.DataFrame({"y": [network]})).mark_rule(strokeWidth=1.5, color=GREY_COLOR).encode(y=y)
    layers: list[alt.Chart] = [lines, flat]
    crossing_rows = [
        {"x": curve.size, "y": network, "what": name_of(curve.kind)} for curve in crossings if curve.size is not None
    ]
    crossing_rows = [curve for curve in crossing_rows if min(sizes) <= float(str(curve["x"])) <= max(sizes)]
    if crossing_rows:
        marks = alt.Chart(safe(pl.DataFrame(crossing_rows))).mark_point(
            size=90, shape="diamond", strokeWidth=2, color=WARM_COLOR
        )
        layers.append(
            marks.encode(
                x=x, y=y, tooltip=[alt.Tooltip("what:N"), alt.Tooltip("x:Q", title=f"bytes a {unit}", format=".3~s")]
            )
        )
    caption = (
        f"Curves: the processor, from the parts of a {unit} and a byte. Grey: the network, "
        f"{money(network, breakdown.prices.currency)}."
    )
    if crossing_rows:
        caption += " Left of a diamond the processor is dearer."
    return chart_of("transfer-price", "The processor's price against the network's", caption, alt.layer(*layers), 280)


def _levels_chart(levels: Sequence[Level]) -> Chart | None:
    """The effect of the load; None where the loads are alike, and a chart would make a slope of their noise."""
    if not loads_differ(levels):
        return None
    rows = [row for level in levels for row in _level_rows(level)]
    frame = pl.DataFrame(
        rows, schema={"load": pl.Float64, "what": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
    )
    names = list(dict.fromkeys(str(row["what"]) for row in rows))
    few = alt.Axis(tickCount=8)
    x = alt.X("load:Q", title="running and ready processes", scale=alt.Scale(nice=False, padding=12), axis=few)
    axis = _log_axis(float(str(row[key])) for row in rows for key in ("value", "low", "high") if row[key])
    y = alt.Y("value:Q", title="times that of the lowest load", scale=_LOG, axis=axis)
    color = alt.Color(
        "what:N", title=None, scale=alt.Scale(domain=names, range=[WARM_COLOR, ACCENT_COLOR]), legend=legend()
    )
    figures = figure_tooltips("value", "times that of the lowest load", ".4~g")
    tips = [alt.Tooltip("what:N", title="of"), alt.Tooltip("load:Q", format=".4~g"), *figures]
    base = alt.Chart(frame).encode(x=x, color=color)
    line = base.mark_line(strokeWidth=1.5).encode(y=y)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, tooltip=tips)
    rule = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5)
        .encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )
    caption = "The same transfers at each load; the lines at the points are 95 % intervals."
    return chart_of(
        "transfer-load", "Real and processor time per bit against load", caption, alt.layer(line, rule, dots), 240
    )


def _level_rows(level: Level) -> list[dict[str, object]]:
    def row(measure: str, times: Times) -> dict[str, object]:
        interval = times.interval
        low, high = (interval.low, interval.high) if interval is not None else (None, None)
        return {"load": level.load, "what": measure, "value": times.times, "low": low, "high": high}

    return [row("real time", level.real), row("processor time", level.cpu)]


def _stretch_chart(breakdown: Apart) -> Chart | None:
    loaded = [
        transfer
        for transfer in breakdown.table.transfers
        if transfer.load is not None and transfer.real_s and transfer.cpu_s > 0
    ]
    if not breakdown.lines or not loaded:
        return None
    step, shown = thin_points(loaded)
    rows = [
        {
            "load": transfer.load,
            "stretch": (transfer.real_s or 0) / transfer.cpu_s,
            "end": DIRECTION_NOUNS[transfer.direction],
            "bytes": transfer.bytes,
        }
        for transfer in shown
    ]
    ends = _legend_ends(str(row["end"]) for row in rows)
    x = alt.X("load:Q", title="load", scale=alt.Scale(zero=True))
    axis = _log_axis(float(str(row["stretch"])) for row in rows)
    y = alt.Y("stretch:Q", title="real over processor time", scale=_LOG, axis=axis)
    tips = [
        "end:N",
        alt.Tooltip("bytes:Q", format=","),
        alt.Tooltip("load:Q"),
        alt.Tooltip("stretch:Q", title="real over processor time", format=".3~g"),
    ]
    dots = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(x=x, y=y, color=_ends_color(ends), shape=_shape(ends), tooltip=tips)
    )
    line = next((transfer for transfer in breakdown.lines if transfer.what.startswith("real")), breakdown.lines[-1])
    load_range = (0.0, max(float(transfer.load or 0) for transfer in loaded))
    straight = [{"load": load, "stretch": line.at_none + line.slope * load} for load in load_range]
    layers: list[alt.Chart] = [dots]
    if all(point["stretch"] > 0 for point in straight):
        steps = [load_range[1] * step / 24 for step in range(25)]
        curve = pl.DataFrame([{"load": load, "stretch": line.at_none + line.slope * load} for load in steps])
        layers.insert(0, alt.Chart(curve).mark_line(strokeWidth=1.5, color=GREY_COLOR).encode(x=x, y=y))
    shown_in_words = "each transfer" if step == 1 else f"every {step}th transfer"
    caption = (
        f"A point for {shown_in_words}; the line is the mean, straight in the load and bent by the logarithmic axis."
    )
    return chart_of("transfer-load", "The stretch of real time against load", caption, alt.layer(*layers), 260)


def _log_axis(values: Iterable[float | None], label: str = AMOUNT_LABEL) -> alt.Axis:
    """A logarithmic axis over the values that are known."""
    known = [value for value in values if value]
    return alt.Axis(labelExpr=label, values=log_ticks(min(known), max(known)), labelOverlap="greedy")


def _size_axis(sizes: Sequence[float]) -> alt.Axis:
    return alt.Axis(labelExpr=_SIZE_LABEL, values=size_marks(sizes), labelOverlap="greedy")


def _color(field: str, names: Sequence[str]) -> alt.Color:
    shown_names = sorted(set(names))
    colors = [_COLORS[index % len(_COLORS)] for index in range(len(shown_names))]
    shown_legend = legend() if len(shown_names) > 1 else None
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=shown_names, range=colors), legend=shown_legend)


def _ends_of_points(points: Sequence[TransferPoint] | Sequence[PricedMethod]) -> list[str]:
    return _legend_ends(point.end for point in points)


def _legend_ends(nouns: Iterable[str]) -> list[str]:
    """The ends that a legend names, in their fixed order: sent, received, and both ways."""
    shown = set(nouns)
    return [noun for noun in DIRECTION_NOUNS.values() if noun in shown]


def _signs_of_ends(ends: Sequence[str], signs: Sequence[Any]) -> alt.Scale:
    """A scale on which each end has its own sign, whichever ends a chart shows."""
    every = list(DIRECTION_NOUNS.values())
    return alt.Scale(domain=list(ends), range=[signs[every.index(end)] for end in ends])


def _ends_color(ends: Sequence[str]) -> alt.Color:
    scale = _signs_of_ends(ends, [ACCENT_COLOR, WARM_COLOR, GREY_COLOR])
    return alt.Color("end:N", title=None, scale=scale, legend=legend())


def _shape(ends: Sequence[str]) -> alt.Shape:
    scale = _signs_of_ends(ends, _SHAPES)
    return alt.Shape("end:N", title=None, scale=scale, legend=None)


def _shape_with_legend(ends: Sequence[str]) -> alt.Shape:
    """The shapes of the ends, in a chart whose colours have no legend that tells the ends apart."""
    shape = _shape(ends)
    shape["legend"] = alt.Legend(title=None)
    return shape


def _dash(ends: Sequence[str]) -> alt.StrokeDash:
    scale = _signs_of_ends(ends, _DASHES)
    return alt.StrokeDash("end:N", title=None, scale=scale, legend=alt.Legend(title=None))
