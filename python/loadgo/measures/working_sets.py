"""Working sets: memory that users refer to in a time T, and the page faults that they would have with another memory.

The working set W(T) is the mean of the memory that is referred to in a window of length T. Pages that were not used for
a time T come back at the rate dW/dT. A memory of W(T) bytes that loses the page unused for longest has these faults.
P. J. Denning, S. C. Schwartz: Properties of the working-set model, CACM 15(3), 1972.

The same holds of pages on paging devices, where memory is short. R(T) bytes of them come back within a time T, and a
memory that is larger by so much has the faults dR/dT.

All this is of pages that belong to no file. Processes share those of files, and each clears the marks of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from loadgo.records.phases import Stretch
from loadgo.stats.resample import Floats, Interval, drawn, grouped, positive_interval

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

WINDOWS_S = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Lengths of the windows (`WINDOWS_S` in crates/host/src/usage/working_sets.rs)."""
MEMORY_SHARES = (0.9, 0.75, 0.5, 0.375, 0.25)
"""Parts of the memory that the users hold, for which faults are foretold."""
MORE_MEMORY_SHARES = (2.0, 1.5, 1.25)
"""Multiples of the memory that the users hold, for which faults are foretold where pages were on paging devices."""
_FEWEST_PAGED_SHARE = 0.01
"""Least memory on paging devices, beside that in memory, from which faults with more memory are foretold."""
_FEWEST_READINGS = 3
"""Fewest readings of windows of one length that give a mean."""
PAGE_BYTES = 4096
"""A page of a host, as docs/glossary.md has it. Where pages are larger, a fault brings more, and there are fewer."""
_NS_PER_S = 1e9


@dataclass(frozen=True)
class WorkingSet:
    """The memory that all users together refer to in a time."""

    window_s: float
    bytes: float
    interval: Interval | None
    readings: int


@dataclass(frozen=True)
class FaultsAtMemory:
    """The page faults of all users in another memory."""

    share: float
    """The memory as a part of what the users hold."""
    bytes: float
    faults_per_s: float | None
    """Faults for pages on paging devices, in a second. A bound is the end of its interval, and None without one."""
    interval: Interval | None
    """None for a bound, and where too few users were read."""
    bound: Literal["", "at most", "at least"] = ""
    """Whether the faults are a bound, since no window's working set is so large, or so small."""
    unused_s: float | None = None
    """The time for which a page was not used when it is taken; None for a bound."""


@dataclass(frozen=True)
class WorkingSets:
    """The working sets of a run, of all its users together."""

    users: float
    """The mean number of users logged in."""
    readings: int
    resident_bytes: float
    """The mean memory of their processes that belongs to no file."""
    file_bytes: float
    """The mean memory of mapped files, divided by the number of processes of the host that map a page."""
    device_bytes: float
    """The mean of their memory on paging devices."""
    variation: float
    """The standard deviation of the memory of all users, from moment to moment, over its mean."""
    windows: tuple[WorkingSet, ...]
    faults: tuple[FaultsAtMemory, ...]


@dataclass(frozen=True)
class _Curve:
    """The working set at the ends of the windows, and its slope between them, which never rises."""

    times_s: Floats
    bytes: Floats
    slopes: Floats
    """Bytes a second."""

    @property
    def middles(self) -> Floats:
        """The working set in the middle of each step, for which its slope stands."""
        ends: Floats = np.concatenate([[0.0], self.bytes])
        return (ends[1:] + ends[:-1]) / 2

    def slope_at(self, memory_bytes: float, bound: str) -> float:
        """The slope where the working set is so large. Below the shortest window's it is at least that after it."""
        return float(self.slopes[1] if bound == "at least" else np.interp(memory_bytes, self.middles, self.slopes))

    def time_at(self, memory_bytes: float) -> float:
        """The length of the window whose working set is so large."""
        sizes, times_s = np.concatenate([[0.0], self.bytes]), np.concatenate([[0.0], self.times_s])
        return float(np.interp(memory_bytes, sizes, times_s))


