"""A colour for each category of processor time: busy time is opaque, idle time is transparent.

Neighbours in the stack differ in lightness too, so that colour-blind readers distinguish them. The tests check that
with the matrices of Machado, Oliveira and Fernandes (2009). Idle time takes on the page's light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable

from loadgo.measures.total_time import is_busy

BUSY_COLORS = {
    "user": "#2f78c4",
    "nice": "#8fc1ea",
    "system": "#e08a1e",
    "primitive": "#f0b13c",
    "page fault": "#cf4f12",
    "segment fault": "#e8c95a",
    "bound fault": "#8f6420",
    "wall crossing": "#c9b8dd",
    "terminal": "#1f8f86",
    "network": "#9fd8cf",
    "process creation": "#5f5bb0",
    "getwork": "#55c79a",
    "interrupt": "#8a3f86",
    "irq": "#8a3f86",
    "soft interrupt": "#dfa9d2",
    "softirq": "#dfa9d2",
    "kernel thread": "#5a6f80",
    "uncharged": "#b9c2ca",
    "meters": "#d6276f",
}
"""Colours of busy categories, from the axis up."""

IDLE_COLORS = {
    "idle page wait": "#dd6b35e0",
    "idle disk wait": "#d9b04470",
    "idle governed": "#9a6cc4e0",
    "idle not eligible": "#d678a84c",
    "idle loading": "#2aa19888",
    "idle dispatch": "#6f9fd8f0",
    "iowait": "#d9b04490",
    "steal": "#b0405fe0",
    "idle zero": "#8b97a340",
    "idle": "#8b97a340",
}
"""Colours of idle categories, from the axis down. Waits are next to the axis."""

_OTHER_COLORS = ("#45b58a", "#8f6420", "#9fd8cf", "#a8559a", "#e8c95a", "#5f5bb0")


def category_colors(categories: Iterable[str]) -> dict[str, str]:
    """A colour for each category: busy categories from the axis up, then idle categories from the axis down."""
    names = set(categories)
    unknown = sorted(names - set(BUSY_COLORS) - set(IDLE_COLORS))
    busy = {name: _OTHER_COLORS[i % len(_OTHER_COLORS)] for i, name in enumerate(unknown) if is_busy(name)}
    idle = {name: IDLE_COLORS["idle"] for name in unknown if not is_busy(name)}
    return {name: color for name, color in (BUSY_COLORS | busy | IDLE_COLORS | idle).items() if name in names}
