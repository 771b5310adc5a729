"""The values that a model gives for printed figures, and the curves that it gives for printed charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Mark = Literal["given", "fitted", "predicted", "not modelled"]


@dataclass(frozen=True)
class ReproducedValue:
    """Our figure for one printed figure, in the unit of that figure (`docs/published.md`)."""

    value: float
    mark: Mark
    """`given`: fed into the model. `fitted`: a parameter was set by it. `predicted`: neither."""
    how: str
    """The run or the arithmetic behind the value, in words. A fitted value names the parameter that it sets."""
    high: float | None = None
    """The upper end of a range that begins at `value`; None for a single number."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of an estimate."""
    one_run: tuple[float, float] | None = None
    """The range in which 95 of 100 single runs of this load lie, where the printed figure is of one run."""


ReproducedValues = Mapping[str, ReproducedValue]
"""Our figures by the ids of the printed figures, such as `csr-rfc-20/results/elapsed/6180`."""


@dataclass(frozen=True)
class PlottedCurve:
    """One curve of a chart, from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    """Whether the curve is a limit, not a measurement or a model."""


@dataclass(frozen=True)
class Area:
    """A rectangle in a chart: an area in which the system is operated."""

    name: str
    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True)
class Plot:
    """A chart of which a document prints only the axes, with the curves of our model."""

    name: str
    """The chart's id, such as `users-by-faults`."""
    document: str
    title: str
    x: str
    """The title of the horizontal axis, in the document's words."""
    y: str
    curves: tuple[PlottedCurve, ...]
    areas: tuple[Area, ...] = ()
    how: str = ""
    """The runs behind the curves, in words."""
