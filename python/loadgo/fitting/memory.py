"""The fitted memory: processor time between page faults by the pages that a program holds, from runs of several sizes.

Each run has a memory size x, an equal share of the page frames for each user. There, a user's programs work for e(x) of
processor time between two page faults that wait for a device. Pooling adjacent violators makes the curve e(x) rise
(Ayer and others, Annals of Mathematical Statistics 26, 1955). A line through the origin is Saltzer's law, with one
parameter (J. H. Saltzer, CACM 17, 1974). Runs of one size show the faults in that size only.

Runs of one size are enough if programs begin with no page in memory. At its faults, an interaction with f faults holds
0, 1, … f - 1 pages. Under Saltzer's law, e(x) = a x, its work is a f (f - 1) / 2, on average. So a is the work of all
interactions divided by the sum of f (f - 1) / 2. This law is used if the root of the work predicts the faults of an
interaction better than the work does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from loadgo.fitting.reading import RunReading
from loadgo.fitting.uncertainty import Grouping, resampled_ratio
from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law, amount, number
from loadgo.stats.resample import Floats

PAGE_BYTES = 4096
_FEWEST_FAULTS = 20
"""With fewer faults in all runs, no paging is modelled."""
_STRAIGHT_LINE_SHARE = 0.1
"""A curve that differs from a line through the origin by at most this share is that line."""
_FRAME_USE_SHARE = 0.7
"""Share of a user's frames. An interaction that is expected to bring in fewer pages has lost hardly any page again.

The expectation comes from the work. The faults themselves would select interactions with few faults by chance.
"""
_SLOPE_ROUNDS = 4
_LEVEL_KEYS = ("device", "behind", "device_pages")
_COMMON_COUNT_SHARE = 0.1
"""If this share of a command's interactions has the same number of faults, the command has as many pages."""


@dataclass(frozen=True)
class MemorySize:
    """The work and the faults of the runs with one memory size."""

    pages: float
    """Frames for each user: an equal share of the frames that are not the supervisor's."""
    work_ns: float
    faults: float

    @property
    def headway_ns(self) -> float:
        """Processor time between two faults; without a fault, twice the processor time of all work."""
        return self.work_ns / max(self.faults, 0.5)


def fit_memory(readings: Sequence[RunReading], work_ns: Floats, groupings: Sequence[Grouping]) -> FittedValues:
    """The memory of the machine, with its headway law; no values where hardly any fault waited for a device.

    `work_ns` is each interaction's own processor time, in the order of the readings' rows.
    """
    faults = sum(float(reading.rows["faults"].fill_null(0.0).sum()) for reading in readings)
    if faults < _FEWEST_FAULTS:
        assumption = "all pages are in memory: page faults for lack of memory with more users are not predicted"
        return FittedValues((), (assumption,))
    sizes = _memory_sizes(readings, work_ns)
    pages = _pages_by_command(readings)
    fresh = _fit_fresh_programs(readings, np.maximum(work_ns, 0.0), groupings, pages)
    curve, assumed = _fit_curve(sizes) if fresh is None else (fresh, ())
    frame = frames_of(readings[-1])
    tables = [*_known_keys(readings[-1], frame), ("memory.residence", "paging")]
    values = [curve] if isinstance(curve, FittedValue) else []
    tables += [] if isinstance(curve, FittedValue) else [("memory.headway_curve", curve)]
    names = sorted({str(name) for reading in readings for name in reading.rows["command"].unique()})
    tables += [(dotted("commands", name, "common"), 1) for name in names if fresh is None]
    tables += [(dotted("commands", name, "pages"), count) for name, count in pages.items() if fresh is not None]
    if not _has_device(readings[0]):
        values += _fit_device(readings)
        tables += [
            ("memory.device", "paging"),
            ("storage.paging.kind", "server"),
            ("storage.paging.servers", "any"),
        ]
        assumed = (*assumed, "page transfers do not queue: their time is independent of the number of users")
    assumption = "a user's programs share their pages, and never hold all of them"
    assumption = assumption if fresh is None else "each command begins with no page in memory"
    return FittedValues(tuple(values), (assumption, *assumed), tuple(tables))


