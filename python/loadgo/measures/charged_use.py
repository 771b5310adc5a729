"""What the interactions of one or several runs used of what can be charged for, as sums by run, user and command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from loadgo.measures.charges import QUANTITIES, Held, Rate
from loadgo.measures.total_time import total_time_of
from loadgo.records.conditions import SCRIPT_FILE
from loadgo.records.interactions import CPU_NS, CYCLE_NS
from loadgo.records.phases import Stretch, classified_in, spans_in, stretch_of
from loadgo.stats.resample import stretch_count

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

KEYS = ("run", "user", "command", "stretch")
MEANS = (*QUANTITIES, "response_ns")
"""What the mean of is asked for: what is charged for, and the response time."""


@dataclass(frozen=True)
class Machine:
    """What the whole machine did meanwhile, in nanoseconds of all processors together."""

    busy_ns: float
    laboratory_ns: float
    """The driver's and the meters' part of it."""
    total_ns: float
    """All time of all processors."""


@dataclass(frozen=True)
class Use:
    """What was used."""

    cells: pl.DataFrame
    """Columns: run, user, command, stretch (of the time, from 0), place (of the command in the script), count, and of
    each of `MEANS` the sum of what is known, and `NAME known`: of how many interactions."""
    held: Held
    machine: Machine | None
    """None where the processors' time was not measured."""
    stretches: tuple[Stretch, ...]
    sampled: int
    """Usage was read at every so many-th interaction."""

    @property
    def interactions(self) -> int:
        """How many there were."""
        return int(self.cells["count"].sum())

    @property
    def users(self) -> int:
        """Of all runs together; who typed nothing is none."""
        return self.cells.select(pl.struct("run", "user").n_unique()).item() if len(self.cells) else 0


def use_of(runs: Sequence[Tables], folders: Sequence[Path] = (), phases: str = "steady") -> Use:
    """What the runs used in the stretch `phases` (`steady` or `all`); `folders` hold their scripts, which tell what was
    typed. Extrapolated interactions are left out.
    """
    stretches = tuple(stretch_of(tables, phases) for tables in runs)
    told = [
        _cells(number, tables, stretch, _typed(folders[number]) if folders else {})
        for number, (tables, stretch) in enumerate(zip(runs, stretches, strict=True))
    ]
    cells = pl.concat(told)
    machines = [_machine(tables, stretch) for tables, stretch in zip(runs, stretches, strict=True)]
    whole = [machine for machine in machines if machine is not None]
    memory = [memory_byte_ns(tables, stretch) for tables, stretch in zip(runs, stretches, strict=True)]
    known = [one for one in memory if one is not None]
    return Use(
        cells=cells,
        held=Held(
            elapsed_ns=float(sum(stretch.span_ns for stretch in stretches)),
            logged_in_ns=sum(map(logged_in_ns, runs, stretches)),
            present_ns=float(cells["present_ns"].sum()),
            memory_byte_ns=sum(known) if len(known) == len(runs) else None,
        ),
        machine=_together(whole) if len(whole) == len(runs) else None,
        stretches=stretches,
        sampled=max(int(tables.conditions.get("usage", {}).get("every", 1)) for tables in runs),
    )


def charged(used: Mapping[str, pl.Expr], rates: Sequence[Rate]) -> pl.Expr:
    """What each interaction is charged, of what it `used` by `QUANTITIES`; null where something of it is not known."""
    unknown = pl.lit(None, pl.Float64)
    parts = [used.get(rate.quantity, unknown) * (unknown if rate.each is None else rate.each) for rate in rates]
    return pl.sum_horizontal(parts, ignore_nulls=False) if parts else pl.lit(0.0)


def typed_of(runs: Sequence[Tables]) -> dict[str, int]:
    """How often each command was typed, in whatever phase."""
    names = pl.concat([run.interactions.select(pl.col("command").cast(pl.String)) for run in runs])
    return dict(names.group_by("command", maintain_order=True).len().rows())


