"""A trial of a capacity search: its figures, by batches of equal time.

Every figure of a target is a ratio of two sums: slow interactions to interactions, response times to interactions, or
interactions to seconds. Consecutive interactions in one queue are similar, so their scatter is no measure of
uncertainty. The sums are kept by batch, some cycles of a user long, and the scatter of the batches is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.measures.audit import (
    LATENESS_SHARE_OF_TARGET,
    count_sessions,
)
from loadgo.measures.charged_use import shared_holdings
from loadgo.measures.charges import cost_of
from loadgo.measures.tariff import Tariff
from loadgo.measures.total_time import total_time_of
from loadgo.measures.usage import usage_of
from loadgo.records.fleets import FLEET_KIND
from loadgo.records.interactions import IS_UNANSWERED, IS_UNSEEN, classes_of
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.sizing.curve import ClassFigures, Target
from loadgo.sizing.resources import (
    ProcessorShares,
    ServerCounts,
    busy_spans,
    cpu_limit_utilisation,
    loading_share,
    processor_shares,
    utilisations,
)
from loadgo.sizing.search.validity import Invalidity, censored_lines, invalidity_of, late_lines, lost_records
from loadgo.stats.resample import Floats

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

Integers = NDArray[np.int64]

MOST_BATCHES, FEWEST_BATCHES = 30, 6
"""Limits of the number of batches in a trial."""
BATCH_CYCLES = 5.0
"""Shortest batch in cycles of a user. In a trial too short for six of these, batches are shorter."""

_ERROR_OUTCOMES = ("failed", "timeout", "died")


@dataclass(frozen=True)
class BatchSums:
    """The numerator and the denominator of a target's ratio in each batch."""

    numerators: Floats
    denominators: Floats

    @property
    def weight(self) -> float:
        """The sum of the denominators, in interactions or seconds."""
        return float(self.denominators.sum())

    @property
    def ratio(self) -> float:
        """The ratio of all batches together; NaN if the denominators are 0."""
        return float(self.numerators.sum()) / self.weight if self.weight else float("nan")


@dataclass(frozen=True)
class CapacityTrial:
    """The figures of one trial."""

    users: int
    name: str
    """The folder of the trial if it is kept, else its seed."""
    seconds: float
    """Length of the measured time."""
    elapsed_s: float
    """Time from the first log-in to the end."""
    spent: int
    """Number of all interactions, also outside the measured time."""
    tallies: tuple[BatchSums, ...]
    """The sums of each target, in the order of the targets."""
    batch: Integers
    """The index of the batch in which each counted interaction was sent."""
    responses_s: Floats
    """Response times of the counted interactions; infinite without an answer."""
    batches: int
    think_s: float
    utilisation: Mapping[str, float]
    cost_user_hour: float | None
    faults_a_command: float | None
    lost: int
    refused: int
    """Number of users who could not log in."""
    invalidity: Invalidity | None
    """The reason why the trial is not valid; else None."""
    cut_short: bool = False
    """Whether the trial ended early, since a target was missed widely."""
    interrupted: bool = False
    """Whether the trial ended early, since the search was interrupted; the answer does not use it."""
    lines_a_pass: float | None = None
    """Mean number of lines in a complete pass; None without a complete pass."""
    classes: tuple[ClassFigures, ...] = ()
    processors: ProcessorShares | None = None
    """The use of the processors; None where it was not measured."""
    late: int = 0
    """Number of lines that the driver sent late, as `validity.late_lines` counts them."""
    unclear: int = 0
    """Late lines whose response is nearer to the limit than they were late; no share of slow lines counts them."""
    censored: int = 0
    """Number of lines in flight when the trial was ended early; no figure counts them."""
    loading: float = 0.0
    """The share of the processors' time that waits for a program to be loaded; 0 without loading."""
    index: int = 0
    """The index of the trial in its search, from 0."""
    host_processors: int | None = None
    """Number of processors of the host; None on a simulated machine, and where it is not known."""

    @property
    def valid(self) -> bool:
        """Whether the trial measured the system, so that an answer may use it."""
        return self.invalidity is None

    @property
    def why(self) -> str:
        """The reason why the trial is not valid; else empty."""
        return self.invalidity.why if self.invalidity is not None else ""

    @property
    def others(self) -> float | None:
        """The share of other work in the time of all processors; None where it was not measured."""
        return None if self.processors is None else self.processors.others

    @property
    def counted(self) -> int:
        """Number of interactions in the measured time."""
        return len(self.responses_s)

    @property
    def response_s(self) -> float | None:
        """Mean response time of the answered interactions; None without an answer."""
        answered = self.responses_s[np.isfinite(self.responses_s)]
        return float(answered.mean()) if len(answered) else None


