"""The summary of a run: every figure that a report prints, computed and not formatted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from loadgo.errors import UnknownName
from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.audit import DriverAudit, Loss, SessionCounts, count_sessions, driver_audit, group_losses
from loadgo.measures.category_events import events_by_category
from loadgo.measures.charged_use import shared_holdings
from loadgo.measures.charges import Cost, SharedHoldings, cost_of, interaction_cost
from loadgo.measures.drivers import DriverFigures, drivers_figures
from loadgo.measures.fail_if_figures import ConditionResult
from loadgo.measures.hosts import HostFigures, hosts_figures
from loadgo.measures.limit_costs import LimitCosts, limit_costs_of
from loadgo.measures.littles_law import LittleAudit, little_audit
from loadgo.measures.metered_hosts import MeteredHosts, metered_hosts_of
from loadgo.measures.meters import BreakdownColumn, Meters, meters_of
from loadgo.measures.network_time import NetworkTime, network_time_of
from loadgo.measures.other_work import OtherWork, other_work_of
from loadgo.measures.processor_speed import ProcessorSpeed, processor_speed_of
from loadgo.measures.run_description import RunDescription, describe_run
from loadgo.measures.tariff import Tariff, tariff_on
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.measures.usage import (
    OUTCOME_COUNTS,
    USAGE_MEANS,
    Outcomes,
    TypingUsage,
    Usage,
    UsageAudit,
    audit_usage,
    outcomes_in,
    typing_usage_of,
    unknown_waits_note,
    usage_in,
)
from loadgo.measures.whose_time import WhoseTime, whose_time_of
from loadgo.measures.working_sets import WorkingSets, too_few_windows_note, working_sets_of
from loadgo.notation.figures import counted, duration
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.fleets import is_fleet_run
from loadgo.records.interactions import (
    CLASS_SUMS,
    IS_UNSEEN,
    RESPONSE_OR_INFINITE_NS,
    TimeByClass,
    classes_in,
    classes_of,
    span_in_waits,
)
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.records.prediction import Prediction
from loadgo.stats.quantiles import Response, Sample, responses
from loadgo.stats.resample import Integers, stretch_count, too_short

if TYPE_CHECKING:
    from loadgo.records.tables import Tables


@dataclass(frozen=True)
class CommandSummary:
    """One row of the report: all interactions with one command."""

    name: str
    response: Response
    usage: Usage
    outcomes: Outcomes
    cost: float | None
    """The mean cost of one interaction; None when not measured."""


@dataclass(frozen=True)
class LoadSummary:
    """The figures that conditions and histories can name: of interactions, sessions, the driver and losses."""

    stretch: Stretch
    commands: tuple[CommandSummary, ...]
    """In the order of the script."""
    everything: CommandSummary
    """All commands together, named `all`."""
    driver: DriverAudit
    sessions: SessionCounts
    losses: tuple[Loss, ...]


@dataclass(frozen=True)
class Summary(LoadSummary):
    """All figures of a report."""

    run: RunDescription
    classes: TimeByClass
    total_time: TotalTime | None
    whose_time: WhoseTime
    meters: Meters
    audit: LittleAudit | None
    cost: Cost
    notes: tuple[str, ...]
    """Sentences on what was not measured and why, and on what the figures leave out."""
    prediction: Prediction | None = None
    """The prediction of a fitted machine for the same stretch; None where no parameters were drawn."""
    typing: TypingUsage | None = None
    """The use of typing a line, which is no part of the interactions' use; None if lines were sent at once."""
    usage_audit: UsageAudit | None = None
    """None where the interactions' processor time is not known."""
    fail_if: tuple[ConditionResult, ...] = ()
    """The result of each `--fail-if` condition."""
    other_work: OtherWork | None = None
    """The work of others on the host; None on a simulated machine, and where it is not known."""
    fit_warnings: tuple[str, ...] = ()
    """Reasons to doubt the fit of a simulated machine."""
    hosts: tuple[HostFigures, ...] = ()
    """The hosts of a run on several, in the order of their users; empty for any other run."""
    drivers: tuple[DriverFigures, ...] = ()
    """The drivers of a run with several, in the order of their users; empty for any other run."""
    network: NetworkTime | None = None
    """The network's part of response times; None where no shell on another host has measured a line."""
    metered_hosts: MeteredHosts | None = None
    """The hosts of a metering of several without a load; None for anything else."""
    limit_costs: LimitCosts | None = None
    """Costs of the users' own limits in the whole run; None without such limits."""
    working_sets: WorkingSets | None = None
    """Memory that the users refer to; None where it was not measured."""
    processor_speed: ProcessorSpeed | None = None
    """How fast the processors did the reference work; None where none was done, or too little."""

    def command(self, name: str) -> CommandSummary:
        """The row of the command `name`; a command without interactions raises `UnknownName`, which is a `KeyError`."""
        for command in self.commands:
            if command.name == name:
                return command
        known_names = ", ".join(command.name for command in self.commands) or "none"
        raise UnknownName(f"no interaction was with a command {name!r}; those with interactions: {known_names}")