def working_sets_of(tables: Tables, stretch: Stretch) -> WorkingSets | None:
    """The working sets in a stretch of a run; None without windows of at least two lengths."""
    rows = tables.working_sets
    if rows.is_empty():
        return None
    began_ns = pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64)
    inside = rows.filter((began_ns >= stretch.start_ns) & (pl.col("at_ns") <= stretch.end_ns))
    of_user = pl.col("user").is_not_null() & pl.col("resident_bytes").is_not_null()
    held = tables.memory.filter(of_user & pl.col("at_ns").is_between(stretch.start_ns, stretch.end_ns))
    return sets_in(inside, _users_logged_in(tables, stretch, inside), held)


def sets_in(rows: pl.DataFrame, users: float, held_rows: pl.DataFrame | None = None) -> WorkingSets | None:
    """The working sets in rows of the table `working_sets`, of `users` users; None without windows of two lengths.

    `held_rows` are rows of `memory` of single users: there are more of them, which tell better how memory varies.
    """
    nominal = np.searchsorted(WINDOWS_S, (rows["span_ns"] / _NS_PER_S).to_numpy() + 0.5, side="right") - 1
    readings = rows.with_columns(window=pl.Series(nominal, dtype=pl.Int64))
    counts = readings.group_by("window").len().filter((pl.col("len") >= _FEWEST_READINGS) & (pl.col("window") >= 0))
    lengths = sorted(counts["window"])
    if len(lengths) < 2:
        return None
    readings = readings.filter(pl.col("window").is_in(lengths))
    means = _means(readings, lengths, pl.col("referenced_bytes"))
    curves = [_curve(*one) for one in zip(means.times_s, users * means.bytes, strict=True)]
    held_bytes, of_files, on_devices = (
        users * float(readings[name].to_numpy().mean())
        for name in ("resident_bytes", "file_resident_bytes", "device_bytes")
    )
    more_rows = held_rows if held_rows is not None and len(held_rows) > len(readings) else readings

    def at_memory(share: float, curve_bytes: float, of_curves: list[_Curve]) -> FaultsAtMemory:
        return _faults_at(share, curve_bytes, held_bytes, of_curves, means.units)

    def with_more(share: float) -> FaultsAtMemory:
        returned = _means(readings, lengths, pl.col("returned_bytes"))
        of_returned = [_curve(*one) for one in zip(returned.times_s, users * returned.bytes, strict=True)]
        return at_memory(share, (share - 1) * held_bytes, of_returned)

    windows = tuple(
        WorkingSet(
            window_s=float(means.times_s[0, index]),
            bytes=float(curves[0].bytes[index]),
            interval=positive_interval(np.array([curve.bytes[index] for curve in curves]), means.units),
            readings=int(counts.filter(pl.col("window") == window)["len"][0]),
        )
        for index, window in enumerate(lengths)
    )
    return WorkingSets(
        users=users,
        readings=len(readings),
        resident_bytes=held_bytes,
        file_bytes=of_files,
        device_bytes=on_devices,
        variation=_variation(more_rows, users),
        windows=windows,
        faults=(
            *(with_more(share) for share in MORE_MEMORY_SHARES if on_devices > _FEWEST_PAGED_SHARE * held_bytes),
            *(at_memory(share, share * held_bytes, curves) for share in MEMORY_SHARES),
        ),
    )


def _variation(rows: pl.DataFrame, users: float) -> float:
    """The variation of the sum over users whose memory rises and falls independently of each other."""
    memory = rows.select("user", pl.col("resident_bytes").cast(pl.Float64))
    squares = memory.select((pl.col("resident_bytes") - pl.col("resident_bytes").mean().over("user")).pow(2).mean())
    mean = float(memory["resident_bytes"].to_numpy().mean())
    return float(np.sqrt(float(squares.item()) / users)) / mean if mean and users else 0.0


@dataclass(frozen=True)
class _Means:
    """Mean lengths and working sets by window, of shape (resamples, windows); the first row is the estimate."""

    times_s: Floats
    bytes: Floats
    units: int


