"""The charged quantities that the interactions of one or several runs used, as sums by run, user and command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.measures.charges import CHARGED_QUANTITIES, Rate, SharedHoldings
from loadgo.measures.total_time import total_time_of
from loadgo.notation.toml_text import toml_table
from loadgo.records.conditions import SCRIPT_FILE
from loadgo.records.fleets import hosts_of_run
from loadgo.records.interactions import CPU_NS, CYCLE_NS
from loadgo.records.phases import Stretch, classified_in, spans_in, stretch_of
from loadgo.stats.resample import stretch_count

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

CELL_KEYS = ("run", "user", "command", "stretch")
AVERAGED_QUANTITIES = (*CHARGED_QUANTITIES, "response_ns")
"""Quantities with a mean for each interaction: the charged ones, and the response time."""


@dataclass(frozen=True)
class MachineTime:
    """The time of a whole machine during its stretch, in nanoseconds of all processors together."""

    busy_ns: float
    laboratory_ns: float
    """loadgo's own part of the busy time: driver, sampling and writing, meter programs."""
    total_ns: float
    """All time of all processors."""


@dataclass(frozen=True)
class RunUse:
    """The charged quantities that one or several runs used."""

    cells: pl.DataFrame
    """Sums by run, user, command and stretch of the time (from 0).

    `place` is the first line of the command in the script, and `count` the number of interactions. Each NAME of
    `AVERAGED_QUANTITIES` has two columns: the sum NAME, and the number of interactions in it, `NAME known`.
    """
    held: SharedHoldings
    machine: MachineTime | None
    """None where the processors' time was not measured."""
    stretches: tuple[Stretch, ...]
    sampled: int
    """N, if usage was read for every N-th interaction of a user; 1 if it was read for each."""

    @property
    def interactions(self) -> int:
        """Number of interactions of all runs."""
        return int(self.cells["count"].sum())

    @property
    def users(self) -> int:
        """Number of users with interactions, of all runs together."""
        return self.cells.select(pl.struct("run", "user").n_unique()).item() if len(self.cells) else 0


def use_of(runs: Sequence[Tables], folders: Sequence[Path] = (), phases: str = "steady") -> RunUse:
    """The use of the runs in the stretch `phases` (`steady` or `all`), without extrapolated interactions.

    `folders` are the run folders, whose scripts have the bytes that were typed; without them input is not known.
    """
    stretches = tuple(stretch_of(tables, phases) for tables in runs)
    unit_sums = [
        _unit_sums(number, tables, stretch, _bytes_by_line(folders[number]) if folders else {})
        for number, (tables, stretch) in enumerate(zip(runs, stretches, strict=True))
    ]
    cells = pl.concat(unit_sums)
    machines = [_machine_time(tables, stretch) for tables, stretch in zip(runs, stretches, strict=True)]
    measured_machines = [machine for machine in machines if machine is not None]
    memory = [memory_byte_ns(tables, stretch) for tables, stretch in zip(runs, stretches, strict=True)]
    measured_memory = [byte_ns for byte_ns in memory if byte_ns is not None]
    return RunUse(
        cells=cells,
        held=SharedHoldings(
            elapsed_ns=float(sum(stretch.span_ns for stretch in stretches)),
            logged_in_ns=sum(map(logged_in_ns, runs, stretches)),
            present_ns=float(cells["present_ns"].sum()),
            memory_byte_ns=sum(measured_memory) if len(measured_memory) == len(runs) else None,
            rented_ns=sum(map(_rent_ns, runs, stretches)) if any(run.by_host for run in runs) else None,
        ),
        machine=_sum_machine_time(measured_machines) if len(measured_machines) == len(runs) else None,
        stretches=stretches,
        sampled=max(int(tables.conditions.get("usage", {}).get("every", 1)) for tables in runs),
    )


def charge_expression(used: Mapping[str, pl.Expr], rates: Sequence[Rate]) -> pl.Expr:
    """The cost of an interaction from the quantities that it `used`; null where a charged quantity is not known."""
    unknown = pl.lit(None, pl.Float64)
    parts = [used.get(rate.quantity, unknown) * (unknown if rate.each is None else rate.each) for rate in rates]
    return pl.sum_horizontal(parts, ignore_nulls=False) if parts else pl.lit(0.0)


def command_counts(runs: Sequence[Tables]) -> dict[str, int]:
    """Number of interactions of each command, in all phases."""
    names = pl.concat([run.interactions.select(pl.col("command").cast(pl.String)) for run in runs])
    return dict(names.group_by("command", maintain_order=True).len().rows())


def shared_holdings(tables: Tables, stretch: Stretch, present_ns: float) -> SharedHoldings:
    """The shared holdings of one run during the stretch; its interactions took `present_ns` from prompt to prompt."""
    return SharedHoldings(
        elapsed_ns=float(stretch.span_ns),
        logged_in_ns=logged_in_ns(tables, stretch),
        present_ns=present_ns,
        memory_byte_ns=memory_byte_ns(tables, stretch),
        rented_ns=_rent_ns(tables, stretch) if tables.by_host else None,
    )