def summarize(
    tables: Tables,
    *,
    tariff: Tariff | str = "default",
    phases: str = "steady",
    target: float | None = None,
    by: BreakdownColumn | None = None,
    intervals: bool = True,
) -> Summary:
    """Summarizes the stretch `phases` of a run, `steady` or `all`.

    `target` is a response time in seconds, which limits the driver's lateness. `by`, `command` or `user`, divides
    faults and system calls. Without `intervals`, quantiles have none, which takes less time. An unknown tariff or phase
    raises `ValueError`.
    """
    tables = tables_of_load(tables)
    load = _measured_load(tables, tariff, phases)
    stretch, rows = load.stretch, load.rows
    meters = meters_of(tables, stretch, by)
    total = total_time_of(tables, stretch, events_by_category(meters))
    run = describe_run(tables)
    summary = _load_summary(tables, load, total, None if target is None else target * 1e9, intervals=intervals)
    sets = working_sets_of(tables, stretch)
    windows_note = too_few_windows_note(tables, sets)
    waits_note = unknown_waits_note(rows, run.system, has_meters=run.meters.get("tier", "none") != "none")
    return Summary(
        **vars(summary),
        run=run,
        classes=load.classes,
        total_time=total,
        whose_time=whose_time_of(tables, stretch),
        meters=meters,
        audit=little_audit(rows, tables.sessions, stretch, is_open=run.model == "open"),
        cost=cost_of(summary.everything.usage, len(rows), load.classes, load.tariff, load.holdings),
        notes=(*_notes(tables, stretch, summary.everything, total, waits_note), *filter(None, (windows_note,))),
        typing=typing_usage_of(rows),
        usage_audit=audit_usage(rows),
        prediction=None if tables.prediction is None else tables.prediction.of(stretch.name),
        other_work=other_work_of(tables, stretch, total),
        fit_warnings=tables.fit_warnings,
        hosts=hosts_figures(tables, stretch, rows),
        drivers=drivers_figures(tables.conditions),
        network=network_time_of(rows, stretch),
        metered_hosts=metered_hosts_of(tables, stretch),
        limit_costs=limit_costs_of(tables),
        working_sets=sets,
        processor_speed=processor_speed_of(tables, stretch),
    )


def summarize_load(tables: Tables) -> LoadSummary:
    """The part of `summarize` that needs the tables `LOAD_TABLES` alone: the same figures, without intervals.

    It is of the steady phase, at the default tariff.
    """
    tables = tables_of_load(tables)
    load = _measured_load(tables, "default", "steady")
    return _load_summary(tables, load, total_time_of(tables, load.stretch), None, intervals=False)


@dataclass(frozen=True)
class _MeasuredLoad:
    """The interactions of a stretch, with what their costs need."""

    stretch: Stretch
    rows: pl.DataFrame
    """From `with_classes`."""
    classes: TimeByClass
    tariff: Tariff
    holdings: SharedHoldings


def _measured_load(tables: Tables, tariff: Tariff | str, phases: str) -> _MeasuredLoad:
    chosen_tariff = tariff if isinstance(tariff, Tariff) else tariff_on(tariff, tables.conditions.get("system", {}))
    stretch = stretch_of(tables, phases)
    rows = classified_in(tables, stretch)
    classes = classes_of(rows)
    return _MeasuredLoad(
        stretch, rows, classes, chosen_tariff, shared_holdings(tables, stretch, float(classes.total_ns))
    )


def _load_summary(
    tables: Tables, load: _MeasuredLoad, total: TotalTime | None, target_ns: float | None, *, intervals: bool
) -> LoadSummary:
    commands, everything = _summarize_commands(load, intervals=intervals)
    return LoadSummary(
        stretch=load.stretch,
        commands=commands,
        everything=everything,
        driver=driver_audit(load.rows, total, tables, target_ns),
        sessions=count_sessions(tables.sessions),
        losses=group_losses(tables.lost, tables.conditions),
    )