def _memory_sizes(readings: Sequence[RunReading], work_ns: Floats) -> list[MemorySize]:
    ends = np.cumsum([len(reading.rows) for reading in readings])
    parts = np.split(work_ns, ends[:-1])
    sizes: dict[float, MemorySize] = {}
    for reading, work in zip(readings, parts, strict=True):
        share = _frames_per_user(reading)
        size = sizes.get(share, MemorySize(share, 0.0, 0.0))
        faults = float(reading.rows["faults"].fill_null(0.0).sum())
        sizes[share] = MemorySize(share, size.work_ns + float(work.sum()), size.faults + faults)
    return [sizes[share] for share in sorted(sizes)]


def _pages_by_command(readings: Sequence[RunReading]) -> dict[str, int]:
    """The number of pages that each command refers to, for the commands that show it in the largest memory size.

    Many interactions of such a command have as many faults as it has pages, and few have more faults.
    """
    most_frames = max(_frames_per_user(reading) for reading in readings)
    rows = pl.concat([reading.rows for reading in readings if _frames_per_user(reading) == most_frames])
    pages = {}
    for (name,), command_rows in rows.group_by("command", maintain_order=True):
        counts = (
            command_rows["faults"].fill_null(0.0).cast(pl.Int64).value_counts().sort("count", "faults", descending=True)
        )
        common_count, occurrences = counts.row(0)
        larger = len(command_rows.filter(pl.col("faults") > common_count))
        if common_count > 1 and occurrences >= _COMMON_COUNT_SHARE * len(command_rows) and larger <= occurrences:
            pages[str(name)] = int(common_count)
    return pages


def _fit_fresh_programs(
    readings: Sequence[RunReading], work_ns: Floats, groupings: Sequence[Grouping], pages: Mapping[str, int]
) -> FittedValue | None:
    """Saltzer's law of programs that begin with no page; None if faults in proportion to the work are a better fit."""
    limits = [
        reading.rows["command"].replace_strict(pages, default=10**9, return_dtype=pl.Float64) for reading in readings
    ]
    most_faults: Floats = np.concatenate([limit.to_numpy() for limit in limits])
    frames = np.minimum(
        most_faults, np.concatenate([np.full(len(reading.rows), _frames_per_user(reading)) for reading in readings])
    )
    faults = np.concatenate([reading.rows["faults"].fill_null(0.0).to_numpy() for reading in readings])
    pairs = faults * (faults - 1) / 2
    is_unlimited = np.ones(len(faults), dtype=bool)
    slope = 0.0
    for _ in range(_SLOPE_ROUNDS):
        if is_unlimited.sum() < _FEWEST_FAULTS or pairs[is_unlimited].sum() <= 0:
            return None
        slope = float(work_ns[is_unlimited].sum() / pairs[is_unlimited].sum())
        is_unlimited = np.sqrt(2 * work_ns / slope) < _FRAME_USE_SHARE * frames
    expected_faults = np.minimum(np.sqrt(2 * work_ns / slope), most_faults)
    if ((faults - expected_faults) ** 2).sum() >= ((faults - work_ns * faults.sum() / work_ns.sum()) ** 2).sum():
        return None
    source = f"{faults[is_unlimited].sum():,.0f} page faults of programs that begin with no page: Saltzer's law"
    law = Law("fixed", (slope,), timed=True)
    return FittedValue(
        "memory.headway_per_page",
        law,
        source,
        mean=resampled_ratio(groupings, work_ns * is_unlimited, pairs * is_unlimited),
    )


def _frames_per_user(reading: RunReading) -> float:
    """Page frames for each user, without the supervisor's."""
    frames, wired = frames_of(reading)
    return (frames - wired) / reading.users


def _is_paged(reading: RunReading) -> bool:
    return bool(reading.machine.get("memory", {}).get("residence") == "paging")


