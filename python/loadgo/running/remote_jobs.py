"""The transfers of remote jobs on a simulated machine, in the table format of a batch host.

The script says which job a line requests, and so the direction of its transfer. The machine file says how many bytes
the line's command moves, and how long messages are. The times are those of the whole line, not of the transfer alone.
They are marked as estimated.
Load averages are computed from the machine's queue as on a host: damped over minutes, and 0 at the run's beginning.
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

TRANSFER_COLUMNS = (*_loadgo.transfer_columns(), "estimated")
"""Columns of a batch host's table, and `estimated`: the names of the columns that describe the whole line."""

ESTIMATED_COLUMNS = "faults real_s cpu_s bits_per_s us_per_bit"
_PROGRAM = "loadgo-rjs"
_DIRECTIONS = {"submit": "s", "store": "s", "print": "r"}
_METHOD = "records"
_LOAD_AVERAGE_MINUTES = (5, 1)


def remote_jobs(script: str) -> dict[int, str]:
    """The remote jobs in a script, by line number: `submit`, `store` or `print`."""
    numbers = [number for number, _ in _loadgo.parse_script(script)["lines"]]
    texts = list(_line_texts(tomllib.loads(script).get("lines", [])))
    assert len(numbers) == len(texts), "each line of a script has a text"
    jobs = {number: _job_in(text) for number, text in zip(numbers, texts, strict=True)}
    return {number: job for number, job in jobs.items() if job is not None}


def simulated_transfers(run: Tables, jobs: Mapping[int, str], machine: str) -> str | None:
    """CSV with a row for each of the `jobs` that succeeded and whose size the machine file has. None without any."""
    machine_toml = tomllib.loads(machine)
    commands = machine_toml.get("commands", {})
    message = int(machine_toml.get("supervisor", {}).get("message_bytes", 0))
    loads = _load_averages(run)
    rows = []
    lines = run.interactions.filter(pl.col("line").is_in(list(jobs))).with_columns(RESPONSE_NS, CPU_NS)
    for line in lines.iter_rows(named=True):
        size = commands.get(str(line["command"]), commands.get("*", {})).get("network_bytes")
        if line["outcome"] == "ok" and isinstance(size, int) and size > 0:
            job, averages = jobs[line["line"]], _averages_at(loads, line["ready_ns"])
            rows.append(_transfer_row(line, job, size, message or size, averages))
    return csv_lines([TRANSFER_COLUMNS, *rows]) if rows else None


def _transfer_row(line: Mapping[str, Any], job: str, size: int, message: int, loads: tuple[float, ...]) -> list[object]:
    real_s, cpu_s = line["response_ns"] / 1e9, line["cpu_ns"] / 1e9
    faults = line["faults_minor"] + line["faults_major"]
    counts = [job, _METHOD, _DIRECTIONS[job], size, message, math.ceil(size / message), faults]
    times = [real_s, cpu_s, 8 * size / real_s if real_s else None, 1e6 * cpu_s / (8 * size)]
    return [*counts, *times, *loads, ESTIMATED_COLUMNS]


def _line_texts(lines: list[Any]) -> Iterator[str]:
    """The texts of the script's lines in order, including those in groups and choices."""
    for line in lines:
        if isinstance(line, str):
            yield line
        elif "type" in line:
            yield line["type"]
        elif "keys" in line:
            yield line["keys"]
        else:
            yield from _line_texts(line.get("lines", []) + line.get("choose", []))


def _job_in(text: str) -> str | None:
    """The job that a line requests of the batch host; None for any other line."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    is_job = len(words) > 1 and PurePath(words[0]).name == _PROGRAM and words[1] in _DIRECTIONS
    return words[1] if is_job else None


def _load_averages(run: Tables) -> list[tuple[float, ...]]:
    """The end of each span in nanoseconds, and the load averages at that instant over five minutes and one."""
    queue, measure = pl.col("queue").cast(pl.String), pl.col("measure").cast(pl.String)
    ready = run.queue.filter((queue == "processors") & (measure == "ready"))
    busy = run.time.filter(~pl.col("category").cast(pl.String).str.starts_with("idle"))
    running = busy.group_by("at_ns").agg(pl.col("time_ns").sum().alias("busy_ns"))
    spans = ready.join(running, on="at_ns", how="left").sort("at_ns")
    task_counts = spans.select("at_ns", "span_ns", pl.col("value") + pl.col("busy_ns").fill_null(0) / pl.col("span_ns"))
    rows: list[tuple[float, ...]] = []
    averages = [0.0 for _ in _LOAD_AVERAGE_MINUTES]
    for at_ns, span_ns, count in task_counts.iter_rows():
        weights = [math.exp(-span_ns / (60e9 * minutes)) for minutes in _LOAD_AVERAGE_MINUTES]
        averages = [old * weight + count * (1 - weight) for old, weight in zip(averages, weights, strict=True)]
        rows.append((at_ns, *averages))
    return rows


def _averages_at(loads: list[tuple[float, ...]], instant_ns: int) -> tuple[float, ...]:
    """The load averages at the end of the last span before an instant; 0 before the first."""
    index = bisect_right(loads, (instant_ns, math.inf))
    return loads[index - 1][1:] if index else tuple(0.0 for _ in _LOAD_AVERAGE_MINUTES)
