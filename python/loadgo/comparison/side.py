"""One side of a comparison: what was measured, the same for a run, for several runs and for a printed table.

A side has rows (what each interaction took, to be compared command by command) and accounts (where all processors' time
went in each run, to be taken apart). What a side does not know is null in the rows and absent from the account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from loadgo.measures.account import Account, account_of
from loadgo.measures.charged_use import charged, held_of
from loadgo.measures.charges import Rate, rates_of
from loadgo.measures.meters import Meters, meters_of
from loadgo.measures.tariff import tariff_on
from loadgo.notation.figures import people
from loadgo.records.extrapolation import Extrapolated, with_missing
from loadgo.records.interactions import CPU_NS, CYCLE_NS, MEASURED, with_classes
from loadgo.records.phases import Stretch, stretch_of
from loadgo.stats.resample import Interval

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

MEASURES = (
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
"""What is known of an interaction: times in nanoseconds, faults, bytes, money. `programs` is the processor time of the
user's own programs, `page` that of page faults, `work` all but `page`; major faults (of the faults, those for which a
page was brought in) are what paging waits are for; `cycle` is from prompt to prompt: thinking, typing and response."""

ROW_SCHEMA: dict[str, pl.DataType] = {
    "run": pl.Int64(),
    "seed": pl.Int64(),
    "user": pl.Int64(),
    "pass": pl.Int64(),
    "line": pl.Int64(),
    "command": pl.String(),
    "extrapolated": pl.Boolean(),
    "moment": pl.Float64(),
    **{name: pl.Float64() for name in MEASURES},
}
"""The columns of a side's rows; `moment` is when the line was sent, 0 to 1 of the stretch."""


@dataclass(frozen=True)
class Side:
    """What is compared."""

    name: str
    kind: Literal["host", "machine", "printed"]
    title: str
    rows: pl.DataFrame
    """Columns as in `ROW_SCHEMA`."""
    accounts: tuple[Account, ...]
    """One for each run."""
    conditions: Mapping[str, str]
    """By name, in words."""
    lines: tuple[tuple[str, str], ...]
    """The script's lines and their commands; empty of what is printed."""
    tables: tuple[Tables, ...] = ()
    """The runs' own, for what is checked."""
    stretches: tuple[Stretch, ...] = ()
    extrapolated: tuple[Extrapolated, ...] = ()
    """Users who died, and what they would have done."""
    unanswered: int = 0
    fault_source: str = ""
    """How the time of page faults is known; empty where it is not."""
    document: str = ""
    """The published document that it is printed in."""
    notes: tuple[str, ...] = ()
    doubts: Mapping[str, Interval] = field(default_factory=dict)
    """Of a prediction: what the doubt in the machine's parameters makes of its figures, as factors, by measure."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its runs, in their order."""
        return tuple(self.rows.group_by("run").agg(pl.col("seed").first()).sort("run")["seed"].to_list())

    @property
    def passes(self) -> bool:
        """Whether its users did a number of passes, so that each did the same lines."""
        loads = [tables.conditions.get("load", {}) for tables in self.tables]
        return self.kind == "printed" or all("duration_s" not in load and "until" not in load for load in loads)


@dataclass(frozen=True)
class RunPart:
    """One run as a part of a side."""

    rows: pl.DataFrame
    account: Account | None
    stretch: Stretch
    extrapolated: tuple[Extrapolated, ...]
    unanswered: int
    fault_source: str


