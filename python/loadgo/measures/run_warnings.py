"""The warnings that stand over a run, and over everything that is made of it.

Reports, comparisons, costs, fits and pictures have them from here, so that no page says less than another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.measures.audit import DriverAudit, Loss, driver_audit, group_losses
from loadgo.measures.drivers import DriverFigures, drivers_figures
from loadgo.measures.hosts import HostLost
from loadgo.measures.limits import limit_warnings
from loadgo.measures.littles_law import LittleAudit, little_audit
from loadgo.measures.other_work import OtherWork, busy_clause, judged_together, other_work_of, shows_programs
from loadgo.measures.processor_speed import ProcessorSpeed, processor_speed_of, speed_warnings
from loadgo.measures.run_description import RunDescription, describe_run
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.measures.usage import NOT_FOUND_STATUS
from loadgo.notation.figures import as_code, counted, duration, in_words, number, precise_share, share
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.interactions import IS_UNANSWERED, IS_UNSEEN
from loadgo.records.phases import Stretch, classified_in

if TYPE_CHECKING:
    from loadgo.measures.summary import Summary
    from loadgo.records.prediction import Prediction
    from loadgo.records.tables import Tables

ACCOUNT_WARNING_SHARE = 1e-4
"""An exact account that differs from the wall time by this share is a warning."""
_NAMED_RUNS = 3
"""Most runs that a warning names."""
_LITTLE_DRIVER_SHARE = 0.01
"""A driver that took less than this share of the host's time was not late by its own work."""
_SECOND_CHARS = len("2026-11-23T20:25:31")
"""Characters of an instant up to its second."""


@dataclass(frozen=True)
class RunFindings:
    """The findings in the records of a run, besides its description."""

    driver: DriverAudit
    losses: tuple[Loss, ...]
    audit: LittleAudit | None
    total_time: TotalTime | None
    other_work: OtherWork | None
    not_found: Mapping[str, tuple[int, int]]
    """Number of lines whose command does not exist, and of all lines, by command; without commands that exist."""
    fit_warnings: tuple[str, ...]
    """Reasons to doubt the fit of a simulated machine."""
    prediction: Prediction | None
    drivers: tuple[DriverFigures, ...]
    """The drivers of a run with several."""
    sent: int
    """Number of lines that were sent, without those whose answer nobody can see."""
    unanswered: int
    """Number of these lines that had no answer."""
    processor_speed: ProcessorSpeed | None
    """How fast the processors did the reference work; None where this is not known."""


@dataclass(frozen=True)
class RunFacts(RunFindings):
    """The facts about a run that its warnings depend on. A metering has no `other_work`, since nobody typed."""

    is_metering: bool
    """Whether nobody typed: the run is a metering without a load."""
    finished: bool
    outcome: str
    """As `Tables.outcome`."""
    started: str
    """As `RunDescription.started`."""
    lost_hosts: Mapping[str, HostLost]
    """The hosts that were lost, driven, driving or metered, by name."""
    most_losses: int
    """The largest number of hosts, driven or driving, without which such a run can count."""
    busy_drivers: Mapping[str, float]
    """The drivers of several whose processors were too busy for their users, with the busy share."""
    system: Mapping[str, Any]
    """The section `system` of `run.toml`."""
    limit_warnings: tuple[str, ...]
    """The limits that the host cannot reach, and the processes that the kernel killed for want of memory."""
    fitted_users: tuple[int, ...]
    """The numbers of users of the runs that the machine was fitted to, where this run has another one."""

    @property
    def lost_records(self) -> int:
        """Number of lost records."""
        return sum(loss.count for loss in self.losses if loss.what == "record")


def facts_of(tables: Tables, stretch: Stretch) -> RunFacts:
    """The facts about a run over one stretch."""
    tables = tables_of_load(tables)
    rows, total = classified_in(tables, stretch), total_time_of(tables, stretch)
    run = describe_run(tables)
    shown_rows = rows.filter(~IS_UNSEEN)
    findings = RunFindings(
        driver=driver_audit(rows, total, tables, None),
        losses=group_losses(tables.lost, tables.conditions),
        audit=little_audit(rows, tables.sessions, stretch, is_open=run.model == "open"),
        total_time=total,
        other_work=other_work_of(tables, stretch, total),
        not_found=_not_found_counts(rows),
        fit_warnings=tables.fit_warnings,
        prediction=tables.prediction,
        drivers=drivers_figures(tables.conditions),
        sent=len(shown_rows),
        unanswered=int(shown_rows.select(IS_UNANSWERED.sum()).item()),
        processor_speed=processor_speed_of(tables, stretch),
    )
    return _facts(run, findings)


