"""The stretch of a run that a report is about: the steady phase, or the whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.errors import BadArgument
from loadgo.records.interactions import IS_MEASURED, lazy_with_classes

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

PHASE_CHOICES = ("steady", "all")

_BORDER_SHARE = 0.05
"""The part of a span that may lie outside of a stretch: the meters end a span soon after a phase begins."""
SHORTEST_RATED_SPAN_NS = 1_000_000_000
"""Shortest stretch of an unfinished run that has a rate. In a shorter one, the rate jumps with each interaction."""


@dataclass(frozen=True)
class Stretch:
    """A part of a run: its name, its time, and the number of its interactions."""

    name: str
    """`steady` or `all`."""
    start_ns: int
    end_ns: int
    counted: int
    """Measured interactions in the stretch."""
    warm_up: int
    """Measured interactions left out because some user had not typed a line yet."""
    ramp_down: int
    """Measured interactions left out because some user had finished already."""
    extrapolated: int
    """Extrapolated rows, which are in no figure."""
    note: str | None
    """The reason why the stretch is not the requested one; None if it is."""
    cut: bool = False
    """Whether the run did not come to its end, so that the stretch ends with its records."""
    chosen: bool = False
    """Whether a reader chose the stretch by its time. Its name is then `all`: it counts all that its tables hold."""

    @property
    def span_ns(self) -> int:
        """The length of the stretch in nanoseconds."""
        return self.end_ns - self.start_ns

    def indices_of(self, at_ns: pl.Series, count: int) -> NDArray[np.int64]:
        """The index of the part that has each instant, of `count` parts of equal length."""
        position = (at_ns.cast(pl.Float64).to_numpy() - self.start_ns) / max(self.span_ns, 1)
        indices: NDArray[np.int64] = np.clip(position * count, 0, count - 1).astype(np.int64)
        return indices

    @property
    def per_second(self) -> float | None:
        """Interactions per second; None for a single interaction, and for an unfinished run that is too short.

        A single interaction often is the whole stretch, whose length is then its response time and not the time between
        two interactions.
        """
        if self.span_ns <= 0 or self.counted == 1 or (self.cut and self.span_ns < SHORTEST_RATED_SPAN_NS):
            return None
        return self.counted / (self.span_ns / 1e9)


def stretch_of(tables: Tables, wanted: str = "steady") -> Stretch:
    """The stretch `wanted` (`steady` or `all`) of a run. Without a line in the steady phase, it is `all`, with a note.

    Raises `ValueError` for another name.
    """
    if wanted not in PHASE_CHOICES:
        raise BadArgument(f"phases: {wanted!r} is neither of {', '.join(PHASE_CHOICES)}")
    if tables.part_ns is not None:
        return _chosen_part(tables, *tables.part_ns)
    counts = _counts(tables.interactions)
    steady, total = counts.get("steady", 0), sum(counts.values())
    note = None
    if wanted == "steady" and steady == 0:
        wanted = "all"
        note = "No line was sent in the steady phase: the figures are of the whole run." if total else None
    is_meter_run = tables.conditions.get("kind") == "meter"
    start, end = _metered_bounds(tables) if is_meter_run else _bounds(tables, wanted)
    is_all = wanted == "all"
    return Stretch(
        name=wanted,
        start_ns=start,
        end_ns=max(start, end),
        counted=total if is_all else steady,
        warm_up=0 if is_all else counts.get("warm-up", 0),
        ramp_down=0 if is_all else counts.get("ramp-down", 0),
        extrapolated=len(tables.interactions) - total,
        note=note,
        cut=not is_meter_run and _is_cut(tables),
    )


def _chosen_part(tables: Tables, start_ns: int, end_ns: int) -> Stretch:
    """The stretch of tables that hold a part of a run."""
    measured = tables.interactions.filter(IS_MEASURED)
    return Stretch(
        name="all",
        start_ns=start_ns,
        end_ns=end_ns,
        counted=len(measured),
        warm_up=0,
        ramp_down=0,
        extrapolated=len(tables.interactions) - len(measured),
        note=None,
        chosen=True,
    )


def classified_in(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The measured interactions of the stretch, with the columns of `with_classes`."""
    return lazy_with_classes(tables.interactions.lazy(), tables.sessions).filter(_is_in(stretch)).collect()