def _rent_ns(tables: Tables, stretch: Stretch) -> float:
    """The time of all machines of the run together. A host that was lost is rented nevertheless."""
    return float(stretch.span_ns) * max(len(tables.by_host), 1)


def logged_in_ns(tables: Tables, stretch: Stretch) -> float:
    """Log-in time of all users during the stretch. Without sessions, it is the stretch, as for one user."""
    if tables.sessions.is_empty():
        return float(stretch.span_ns)
    end = pl.col("ended_ns").cast(pl.Int64).fill_null(stretch.end_ns).clip(upper_bound=stretch.end_ns)
    begin = pl.col("ready_ns").cast(pl.Int64).clip(lower_bound=stretch.start_ns)
    return float(tables.sessions.select((end - begin).clip(lower_bound=0).sum()).item() or 0)


def memory_byte_ns(tables: Tables, stretch: Stretch) -> float | None:
    """The integral of the users' memory over the stretch, in bytes × ns; None where it was not measured."""
    if tables.processes.is_empty():
        return None
    rows = spans_in(tables.processes, stretch).filter(
        (pl.col("who").cast(pl.String) == "users") & pl.col("user").is_null() & pl.col("memory_bytes").is_not_null()
    )
    spans = float(rows["span_ns"].cast(pl.Float64).sum())
    if not spans:
        return None
    byte_ns = rows.select((pl.col("memory_bytes").cast(pl.Float64) * pl.col("span_ns").cast(pl.Float64)).sum()).item()
    return float(byte_ns) / spans * stretch.span_ns


def _unit_sums(number: int, tables: Tables, stretch: Stretch, line_bytes: dict[int, int]) -> pl.DataFrame:
    interactions = classified_in(tables, stretch)
    lines = pl.DataFrame({"line": list(line_bytes), "bytes_in": list(line_bytes.values())}, schema=_LINES)
    stretches = stretch_count(len(interactions))
    moment = (pl.col("sent_ns").cast(pl.Float64) - stretch.start_ns) / max(stretch.span_ns, 1)
    rows = interactions.join(lines, on="line", how="left").select(
        run=pl.lit(number, pl.Int64),
        user=pl.col("user").cast(pl.Int64),
        command=pl.col("command").cast(pl.String),
        stretch=(moment * stretches).floor().clip(0, stretches - 1).cast(pl.Int64),
        line=pl.col("line").cast(pl.Int64),
        response_ns=pl.col("response_ns").cast(pl.Float64),
        cpu_ns=CPU_NS.cast(pl.Float64),
        paging_wait_ns=pl.col("paging_wait_ns").cast(pl.Float64),
        present_ns=CYCLE_NS.cast(pl.Float64),
        bytes_out=pl.col("bytes_out").cast(pl.Float64),
        bytes_in=pl.col("bytes_in").cast(pl.Float64),
    )
    return rows.group_by(*CELL_KEYS, maintain_order=True).agg(
        pl.col("line").min().alias("place"),
        pl.len().cast(pl.Float64).alias("count"),
        *(pl.col(name).sum() for name in AVERAGED_QUANTITIES),
        *(pl.col(name).count().cast(pl.Float64).alias(f"{name} known") for name in AVERAGED_QUANTITIES),
    )


_LINES: dict[str, Any] = {"line": pl.UInt32(), "bytes_in": pl.UInt64()}


def _bytes_by_line(folder: Path) -> dict[int, int]:
    """The bytes of each line of the script, with its RETURN; empty for a script whose lines are drawn."""
    try:
        script_lines = toml_table((folder / SCRIPT_FILE).read_text(encoding="utf-8")).get("lines", [])
    except (OSError, ValueError):
        return {}
    texts = [line if isinstance(line, str) else _single_text(line) for line in script_lines]
    if any("{" in text or not text for text in texts):
        return {}
    return {number: len(text.encode()) + 1 for number, text in enumerate(texts, start=1)}


def _single_text(line: dict[str, Any]) -> str:
    """The text that a line types; empty for a choice, a group or a repeated line."""
    return "" if {"repeat", "choose", "lines"} & line.keys() else str(line.get("type", ""))


def _machine_time(tables: Tables, stretch: Stretch) -> MachineTime | None:
    """The machine's time during the stretch: the spans that lie inside it stand for all of it.

    That of several hosts is their sum; None if one of them was lost, or has no time.
    """
    if tables.by_host:
        hosts = [_machine_time(host, stretch) for host in tables.by_host]
        known = [host for host in hosts if host is not None]
        is_whole = len(known) == len(hosts) and not any(host.lost for host in hosts_of_run(tables.conditions))
        return _sum_machine_time(known) if is_whole else None
    total = total_time_of(tables, stretch)
    if total is None or not total.total_ns or not total.span_ns:
        return None
    span_ratio = stretch.span_ns / total.span_ns
    laboratory = total.account.laboratory_ns or 0
    return MachineTime(
        busy_ns=total.account.busy_ns * span_ratio,
        laboratory_ns=laboratory * span_ratio,
        total_ns=total.total_ns * span_ratio,
    )


def _sum_machine_time(machines: Sequence[MachineTime]) -> MachineTime:
    fields = MachineTime.__dataclass_fields__
    return MachineTime(*(sum(getattr(machine, field) for machine in machines) for field in fields))