def facts_in(summary: Summary) -> RunFacts:
    """The facts about a run that has a summary."""
    findings = RunFindings(
        driver=summary.driver,
        losses=summary.losses,
        audit=summary.audit,
        total_time=summary.total_time,
        other_work=summary.other_work,
        not_found={
            row.name: (row.outcomes.not_found, row.response.count) for row in summary.commands if row.outcomes.not_found
        },
        fit_warnings=summary.fit_warnings,
        prediction=summary.prediction,
        drivers=summary.drivers,
        sent=summary.everything.response.count,
        unanswered=summary.everything.response.count - summary.everything.response.answered,
        processor_speed=summary.processor_speed,
    )
    return _facts(summary.run, findings)


def _facts(run: RunDescription, findings: RunFindings) -> RunFacts:
    """The facts, for each page from the same fields of a run's description and records."""
    drivers, is_metering = findings.drivers, run.kind == "meter"
    return RunFacts(
        **vars(replace(findings, other_work=None) if is_metering else findings),
        is_metering=is_metering,
        finished=run.finished,
        outcome=run.outcome,
        started=run.started,
        lost_hosts={**run.lost_hosts, **_lost_drivers(drivers)},
        most_losses=_most_losses(run.hosts, len(drivers)),
        busy_drivers=_busy_drivers(drivers),
        system=run.system,
        limit_warnings=limit_warnings(run.limit, run.system, run.conditions),
        fitted_users=_other_users(findings.prediction, run.users),
    )


def _other_users(prediction: Prediction | None, users: int) -> tuple[int, ...]:
    """The numbers of users that a prediction's machine was fitted to; empty if `users` is one of them."""
    return () if prediction is None or users in prediction.users else prediction.users


def _most_losses(hosts: int, drivers: int) -> int:
    """The largest number of hosts without which a run can count: all but one driven, and all but one driving."""
    return max(0, hosts - 1) + max(0, drivers - 1)


def _lost_drivers(drivers: Sequence[DriverFigures]) -> dict[str, HostLost]:
    return {f"the driver {driver.name}": driver.lost for driver in drivers if driver.lost is not None}


def _busy_drivers(drivers: Sequence[DriverFigures]) -> dict[str, float]:
    return {driver.name: driver.busy_share for driver in drivers if driver.is_busy and driver.busy_share is not None}


def run_warnings(facts: RunFacts) -> list[str]:
    """All warnings of a run, those that make it invalid first. Empty for a good run."""
    return [*invalid_warnings(facts), *doubt_warnings(facts)]


def invalid_warnings(facts: RunFacts, without: Collection[str] = ()) -> list[str]:
    """The warnings about a run that is not recorded whole, or that measured its driver.

    Without `lost`, lost records are not among them.
    """
    lost = [] if "lost" in without else _lost_records(facts.lost_records)
    faults = driver_faults(facts.driver, facts.other_work)
    return [*_early_end(facts), *lost, *(f"INVALID: {reason}" for reason in (*faults, *_hosts_missed(facts)))]


def doubt_warnings(facts: RunFacts, without: Collection[str] = ()) -> list[str]:
    """The other reasons to doubt the figures, without `busy` where a page has own words."""
    warnings = [
        *facts.fit_warnings,
        *_hosts_tolerated(facts),
        *_busy_driver_hosts(facts),
        *mistake_warnings(facts),
        *_unbalanced_account(facts.total_time),
        *speed_warnings(facts.processor_speed),
    ]
    if "busy" not in without and facts.other_work is not None and facts.other_work.level == "busy":
        warnings.append(
            f"{busy_clause(facts.other_work)}. That lengthens response times. Run again when the host is "
            f"quiet; if it never is, the figures hold for a host with such other work. "
            f"{shows_programs(facts.system, facts.other_work)}"
        )
    if facts.audit is not None and facts.audit.verdict == "broken":
        cause = " Lost records can be the cause." if facts.lost_records else ""
        warnings.append(
            "The records contradict themselves: Little's law does not hold."
            f"{cause} Trust no figure before that is explained."
        )
    return warnings