def interactions_in(interactions: pl.DataFrame, stretch: Stretch) -> pl.DataFrame:
    """The measured interactions of the stretch."""
    return interactions.filter(_is_in(stretch))


def _is_in(stretch: Stretch) -> pl.Expr:
    return IS_MEASURED if stretch.name == "all" else IS_MEASURED & (pl.col("phase").cast(pl.String) == stretch.name)


def spans_in(frame: pl.DataFrame, stretch: Stretch) -> pl.DataFrame:
    """The spans of `time` or `processes` that lie in the stretch; all spans if none does."""
    if frame.is_empty():
        return frame
    inside = frame.filter(lies_in(stretch))
    return inside if len(inside) else frame


def lies_in(stretch: Stretch) -> pl.Expr:
    """Whether a row's span lies in the stretch: all of it but a twentieth."""
    span, end = pl.col("span_ns").cast(pl.Int64), pl.col("at_ns").cast(pl.Int64)
    inside = pl.min_horizontal(end, stretch.end_ns) - pl.max_horizontal(end - span, stretch.start_ns)
    return inside >= span * (1 - _BORDER_SHARE)


def _counts(interactions: pl.DataFrame) -> dict[str, int]:
    measured = interactions.lazy().filter(IS_MEASURED)
    rows = measured.group_by(pl.col("phase").cast(pl.String)).len().collect().rows()
    return {str(phase): int(count) for phase, count in rows}


def _bounds(tables: Tables, name: str) -> tuple[int, int]:
    names = tables.phases["phase"].cast(pl.String)
    starts = {str(phase): int(start) for start, phase in zip(tables.phases["at_ns"], names, strict=True)}
    first, last = _first_and_last(tables.interactions)
    start = starts.get("steady" if name == "steady" else "warm-up", first)
    ends = [starts[phase] for phase in ("ramp-down", "end") if phase in starts and (name == "steady" or phase == "end")]
    if ends:
        return start, ends[0]
    return start, last if tables.conditions.get("finished", False) else max(last, _last_sample_ns(tables))


def _is_cut(tables: Tables) -> bool:
    """Whether the run goes on, or was killed, stopped, or failed: lines that were in progress then have no row."""
    return not tables.conditions.get("finished", False) or tables.conditions.get("outcome", "") not in ("", "done")


def _last_sample_ns(tables: Tables) -> int:
    """The instant of the last sample of processor time. An unfinished run went on at least until then."""
    return max((int(str(frame["at_ns"].max())) for frame in (tables.time, tables.processes) if len(frame)), default=0)


def _metered_bounds(tables: Tables) -> tuple[int, int]:
    """Start and end of a run that metered hosts without a load: 0, and its last record."""
    last_samples = map(_last_sample_ns, tables.by_host or (tables,))
    return 0, max(_first_and_last(tables.interactions)[1], *last_samples)


def _first_and_last(interactions: pl.DataFrame) -> tuple[int, int]:
    if interactions.is_empty():
        return 0, 0
    sent, ready = interactions["sent_ns"], interactions["ready_ns"]
    return int(str(sent.min())), max(int(str(sent.max())), int(str(ready.max() or 0)))


def unsteady_count(phases: pl.DataFrame, ended: pl.DataFrame) -> int:
    """Number of interactions that were sent outside the steady phase; 0 for a run without one."""
    begun = phases.sort("at_ns", maintain_order=True)
    names = begun["phase"].cast(pl.String).to_list()
    if "steady" not in names:
        return 0
    indices = np.searchsorted(begun["at_ns"].to_numpy(), ended["sent_ns"].to_numpy(), side="right") - 1
    return sum(index < 0 or names[index] != "steady" for index in indices)
