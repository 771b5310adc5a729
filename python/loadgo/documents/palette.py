"""The colours of categories of processor time and of users' states, for reports, the watch page and a terminal.

Busy time is opaque and idle time transparent, so that idle time takes on the page's light or dark. The states that
categories share with users have the same colour: programs that run, and waits for a page and for the disk. Those are
Okabe and Ito's. Neighbours in a stack differ in lightness too, so that colour-blind readers distinguish them. The tests
check that with the matrices of Machado, Oliveira and Fernandes (2009).
"""

from __future__ import annotations

from collections.abc import Iterable

ACCENT_COLOR = "#3b7dd8"
"""The colour of a chart's only series, and of its first one."""
WARM_COLOR = "#e08a1e"
"""The colour of a chart's second series."""
GREY_COLOR = "#8b97a3"
"""The colour of what a chart shows for comparison only."""
SERIES_COLORS = (ACCENT_COLOR, WARM_COLOR, "#45b58a", "#a8559a", "#8f6420", "#5f5bb0")
"""The colours of the series of a chart, such as resources or methods, in their order."""

_PROGRAM_COLOR = "#0072b2"
_PAGE_WAIT_COLOR = "#d55e00"
_DISK_WAIT_COLOR = "#cc79a7"

BUSY_COLORS = {
    "user": _PROGRAM_COLOR,
    "nice": "#8fc1ea",
    "system": WARM_COLOR,
    "primitive": "#f0b13c",
    "page fault": "#cf4f12",
    "segment fault": "#e8c95a",
    "bound fault": "#8f6420",
    "wall crossing": "#c9b8dd",
    "terminal": "#1f8f86",
    "network": "#9fd8cf",
    "process creation": "#5f5bb0",
    "lock wait": "#a63446",
    "getwork": "#55c79a",
    "interrupt": "#8a3f86",
    "irq": "#8a3f86",
    "soft interrupt": "#dfa9d2",
    "softirq": "#dfa9d2",
    "kernel thread": "#5a6f80",
    "uncharged": "#b9c2ca",
    "meters": "#8e1a4e",
}
"""Colours of busy categories, from the axis up."""

IDLE_COLORS = {
    "idle page wait": f"{_PAGE_WAIT_COLOR}e0",
    "idle disk wait": f"{_DISK_WAIT_COLOR}80",
    "idle governed": "#7a5bc4e0",
    "idle not eligible": "#d9b0444c",
    "idle loading": "#2aa19888",
    "idle dispatch": "#6f9fd8f0",
    "iowait": f"{_DISK_WAIT_COLOR}80",
    "steal": "#e07a5fe0",
    "idle zero": f"{GREY_COLOR}40",
    "idle": f"{GREY_COLOR}40",
}
"""Colours of idle categories, from the axis down. Waits are next to the axis."""

STATE_COLORS = {
    "running": _PROGRAM_COLOR,
    "CPU wait": "#e69f00",
    "page wait": _PAGE_WAIT_COLOR,
    "disk wait": _DISK_WAIT_COLOR,
    "other wait": "#5c5c5c",
    "typing": "#009e73",
    "thinking": "#56b4e938",
    "not known yet": "#8a8a8a70",
}
"""Colours of the states of a user, from the bottom of a band up."""

_OTHER_COLORS = ("#45b58a", "#8f6420", "#9fd8cf", "#a8559a", "#e8c95a", "#5f5bb0")


def category_colors(categories: Iterable[str]) -> dict[str, str]:
    """A colour for each category: busy categories from the axis up, then idle categories from the axis down."""
    names = set(categories)
    unknown = sorted(names - set(BUSY_COLORS) - set(IDLE_COLORS))
    busy_names = [name for name in unknown if not name.startswith("idle")]
    busy = {name: _OTHER_COLORS[i % len(_OTHER_COLORS)] for i, name in enumerate(busy_names)}
    idle = {name: IDLE_COLORS["idle"] for name in unknown if name not in busy}
    return {name: color for name, color in (BUSY_COLORS | busy | IDLE_COLORS | idle).items() if name in names}