@dataclass(frozen=True)
class TrialQuestions:
    """Facts about a trial that its records do not have, and the targets to judge it by."""

    users: int
    name: str
    targets: tuple[Target, ...]
    servers: ServerCounts
    tariff: Tariff
    cut_short: bool = False
    classes: Sequence[str] = ()
    """The class of each user of a mix, in the order of users."""


def trial_from(tables: Tables, questions: TrialQuestions) -> CapacityTrial:
    """The trial in `tables`; its figures are those of the steady phase."""
    stretch = stretch_of(tables)
    rows = classified_in(tables, stretch).filter(~IS_UNSEEN).sort("sent_ns")
    responses, think_s = _responses_s(rows), _think_s(rows)
    batches = _batch_count(stretch.span_ns / 1e9, think_s + _mean_answered(responses))
    counted = _CountedInteractions(rows, responses, stretch, batches, stretch.indices_of(rows["sent_ns"], batches))
    spans = busy_spans(tables, stretch, questions.servers)
    system = tables.conditions.get("system", {})
    live = system.get("kind") in ("host", FLEET_KIND)
    total = total_time_of(tables, stretch) if live else None
    processors = None if total is None else processor_shares(total)
    late = late_lines(rows, questions.targets)
    by_class = classes_of(rows)
    holdings = shared_holdings(tables, stretch, float(by_class.total_ns))
    cost = cost_of(usage_of(rows), len(rows), by_class, questions.tariff, holdings) if len(rows) else None
    return CapacityTrial(
        users=questions.users,
        name=questions.name,
        seconds=stretch.span_ns / 1e9,
        elapsed_s=float(tables.conditions.get("wall_s") or 0.0),
        spent=len(tables.interactions),
        tallies=tuple(_target_sums(target, counted, spans) for target in questions.targets),
        batch=counted.batch,
        responses_s=responses,
        batches=batches,
        think_s=think_s,
        utilisation={**utilisations(spans), **cpu_limit_utilisation(questions.servers, processors)},
        cost_user_hour=None if cost is None else cost.user_hour,
        faults_a_command=_column_mean(rows, "faults_major"),
        lost=lost_records(tables, cut_short=questions.cut_short),
        refused=count_sessions(tables.sessions).refused,
        invalidity=invalidity_of(tables, rows, stretch, total, late, cut_short=questions.cut_short),
        cut_short=questions.cut_short,
        lines_a_pass=_lines_per_pass(rows),
        classes=_class_figures(counted, questions.classes),
        processors=processors,
        late=late,
        unclear=_unclear_lines(counted, questions.targets),
        censored=censored_lines(tables) if questions.cut_short else 0,
        loading=loading_share(tables, stretch),
        host_processors=int(system.get("processors") or 0) or None if live else None,
    )


@dataclass(frozen=True)
class _CountedInteractions:
    """The interactions of the measured time, in the order in which they were sent."""

    rows: pl.DataFrame
    responses_s: Floats
    stretch: Stretch
    batches: int
    batch: Integers


def _responses_s(rows: pl.DataFrame) -> Floats:
    seconds = pl.when(IS_UNANSWERED).then(np.inf).otherwise(pl.col("response_ns") / 1e9)
    responses: Floats = rows.select(seconds.cast(pl.Float64)).to_series().to_numpy()
    return responses


def _think_s(rows: pl.DataFrame) -> float:
    """Mean time from a prompt to the sending of the next line, with typing and lateness: the Z of Little's law."""
    gaps = rows.select((pl.col("thinking_ns") + pl.col("typed_ns") + pl.col("driver_ns")).mean()).item()
    return float(gaps or 0.0) / 1e9


def _mean_answered(responses_s: Floats) -> float:
    answered = responses_s[np.isfinite(responses_s)]
    return float(answered.mean()) if len(answered) else 0.0


def _column_mean(rows: pl.DataFrame, column: str) -> float | None:
    mean = rows[column].cast(pl.Float64).mean()
    return None if mean is None else float(str(mean))


def _batch_count(seconds: float, cycle_s: float) -> int:
    """Number of batches: few and long rather than many and short."""
    return int(np.clip(seconds / (BATCH_CYCLES * cycle_s), FEWEST_BATCHES, MOST_BATCHES)) if cycle_s else FEWEST_BATCHES


