"""One trial: some users for some time, and what came of it by batches of equal time.

Every figure that a target is about is a ratio of two sums: slow interactions over interactions, responses over
interactions, interactions over seconds. It is kept by batch, since the interactions of one queue are alike while it
lasts: how much a ratio may be off is told by how much the batches differ, and batches are some cycles of a user long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.measures.audit import count_sessions, driver_audit, group_losses
from loadgo.measures.charges import cost_of
from loadgo.measures.littles_law import little_closed
from loadgo.measures.tariff import Tariff
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.measures.usage import usage_of
from loadgo.records.interactions import classes_of
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.sizing.curve import ClassPoint, Target
from loadgo.sizing.resources import Servers, Whose, busy_spans, utilisation, whose_of
from loadgo.stats.resample import Floats

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

Integers = NDArray[np.int64]

MOST_BATCHES, FEWEST_BATCHES = 30, 6
BATCH_CYCLES = 5.0
"""A batch is at least as long as so many cycles of a user, as far as there are more than the fewest batches."""

_ERRORS = ("failed", "timeout", "died")
MOST_LOST = 0.01
"""More lost records than this part of the interactions, and a trial tells nothing."""
_USERS = ("session", "log-in")
"""What is lost with a user, and counted there: no gap in the records."""


@dataclass(frozen=True)
class Tally:
    """What one target is judged by, batch by batch: a ratio of sums."""

    numerators: Floats
    denominators: Floats

    @property
    def weight(self) -> float:
        """The sum of the denominators: interactions, or seconds."""
        return float(self.denominators.sum())

    @property
    def ratio(self) -> float:
        """Of all batches together; not a number where there is nothing."""
        return float(self.numerators.sum()) / self.weight if self.weight else float("nan")


@dataclass(frozen=True)
class Trial:
    """What one trial came to."""

    users: int
    name: str
    """Its folder when that is kept, else its seed."""
    seconds: float
    """That count."""
    elapsed_s: float
    """From the first log-in to the end."""
    spent: int
    """Interactions in all."""
    tallies: tuple[Tally, ...]
    """In the order of the targets."""
    batch: Integers
    """In which batch each counted interaction was sent, from 0."""
    responses_s: Floats
    """Of the counted interactions; infinite: never answered."""
    batches: int
    think_s: float
    utilisation: Mapping[str, float]
    cost_user_hour: float | None
    faults_a_command: float | None
    lost: int
    refused: int
    """Users who could not log in."""
    valid: bool
    why: str
    """Why it is not valid; else empty."""
    cut_short: bool = False
    """It was ended before its time: a target was missed widely."""
    lines_a_pass: float | None = None
    classes: tuple[ClassPoint, ...] = ()
    whose: Whose | None = None
    """Whose the processors' time was; None where that is not told apart."""

    @property
    def counted(self) -> int:
        """Interactions that count."""
        return len(self.responses_s)

    @property
    def response_s(self) -> float | None:
        """The mean of the answered ones."""
        answered = self.responses_s[np.isfinite(self.responses_s)]
        return float(answered.mean()) if len(answered) else None


@dataclass(frozen=True)
class Asked:
    """What a trial's records are read for."""

    users: int
    name: str
    targets: tuple[Target, ...]
    servers: Servers
    tariff: Tariff
    cut_short: bool = False
    classes: Sequence[str] = ()
    """Of a mix: the class of each user, from the first on."""