def _lost_records(count: int) -> list[str]:
    """A warning if records are lost."""
    if not count:
        return []
    are = "is" if count == 1 else "are"
    return [f"{counted(count, 'record')} {are} lost: the figures cover those that were kept."]


def mistake_warnings(facts: RunFacts) -> list[str]:
    """The warnings about what the run was asked for: limits that do not fit, and commands that do not exist."""
    return [*facts.limit_warnings, *_not_found(facts)]


def facts_of_runs(runs: Sequence[Tables], stretches: Sequence[Stretch]) -> tuple[RunFacts, ...]:
    """The facts about each run of one result, whose hosts are judged together."""
    by_run = [facts_of(tables, stretch) for tables, stretch in zip(runs, stretches, strict=True)]
    works = judged_together(facts.other_work for facts in by_run)
    return tuple(replace(facts, other_work=work) for facts, work in zip(by_run, works, strict=True))


def warnings_of_runs(
    names: Sequence[str],
    runs: Sequence[Tables],
    stretches: Sequence[Stretch],
    *,
    without: Collection[str] = (),
    named: bool = False,
) -> list[str]:
    """The warnings of runs, without `busy` or `lost` where a page has own words.

    Each warning names its runs if there are several, or with `named`. What several warnings advise stands once.
    """
    names_by_warning: dict[str, list[str]] = {}
    for name, facts in zip(names, facts_of_runs(runs, stretches), strict=True):
        for text in (*invalid_warnings(facts, without), *doubt_warnings(facts, without)):
            names_by_warning.setdefault(text, []).append(name)
    if len(names) == 1 and not named:
        return list(names_by_warning)
    warnings, said = [], set[str]()
    for text, which in names_by_warning.items():
        finding, _, advice = text.partition(". ")
        shown = f"{finding}." if advice and advice in said else text
        warnings.append(f"{in_words(list(dict.fromkeys(which)), _NAMED_RUNS)}: {shown}")
        said.add(advice)
    return warnings


def driver_faults(driver: DriverAudit, other_work: OtherWork | None = None) -> list[str]:
    """The reasons why the run measured its driver and not the system, each with remedies that fit this driver."""
    faults = []
    whose = f"{in_words(driver.late_names)}: " if driver.late_names else ""
    if driver.late:
        cause, remedy = _cause_of_lateness(driver, other_work)
        faults.append(
            f"{whose}{cause}: {counted(driver.late_lines, 'line')} were sent more than "
            f"{duration(driver.lateness_limit_ns)} late (p99 {duration(driver.lateness_p99_ns)}). {remedy}, "
            f"{_help_for_the_driver(driver)}or drive from another machine."
        )
    if driver.takes_too_much:
        faults.append(
            f"the driver took {share(driver.host_share)} of the host that it measures "
            f"({share(driver.host_share_limit)} is allowed). Run with fewer users or longer think times, "
            "or drive from another machine over ssh."
        )
    return faults


def _hosts_missed(facts: RunFacts) -> list[str]:
    """The hosts that were lost and must not be, with the remedy; none of a metering, where no user was on them."""
    if facts.is_metering:
        return []
    missed = {name: lost for name, lost in facts.lost_hosts.items() if not lost.tolerated}
    can_do_without = len(missed) <= facts.most_losses
    instead = f", or allow the loss: `--without-lost {len(missed)}`" if can_do_without else ""
    return [
        f"{_loss_in_words(name, lost)} Its users' sessions were ended, and the load was smaller from then on. Run "
        f"again when the host is up{instead}."
        for name, lost in missed.items()
    ]


def _hosts_tolerated(facts: RunFacts) -> list[str]:
    """The lost hosts without which the run counts. The hosts of a metering are figures of their own."""
    if facts.is_metering:
        return [
            f"{_loss_in_words(name, lost)} Its figures end there, and it is not compared."
            for name, lost in facts.lost_hosts.items()
        ]
    return [
        f"{_loss_in_words(name, lost)} The run counts without it, as `--without-lost` allows: the figures have its "
        "users until then, and the load was smaller from then on."
        for name, lost in facts.lost_hosts.items()
        if lost.tolerated
    ]