def _summarize_commands(load: _MeasuredLoad, *, intervals: bool) -> tuple[tuple[CommandSummary, ...], CommandSummary]:
    """A row for each command in the order of the script, and a row for all commands."""
    rows, stretch, tariff, holdings = load.rows, load.stretch, load.tariff, load.holdings
    seen = rows.filter(~IS_UNSEEN)
    users = np.unique(seen["user"].to_numpy(), return_inverse=True)[1].astype(np.int64)
    values = seen.select(RESPONSE_OR_INFINITE_NS).to_series().to_numpy()
    waits = span_in_waits(rows, stretch.span_ns)
    stretches = _stretch_indices(seen, stretch_count(len(seen), waits))
    sample = Sample.resampled(values, users, stretches, judged=intervals and not too_short(1, waits))
    aggregates = (*USAGE_MEANS, *CLASS_SUMS, *OUTCOME_COUNTS)
    by_command = (
        rows.lazy()
        .with_columns(row=(~IS_UNSEEN).cum_sum().cast(pl.Int64) - 1)
        .group_by(pl.col("command").cast(pl.String), maintain_order=True)
        .agg(pl.col("line").min(), pl.col("row").filter(~IS_UNSEEN), *aggregates)
        .sort("line", maintain_order=True)
        .collect()
    )
    commands = tuple(
        _summarize_command(str(used["command"]), used, sample.of(index.to_numpy()), tariff, holdings)
        for used, index in zip(by_command.drop("row").iter_rows(named=True), by_command["row"], strict=True)
    )
    return commands, _summarize_command("all", rows.select(aggregates).row(0, named=True), sample, tariff, holdings)


def _stretch_indices(rows: pl.DataFrame, count: int) -> Integers:
    """The index of the stretch in which each row was sent, of `count` stretches of equal length."""
    sent = rows["sent_ns"].to_numpy().astype(np.float64)
    if not len(sent):
        return np.empty(0, np.int64)
    share = (sent - sent.min()) / max(float(sent.max() - sent.min()), 1.0)
    stretches: Integers = np.minimum(share * count, count - 1).astype(np.int64)
    return stretches


def _summarize_command(
    name: str, aggregates: Mapping[str, Any], sample: Sample, tariff: Tariff, holdings: SharedHoldings
) -> CommandSummary:
    """The row of a command from the aggregates of its interactions, whose response times are in `sample`."""
    usage, response = usage_in(aggregates), responses(sample)
    present = classes_in(aggregates).total_ns / response.count if response.count else None
    return CommandSummary(
        name=name,
        response=response,
        usage=usage,
        outcomes=outcomes_in(aggregates),
        cost=interaction_cost(usage, tariff, present_ns=present, holdings=holdings),
    )


def _notes(
    tables: Tables, stretch: Stretch, everything: CommandSummary, total: TotalTime | None, unknown_waits: str
) -> tuple[str, ...]:
    usage = tables.conditions.get("usage", {})
    sampled = int(usage.get("every", 1))
    notes = [stretch.note] if stretch.note else []
    system = str(tables.conditions.get("system", {}).get("name", ""))
    is_fleet = is_fleet_run(tables.conditions)
    if system.startswith(SSH_SCHEME) and len(tables.sessions):
        bound_ns = tables.conditions.get("clock", {}).get("bound_ns")
        clock = f" The clock of {system} is known within {duration(bound_ns)}." if bound_ns is not None else ""
        notes.append(f"Users logged in by ssh: response times have the network in them.{clock}")
    if is_fleet and len(tables.sessions):
        notes.append(
            "Users logged in by ssh: response times have the network in them. What the meters of one host say, the "
            "processors' time among it, is in `loadgo report RUN --host NAME`."
        )
    if tables.far_records is not None and not tables.conditions.get("finished", False):
        notes.append(
            f"The meters of {system or 'the other host'} are not in these figures: they are in {tables.far_records}, "
            f"by the clock there, and `loadgo report` reads {'each folder in it' if is_fleet else 'that folder'}."
        )
    unanswered = everything.response.count - everything.response.answered
    if unanswered:
        were, they = ("was", "it ranks") if unanswered == 1 else ("were", "they rank")
        notes.append(
            f"{counted(unanswered, 'line')} {were} never answered: {they} last in the quantiles, and "
            f"{'is' if unanswered == 1 else 'are'} in no mean or maximum."
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
    if unknown_waits:
        notes.append(unknown_waits)
    if usage.get("delays_switched_off") and usage.get("waits") != "kernel meters":
        notes.append(
            "Waits for paging and for I/O are too small: somebody switched the kernel's delay accounting off during "
            "the run, such as a loadgo in another container. `sysctl kernel.task_delayacct=1` keeps it on."
        )
    if total is None and not is_fleet:
        notes.append("The processors' time was not measured.")
    notes.extend(str(note) for note in usage.get("notes", []))
    return tuple(notes)
