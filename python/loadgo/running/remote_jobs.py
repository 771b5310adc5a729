"""The transfers of remote jobs on a simulated machine, as the table that a batch host keeps beside users of a host.

The script says which job a line is and so its direction, the machine how many bytes its command moves and in which
messages. A machine knows what a whole line took, not the transfer in it: those figures are named as estimated. Load
averages are made of its own queue as a host makes them: damped over minutes, from nothing at the run's beginning.
"""

from __future__ import annotations

import math
import shlex
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import polars as pl

from loadgo import _loadgo
from loadgo.documents.as_csv import csv_lines
from loadgo.records.interactions import CPU_NS, RESPONSE_NS
from loadgo.records.tables import Tables

COLUMNS = (
    "job", "method", "direction", "bytes", "message", "messages", "faults",
    "real_s", "cpu_s", "bits_per_s", "us_per_bit", "load", "load_1min", "estimated",
)  # fmt: skip
"""Up to `load_1min` those of a batch host; `estimated` names the columns that are of the whole line."""

ESTIMATED = "faults real_s cpu_s bits_per_s us_per_bit"
_PROGRAM = "loadgo-rjs"
_DIRECTIONS = {"submit": "s", "store": "s", "print": "r"}
_METHOD = "records"
_MINUTES = (5, 1)


def jobs_of(script: str) -> dict[int, str]:
    """The lines of a script that are remote jobs, by number: `submit`, `store` or `print`."""
    numbers = [number for number, _ in _loadgo.parse_script(script)["lines"]]
    typed = list(_typed(tomllib.loads(script).get("lines", [])))
    assert len(numbers) == len(typed), "each line of a script is typed"
    verbs = {number: _verb(line) for number, line in zip(numbers, typed, strict=True)}
    return {number: verb for number, verb in verbs.items() if verb is not None}


def simulated_transfers(run: Tables, jobs: Mapping[int, str], machine: str) -> str | None:
    """A row for each of the `jobs` that came to its end, as CSV; None where the machine says of none what it moves."""
    told = tomllib.loads(machine)
    commands = told.get("commands", {})
    message = int(told.get("supervisor", {}).get("message_bytes", 0))
    loads = _loads(run)
    rows = []
    lines = run.interactions.filter(pl.col("line").is_in(list(jobs))).with_columns(RESPONSE_NS, CPU_NS)
    for one in lines.iter_rows(named=True):
        size = commands.get(str(one["command"]), commands.get("*", {})).get("network_bytes")
        if one["outcome"] == "ok" and isinstance(size, int) and size > 0:
            moved = (jobs[one["line"]], size, message or size)
            rows.append(_row(one, *moved, _at(loads, one["ready_ns"])))
    return csv_lines([COLUMNS, *rows]) if rows else None


def _row(one: Mapping[str, Any], job: str, size: int, message: int, loads: tuple[float, ...]) -> list[object]:
    real_s, cpu_s = one["response_ns"] / 1e9, one["cpu_ns"] / 1e9
    faults = one["faults_minor"] + one["faults_major"]
    counts = [job, _METHOD, _DIRECTIONS[job], size, message, math.ceil(size / message), faults]
    times = [real_s, cpu_s, 8 * size / real_s if real_s else None, 1e6 * cpu_s / (8 * size)]
    return [*counts, *times, *loads, ESTIMATED]


def _typed(lines: list[Any]) -> Iterator[str]:
    """What each line types, in the script's order: a line, a group of them, or a choice."""
    for line in lines:
        if isinstance(line, str):
            yield line
        elif "type" in line:
            yield line["type"]
        else:
            yield from _typed(line.get("lines", []) + line.get("choose", []))


def _verb(typed: str) -> str | None:
    try:
        words = shlex.split(typed)
    except ValueError:
        return None
    is_job = len(words) > 1 and PurePath(words[0]).name == _PROGRAM and words[1] in _DIRECTIONS
    return words[1] if is_job else None


def _loads(run: Tables) -> list[tuple[float, ...]]:
    """The end of each span in nanoseconds, and the load averages of five minutes and of one then."""
    word = pl.col("queue").cast(pl.String), pl.col("measure").cast(pl.String)
    ready = run.queue.filter((word[0] == "processors") & (word[1] == "ready"))
    busy = run.time.filter(~pl.col("category").cast(pl.String).str.starts_with("idle"))
    running = busy.group_by("at_ns").agg(pl.col("time_ns").sum().alias("busy_ns"))
    wanting = ready.join(running, on="at_ns", how="left").sort("at_ns")
    counts = wanting.select("at_ns", "span_ns", pl.col("value") + pl.col("busy_ns").fill_null(0) / pl.col("span_ns"))
    found: list[tuple[float, ...]] = []
    averages = [0.0 for _ in _MINUTES]
    for at_ns, span_ns, count in counts.iter_rows():
        kept = [math.exp(-span_ns / (60e9 * minutes)) for minutes in _MINUTES]
        averages = [old * part + count * (1 - part) for old, part in zip(averages, kept, strict=True)]
        found.append((at_ns, *averages))
    return found


def _at(loads: list[tuple[float, ...]], instant_ns: int) -> tuple[float, ...]:
    """The averages of the last span that had ended."""
    place = bisect_right(loads, (instant_ns, math.inf))
    return loads[place - 1][1:] if place else tuple(0.0 for _ in _MINUTES)
