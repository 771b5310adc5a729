"""What a model gives for a printed figure: a value with its mark and how it came about; and for a chart, its curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Mark = Literal["given", "fitted", "predicted", "not modelled"]


@dataclass(frozen=True)
class Value:
    """Our figure for one printed figure, in the unit of that figure (`docs/published.md`)."""

    value: float
    mark: Mark
    """`given`: fed into the model. `fitted`: a parameter was set by it. `predicted`: neither."""
    how: str
    """In words: the run or the arithmetic that it comes from; of a fitted one, which parameter it sets."""
    high: float | None = None
    """The upper end, where ours is a range that begins at `value`."""
    interval: tuple[float, float] | None = None
    """The 95 % interval, where ours is an estimate."""


Values = Mapping[str, Value]
"""Our figures by the ids of the printed ones, such as `csr-rfc-20/results/elapsed/6180`."""


@dataclass(frozen=True)
class Curve:
    """One curve of a chart, from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    """For a limit that is no measurement or model."""


@dataclass(frozen=True)
class Area:
    """A rectangle in a chart, with its name: where the system is operated."""

    name: str
    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True)
class Plot:
    """A chart that a document has only as axes, with what our model puts into it."""

    name: str
    """Its id: `users-by-faults` or `table-size`."""
    document: str
    title: str
    x: str
    """What the horizontal axis counts, in the document's words."""
    y: str
    curves: tuple[Curve, ...]
    areas: tuple[Area, ...] = ()
    how: str = ""
    """In words, what was run."""
