"""The supervisor's times on a simulated machine, each from the meter that timed it, and the service of the stores.

The processor time of an interaction includes the supervisor's work for it. The machine file has keys of their own for
some of that work: lines from the terminal, page faults, context switches. Their time is subtracted from the command's
own work, so that it does not count twice. All other work of the supervisor stays in the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from loadgo.fitting.demands import command_names, fit_requests
from loadgo.fitting.reading import RunReading
from loadgo.fitting.uncertainty import Grouping
from loadgo.fitting.values import FittedValue, FittedValues, join_values
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law
from loadgo.stats.resample import Floats

_REGRESSION_STRETCHES = 40
"""Number of stretches, of all runs together, in the regression of requests on commands."""


@dataclass(frozen=True)
class SupervisorSteps:
    """The supervisor's times as fitted values, and two of them in nanoseconds of a processor."""

    values: FittedValues
    line_in_ns: float
    page_fault_ns: float


def supervisor_steps(readings: Sequence[RunReading]) -> SupervisorSteps:
    """The processor time of each operation of the supervisor that was metered."""
    line, _ = _mean_and_count(readings, "line in")
    fault, _ = _mean_and_count(readings, "major")
    creation, _ = _mean_and_count(readings, "process creation", whole_run=True)
    interrupt, interrupts = _mean_and_count(readings, "interrupt")
    values = [
        _step_value("line_in", line, "lines from the terminal, clocked"),
        _step_value("page_fault", fault, "page faults, clocked"),
        _step_value("process_creation", creation, "log-ins, clocked"),
        _step_value("device_interrupt", interrupt, "device interrupts, clocked") if interrupts else None,
    ]
    return SupervisorSteps(FittedValues(tuple(value for value in values if value is not None)), line, fault)


def _mean_and_count(readings: Sequence[RunReading], name: str, *, whole_run: bool = False) -> tuple[float, float]:
    """The mean time of an operation, and its count, in the steady phase or in the `whole_run`."""
    operations = [reading.supervisor_whole_run if whole_run else reading.supervisor for reading in readings]
    counts_and_times = [by_name.get(name, (0.0, 0.0)) for by_name in operations]
    count, spent_ns = sum(count for count, _ in counts_and_times), sum(time for _, time in counts_and_times)
    return (spent_ns / count if count else 0.0), count


def _step_value(key: str, ns: float, source: str) -> FittedValue | None:
    if ns < 1:
        return None
    return FittedValue(dotted("supervisor", key), Law("fixed", (float(round(ns)),), timed=True), source)


def switch_time_per_interaction(readings: Sequence[RunReading]) -> float:
    """The processor time of context switches for each interaction, in nanoseconds."""
    spent = sum(reading.total.category_time_ns("getwork") for reading in readings if reading.total)
    return spent / sum(len(reading.rows) for reading in readings)


def switch_value(each_ns: float) -> FittedValues:
    """The cost of a context switch; no value if it is less than a nanosecond."""
    source = "time in getwork, over the context switches of a trial run of the machine under the same load"
    value = _step_value("getwork", each_ns, source)
    return FittedValues((value,) if value else ())


def fit_stores(
    readings: Sequence[RunReading], rows: pl.DataFrame, groupings: Sequence[Grouping], paging: str
) -> FittedValues:
    """The service of each store that had requests, and the requests of each command, without the device `paging`."""
    names = sorted({name for reading in readings for name in reading.stores} - {paging})
    if not names:
        return FittedValues(())
    services = FittedValues(tuple(value for name in names if (value := _service_value(readings, name)) is not None))
    if len(names) == 1:
        counted = sum(reading.stores[names[0]].requests for reading in readings if names[0] in reading.stores)
        wait_ns = float(rows["io"].fill_null(0.0).sum()) / counted
        requests = fit_requests(rows, groupings, names[0], wait_ns) if wait_ns > 0 else FittedValues(())
        return join_values(services, requests)
    counts = [_regress_requests(readings, name, command_names(rows)) for name in names]
    assumption = "the requests of each command to each store are regressed, since no meter counts them"
    return join_values(services, *counts, FittedValues((), (assumption,)))


def _service_value(readings: Sequence[RunReading], name: str) -> FittedValue | None:
    """The mean service of a store of the kind server; None for other kinds, whose machine file has their times."""
    if readings[0].machine.get("storage", {}).get(name, {}).get("kind") != "server":
        return None
    stores = [reading.stores[name] for reading in readings if name in reading.stores]
    count, busy = sum(store.requests for store in stores), sum(store.busy_ns for store in stores)
    if not busy:
        return FittedValue(dotted("storage", name, "service"), Law("fixed", (0.0,), timed=True), "never busy")
    source = f"busy time over {count:,.0f} requests; assumed exponential"
    law = Law("exponential", (busy / count,), timed=True)
    return FittedValue(dotted("storage", name, "service"), law, source, deviation=float(count**-0.5))


def _regress_requests(readings: Sequence[RunReading], name: str, commands: Sequence[str]) -> FittedValues:
    """Requests of each command to a store, by non-negative least squares over stretches of time."""
    from scipy.optimize import nnls

    parts = max(_REGRESSION_STRETCHES // len(readings), 8)
    design, requests_by_run = zip(
        *(_count_by_stretch(reading, name, commands, parts) for reading in readings), strict=True
    )
    ended, requested = np.concatenate(design), np.concatenate(requests_by_run)
    scale = np.sqrt(np.maximum(ended.sum(axis=1), 1.0))
    coefficients, _ = nnls(ended / scale[:, None], requested / scale)
    residuals = (requested - ended @ coefficients) / scale
    noise = float(residuals @ residuals) / max(len(requested) - len(commands), 1)
    errors = np.sqrt(noise * np.diag(np.linalg.pinv((ended / scale[:, None]).T @ (ended / scale[:, None]))))
    return FittedValues(
        tuple(
            FittedValue(
                key=dotted("commands", command, "requests", name),
                law=Law("fixed", (float(value),), timed=False),
                source=f"regressed on {len(requested)} stretches",
                deviation=float(error / value),
            )
            for command, value, error in zip(commands, coefficients, errors, strict=True)
            if value > 1e-3
        )
    )


def _count_by_stretch(reading: RunReading, store: str, commands: Sequence[str], parts: int) -> tuple[Floats, Floats]:
    """Interactions of each command that ended, and requests, in each of `parts` equal parts of the stretch."""
    from loadgo.records.phases import spans_in

    queue = spans_in(reading.tables.queue, reading.stretch)
    store_rows = queue.filter(
        (pl.col("queue").cast(pl.String) == store) & (pl.col("measure").cast(pl.String) == "requests")
    )
    edges = np.linspace(reading.stretch.start_ns, reading.stretch.end_ns, parts + 1)
    middles = store_rows["at_ns"].cast(pl.Float64).to_numpy() - store_rows["span_ns"].cast(pl.Float64).to_numpy() / 2
    request_counts, _ = np.histogram(middles, edges, weights=store_rows["value"].to_numpy())
    names, ready = reading.rows["command"].to_numpy(), reading.rows["ready_at"].to_numpy()
    ended = np.column_stack([np.histogram(ready[names == name], edges)[0] for name in commands])
    return ended.astype(np.float64), request_counts.astype(np.float64)
