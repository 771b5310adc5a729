"""One side of a comparison, in the same form for a run, for several runs and for a printed table.

A side has rows, one for each interaction, which are compared command by command. It also has an account of all
processors' time for each run. Unknown figures are null in the rows and absent from the accounts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.measures.account import RunAccount, account_of
from loadgo.measures.charged_use import charge_expression, shared_holdings
from loadgo.measures.charges import Rate, rates_of
from loadgo.measures.meters import Meters, meters_of
from loadgo.measures.other_work import Level, OtherWork, most_other_work, other_work_of
from loadgo.measures.tariff import tariff_on
from loadgo.measures.total_time import total_time_of
from loadgo.notation.figures import counted, people
from loadgo.records.conditions import has_open_load, has_passes, system_title
from loadgo.records.extrapolation import ExtrapolatedUser, with_missing
from loadgo.records.interactions import CPU_NS, CYCLE_NS, IS_MEASURED, IS_UNANSWERED, IS_UNSEEN, with_classes
from loadgo.records.phases import Stretch, stretch_of
from loadgo.records.run_file import start_in
from loadgo.stats.resample import Interval

if TYPE_CHECKING:
    from loadgo.published.document import Document
    from loadgo.records.tables import Tables

COMPARED_MEASURES = (
    "response",
    "cpu",
    "programs",
    "work",
    "page",
    "faults",
    "major faults",
    "ready wait",
    "paging wait",
    "I/O wait",
    "output",
    "cost",
    "cycle",
)
"""The measures of an interaction: times in nanoseconds, faults, bytes and money.

`programs` is the processor time of the user's programs, `page` that of page faults, and `work` all but `page`. A major
fault waits for a page to be brought in, which is the paging wait. `cycle` is the time from prompt to prompt.
"""

ROW_SCHEMA: dict[str, pl.DataType] = {
    "run": pl.Int64(),
    "seed": pl.Int64(),
    "user": pl.Int64(),
    "pass": pl.Int64(),
    "line": pl.Int64(),
    "command": pl.String(),
    "extrapolated": pl.Boolean(),
    "moment": pl.Float64(),
    "waited": pl.Float64(),
    "end": pl.Float64(),
    **{name: pl.Float64() for name in COMPARED_MEASURES},
}
"""The columns of a side's rows.

`moment` is the time at which the line was sent, from 0 to 1 of the stretch. `end` is the time at which it was answered,
on the same scale; null if it was not, or is not known. `waited` is how long users waited for a line that was never
answered, in nanoseconds; null for all other lines.
"""

_IS_OPEN = IS_MEASURED & pl.col("response_ns").is_null() & ~IS_UNSEEN
"""Whether a line was waited for without an answer, so that it is in no mean."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    kind: Literal["host", "machine", "printed"]
    title: str
    rows: pl.DataFrame
    """Columns as in `ROW_SCHEMA`."""
    accounts: tuple[RunAccount, ...]
    """The account of each run."""
    conditions: Mapping[str, str]
    """The conditions by name, in words."""
    lines: tuple[tuple[str, str], ...]
    """The script's lines and their commands. Empty for a printed side."""
    tables: tuple[Tables, ...] = ()
    """The tables of each run, for the checks."""
    stretches: tuple[Stretch, ...] = ()
    extrapolated: tuple[ExtrapolatedUser, ...] = ()
    """Users who died, with the number of their missing interactions."""
    unanswered: int = 0
    """Number of lines that had no answer."""
    fault_source: str = ""
    """A phrase that says where the time of page faults comes from. Empty if the time is not known."""
    fault_error_share: float = 0.0
    """Half of the 95 % interval of the time of a page fault over that time, where windows estimate it: else 0.

    Infinite with too few windows. Of several runs it is that of the least certain one.
    """
    document: Document | None = None
    """The document of a printed side."""
    notes: tuple[str, ...] = ()
    doubts: Mapping[str, Interval] = field(default_factory=dict)
    """The uncertainty of a prediction's figures that comes from the fit, as factors by measure."""
    folders: tuple[Path, ...] = ()
    """The folder of each run. Empty for a printed side."""
    currency: str = ""
    """The sign of the currency of the costs. Empty for a printed side, whose rows have none."""
    beside: Level = "quiet"
    """How busy with other things the host of the other side was: nearly equal shares have one level."""

    @property
    def has_totals_alone(self) -> bool:
        """Whether the side is printed without its interactions: their number and sums are all that is known."""
        return self.kind == "printed" and self.rows.is_empty()

    @property
    def has_open_load(self) -> bool:
        """Whether sessions arrived at a rate in a run of this side."""
        return any(has_open_load(run.conditions) for run in self.tables)

    @property
    def interactions_per_second(self) -> float | None:
        """The interactions of all runs over their time."""
        span_ns = sum(stretch.span_ns for stretch in self.stretches)
        return sum(stretch.counted for stretch in self.stretches) * 1e9 / span_ns if span_ns > 0 else None

    @property
    def interaction_count(self) -> int:
        """Number of interactions, known one by one or as a sum."""
        return round(self.accounts[0].interactions) if self.has_totals_alone and self.accounts else len(self.rows)

    @property
    def run_names(self) -> tuple[str, ...]:
        """The name of each run. The side's name where the folders are not known."""
        return tuple(folder.name for folder in self.folders) or (self.name,) * len(self.tables)

    @property
    def stretch_in_words(self) -> str:
        """The part of its runs that the side's figures are of, in words; empty for a printed side."""
        names = {stretch.name for stretch in self.stretches}
        if len(names) > 1:
            return "the steady part of some runs and the whole of others"
        return {"steady": "the steady part of the run", "": ""}.get("".join(names), "the whole run")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the side's runs, in their order."""
        return tuple(self.rows.group_by("run").agg(pl.col("seed").first()).sort("run")["seed"].to_list())

    @property
    def other_work(self) -> OtherWork | None:
        """The other work beside the run with the largest share of it; None if no run measured it."""
        most = most_other_work(zip(self.tables, self.stretches, strict=True))
        return None if most is None else replace(most, beside=self.beside)

    @property
    def run_count(self) -> int:
        """Number of runs with interactions."""
        return self.rows["run"].n_unique()

    @cached_property
    def others_shares(self) -> tuple[float, ...]:
        """The share of other programs in the host's processor time, of each run where it is known."""
        runs = zip(self.tables, self.stretches, strict=True) if self.tables else ()
        works = [other_work_of(run, stretch, total_time_of(run, stretch)) for run, stretch in runs]
        return tuple(work.share for work in works if work is not None)

    @property
    def mean_others_share(self) -> float:
        """The mean of `others_shares`; 0 if unknown."""
        return sum(self.others_shares) / max(len(self.others_shares), 1)

    @property
    def starts_s(self) -> tuple[float, ...]:
        """When each run started, in seconds, where it is known."""
        starts = [start_in(run.conditions) for run in self.tables]
        return tuple(start.timestamp() for start in starts if start is not None)

    @property
    def has_fixed_span(self) -> bool:
        """Whether each run lasted a time that was fixed in advance, to whose end all users typed."""
        loads = [tables.conditions.get("load", {}) for tables in self.tables]
        return bool(loads) and all("duration_s" in load and "until" not in load for load in loads)

    @property
    def has_passes(self) -> bool:
        """Whether the users typed a number of passes, so that each typed the same lines."""
        return self.kind == "printed" or all(has_passes(tables.conditions) for tables in self.tables)


