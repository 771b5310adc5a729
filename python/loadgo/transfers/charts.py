"""The charts of transfers: cost by message size and method, price against the network's, and stretch against load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt
import polars as pl

from loadgo.documents.chart import ACCENT_COLOR, ROW_HEIGHT_PX, TIME_LABEL, Chart, chart_of, legend, safe
from loadgo.transfers.analysis import Apart
from loadgo.transfers.chart_data import (
    WORDS,
    Point,
    Priced,
    every,
    longest,
    name_of,
    points_by_size,
    price_curve,
    price_sizes,
    priced_alike,
    priced_methods,
    size_marks,
)
from loadgo.transfers.compared import Level, Times
from loadgo.transfers.prices import Prices
from loadgo.transfers.row import Row

_WARM, _GREY = "#e08a1e", "#8b97a3"
_COLORS = (
    ACCENT_COLOR, _WARM, "#45b58a", "#a8559a", "#8f6420", "#5f5bb0",
    "#c23b3b", "#1f8f86", "#d678a8", "#9aa83a", "#6f9fd8", "#55c79a", "#7a6a5a", "#b39ddb",
)  # fmt: skip
_SHAPES = ["circle", "triangle-up", "square"]
_DASHES = [[1, 0], [5, 3], [2, 2]]
_LOG = alt.Scale(type="log", nice=False, padding=12)
_SIZE_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.3~r') + ' GiB'"
    " : datum.value >= 1048576 ? format(datum.value / 1048576, '.3~r') + ' MiB'"
    " : datum.value >= 1024 ? format(datum.value / 1024, '.3~r') + ' KiB' : format(datum.value, '.3~r')"
)


def apart_charts(made: Apart) -> list[Chart]:
    """All charts of a table that have something to show."""
    found = [_cost(made), _price(made), _levels(made) if made.levels else _stretch(made)]
    return [one for one in found if one is not None]


def method_charts(rows: Sequence[Row], prices: Prices) -> list[Chart]:
    """A chart of what a gigabyte costs by each method at each end, when there are two or more to compare."""
    told = priced_methods(rows, prices)
    if len(told) < 2:
        return []
    frame = safe(pl.DataFrame([{"method": one.name, "end": one.end, "cost": one.cost} for one in told]))
    names = list(dict.fromkeys(one.name for one in told))
    title = f"a gigabyte ({prices.currency})"
    x = alt.X("cost:Q", title=title, scale=_LOG, axis=alt.Axis(format="~g"))
    tips = ["method:N", "end:N", alt.Tooltip("cost:Q", title=title, format=".4~g")]
    ends, y = _ends_of(told), alt.Y("method:N", sort=names, title=None)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(x=x, y=y, color=_ends_color(ends), shape=_shape(ends), tooltip=tips)
    )
    layers: list[alt.Chart] = [points]
    caption = "The processor's price, logarithmic."
    if prices.network_gigabyte:
        rule = alt.Chart(pl.DataFrame({"cost": [prices.network_gigabyte]})).mark_rule(strokeDash=[4, 3])
        layers.append(rule.encode(x=x))
        caption += f" The dashed line is the network's price, {prices.currency}{prices.network_gigabyte:g}."
    drawn = alt.layer(*layers)
    return [
        chart_of(
            "transfer-methods", "What a gigabyte costs by method", caption, drawn, ROW_HEIGHT_PX * max(3, len(names))
        )
    ]


def _cost(made: Apart) -> Chart | None:
    what, points = points_by_size(made.table.transfers)
    if len({point.x for point in points}) < 2:
        return None
    lines = longest(points)
    on_line = set(lines)
    rows = [
        {
            "method": p.method or "all",
            "end": p.end,
            "x": p.x,
            "y": p.y,
            "bytes": p.bytes,
            "of": p.count,
            "on": p in on_line,
        }
        for p in points
    ]
    frame = safe(pl.DataFrame(rows))
    x = alt.X("x:Q", title=what, scale=_LOG, axis=_size_axis([point.x for point in points]))
    y = alt.Y(
        "y:Q", title="processor time a bit", scale=_LOG, axis=alt.Axis(labelExpr=TIME_LABEL, labelOverlap="greedy")
    )
    color = _color("method", [point.method or "all" for point in points])
    tips = ["method:N", "end:N", alt.Tooltip("x:Q", title=what), "bytes:Q", alt.Tooltip("y:Q", format=".3~s"), "of:Q"]
    base = alt.Chart(frame).encode(x=x, y=y, color=color)
    line = base.transform_filter("datum.on").mark_line(strokeWidth=1.5).encode(strokeDash=_dash(_ends_of(points)))
    dots = base.mark_point(filled=True, size=45).encode(
        shape=_shape(_ends_of(points)), opacity=alt.condition("datum.on", alt.value(1.0), alt.value(0.28)), tooltip=tips
    )
    by_message = what == "bytes a message"
    caption = "Medians." + (
        " Lines: the longest transfers; pale: shorter ones, of which more is a transfer's own part."
        if by_message
        else ""
    )
    drawn = alt.layer(*([line] if by_message else []), dots)
    return chart_of("transfer-cost", f"Processor time a bit by {what}", caption, drawn, 300)


def _price(made: Apart) -> Chart | None:
    if not made.crossings or made.prices.network_gigabyte is None:
        return None
    sizes = price_sizes(made)
    if min(sizes) == max(sizes):
        return None
    crossings = priced_alike(made)
    curves = [
        {"method": one.kind.partition(" ")[2] or "all", "end": WORDS[one.kind[0]], "x": x, "y": y}
        for one in crossings
        for x, y in price_curve(one, sizes)
    ]
    frame, of = safe(pl.DataFrame(curves)), crossings[0].of
    ends = _ends(str(one["end"]) for one in curves)
    title = f"a gigabyte ({made.prices.currency})"
    x = alt.X("x:Q", title=f"bytes a {of}", scale=_LOG, axis=_size_axis(sizes))
    y = alt.Y("y:Q", title=title, scale=_LOG, axis=alt.Axis(format="~g"))
    lines = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.8)
        .encode(x=x, y=y, color=_color("method", [str(one["method"]) for one in curves]), strokeDash=_dash(ends))
    )
    network = made.prices.network_gigabyte
    flat = alt.Chart(pl.DataFrame({"y": [network]})).mark_rule(strokeWidth=1.5, color=_GREY).encode(y=y)
    layers: list[alt.Chart] = [lines, flat]
    crossed = [{"x": one.size, "y": network, "what": name_of(one)} for one in crossings if one.size is not None]
    crossed = [one for one in crossed if min(sizes) <= float(str(one["x"])) <= max(sizes)]
    if crossed:
        marks = alt.Chart(safe(pl.DataFrame(crossed))).mark_point(size=90, shape="diamond", strokeWidth=2, color=_WARM)
        layers.append(marks.encode(x=x, y=y, tooltip=["what:N", alt.Tooltip("x:Q", format=".3~s")]))
    caption = (
        f"Curves: the processor, from the parts of a {of} and a byte. Grey: the network, "
        f"{made.prices.currency}{network:g}. Left of a diamond the processor is dearer."
    )
    return chart_of("transfer-price", "The processor's price against the network's", caption, alt.layer(*layers), 280)


def _levels(made: Apart) -> Chart:
    rows = [row for level in made.levels for row in _level_rows(level)]
    frame = pl.DataFrame(
        rows, schema={"load": pl.Float64, "what": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
    )
    names = list(dict.fromkeys(str(row["what"]) for row in rows))
    few = alt.Axis(tickCount=8)
    x = alt.X("load:Q", title="processes running or ready to", scale=alt.Scale(nice=False, padding=12), axis=few)
    axis = alt.Axis(format="~g", labelOverlap="greedy")
    y = alt.Y("value:Q", title="times that of the lowest load", scale=_LOG, axis=axis)
    color = alt.Color("what:N", title=None, scale=alt.Scale(domain=names, range=[_WARM, ACCENT_COLOR]), legend=legend())
    tips = ["what:N", *(alt.Tooltip(f"{field}:Q", format=".4~g") for field in ("load", "value", "low", "high"))]
    base = alt.Chart(frame).encode(x=x, color=color)
    line = base.mark_line(strokeWidth=1.5).encode(y=y)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, tooltip=tips)
    rule = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q")
    caption = "The same transfers at each load; the lines at the points are 95 % intervals."
    return chart_of(
        "transfer-load", "Real and processor time a bit against load", caption, alt.layer(line, rule, dots), 240
    )


def _level_rows(level: Level) -> list[dict[str, object]]:
    def row(what: str, of: Times) -> dict[str, object]:
        between = of.interval
        low, high = (between.low, between.high) if between is not None else (None, None)
        return {"load": level.load, "what": what, "value": of.times, "low": low, "high": high}

    return [row("real time", level.real), row("processor time", level.cpu)]


def _stretch(made: Apart) -> Chart | None:
    told = [one for one in made.table.transfers if one.load is not None and one.real_s and one.cpu_s > 0]
    if not made.lines or not told:
        return None
    step, drawn = every(told)
    rows = [
        {"load": one.load, "stretch": (one.real_s or 0) / one.cpu_s, "end": WORDS[one.direction], "bytes": one.bytes}
        for one in drawn
    ]
    ends_there = _ends(str(row["end"]) for row in rows)
    x = alt.X("load:Q", title="load", scale=alt.Scale(zero=True))
    y = alt.Y("stretch:Q", title="real over processor time", scale=_LOG, axis=alt.Axis(format="~g"))
    tips = ["end:N", "bytes:Q", alt.Tooltip("load:Q"), alt.Tooltip("stretch:Q", format=".3~g")]
    dots = (
        alt.Chart(pl.DataFrame(rows))
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(x=x, y=y, color=_ends_color(ends_there), shape=_shape(ends_there), tooltip=tips)
    )
    line = next((one for one in made.lines if one.what.startswith("real")), made.lines[-1])
    ends = (0.0, max(float(one.load or 0) for one in told))
    straight = [{"load": at, "stretch": line.at_none + line.slope * at} for at in ends]
    layers: list[alt.Chart] = [dots]
    if all(point["stretch"] > 0 for point in straight):
        steps = [ends[1] * step / 24 for step in range(25)]
        curve = pl.DataFrame([{"load": at, "stretch": line.at_none + line.slope * at} for at in steps])
        layers.insert(0, alt.Chart(curve).mark_line(strokeWidth=1.5, color=_GREY).encode(x=x, y=y))
    which = "each transfer" if step == 1 else f"every {step}th transfer"
    caption = f"A point for {which}; the line is the mean, straight in the load and bent by the logarithmic axis."
    return chart_of("transfer-load", "The stretch of real time against load", caption, alt.layer(*layers), 260)


def _size_axis(sizes: Sequence[float]) -> alt.Axis:
    return alt.Axis(labelExpr=_SIZE_LABEL, values=size_marks(sizes), labelOverlap="greedy")


def _color(field: str, names: Sequence[str]) -> alt.Color:
    there = sorted(set(names))
    colors = [_COLORS[at % len(_COLORS)] for at in range(len(there))]
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=there, range=colors), legend=legend())


def _ends_of(told: Sequence[Point] | Sequence[Priced]) -> list[str]:
    return _ends(one.end for one in told)


def _ends(there: Iterable[str]) -> list[str]:
    """The ends that a legend names: sent and received, and both ways where that is there."""
    named = set(there) | {WORDS["s"], WORDS["r"]}
    return [word for word in WORDS.values() if word in named]


def _ends_color(ends: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(ends), range=[ACCENT_COLOR, _WARM, _GREY][: len(ends)])
    return alt.Color("end:N", title=None, scale=scale, legend=legend())


def _shape(ends: Sequence[str]) -> alt.Shape:
    scale = alt.Scale(domain=list(ends), range=_SHAPES[: len(ends)])
    return alt.Shape("end:N", title=None, scale=scale, legend=None)


def _dash(ends: Sequence[str]) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(ends), range=_DASHES[: len(ends)])
    return alt.StrokeDash("end:N", title=None, scale=scale, legend=alt.Legend(title=None))