def held_of(tables: Tables, stretch: Stretch, present_ns: float) -> Held:
    """What one run held over the stretch, whose interactions took `present_ns` from prompt to prompt."""
    return Held(
        elapsed_ns=float(stretch.span_ns),
        logged_in_ns=logged_in_ns(tables, stretch),
        present_ns=present_ns,
        memory_byte_ns=memory_byte_ns(tables, stretch),
    )


def logged_in_ns(tables: Tables, stretch: Stretch) -> float:
    """How long users were logged in, in the stretch, all together; without sessions one user was, all the time."""
    if tables.sessions.is_empty():
        return float(stretch.span_ns)
    end = pl.col("ended_ns").cast(pl.Int64).fill_null(stretch.end_ns).clip(upper_bound=stretch.end_ns)
    begin = pl.col("ready_ns").cast(pl.Int64).clip(lower_bound=stretch.start_ns)
    return float(tables.sessions.select((end - begin).clip(lower_bound=0).sum()).item() or 0)


def memory_byte_ns(tables: Tables, stretch: Stretch) -> float | None:
    """The users' memory times its time, over the stretch; None where it is not measured."""
    rows = spans_in(tables.processes, stretch).filter(
        (pl.col("who").cast(pl.String) == "users") & pl.col("user").is_null() & pl.col("memory_bytes").is_not_null()
    )
    spans = float(rows["span_ns"].cast(pl.Float64).sum())
    if not spans:
        return None
    whole = rows.select((pl.col("memory_bytes").cast(pl.Float64) * pl.col("span_ns").cast(pl.Float64)).sum()).item()
    return float(whole) / spans * stretch.span_ns


def _cells(number: int, tables: Tables, stretch: Stretch, typed: dict[int, int]) -> pl.DataFrame:
    rows = classified_in(tables, stretch)
    lines = pl.DataFrame({"line": list(typed), "bytes_in": list(typed.values())}, schema=_LINES)
    stretches = stretch_count(len(rows))
    moment = (pl.col("sent_ns").cast(pl.Float64) - stretch.start_ns) / max(stretch.span_ns, 1)
    told = rows.join(lines, on="line", how="left").select(
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
    return told.group_by(*KEYS, maintain_order=True).agg(
        pl.col("line").min().alias("place"),
        pl.len().cast(pl.Float64).alias("count"),
        *(pl.col(name).sum() for name in MEANS),
        *(pl.col(name).count().cast(pl.Float64).alias(f"{name} known") for name in MEANS),
    )


_LINES: dict[str, Any] = {"line": pl.UInt32(), "bytes_in": pl.UInt64()}


def _typed(folder: Path) -> dict[int, int]:
    """The bytes of each line of the script, with the key that sends it; nothing of a script whose lines are drawn."""
    try:
        told = tomllib.loads((folder / SCRIPT_FILE).read_text(encoding="utf-8")).get("lines", [])
    except (OSError, ValueError):
        return {}
    texts = [line if isinstance(line, str) else _once(line) for line in told]
    if any("{" in text or not text for text in texts):
        return {}
    return {at: len(text.encode()) + 1 for at, text in enumerate(texts, start=1)}


def _once(line: dict[str, Any]) -> str:
    """What a line types; empty where that is a choice, or not once."""
    return "" if {"repeat", "choose", "lines"} & line.keys() else str(line.get("type", ""))


def _machine(tables: Tables, stretch: Stretch) -> Machine | None:
    """The machine's time of the stretch: what was metered in spans wholly inside it stands for all of it."""
    total = total_time_of(tables, stretch)
    if total is None or not total.total_ns or not total.span_ns:
        return None
    longer = stretch.span_ns / total.span_ns
    laboratory = total.account.laboratory_ns or 0
    return Machine(
        busy_ns=total.account.busy_ns * longer,
        laboratory_ns=laboratory * longer,
        total_ns=total.total_ns * longer,
    )


def _together(machines: Sequence[Machine]) -> Machine:
    return Machine(*(sum(getattr(one, name) for one in machines) for name in Machine.__dataclass_fields__))