@dataclass(frozen=True)
class RunPart:
    """One run of a side."""

    rows: pl.DataFrame
    account: RunAccount | None
    stretch: Stretch
    extrapolated: tuple[ExtrapolatedUser, ...]
    unanswered: int
    fault_source: str
    fault_error_share: float
    currency: str


def side_of_runs(name: str, runs: tuple[Tables, ...], phases: str, tariff: str, conditions: Mapping[str, str]) -> Side:
    """Makes one side of one or several runs. `phases` is `steady` or `all`.

    Raises `ValueError` for an unknown tariff.
    """
    parts = [_part(number, tables, phases, tariff) for number, tables in enumerate(runs)]
    system = runs[0].conditions.get("system", {})
    return Side(
        name=name,
        kind="machine" if system.get("kind") == "machine" else "host",
        title=_title(runs[0]),
        rows=pl.concat([part.rows for part in parts]),
        accounts=tuple(part.account for part in parts if part.account is not None),
        conditions=conditions,
        lines=(),
        tables=runs,
        stretches=tuple(part.stretch for part in parts),
        extrapolated=tuple(user for part in parts for user in part.extrapolated),
        unanswered=sum(part.unanswered for part in parts),
        fault_source=parts[0].fault_source if all(part.fault_source for part in parts) else "",
        fault_error_share=max(part.fault_error_share for part in parts),
        currency=parts[0].currency,
    )


def _title(tables: Tables) -> str:
    conditions = tables.conditions
    if conditions.get("kind") == "meter":
        return f"{conditions.get('name', '')}, metered without users, {system_title(conditions)}"
    users = conditions.get("load", {}).get("users")
    number = "? users" if users is None else people(int(users))
    return f"{conditions.get('name', '')}, {number}, {system_title(conditions)}"


def _part(number: int, tables: Tables, phases: str, tariff: str) -> RunPart:
    completed, extrapolated = with_missing(tables)
    stretch = stretch_of(tables, phases)
    typed = with_classes(completed, tables.sessions)
    if stretch.name != "all":
        typed = typed.filter(pl.col("phase").cast(pl.String) == stretch.name)
    meters = meters_of(tables, stretch)
    fault_ns, source, error_share = _fault_time(meters)
    run_tariff = tariff_on(tariff, tables.conditions.get("system", {}))
    present_ns = typed.filter(IS_MEASURED).select(_cycle().sum()).item()
    rates = rates_of(run_tariff, shared_holdings(tables, stretch, float(present_ns or 0)))
    rows = _rows(number, tables.conditions, typed, fault_ns, rates)
    return RunPart(
        rows=rows,
        account=account_of(tables, stretch, meters, rows, run_tariff),
        stretch=stretch,
        extrapolated=extrapolated,
        unanswered=int(typed.select((IS_UNANSWERED & ~IS_UNSEEN).sum()).item()),
        fault_source=source,
        fault_error_share=error_share,
        currency=run_tariff.currency,
    )