def trial_of(tables: Tables, asked: Asked) -> Trial:
    """The trial that `tables` hold: its steady phase counts."""
    stretch = stretch_of(tables)
    rows = classified_in(tables, stretch).sort("sent_ns")
    responses, think_s = _responses_s(rows), _think_s(rows)
    batches = _batches(stretch.span_ns / 1e9, think_s + _mean(responses))
    counted = _Counted(rows, responses, stretch, batches, _places(rows["sent_ns"], stretch, batches))
    spans = busy_spans(tables, stretch, asked.servers)
    live = tables.conditions.get("system", {}).get("kind") == "host"
    total = total_time_of(tables, stretch) if live else None
    valid, why = _validity(tables, counted, asked, total)
    cost = cost_of(usage_of(rows), len(rows), classes_of(rows), asked.tariff) if len(rows) else None
    return Trial(
        users=asked.users,
        name=asked.name,
        seconds=stretch.span_ns / 1e9,
        elapsed_s=float(tables.conditions.get("wall_s") or 0.0),
        spent=len(tables.interactions),
        tallies=tuple(_tally(target, counted, spans) for target in asked.targets),
        batch=counted.batch,
        responses_s=responses,
        batches=batches,
        think_s=think_s,
        utilisation=utilisation(spans),
        cost_user_hour=None if cost is None else cost.user_hour,
        faults_a_command=_mean_of(rows, "faults_major"),
        lost=_lost(tables),
        refused=count_sessions(tables.sessions).refused,
        valid=valid,
        why=why,
        cut_short=asked.cut_short,
        lines_a_pass=_lines_a_pass(rows),
        classes=_class_points(counted, asked.classes),
        whose=None if total is None else whose_of(total),
    )


@dataclass(frozen=True)
class _Counted:
    """The interactions that count, in the order of their sending."""

    rows: pl.DataFrame
    responses_s: Floats
    stretch: Stretch
    batches: int
    batch: Integers


def _responses_s(rows: pl.DataFrame) -> Floats:
    unanswered = pl.col("response_ns").is_null() | pl.col("outcome").cast(pl.String).is_in(["timeout", "died"])
    seconds = pl.when(unanswered).then(np.inf).otherwise(pl.col("response_ns") / 1e9)
    found: Floats = rows.select(seconds.cast(pl.Float64)).to_series().to_numpy()
    return found


def _think_s(rows: pl.DataFrame) -> float:
    """From a prompt to the sending, with typing and lateness: the Z of Little's law."""
    gaps = rows.select((pl.col("thinking_ns") + pl.col("typed_ns") + pl.col("driver_ns")).mean()).item()
    return float(gaps or 0.0) / 1e9


def _mean(responses_s: Floats) -> float:
    answered = responses_s[np.isfinite(responses_s)]
    return float(answered.mean()) if len(answered) else 0.0


def _mean_of(rows: pl.DataFrame, column: str) -> float | None:
    found = rows[column].cast(pl.Float64).mean()
    return None if found is None else float(str(found))


def _batches(seconds: float, cycle_s: float) -> int:
    """How many batches: long ones rather than many."""
    return int(np.clip(seconds / (BATCH_CYCLES * cycle_s), FEWEST_BATCHES, MOST_BATCHES)) if cycle_s else FEWEST_BATCHES


def _places(at_ns: pl.Series, stretch: Stretch, batches: int) -> Integers:
    share = (at_ns.cast(pl.Float64).to_numpy() - stretch.start_ns) / max(stretch.span_ns, 1)
    places: Integers = np.clip(share * batches, 0, batches - 1).astype(np.int64)
    return places


def _tally(target: Target, counted: _Counted, spans: Mapping[str, pl.DataFrame]) -> Tally:
    batches, batch = counted.batches, counted.batch
    if target.measure == "busy":
        return _busy_tally(spans.get(str(target.command)), counted)
    if target.measure == "throughput":
        each_s = np.full(batches, counted.stretch.span_ns / 1e9 / batches)
        return Tally(np.bincount(batch, minlength=batches).astype(np.float64), each_s)
    mine = np.ones(len(batch), dtype=bool)
    if target.command is not None:
        mine = (counted.rows["command"].cast(pl.String) == target.command).to_numpy()
    values = _judged(target, counted)[mine]
    whole = np.bincount(batch[mine], minlength=batches).astype(np.float64)
    sums = np.bincount(batch[mine], weights=values, minlength=batches).astype(np.float64)
    return Tally(sums, whole)