def _has_device(reading: RunReading) -> bool:
    """Whether one known device has all pages. With two devices, faults do not show which of them had a page."""
    return _is_paged(reading) and "behind" not in reading.machine["memory"]


def frames_of(reading: RunReading) -> tuple[int, int]:
    """All page frames, and how many of them the supervisor has; on a host the frames that users may have, and 0."""
    if _is_paged(reading):
        memory = reading.machine["memory"]
        return int(memory["frames"]), int(memory.get("wired", 0))
    limit = reading.conditions.get("limit", {}).get("memory_bytes")
    return int(limit or reading.conditions["system"].get("memory_bytes", 0)) // PAGE_BYTES, 0


def _known_keys(reading: RunReading, frames: tuple[int, int]) -> list[tuple[str, Any]]:
    """The keys of the memory that are not fitted: its size, and on a simulated machine its replacement and devices."""
    if not _is_paged(reading):
        return [("memory.frames", frames[0]), ("memory.replacement", "clock")]
    memory = reading.machine["memory"]
    return [
        (dotted("memory", key), value)
        for key, value in memory.items()
        if key not in _LEVEL_KEYS and key != "residence" and not key.startswith("headway")
    ] + [(dotted("memory", key), memory[key]) for key in _LEVEL_KEYS if key in memory and _has_device(reading)]


def _fit_curve(sizes: Sequence[MemorySize]) -> tuple[FittedValue | list[Any], tuple[str, ...]]:
    """The headway law as one value, or as points of a machine file; and the assumptions of the points."""
    pages = np.array([size.pages for size in sizes])
    headways_ns = _rising_values(
        np.array([size.headway_ns for size in sizes]), np.array([size.faults + 0.5 for size in sizes])
    )
    if len(sizes) > 1:
        slope = float(sum(size.work_ns for size in sizes) / sum(size.faults * size.pages for size in sizes))
        if np.all(np.abs(headways_ns / (slope * pages) - 1) <= _STRAIGHT_LINE_SHARE):
            faults = sum(size.faults for size in sizes)
            source = f"{faults:,.0f} page faults with {len(sizes)} amounts of memory: a line through the origin"
            law = Law("fixed", (slope,), timed=True)
            return FittedValue("memory.headway_per_page", law, source, deviation=float(faults**-0.5)), ()
    points = [[float(number(share)), amount(ns, True)] for share, ns in zip(pages, headways_ns, strict=True)]
    assumption = (
        "page faults for each second of processor time are independent of memory and users; fit runs with several "
        "amounts of memory to model them"
        if len(sizes) == 1
        else f"below {number(pages[0])} and above {number(pages[-1])} pages a user, the rate of faults stays the same; "
        "no interval includes the uncertainty of the curve"
    )
    return points, (assumption,)


def _rising_values(values: Floats, weights: Floats) -> Floats:
    """The nearest values that never fall: a value and a smaller one after it are replaced by their weighted mean."""
    blocks: list[list[float]] = []
    for value, weight in zip(values, weights, strict=True):
        blocks.append([float(value), float(weight), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            before, after = blocks[-2:]
            weight_sum = before[1] + after[1]
            mean = (before[0] * before[1] + after[0] * after[1]) / weight_sum
            blocks[-2:] = [[mean, weight_sum, before[2] + after[2]]]
    return np.concatenate([np.full(int(count), value) for value, _, count in blocks])


def _fit_device(readings: Sequence[RunReading]) -> list[FittedValue]:
    """The paging device of a host: its service is the mean wait for one page."""
    rows = pl.concat([reading.rows for reading in readings])
    faults, waited = float(rows["faults"].fill_null(0.0).sum()), float(rows["paging"].fill_null(0.0).sum())
    law = Law("exponential", (waited / faults,), timed=True) if waited > 0 else Law("fixed", (0.0,), timed=True)
    source = f"paging waits metered, over {faults:,.0f} page faults; assumed exponential"
    return [FittedValue("storage.paging.service", law, source, deviation=faults**-0.5 if waited > 0 else None)]
