"""Fits a machine to runs: what each command asks for, from the meters, as a machine file that predicts other loads.

The order is that of trust: what a meter charged to an interaction is taken as it is; what only a total says is divided;
what nobody owns is regressed; and what cannot be known from the runs is assumed, and said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.errors import BadArgument
from loadgo.fitting.demands import delays, elsewhere, processor_times
from loadgo.fitting.machine_file import file_of, parameters_of
from loadgo.fitting.memory import memory_of
from loadgo.fitting.reading import Reading, readings_of
from loadgo.fitting.remarks import heading_of, hint_of, own_load_of, warnings_of
from loadgo.fitting.supervisor import steps_of, stores_of, switching, switching_spent
from loadgo.fitting.system import known_of
from loadgo.fitting.trial import Check, Switching, checks_of, is_open, switching_in, tried
from loadgo.fitting.uncertainty import Doubt, Estimate, Grouping, doubt_of, groupings_of, interval
from loadgo.fitting.unowned_time import Unowned, unowned_in
from loadgo.fitting.values import Found, Value, joined
from loadgo.notation.laws import Law
from loadgo.prediction.fitted import Fitted
from loadgo.records.machine_file import parsed_machine

Floats = NDArray[np.float64]

_BUSY = 0.5
"""From this share of the processors' time on, what is left of a response is waiting for one, unmetered."""


@dataclass(frozen=True)
class Fit:
    """A machine fitted to runs."""

    text: str
    """Its machine file."""
    title: str
    fitted: Fitted
    """What the file says of the fit: parameters with their intervals, and what was assumed."""
    warnings: tuple[str, ...]
    """What makes the fit worse than it looks."""
    unowned: Unowned | None
    """Processor time that no interaction was charged with; None where that was not metered."""
    checks: tuple[Check, ...]
    """The machine under the load of each run, beside what was measured."""
    hint: str
    """How to predict with it."""
    path: Path | None
    """Where it was written."""


def fit(
    *runs: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    name: str | None = None,
    force: bool = False,
) -> Fit:
    """Fits a simulated machine to measured runs, so that it predicts other numbers of users, processors and devices.

        from loadgo.fitting.document import render_fit

        print(render_fit(loadgo.fit("last", output="here.toml")))

    Args:
        runs: Runs of one script on one system: folders or ids. By default the last run.
        output: The machine file that is written. By default none; `Fit.text` has its content.
        name: The machine's title.
        force: Whether an existing `output` is replaced.

    Returns:
        `Fit` with the machine file's text, the fitted parameters with 95 % intervals, a check of the machine under the
        load of each run, and warnings.

    Raises:
        loadgo.errors.BadArgument: `name` is blank, `output` exists, or no machine can be fitted to these runs; it is a
            `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.

    See docs/fit.md for the source of each parameter.
    """
    path = None if output is None else Path(output)
    if path is not None and path.exists() and not force:
        raise BadArgument(f"{path} exists: name another file with `output`, or say `force` to replace it").about(
            "output", "force"
        )
    if name and not name.strip():
        raise BadArgument("name is blank: say in words what machine it is")
    readings = readings_of(runs or ("last",))
    made = _fitted(readings, name, path)
    parsed_machine(made.text)
    if path is not None:
        path.write_text(made.text, encoding="utf-8")
    return made


def _fitted(readings: Sequence[Reading], name: str | None, path: Path | None) -> Fit:
    rows = pl.concat([one.rows for one in readings])
    groupings = groupings_of(rows)
    unowned = unowned_in(readings) if readings[0].kind == "host" else None
    found = (
        _on_host(readings, rows, groupings, unowned)
        if readings[0].kind == "host"
        else _on_machine(readings, rows, groupings)
    )
    found = joined(known_of(readings[0]), found)
    fitted = _told(readings, rows, found, groupings)
    heading = heading_of(readings, len(rows), name)
    text = file_of(heading, found, own_load_of(readings, rows), fitted)
    checks = checks_of(text, readings)
    return Fit(
        text=text,
        title=heading.title,
        fitted=fitted,
        warnings=warnings_of(readings, unowned, checks),
        unowned=unowned,
        checks=checks,
        hint=hint_of(readings, path),
        path=path,
    )