def _means(readings: pl.DataFrame, windows: list[int], size: pl.Expr) -> _Means:
    """The means of a size over users and windows, with resamples of users: the windows of one user are alike."""
    sizes_of_rows = readings.select(size.cast(pl.Float64)).to_series().to_numpy()
    of_user = np.unique(readings["user"].to_numpy(), return_inverse=True)[1]
    of_window = np.searchsorted(windows, readings["window"].to_numpy())
    units = int(of_user.max()) + 1
    sums = np.zeros((units, len(windows), 3))
    for column, values in enumerate(
        (np.ones(len(readings)), readings["span_ns"].to_numpy() / _NS_PER_S, sizes_of_rows)
    ):
        np.add.at(sums[:, :, column], (of_user, of_window), values)
    totals = np.einsum("ru,uwc->rwc", drawn(units), grouped(sums))
    with np.errstate(invalid="ignore"):
        times_s, sizes = totals[:, :, 1] / totals[:, :, 0], totals[:, :, 2] / totals[:, :, 0]
    for row in np.flatnonzero(~np.isfinite(sizes).all(axis=1)):  # resamples without a reading of some window
        read = np.isfinite(sizes[row])
        times_s[row] = np.where(read, times_s[row], times_s[0])
        sizes[row] = np.interp(times_s[row], times_s[row, read], sizes[row, read])
    return _Means(times_s, sizes, units)


def _curve(times_s: Floats, sizes: Floats) -> _Curve:
    """The concave curve that is nearest to the working sets: means of different readings may fall with the window."""
    from scipy.optimize import isotonic_regression

    steps_s = np.diff(times_s, prepend=0.0)
    slopes = isotonic_regression(np.diff(sizes, prepend=0.0) / steps_s, weights=steps_s, increasing=False).x
    slopes = np.maximum(slopes, 0.0)
    return _Curve(times_s, np.cumsum(slopes * steps_s), slopes)


def _faults_at(share: float, curve_bytes: float, held_bytes: float, curves: list[_Curve], units: int) -> FaultsAtMemory:
    """The faults where the curve is so large. With more memory than is held, it is the curve of returned pages."""
    best = curves[0]
    bound: Literal["", "at most", "at least"] = ""
    if curve_bytes > best.bytes[-1]:
        bound = "at most"
    elif share < 1 and curve_bytes < best.bytes[0]:
        bound = "at least"
    rates = np.array([curve.slope_at(curve_bytes, bound) for curve in curves]) / PAGE_BYTES
    interval = positive_interval(rates, units)
    faults_per_s: float | None = float(rates[0])
    if bound:
        faults_per_s = None if interval is None else interval.high if bound == "at most" else interval.low
        interval = None
    return FaultsAtMemory(
        share=share,
        bytes=share * held_bytes,
        faults_per_s=faults_per_s,
        interval=interval,
        bound=bound,
        unused_s=best.time_at(curve_bytes) if bound == "" and share < 1 else None,
    )


def too_few_windows_note(tables: Tables, sets: WorkingSets | None) -> str:
    """The reason why the working sets that were asked for are not told; empty if they are, or if nobody asked."""
    rows = len(tables.working_sets)
    if sets is not None or not rows:
        return ""
    return (
        f"Working sets are not told: {rows} windows were read, and it takes {_FEWEST_READINGS} of each of two lengths "
        "in the steady phase. Let more users run for longer."
    )


def _users_logged_in(tables: Tables, stretch: Stretch, readings: pl.DataFrame) -> float:
    """The mean number of users logged in during the stretch; while their sessions last, those who were read."""
    sessions = tables.sessions.filter(pl.col("ready_ns").is_not_null())
    if sessions.is_empty() or stretch.span_ns <= 0:
        return float(readings["user"].n_unique())
    began = sessions["ready_ns"].cast(pl.Int64).clip(stretch.start_ns, stretch.end_ns)
    ended = sessions["ended_ns"].cast(pl.Int64).clip(stretch.start_ns, stretch.end_ns)
    return float((ended - began).sum()) / stretch.span_ns