def _busy_driver_hosts(facts: RunFacts) -> list[str]:
    """A warning about drivers' hosts that had no processor left for their users' log-in commands."""
    if not facts.busy_drivers:
        return []
    listed = in_words([f"{name} ({share(busy)})" for name, busy in facts.busy_drivers.items()])
    return [
        f"The processors of {listed}, from which users log in, were busy: the users' log-in commands there, such as "
        "`ssh`, waited for a processor, and the response times include that. Drive from more hosts, or run when they "
        "are quiet."
    ]


def _loss_in_words(name: str, lost: HostLost) -> str:
    when = "" if lost.at_s is None else f" {duration(lost.at_s * 1e9)} after the run's beginning"
    return f"{name} was lost{when}: {lost.reason.rstrip('. ')}."


def _cause_of_lateness(driver: DriverAudit, other_work: OtherWork | None) -> tuple[str, str]:
    """The cause of lateness, and the first remedy. A driver that used little was not late by its own work."""
    used_little = driver.host_share is not None and driver.host_share < _LITTLE_DRIVER_SHARE
    if used_little and other_work is not None and other_work.level == "busy":
        took = (
            f"other work took {other_work.in_words} of the processors' time, and the driver {share(driver.host_share)}"
        )
        return f"the host was too busy for the driver ({took})", "Run when the host is quiet"
    if used_little:
        took = f"the driver took {share(driver.host_share)} of the processors' time"
        return f"the host woke the driver late ({took})", "See the timers of `loadgo doctor`"
    return "the driver was the bottleneck", "Run with fewer users"


def _help_for_the_driver(driver: DriverAudit) -> str:
    """The advice about the driver's scheduling, without what it has already."""
    lacking = [] if driver.scheduling.startswith("fifo") else ["SCHED_FIFO"]
    lacking += [] if driver.processor is not None else ["a processor of its own"]
    return f"give the driver {' or '.join(lacking)} (see `loadgo doctor`), " if lacking else ""


def _early_end(facts: RunFacts) -> list[str]:
    """A warning if the run did not come to its planned end."""
    if not facts.finished and facts.outcome == "running":
        since = f" since {facts.started[:_SECOND_CHARS].replace('T', ' ')}" if facts.started else ""
        return [f"The run is running{since}: these are the figures up to its last whole record."]
    if not facts.finished:
        return [
            "The run was cut off (loadgo was killed, or could write no more): these are the figures up to its last "
            "whole record."
        ]
    early = f"The run ended early ({facts.outcome}): the figures cover what was done until then."
    return [early] if facts.outcome not in ("", "done") else []


def _not_found(facts: RunFacts) -> list[str]:
    """A warning about lines whose command does not exist, which a script without `status` accepts."""
    if not facts.not_found:
        return []
    listed = ", ".join(
        f"{f'all {number(count)}' if count == every else f'{number(count)} of {number(every)}'} of {as_code(name)}"
        for name, (count, every) in facts.not_found.items()
    )
    return [
        f"Lines ended with exit status 127, with which a shell says that there is no such command: {listed}. "
        "Their times are those of the message. With `status = 0` in the script such lines count as failed, and "
        "`--fail-if 'errors > 0'` then makes the exit status 1."
    ]


def _unbalanced_account(total_time: TotalTime | None) -> list[str]:
    """A warning if the categories do not add up to the wall time; empty if they do, or if that is unknown."""
    if total_time is None or total_time.kind == "kernel's ticks" or not total_time.wall_ns:
        return []
    off = total_time.total_ns / total_time.wall_ns - 1
    if abs(off) <= ACCOUNT_WARNING_SHARE:
        return []
    return [
        f"The processors' account does not add up: its categories are {precise_share(1 + off)} of the wall time. "
        "Records are missing, or the meters are wrong: trust no share of processor time before that is explained."
    ]


def _not_found_counts(rows: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Number of lines with the exit status for a missing command, and of all, by command in the script's order."""
    missing = (pl.col("exit_status") == NOT_FOUND_STATUS).sum().alias("missing")
    by_command = rows.group_by(pl.col("command").cast(pl.String)).agg(pl.col("line").min(), missing, pl.len())
    found = by_command.filter(pl.col("missing") > 0).sort("line")
    return {str(name): (int(count), int(every)) for name, _, count, every in found.iter_rows()}
