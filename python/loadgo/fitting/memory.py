"""How often a program faults by how many pages it holds, from runs with different amounts of memory: a ladder.

Each run is a rung: at an equal share x of the page frames, a user's programs worked for e(x) of processor time between
two page faults that waited for a device. The curve through the rungs rises (pool adjacent violators: Ayer and others,
Annals of Mathematical Statistics 26, 1955); where it is a line through nothing, it is Saltzer's law, one number
(J. H. Saltzer, CACM 17, 1974). One rung alone says how often there are faults in that memory, and nothing of another.

Programs that begin with nothing in memory tell more: under Saltzer's law, e(x) = a x, the pages held at each fault add
up to the work done over a, on the average; so a is the work over the sum of f (f - 1) / 2 of all interactions, f being
their faults. It is taken where the root of the work foretells an interaction's faults better than the work does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.fitting.reading import Reading
from loadgo.fitting.uncertainty import Grouping, ratio
from loadgo.fitting.values import Found, Value
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law, amount, number

Floats = NDArray[np.float64]

PAGE_BYTES = 4096
_FEWEST = 20
"""Faults in all; of fewer there is no paging to speak of."""
_A_LINE = 0.1
"""A curve that is nowhere further than this part from a line through nothing is that line."""
_NOT_FULL = 0.7
"""Of a user's share of the frames: whose work brings in fewer pages has hardly lost any of his own. Chosen by the work,
not by the faults that came of it, which would choose the lucky ones."""
_ROUNDS = 4
_LEVELS = ("device", "behind", "device_pages")
_USUAL = 0.1
"""A number of faults that so many of a command's interactions have is that of all its pages."""


@dataclass(frozen=True)
class Rung:
    """One amount of memory for each user."""

    pages: float
    """An equal share of the frames that are not the supervisor's."""
    work_ns: float
    faults: float

    @property
    def headway_ns(self) -> float:
        """Processor time between two faults; where there was none, twice all that there was."""
        return self.work_ns / max(self.faults, 0.5)


def memory_of(readings: Sequence[Reading], work_ns: Floats, groupings: Sequence[Grouping]) -> Found:
    """The memory of the machine, with its curve; nothing where hardly any fault waited for a device.

    `work_ns` is each interaction's own processor time, in the order of the readings' rows.
    """
    faults = sum(float(one.rows["faults"].fill_null(0.0).sum()) for one in readings)
    if faults < _FEWEST:
        told = "everything is in memory: what faults for want of memory with more users is not foreseen"
        return Found((), (told,))
    rungs = _rungs(readings, work_ns)
    pages = _pages_of(readings)
    fresh = _fresh(readings, np.maximum(work_ns, 0.0), groupings, pages)
    curve, assumed = _curve(rungs) if fresh is None else (fresh, ())
    frame = frames_of(readings[-1])
    tables = [*_known(readings[-1], frame), ("memory.residence", "paging")]
    values = [curve] if isinstance(curve, Value) else []
    tables += [] if isinstance(curve, Value) else [("memory.headway_curve", curve)]
    names = sorted({str(name) for one in readings for name in one.rows["command"].unique()})
    tables += [(dotted("commands", name, "common"), 1) for name in names if fresh is None]
    tables += [(dotted("commands", name, "pages"), count) for name, count in pages.items() if fresh is not None]
    if not _has_device(readings[0]):
        values += _device(readings)
        tables += [
            ("memory.device", "paging"),
            ("storage.paging.kind", "server"),
            ("storage.paging.servers", "any"),
        ]
        assumed = (*assumed, "a page takes as long to come with any number of users: nobody waits for another's")
    told = "a user's programs share their pages, and never have all that they refer to"
    told = told if fresh is None else "each command begins with nothing in memory"
    return Found(tuple(values), (told, *assumed), tuple(tables))


def _rungs(readings: Sequence[Reading], work_ns: Floats) -> list[Rung]:
    ends = np.cumsum([len(one.rows) for one in readings])
    parts = np.split(work_ns, ends[:-1])
    found: dict[float, Rung] = {}
    for one, work in zip(readings, parts, strict=True):
        share = _share(one)
        before = found.get(share, Rung(share, 0.0, 0.0))
        faults = float(one.rows["faults"].fill_null(0.0).sum())
        found[share] = Rung(share, before.work_ns + float(work.sum()), before.faults + faults)
    return [found[share] for share in sorted(found)]


def _pages_of(readings: Sequence[Reading]) -> dict[str, int]:
    """All the pages that a command refers to, where that is seen: many of its interactions have as many faults.

    In the roomiest of the memories; a command that has lost pages to others has a few faults more.
    """
    most = max(_share(one) for one in readings)
    rows = pl.concat([one.rows for one in readings if _share(one) == most])
    found = {}
    for (name,), mine in rows.group_by("command", maintain_order=True):
        counts = mine["faults"].fill_null(0.0).cast(pl.Int64).value_counts().sort("count", "faults", descending=True)
        usual, often = counts.row(0)
        more = len(mine.filter(pl.col("faults") > usual))
        if usual > 1 and often >= _USUAL * len(mine) and more <= often:
            found[str(name)] = int(usual)
    return found