def side_of_runs(name: str, runs: tuple[Tables, ...], phases: str, tariff: str, conditions: Mapping[str, str]) -> Side:
    """The side that one or several runs are; `phases` is `steady` or `all`.

    Raises `ValueError` for a tariff that there is not.
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
        extrapolated=tuple(one for part in parts for one in part.extrapolated),
        unanswered=sum(part.unanswered for part in parts),
        fault_source=parts[0].fault_source if all(part.fault_source for part in parts) else "",
    )


def _title(tables: Tables) -> str:
    told = tables.conditions
    system = told.get("system", {})
    where = system.get("title") or system.get("hostname") or system.get("name", "")
    users = told.get("load", {}).get("users")
    return f"{told.get('name', '')}, {'? users' if users is None else people(int(users))}, {where}"


def _part(number: int, tables: Tables, phases: str, tariff: str) -> RunPart:
    completed, extrapolated = with_missing(tables)
    stretch = stretch_of(tables, phases)
    typed = with_classes(completed, tables.sessions)
    if stretch.name != "all":
        typed = typed.filter(pl.col("phase").cast(pl.String) == stretch.name)
    meters = meters_of(tables, stretch)
    fault_ns, source = _fault_time(meters)
    price = tariff_on(tariff, tables.conditions.get("system", {}))
    present_ns = typed.filter(MEASURED).select(_cycle().sum()).item()
    rates = rates_of(price, held_of(tables, stretch, float(present_ns or 0)))
    rows = _rows(number, tables.conditions, typed, fault_ns, rates)
    return RunPart(
        rows=rows,
        account=account_of(tables, stretch, meters, rows, price),
        stretch=stretch,
        extrapolated=extrapolated,
        unanswered=int(typed["response_ns"].null_count()),
        fault_source=source,
    )


def _fault_time(meters: Meters) -> tuple[float | None, str]:
    """The processor time of one page fault, and how it is known; only where all faults were timed."""
    kinds = [row for row in meters.faults if row.name in ("major", "minor", "swap-in", "write-protect")]
    timed = [row for row in kinds if row.cpu_ns is not None]
    count = sum(row.count for row in timed)
    if not timed or len(timed) != len(kinds) or not count:
        return None, ""
    each = sum(row.cpu_ns or 0 for row in timed) / count
    return each, "its page faults, at the mean processor time of one by the meters"


def _rows(
    number: int, told: Mapping[str, Any], typed: pl.DataFrame, fault_ns: float | None, rates: tuple[Rate, ...]
) -> pl.DataFrame:
    """The interactions as rows of a side; usage that was sampled stays null between the samples."""
    cpu = CPU_NS.cast(pl.Float64)
    faults = pl.sum_horizontal("faults_minor", "faults_major", ignore_nulls=True).cast(pl.Float64)
    known = pl.col("faults_minor").is_not_null() | pl.col("faults_major").is_not_null()
    counted = pl.when(known).then(faults)
    page = counted * fault_ns if fault_ns is not None else pl.lit(None, pl.Float64)
    waits = pl.col("paging_wait_ns").cast(pl.Float64)
    output = pl.col("bytes_out").cast(pl.Float64)
    used = {"cpu_ns": cpu, "paging_wait_ns": waits, "present_ns": _cycle(), "bytes_out": output}
    return typed.select(
        run=pl.lit(number, pl.Int64),
        seed=pl.lit(int(told.get("load", {}).get("seed", number)), pl.Int64),
        user=pl.col("user").cast(pl.Int64),
        **{"pass": pl.col("pass").cast(pl.Int64)},
        line=pl.col("line").cast(pl.Int64),
        command=pl.col("command").cast(pl.String),
        extrapolated=~MEASURED,
        moment=_moment(),
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
        cost=charged(used, rates),
        cycle=_cycle(),
    ).select(pl.col(name).cast(kind) for name, kind in ROW_SCHEMA.items())


def _moment() -> pl.Expr:
    """When a line was sent, from the first to the last; what is extrapolated, when the others were there."""
    sent = pl.when(MEASURED).then(pl.col("sent_ns").cast(pl.Float64))
    share = (sent - sent.min()) / pl.max_horizontal(sent.max() - sent.min(), pl.lit(1.0))
    return share.fill_null(share.mean().over("pass", "line")).fill_null(0.5)


def _cycle() -> pl.Expr:
    """Thinking, typing, lateness and waiting; not known of what is extrapolated."""
    return pl.when(MEASURED).then(CYCLE_NS.cast(pl.Float64))
