"""A run, summed up: every figure that a report prints, computed once and formatted nowhere here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from loadgo.measures.audit import Driver, Loss, Sessions, driver_of, losses_of, sessions_of
from loadgo.measures.charged_use import held_of
from loadgo.measures.charges import Cost, Held, cost_of, interaction_cost
from loadgo.measures.littles_law import Audit, little_closed, little_open
from loadgo.measures.meters import By, Meters, meters_of
from loadgo.measures.tariff import Tariff, tariff_on
from loadgo.measures.total_time import TotalTime, counts_of, total_time_of
from loadgo.measures.usage import Outcomes, Usage, outcomes_of, usage_of
from loadgo.measures.whose_time import WhoseTime, whose_time_of
from loadgo.records.interactions import TimeByClass, classes_of, waits_in
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.records.prediction import Prediction
from loadgo.stats.quantiles import Response, Sample, responses
from loadgo.stats.resample import Integers, stretch_count, too_short

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class Run:
    """What was run, from `run.toml`; empty text where that is silent."""

    id: str
    kind: str
    """`run`, or `meter`: metered without a load, perhaps beside one command."""
    name: str
    model: str
    """`closed` or `open`."""
    users: int
    """As asked for."""
    started: str
    wall_s: float | None
    finished: bool
    outcome: str
    system: Mapping[str, Any]
    """The machine: the table `system` of `run.toml`."""
    load: Mapping[str, Any]
    """What the users did: the table `load` of `run.toml`."""
    conditions: Mapping[str, Any]
    """How busy the machine was before and after: the table `conditions`."""
    limit: Mapping[str, Any]
    """What the users were held to: the table `limit`; empty when to nothing."""
    meters: Mapping[str, Any]
    """The kernel meters: the table `meters`; empty where the run's folder has none."""
    usage: Mapping[str, Any]
    """Where each interaction's usage came from: the table `usage`."""


@dataclass(frozen=True)
class Command:
    """One row of the report: all interactions with one command."""

    name: str
    response: Response
    usage: Usage
    outcomes: Outcomes
    cost: float | None
    """The mean cost of one interaction; None when not measured."""


@dataclass(frozen=True)
class Summary:
    """Everything that a report says."""

    run: Run
    stretch: Stretch
    commands: tuple[Command, ...]
    """In the order of the script."""
    everything: Command
    """All commands together, named `all`."""
    classes: TimeByClass
    total_time: TotalTime | None
    whose_time: WhoseTime
    meters: Meters
    audit: Audit | None
    driver: Driver
    sessions: Sessions
    losses: tuple[Loss, ...]
    cost: Cost
    notes: tuple[str, ...]
    """What was not measured and why, and what the figures leave out."""
    prediction: Prediction | None = None
    """What the run foretells, of the same stretch; None where no parameters were drawn."""

    def command(self, name: str) -> Command:
        """The row called `name`; `KeyError` when nobody typed it."""
        for command in self.commands:
            if command.name == name:
                return command
        raise KeyError(name)


def summarize(
    tables: Tables,
    *,
    tariff: Tariff | str = "default",
    phases: str = "steady",
    target: float | None = None,
    by: By | None = None,
) -> Summary:
    """Sums up a run: `phases` is `steady` or `all`; lateness must be small beside `target`, a response time in seconds;
    `by` is `command` or `user`: whose faults and primitives are told apart.

    Raises `ValueError` for an unknown tariff or phase. A run without interactions gives a summary that says so.
    """
    priced = tariff if isinstance(tariff, Tariff) else tariff_on(tariff, tables.conditions.get("system", {}))
    stretch = stretch_of(tables, phases)
    rows = classified_in(tables, stretch)
    classes = classes_of(rows)
    meters = meters_of(tables, stretch, by)
    total = total_time_of(tables, stretch, counts_of(meters))
    run = _run(tables)
    held = held_of(tables, stretch, float(classes.total_ns))
    commands, everything = _commands(rows, stretch, priced, held)
    audit = little_open if run.model == "open" else None
    return Summary(
        run=run,
        stretch=stretch,
        commands=commands,
        everything=everything,
        classes=classes,
        total_time=total,
        whose_time=whose_time_of(tables, stretch),
        meters=meters,
        audit=audit(tables.sessions, stretch) if audit else little_closed(rows, tables.sessions, stretch),
        driver=driver_of(rows, total, tables, None if target is None else target * 1e9),
        sessions=sessions_of(tables.sessions),
        losses=losses_of(tables.lost),
        cost=cost_of(everything.usage, len(rows), classes, priced, held),
        notes=_notes(tables, stretch, everything, total),
        prediction=None if tables.prediction is None else tables.prediction.of(stretch.name),
    )