def _on_machine(readings: Sequence[Reading], rows: pl.DataFrame, groupings: Sequence[Grouping]) -> Found:
    """A simulated machine's values: what it clocked of its supervisor, and what the interactions were charged with."""
    steps = steps_of(readings)
    paging = str(readings[0].machine.get("memory", {}).get("device", ""))
    stores = stores_of(readings, rows, groupings, paging)
    charged = steps.line_in_ns + rows["faults"].fill_null(0.0).to_numpy() * steps.page_fault_ns
    stores = joined(stores, memory_of(readings, rows["cpu"].to_numpy() - charged, groupings))
    spent = switching_spent(readings)
    if spent < 1 or is_open(readings[0]):
        return joined(steps.found, processor_times(rows, groupings, charged), stores)
    first = joined(steps.found, switching(spent), processor_times(rows, groupings, charged + spent), stores)
    found = _switching(readings, rows, first, Costs(spent, steps.line_in_ns))
    charged += found.each_ns * rows["command"].replace_strict(found.by_command, default=0.0).to_numpy()
    return joined(steps.found, switching(found.each_ns), processor_times(rows, groupings, charged), stores)


@dataclass(frozen=True)
class Costs:
    """Of the machine that is tried first, in nanoseconds."""

    switch_ns: float
    line_in_ns: float


def _switching(readings: Sequence[Reading], rows: pl.DataFrame, first: Found, costs: Costs) -> Switching:
    """What a switch costs, by a trial of the machine that had it at a first guess."""
    nothing = Fitted("", (), (), 0, (), (), np.zeros((0, 0)))
    found = joined(known_of(readings[0]), first)
    text = file_of(heading_of(readings, len(rows), None), found, own_load_of(readings, rows), nothing)
    return switching_in(tried(text, readings[0]), costs.switch_ns, costs.line_in_ns, costs.switch_ns)


def _on_host(
    readings: Sequence[Reading], rows: pl.DataFrame, groupings: Sequence[Grouping], unowned: Unowned | None
) -> Found:
    """A host's values: the interactions' own meters, what is left of their responses, and what nobody owns."""
    work = processor_times(rows, groupings, np.zeros(len(rows)))
    parts = [work, delays(rows, groupings, "io", "disk"), memory_of(readings, rows["cpu"].to_numpy(), groupings)]
    if rows["ready"].is_null().all():
        assumed = (
            "how long an interaction waited for a processor was not metered, so that waits elsewhere are not known"
        )
        return joined(*parts, Found((), (assumed,)))
    each = unowned.interaction_ns if unowned else 0.0
    busy = any(one.total is not None and one.total.busy_share > _BUSY for one in readings)
    return joined(*parts, elsewhere(rows, groupings, each, busy=busy), _interrupt(unowned))


def _interrupt(unowned: Unowned | None) -> Found:
    """What nobody owns of an interaction, as the interrupt that ends its way to the terminal: charged to nobody."""
    if unowned is None or unowned.interaction_ns < 1:
        return Found(())
    law = Law("fixed", (float(round(unowned.interaction_ns)),), timed=True)
    source = f"processor time that nobody owns, regressed on {unowned.spans} spans"
    deviation = unowned.error_ns / unowned.interaction_ns
    return Found((Value("supervisor.device_interrupt", law, source, deviation=deviation),))


def _told(readings: Sequence[Reading], rows: pl.DataFrame, found: Found, groupings: Sequence[Grouping]) -> Fitted:
    """The parameters with their covariance: by drawing where that can be, else on their own."""
    estimates: list[Estimate | float] = []
    for value in found.values:
        for one in (value.mean if value.mean is not None else value.deviation, value.spread):
            estimates += [] if one is None else [one]
    by_drawing = [place for place, one in enumerate(estimates) if isinstance(one, Estimate)]
    doubt = doubt_of([one for one in estimates if isinstance(one, Estimate)], groupings)
    known = len(doubt.covariance) > 0
    covariance = np.zeros((len(estimates), len(estimates)))
    bounds: list[tuple[float, float] | None] = [None] * len(estimates)
    values = [shown for value in found.values for shown in _shown(value)]
    if known:
        covariance[np.ix_(by_drawing, by_drawing)] = doubt.covariance
        for place, one in enumerate(estimates):
            bounds[place] = _bounds(one, values[place], doubt, by_drawing, place)
            if isinstance(one, float):
                covariance[place, place] = one**2
    return Fitted(
        script=str(readings[0].conditions.get("name", "")),
        runs=tuple(one.id for one in readings),
        users=tuple(one.users for one in readings if not is_open(one)),
        interactions=len(rows),
        assumed=found.assumed,
        parameters=parameters_of(found.values, bounds),
        covariance=covariance if known else np.zeros((0, 0)),
    )


def _shown(value: Value) -> list[float]:
    mean = [value.law.mean] if value.mean is not None or value.deviation is not None else []
    return mean + ([value.law.spread] if value.spread is not None else [])


def _bounds(
    one: Estimate | float, value: float, doubt: Doubt, by_drawing: list[int], place: int
) -> tuple[float, float]:
    if isinstance(one, float):
        return interval(value, one, 1000)
    at = by_drawing.index(place)
    return interval(value, float(doubt.deviations[at]), doubt.degrees[at])