def _target_sums(target: Target, counted: _CountedInteractions, spans: Mapping[str, pl.DataFrame]) -> BatchSums:
    batches, batch = counted.batches, counted.batch
    if target.measure == "busy":
        return _busy_sums(spans.get(str(target.command)), counted)
    if target.measure == "throughput":
        each_s = np.full(batches, counted.stretch.span_ns / 1e9 / batches)
        return BatchSums(np.bincount(batch, minlength=batches).astype(np.float64), each_s)
    is_counted = _is_judged(target, counted) & ~_is_unclear(target, counted)
    values = _judged_values(target, counted)[is_counted]
    counts = np.bincount(batch[is_counted], minlength=batches).astype(np.float64)
    sums = np.bincount(batch[is_counted], weights=values, minlength=batches).astype(np.float64)
    return BatchSums(sums, counts)


def _judged_values(target: Target, counted: _CountedInteractions) -> Floats:
    """The value of each interaction in the numerator. Without an answer, the user's wait replaces the response."""
    rows, responses = counted.rows, counted.responses_s
    if target.measure == "errors":
        is_error: Floats = rows["outcome"].cast(pl.String).is_in(list(_ERROR_OUTCOMES)).to_numpy().astype(np.float64)
        return is_error
    if target.share is not None:
        return (responses > target.limit).astype(np.float64)
    waited = rows["waiting_ns"].cast(pl.Float64).to_numpy() / 1e9
    return np.where(np.isfinite(responses), responses, waited)


def _is_judged(target: Target, counted: _CountedInteractions) -> NDArray[np.bool_]:
    """Whether each interaction is of the command that the target is about; all are, if it is about all commands."""
    if target.command is None:
        return np.ones(len(counted.rows), dtype=bool)
    judged: NDArray[np.bool_] = (counted.rows["command"].cast(pl.String) == target.command).to_numpy()
    return judged


def _unclear_lines(counted: _CountedInteractions, targets: Sequence[Target]) -> int:
    """Number of late lines that some target does not count, since the side of its limit is not known."""
    unclear = [_is_judged(target, counted) & _is_unclear(target, counted) for target in targets]
    return int(np.any(unclear, axis=0).sum()) if unclear else 0


def _is_unclear(target: Target, counted: _CountedInteractions) -> NDArray[np.bool_]:
    """Whether each interaction was so late that the side of the limit on which its response lies is not known."""
    if target.share is None:
        return np.zeros(len(counted.rows), dtype=bool)
    lateness_s = counted.rows["lateness_ns"].cast(pl.Float64).to_numpy() / 1e9
    is_near = np.abs(counted.responses_s - target.limit) < lateness_s
    unclear: NDArray[np.bool_] = is_near & (lateness_s > LATENESS_SHARE_OF_TARGET * target.limit)
    return unclear


def _busy_sums(spans: pl.DataFrame | None, counted: _CountedInteractions) -> BatchSums:
    if spans is None:
        return BatchSums(np.zeros(counted.batches), np.zeros(counted.batches))
    middle = spans["at_ns"].cast(pl.Float64) - spans["span_ns"].cast(pl.Float64) / 2
    batch = counted.stretch.indices_of(middle, counted.batches)
    busy, whole = (
        np.bincount(batch, weights=spans[name].cast(pl.Float64).to_numpy(), minlength=counted.batches) / 1e9
        for name in ("busy", "whole")
    )
    return BatchSums(busy, whole)


def _lines_per_pass(rows: pl.DataFrame) -> float | None:
    """Mean number of lines of complete passes: all passes of each user except the first and the last."""
    passes = rows.group_by("user", "pass").len()
    inner = passes.filter(
        (pl.col("pass") > pl.col("pass").min().over("user")) & (pl.col("pass") < pl.col("pass").max().over("user"))
    )
    return _column_mean(inner, "len")


def _class_figures(counted: _CountedInteractions, classes: Sequence[str]) -> tuple[ClassFigures, ...]:
    """The figures of each class of a mix, from the interactions of its users."""
    seconds = counted.stretch.span_ns / 1e9
    figures = []
    for name in sorted(set(classes)):
        users = [user for user, user_class in enumerate(classes, start=1) if user_class == name]
        rows = counted.rows.filter(pl.col("user").is_in(users))
        responses = _responses_s(rows)
        cpu = usage_of(rows).cpu_ns
        figures.append(
            ClassFigures(
                name=name,
                users=len(users),
                throughput=len(rows) / seconds if seconds else 0.0,
                response_s=_mean_answered(responses) if np.isfinite(responses).any() else None,
                think_s=_think_s(rows),
                cpu_s=None if cpu is None else cpu / 1e9,
            )
        )
    return tuple(figures)