def _commands(rows: pl.DataFrame, stretch: Stretch, tariff: Tariff, held: Held) -> tuple[tuple[Command, ...], Command]:
    """A row for each command, and one for all."""
    users = rows["user"].rank("dense").cast(pl.Int64).to_numpy() - 1 if len(rows) else np.empty(0, np.int64)
    unanswered = pl.col("response_ns").is_null() | pl.col("outcome").cast(pl.String).is_in(["timeout", "died"])
    values = rows.select(pl.when(unanswered).then(np.inf).otherwise(pl.col("response_ns"))).to_series().to_numpy()
    waits = waits_in(rows, stretch.span_ns)
    stretches = _stretches(rows, stretch_count(len(rows), waits))
    sample = Sample.drawn(values, users, stretches, judged=not too_short(1, waits))
    names = rows.with_row_index("row").group_by(pl.col("command").cast(pl.String), maintain_order=True)
    places = names.agg(pl.col("line").min(), pl.col("row")).sort("line", maintain_order=True)
    commands = []
    for name, index in places.select("command", "row").iter_rows():
        at = np.asarray(index, dtype=np.int64)
        commands.append(_command(str(name), rows[at], sample.of(at), tariff, held))
    return tuple(commands), _command("all", rows, sample, tariff, held)


def _stretches(rows: pl.DataFrame, count: int) -> Integers:
    """Which of `count` equal stretches of the time each row was sent in."""
    sent = rows["sent_ns"].to_numpy().astype(np.float64)
    if not len(sent):
        return np.empty(0, np.int64)
    share = (sent - sent.min()) / max(float(sent.max() - sent.min()), 1.0)
    stretches: Integers = np.minimum(share * count, count - 1).astype(np.int64)
    return stretches


def _command(name: str, rows: pl.DataFrame, sample: Sample, tariff: Tariff, held: Held) -> Command:
    usage = usage_of(rows)
    present = classes_of(rows).total_ns / len(rows) if len(rows) else None
    return Command(
        name=name,
        response=responses(sample),
        usage=usage,
        outcomes=outcomes_of(rows),
        cost=interaction_cost(usage, tariff, present_ns=present, held=held),
    )


def _run(tables: Tables) -> Run:
    told = tables.conditions
    load, system = told.get("load", {}), told.get("system", {})
    return Run(
        id=str(told.get("id", "")),
        kind=str(told.get("kind", "run")),
        name=str(told.get("name", "")),
        model=str(load.get("model", "closed")),
        users=int(load.get("users", tables.sessions["user"].n_unique())),
        started=str(told.get("started", "")),
        wall_s=told.get("wall_s"),
        finished=bool(told.get("finished", False)),
        outcome=str(told.get("outcome", "")),
        system=system,
        load=load,
        conditions=told.get("conditions", {}),
        limit=told.get("limit", {}),
        meters=told.get("meters", {}),
        usage=told.get("usage", {}),
    )


def _notes(tables: Tables, stretch: Stretch, everything: Command, total: TotalTime | None) -> tuple[str, ...]:
    usage = tables.conditions.get("usage", {})
    sampled = int(usage.get("every", 1))
    notes = [stretch.note] if stretch.note else []
    unanswered = everything.response.count - everything.response.answered
    if unanswered:
        notes.append(
            f"{unanswered} lines were never answered: they rank last in the quantiles, and are in no mean or maximum."
        )
    if stretch.extrapolated:
        notes.append(
            f"{stretch.extrapolated} interactions are extrapolated for users that died: they are in no figure."
        )
    if sampled > 1:
        notes.append(
            f"Usage was read at every {sampled}th interaction of a user: "
            f"means are of {everything.usage.measured} interactions."
        )
    if total is None:
        notes.append("The processors' time was not measured.")
    notes.extend(str(note) for note in usage.get("notes", []))
    return tuple(notes)