def _judged(target: Target, counted: _Counted) -> Floats:
    """What each interaction adds to the numerator; one that was never answered lasted as long as it was waited for."""
    rows, responses = counted.rows, counted.responses_s
    if target.measure == "errors":
        wrong: Floats = rows["outcome"].cast(pl.String).is_in(list(_ERRORS)).to_numpy().astype(np.float64)
        return wrong
    if target.share is not None:
        return (responses > target.limit).astype(np.float64)
    waited = rows["waiting_ns"].cast(pl.Float64).to_numpy() / 1e9
    return np.where(np.isfinite(responses), responses, waited)


def _busy_tally(spans: pl.DataFrame | None, counted: _Counted) -> Tally:
    if spans is None:
        return Tally(np.zeros(counted.batches), np.zeros(counted.batches))
    middle = spans["at_ns"].cast(pl.Float64) - spans["span_ns"].cast(pl.Float64) / 2
    place = _places(middle, counted.stretch, counted.batches)
    busy, whole = (
        np.bincount(place, weights=spans[name].cast(pl.Float64).to_numpy(), minlength=counted.batches) / 1e9
        for name in ("busy", "whole")
    )
    return Tally(busy, whole)


def _lost(tables: Tables) -> int:
    return sum(loss.count for loss in group_losses(tables.lost) if loss.what not in _USERS)


def _validity(tables: Tables, counted: _Counted, asked: Asked, total: TotalTime | None) -> tuple[bool, str]:
    """Whether the trial measures the system: the driver was in time, and Little's law is not broken."""
    limits = [target.limit for target in asked.targets if target.share is not None or target.measure == "mean"]
    driver = driver_audit(counted.rows, total, tables, min(limits, default=1.0) * 1e9)
    lost = _lost(tables)
    if lost > MOST_LOST * max(len(counted.rows), 1):
        return False, f"{lost:,} records were lost of {lost + len(counted.rows):,}"
    if driver.late:
        return False, f"{driver.late_lines} lines were sent too late{_meanwhile(total)}"
    if driver.takes_too_much:
        return False, f"the driver took {driver.host_share or 0.0:.0%} of the processors"
    audit = little_closed(counted.rows, tables.sessions, counted.stretch)
    if audit is not None and audit.verdict == "broken":
        return (
            False,
            f"Little's law does not hold: {audit.measured:.1f} users there, {audit.computed:.1f} by the records",
        )
    return True, ""


def _meanwhile(total: TotalTime | None) -> str:
    """Who kept the processors from the driver."""
    whose = None if total is None else whose_of(total)
    if whose is None:
        return ""
    return f" while others kept the processors {whose.others:.0%} busy: search when the host is quiet"


def _lines_a_pass(rows: pl.DataFrame) -> float | None:
    """Of the passes that are whole, as far as the records tell: each user's but the first and the last."""
    passes = rows.group_by("user", "pass").len()
    inner = passes.filter(
        (pl.col("pass") > pl.col("pass").min().over("user")) & (pl.col("pass") < pl.col("pass").max().over("user"))
    )
    return _mean_of(inner, "len")


def _class_points(counted: _Counted, classes: Sequence[str]) -> tuple[ClassPoint, ...]:
    """Each class of a mix, by its users."""
    seconds = counted.stretch.span_ns / 1e9
    found = []
    for name in sorted(set(classes)):
        mine = [user for user, one in enumerate(classes, start=1) if one == name]
        rows = counted.rows.filter(pl.col("user").is_in(mine))
        responses = _responses_s(rows)
        cpu = usage_of(rows).cpu_ns
        found.append(
            ClassPoint(
                name=name,
                users=len(mine),
                throughput=len(rows) / seconds if seconds else 0.0,
                response_s=_mean(responses) if np.isfinite(responses).any() else None,
                think_s=_think_s(rows),
                cpu_s=None if cpu is None else cpu / 1e9,
            )
        )
    return tuple(found)
