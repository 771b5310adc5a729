"""The supervisor's own times on a simulated machine, each from the meter that clocked it, and the stores' service.

What an interaction was charged with holds the supervisor's steps for it. A step that the machine file charges by itself
(a line from the terminal, a page fault) is taken out of the command's own work, so that it is not counted twice; all
other steps stay in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.fitting.demands import commands_in, requests
from loadgo.fitting.reading import Reading
from loadgo.fitting.uncertainty import Grouping
from loadgo.fitting.values import Found, Value, joined
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law

Floats = NDArray[np.float64]

_PARTS = 40
"""Stretches of time, in all runs together, in which requests are counted against commands."""


@dataclass(frozen=True)
class Steps:
    """The supervisor's times, in nanoseconds of a processor."""

    found: Found
    line_in_ns: float
    page_fault_ns: float


def steps_of(readings: Sequence[Reading]) -> Steps:
    """What a step of each kind takes, of those that were metered."""
    line, _ = _each(readings, "line in")
    fault, _ = _each(readings, "major")
    creation, _ = _each(readings, "process creation", whole=True)
    interrupt, interrupts = _each(readings, "interrupt")
    values = [
        _step("line_in", line, "a line from the terminal, clocked"),
        _step("page_fault", fault, "page faults, clocked"),
        _step("process_creation", creation, "log-ins, clocked"),
        _step("device_interrupt", interrupt, "device interrupts, clocked") if interrupts else None,
    ]
    return Steps(Found(tuple(value for value in values if value is not None)), line, fault)


def _each(readings: Sequence[Reading], name: str, *, whole: bool = False) -> tuple[float, float]:
    """The mean time of one, and how many; of the `whole` run where it happens only at its beginning."""
    told = [(one.everywhere if whole else one.supervisor).get(name, (0.0, 0.0)) for one in readings]
    count, spent = sum(one for one, _ in told), sum(time for _, time in told)
    return (spent / count if count else 0.0), count


def _step(key: str, ns: float, source: str) -> Value | None:
    return Value(dotted("supervisor", key), Law("fixed", (float(round(ns)),), timed=True), source) if ns >= 1 else None


def switching_spent(readings: Sequence[Reading]) -> float:
    """What choosing and switching takes of a processor for each interaction, in nanoseconds."""
    spent = sum(one.total.category_time_ns("getwork") for one in readings if one.total)
    return spent / sum(len(one.rows) for one in readings)


def switching(each_ns: float) -> Found:
    """The cost of a dispatch of another process."""
    source = "time in getwork over the changes of process that a trial of the machine has under the same load"
    value = _step("getwork", each_ns, source)
    return Found((value,) if value else ())


def stores_of(readings: Sequence[Reading], rows: pl.DataFrame, groupings: Sequence[Grouping], paging: str) -> Found:
    """The service of each store that was asked, and who asks it; not of `paging`, where pages come from."""
    asked = sorted({name for one in readings for name in one.stores} - {paging})
    if not asked:
        return Found(())
    services = Found(tuple(value for name in asked if (value := _service(readings, name)) is not None))
    if len(asked) == 1:
        counted = sum(one.stores[asked[0]].requests for one in readings if asked[0] in one.stores)
        wait_ns = float(rows["io"].fill_null(0.0).sum()) / counted
        return joined(services, requests(rows, groupings, asked[0], wait_ns) if wait_ns > 0 else Found(()))
    counts = [_regressed(readings, name, commands_in(rows)) for name in asked]
    told = "which command asks which of several stores is regressed on what ended when, since no meter says it"
    return joined(services, *counts, Found((), (told,)))


def _service(readings: Sequence[Reading], name: str) -> Value | None:
    """A server's mean service; devices of other kinds are known by their own figures."""
    if readings[0].machine.get("storage", {}).get(name, {}).get("kind") != "server":
        return None
    told = [one.stores[name] for one in readings if name in one.stores]
    count, busy = sum(one.requests for one in told), sum(one.busy_ns for one in told)
    if not busy:
        return Value(dotted("storage", name, "service"), Law("fixed", (0.0,), timed=True), "never busy")
    source = f"busy time over {count:,.0f} requests; assumed exponential"
    law = Law("exponential", (busy / count,), timed=True)
    return Value(dotted("storage", name, "service"), law, source, deviation=float(count**-0.5))


def _regressed(readings: Sequence[Reading], name: str, commands: Sequence[str]) -> Found:
    """Requests of each command to a store, by non-negative least squares over stretches of time."""
    from scipy.optimize import nnls

    parts = max(_PARTS // len(readings), 8)
    design, asked = zip(*(_counted(one, name, commands, parts) for one in readings), strict=True)
    ended, requested = np.concatenate(design), np.concatenate(asked)
    scale = np.sqrt(np.maximum(ended.sum(axis=1), 1.0))
    found, _ = nnls(ended / scale[:, None], requested / scale)
    residuals = (requested - ended @ found) / scale
    noise = float(residuals @ residuals) / max(len(requested) - len(commands), 1)
    errors = np.sqrt(noise * np.diag(np.linalg.pinv((ended / scale[:, None]).T @ (ended / scale[:, None]))))
    return Found(
        tuple(
            Value(
                key=dotted("commands", command, "requests", name),
                law=Law("fixed", (float(value),), timed=False),
                source=f"regressed on {len(requested)} stretches",
                deviation=float(error / value),
            )
            for command, value, error in zip(commands, found, errors, strict=True)
            if value > 1e-3
        )
    )


def _counted(reading: Reading, store: str, commands: Sequence[str], parts: int) -> tuple[Floats, Floats]:
    """Interactions of each command that ended, and requests, in each of so many parts of the stretch."""
    from loadgo.records.phases import spans_in

    queue = spans_in(reading.tables.queue, reading.stretch)
    mine = queue.filter((pl.col("queue").cast(pl.String) == store) & (pl.col("measure").cast(pl.String) == "requests"))
    edges = np.linspace(reading.stretch.start_ns, reading.stretch.end_ns, parts + 1)
    middles = mine["at_ns"].cast(pl.Float64).to_numpy() - mine["span_ns"].cast(pl.Float64).to_numpy() / 2
    asked, _ = np.histogram(middles, edges, weights=mine["value"].to_numpy())
    names, ready = reading.rows["command"].to_numpy(), reading.rows["ready_at"].to_numpy()
    ended = np.column_stack([np.histogram(ready[names == name], edges)[0] for name in commands])
    return ended.astype(np.float64), asked.astype(np.float64)
