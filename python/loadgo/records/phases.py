"""The stretch of a run that a report is about: the steady phase, or all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from loadgo.errors import BadArgument
from loadgo.records.interactions import MEASURED, with_classes

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

CHOICES = ("steady", "all")

SHORTEST_NS = 1_000_000_000
"""Of a run that was cut off, a stretch that is shorter has no rate: one interaction more would make it another."""


@dataclass(frozen=True)
class Stretch:
    """The interactions that count, and the time in which they were sent."""

    name: str
    """`steady` or `all`."""
    start_ns: int
    end_ns: int
    counted: int
    """Measured interactions in the stretch."""
    warm_up: int
    """Measured interactions left out because not everybody had typed a line yet."""
    ramp_down: int
    """Measured interactions left out because somebody had finished already."""
    extrapolated: int
    """Computed rows, which are in no figure."""
    note: str | None
    """Why the stretch is not the one that was asked for."""
    cut: bool = False
    """The run has not ended, or was killed: the stretch ends where its records do."""

    @property
    def span_ns(self) -> int:
        """The length of the stretch."""
        return self.end_ns - self.start_ns

    @property
    def per_second(self) -> float | None:
        """Interactions a second; None where a run that was cut off covers too short a time for any."""
        if self.span_ns <= 0 or (self.cut and self.span_ns < SHORTEST_NS):
            return None
        return self.counted / (self.span_ns / 1e9)


def stretch_of(tables: Tables, wanted: str = "steady") -> Stretch:
    """The stretch `wanted` (`steady` or `all`) of a run; all, with a note, when nothing was sent in the steady phase.

    Raises `ValueError` for another word.
    """
    if wanted not in CHOICES:
        raise BadArgument(f"phases: {wanted!r} is neither of {', '.join(CHOICES)}")
    counts = _counts(tables.interactions)
    steady, total = counts.get("steady", 0), sum(counts.values())
    note = None
    if wanted == "steady" and steady == 0:
        wanted = "all"
        note = "No line was sent in the steady phase: the figures are of the whole run." if total else None
    metered = tables.conditions.get("kind") == "meter"
    start, end = _metered_bounds(tables) if metered else _bounds(tables, wanted)
    whole = wanted == "all"
    return Stretch(
        name=wanted,
        start_ns=start,
        end_ns=max(start, end),
        counted=total if whole else steady,
        warm_up=0 if whole else counts.get("warm-up", 0),
        ramp_down=0 if whole else counts.get("ramp-down", 0),
        extrapolated=len(tables.interactions) - total,
        note=note,
        cut=not metered and not tables.conditions.get("finished", False),
    )


def classified_in(tables: Tables, stretch: Stretch) -> pl.DataFrame:
    """The measured interactions of the stretch, with the columns of `with_classes`."""
    return interactions_in(with_classes(tables.interactions, tables.sessions), stretch)


def interactions_in(interactions: pl.DataFrame, stretch: Stretch) -> pl.DataFrame:
    """The measured interactions of the stretch."""
    rows = interactions.filter(MEASURED)
    if stretch.name == "all":
        return rows
    return rows.filter(pl.col("phase").cast(pl.String) == stretch.name)


def spans_in(frame: pl.DataFrame, stretch: Stretch) -> pl.DataFrame:
    """The spans of `time` or `processes` that lie wholly in the stretch; every span when none does."""
    begins = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    inside = frame.filter((begins >= stretch.start_ns) & (pl.col("at_ns") <= stretch.end_ns))
    return inside if len(inside) else frame


def _counts(interactions: pl.DataFrame) -> dict[str, int]:
    measured = interactions.filter(MEASURED)
    rows = measured.group_by(pl.col("phase").cast(pl.String)).len().rows()
    return {str(phase): int(count) for phase, count in rows}


def _bounds(tables: Tables, name: str) -> tuple[int, int]:
    began = {str(phase): int(at) for at, phase in tables.phases.select("at_ns", pl.col("phase").cast(pl.String)).rows()}
    first, last = _first_and_last(tables.interactions)
    start = began.get("steady" if name == "steady" else "warm-up", first)
    ends = [began[phase] for phase in ("ramp-down", "end") if phase in began and (name == "steady" or phase == "end")]
    return start, ends[0] if ends else max(last, _sampled_until(tables))


def _sampled_until(tables: Tables) -> int:
    """Until when a run that was cut off was there for sure: its last sample of the processors' or anybody's time."""
    if tables.conditions.get("finished", False):
        return 0
    return _last_sample(tables)


def _last_sample(tables: Tables) -> int:
    return max((int(str(frame["at_ns"].max())) for frame in (tables.time, tables.processes) if len(frame)), default=0)


def _metered_bounds(tables: Tables) -> tuple[int, int]:
    """Of metering without a load: all that was metered, with the ends of its first and last span."""
    return 0, max(_first_and_last(tables.interactions)[1], _last_sample(tables))


def _first_and_last(interactions: pl.DataFrame) -> tuple[int, int]:
    if interactions.is_empty():
        return 0, 0
    first, sent, ready = interactions.select(
        pl.col("sent_ns").min(), last_sent=pl.col("sent_ns").max(), ready=pl.col("ready_ns").max()
    ).row(0)
    return int(first), max(int(sent), int(ready or 0))