def _fault_time(meters: Meters) -> tuple[float | None, str, float]:
    """The mean processor time of a page fault, a phrase about its source, and its error. None unless all were timed.

    The error is half of the 95 % interval as a part of the time: 0 where all faults were clocked, infinite if unknown.
    """
    kinds = [row for row in meters.faults if row.name in ("major", "minor", "swap-in", "write-protect")]
    timed = [row for row in kinds if row.cpu_ns is not None]
    count = sum(row.count for row in timed)
    if not timed or len(timed) != len(kinds) or not count:
        return None, "", 0.0
    cpu_ns = sum(row.cpu_ns or 0 for row in timed)
    source = "the number of page faults times the mean processor time of one by the meters"
    if meters.windows is None:
        return cpu_ns / count, source, 0.0
    source += f", estimated from {counted(meters.windows.number, 'random window')}"
    errors = [(row.count_error, row.cpu_error_ns) for row in timed]
    if not cpu_ns or any(None in pair for pair in errors):
        return cpu_ns / count, source, math.inf
    of_count, of_time = (math.fsum(pair[part] or 0 for pair in errors) for part in range(2))
    return cpu_ns / count, source, math.hypot(of_count / count, of_time / cpu_ns)


def _rows(
    number: int, conditions: Mapping[str, Any], typed: pl.DataFrame, fault_ns: float | None, rates: tuple[Rate, ...]
) -> pl.DataFrame:
    """The interactions as rows of a side. Usage that was not read stays null."""
    cpu = CPU_NS.cast(pl.Float64)
    faults = pl.sum_horizontal("faults_minor", "faults_major", ignore_nulls=True).cast(pl.Float64)
    is_known = pl.col("faults_minor").is_not_null() | pl.col("faults_major").is_not_null()
    counted = pl.when(is_known).then(faults)
    page = counted * fault_ns if fault_ns is not None else pl.lit(None, pl.Float64)
    waits = pl.col("paging_wait_ns").cast(pl.Float64)
    output = pl.col("bytes_out").cast(pl.Float64)
    used = {"cpu_ns": cpu, "paging_wait_ns": waits, "present_ns": _cycle(), "bytes_out": output}
    return typed.select(
        run=pl.lit(number, pl.Int64),
        seed=pl.lit(int(conditions.get("load", {}).get("seed", number)), pl.Int64),
        user=pl.col("user").cast(pl.Int64),
        **{"pass": pl.col("pass").cast(pl.Int64)},
        line=pl.col("line").cast(pl.Int64),
        command=pl.col("command").cast(pl.String),
        extrapolated=~IS_MEASURED,
        moment=_moment(),
        waited=pl.when(_IS_OPEN).then(pl.col("waiting_ns").cast(pl.Float64)),
        end=_end(),
        response=pl.col("response_ns").cast(pl.Float64),
        cpu=cpu,
        programs=pl.col("cpu_user_ns").cast(pl.Float64),
        work=cpu - page,
        page=page,
        faults=counted,
        **{
            "major faults": pl.col("faults_major").cast(pl.Float64),
            "ready wait": pl.col("ready_wait_ns").cast(pl.Float64),
            "paging wait": waits,
            "I/O wait": pl.col("io_wait_ns").cast(pl.Float64),
        },
        output=output,
        cost=charge_expression(used, rates),
        cycle=_cycle(),
    ).select(pl.col(name).cast(kind) for name, kind in ROW_SCHEMA.items())


def _moment() -> pl.Expr:
    """The time at which a line was sent, 0 for the first line and 1 for the last.

    An extrapolated line has the mean time of the other users' lines at its place in the script.
    """
    sent = pl.when(IS_MEASURED).then(pl.col("sent_ns").cast(pl.Float64))
    share = (sent - sent.min()) / pl.max_horizontal(sent.max() - sent.min(), pl.lit(1.0))
    return share.fill_null(share.mean().over("pass", "line")).fill_null(0.5)


def _end() -> pl.Expr:
    """The time at which a line was answered, on the scale of `_moment`."""
    sent, ready = (pl.when(IS_MEASURED).then(pl.col(name).cast(pl.Float64)) for name in ("sent_ns", "ready_ns"))
    return (ready - sent.min()) / pl.max_horizontal(sent.max() - sent.min(), pl.lit(1.0))


def _cycle() -> pl.Expr:
    """The time from prompt to prompt. Null for an extrapolated interaction."""
    return pl.when(IS_MEASURED).then(CYCLE_NS.cast(pl.Float64))