def _fresh(
    readings: Sequence[Reading], work_ns: Floats, groupings: Sequence[Grouping], pages: Mapping[str, int]
) -> Value | None:
    """Saltzer's law of programs that begin with nothing; None where that foretells faults worse than work alone."""
    limits = [one.rows["command"].replace_strict(pages, default=10**9, return_dtype=pl.Float64) for one in readings]
    most: Floats = np.concatenate([limit.to_numpy() for limit in limits])
    share = np.minimum(most, np.concatenate([np.full(len(one.rows), _share(one)) for one in readings]))
    faults = np.concatenate([one.rows["faults"].fill_null(0.0).to_numpy() for one in readings])
    pairs = faults * (faults - 1) / 2
    mine = np.ones(len(faults), dtype=bool)
    slope = 0.0
    for _ in range(_ROUNDS):
        if mine.sum() < _FEWEST or pairs[mine].sum() <= 0:
            return None
        slope = float(work_ns[mine].sum() / pairs[mine].sum())
        mine = np.sqrt(2 * work_ns / slope) < _NOT_FULL * share
    rooted = np.minimum(np.sqrt(2 * work_ns / slope), most)
    if ((faults - rooted) ** 2).sum() >= ((faults - work_ns * faults.sum() / work_ns.sum()) ** 2).sum():
        return None
    source = f"{faults[mine].sum():,.0f} page faults of programs that begin with nothing: Saltzer's law"
    law = Law("fixed", (slope,), timed=True)
    return Value("memory.headway_per_page", law, source, mean=ratio(groupings, work_ns * mine, pairs * mine))


def _share(reading: Reading) -> float:
    """Page frames for each user."""
    frames, wired = frames_of(reading)
    return (frames - wired) / reading.users


def _pages(reading: Reading) -> bool:
    return bool(reading.machine.get("memory", {}).get("residence") == "paging")


def _has_device(reading: Reading) -> bool:
    """Whether one known device has all pages: of two levels, which has a page is not to be told from faults alone."""
    return _pages(reading) and "behind" not in reading.machine["memory"]


def frames_of(reading: Reading) -> tuple[int, int]:
    """Page frames, and those that the supervisor holds: of the machine, or of what the users may have."""
    if _pages(reading):
        memory = reading.machine["memory"]
        return int(memory["frames"]), int(memory.get("wired", 0))
    limit = reading.conditions.get("limit", {}).get("memory_bytes")
    return int(limit or reading.conditions["system"].get("memory_bytes", 0)) // PAGE_BYTES, 0


def _known(reading: Reading, frames: tuple[int, int]) -> list[tuple[str, Any]]:
    """The keys of the memory that are no fit: its size, and of a simulated machine how it replaces, and from where."""
    if not _pages(reading):
        return [("memory.frames", frames[0]), ("memory.replacement", "clock")]
    memory = reading.machine["memory"]
    return [
        (dotted("memory", key), value)
        for key, value in memory.items()
        if key not in _LEVELS and key != "residence" and not key.startswith("headway")
    ] + [(dotted("memory", key), memory[key]) for key in _LEVELS if key in memory and _has_device(reading)]


def _curve(rungs: Sequence[Rung]) -> tuple[Value | list[Any], tuple[str, ...]]:
    """The curve as one number, or its points as a machine file has them; and what it leaves open."""
    pages = np.array([rung.pages for rung in rungs])
    risen = _rising(np.array([rung.headway_ns for rung in rungs]), np.array([rung.faults + 0.5 for rung in rungs]))
    if len(rungs) > 1:
        slope = float(sum(rung.work_ns for rung in rungs) / sum(rung.faults * rung.pages for rung in rungs))
        if np.all(np.abs(risen / (slope * pages) - 1) <= _A_LINE):
            faults = sum(rung.faults for rung in rungs)
            source = f"{faults:,.0f} page faults on a ladder of {len(rungs)} memories: a line through nothing"
            law = Law("fixed", (slope,), timed=True)
            return Value("memory.headway_per_page", law, source, deviation=float(faults**-0.5)), ()
    points = [[float(number(share)), amount(ns, True)] for share, ns in zip(pages, risen, strict=True)]
    open_ends = (
        "page faults are as many for each second of processor time in any memory and with any number of users: give "
        "runs with other amounts of memory too, to know better"
        if len(rungs) == 1
        else f"beyond {number(pages[0])} and {number(pages[-1])} pages a user, there are as many faults as there; "
        "the doubt of the curve is in no interval"
    )
    return points, (open_ends,)


def _rising(values: Floats, weights: Floats) -> Floats:
    """The nearest values that do not fall: neighbours that do are pooled."""
    blocks: list[list[float]] = []
    for value, weight in zip(values, weights, strict=True):
        blocks.append([float(value), float(weight), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (first, one, many), (last, other, more) = blocks[-2:]
            blocks[-2:] = [[(first * one + last * other) / (one + other), one + other, many + more]]
    return np.concatenate([np.full(int(many), value) for value, _, many in blocks])


def _device(readings: Sequence[Reading]) -> list[Value]:
    """The store of pages of a host: the mean wait for one page, as a delay."""
    rows = pl.concat([one.rows for one in readings])
    faults, waited = float(rows["faults"].fill_null(0.0).sum()), float(rows["paging"].fill_null(0.0).sum())
    law = Law("exponential", (waited / faults,), timed=True) if waited > 0 else Law("fixed", (0.0,), timed=True)
    source = f"paging waits metered, over {faults:,.0f} page faults; assumed exponential"
    return [Value("storage.paging.service", law, source, deviation=faults**-0.5 if waited > 0 else None)]
