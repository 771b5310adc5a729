"""Measures what the report of a large run takes: seconds and peak memory of summary, text and HTML.

    python bench/report.py [INTERACTIONS] [USERS]

Prints one line a step and the machine's name; the bound is 10 s and 1 GB for a million interactions.
"""

from __future__ import annotations

import platform
import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import polars as pl
from loadgo.report import render
from loadgo.summary import summarize
from loadgo.tables import COLUMNS, Tables

S = 1_000_000_000
Result = TypeVar("Result")
COMMANDS = ["edit", "compile", "rename", "print", "run", "list", "delete", "calculate", "search"]


def large_run(interactions: int, users: int) -> Tables:
    """A run of `users` who think 1 s and wait some milliseconds, in the order in which interactions ended."""
    random = np.random.default_rng(1)
    each = -(-interactions // users)
    response = random.lognormal(16, 1, (users, each)).astype(np.int64)
    think = random.exponential(S, (users, each)).astype(np.int64)
    ready = np.cumsum(response + think, axis=1)
    order = np.argsort(ready, axis=None)[:interactions]
    user, turn = np.divmod(order, each)
    sent = (ready - response).ravel()[order]
    command = turn % len(COMMANDS)
    numbers: dict[str, object] = {
        "user": user + 1,
        "pass": turn // len(COMMANDS) + 1,
        "line": command + 1,
        "command": np.array(COMMANDS)[command],
        "planned_ns": sent - random.integers(0, 60_000, len(sent)),
        "sent_ns": sent,
        "first_output_ns": sent,
        "ready_ns": ready.ravel()[order],
        "typing_ns": np.zeros(len(sent), np.int64),
        "think_ns": think.ravel()[order],
        "outcome": np.full(len(sent), "ok"),
        "phase": np.full(len(sent), "steady"),
    }
    usage = {name: random.integers(0, 5_000_000, len(sent)) for name in COLUMNS["interactions"] if name not in numbers}
    usage["exit_status"] = np.zeros(len(sent), np.int64)
    last = int(ready.max())
    sessions = {
        "user": np.arange(1, users + 1),
        "planned_ns": np.zeros(users, np.int64),
        "started_ns": np.zeros(users, np.int64),
        "ready_ns": np.zeros(users, np.int64),
        "ended_ns": ready[:, -1],
        "outcome": np.full(users, "done"),
    }
    steady = {"at_ns": [0, last], "phase": ["steady", "end"]}
    filled: dict[str, dict[str, object]] = {
        "interactions": numbers | usage,
        "sessions": dict(sessions),
        "time": _time(last),
        "phases": dict(steady),
    }
    frames = {name: _frame(filled.get(name, {}), name) for name in COLUMNS}
    return Tables(**frames, conditions={"finished": True, "name": "large", "load": {"users": users}})


def _time(last: int) -> dict[str, object]:
    at = np.repeat(np.arange(S, last + S, S), 4)
    share = np.tile([S // 2, S // 4, 0, S // 4], len(at) // 4)
    names = np.tile(["user", "system", "iowait", "idle"], len(at) // 4)
    return {"at_ns": at, "span_ns": np.full(len(at), S), "processor": at * 0, "category": names, "time_ns": share}


def _frame(columns: dict[str, object], name: str) -> pl.DataFrame:
    schema = COLUMNS[name]
    if not columns:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame(columns).select(
        pl.col(column).cast(kind) for column, kind in schema.items() if column in columns
    )


def _timed(what: str, work: Callable[[], Result]) -> Result:
    began = time.perf_counter()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:10} {time.perf_counter() - began:6.2f} s   peak {peak:6.0f} MB")
    return result


def main() -> None:
    """Runs the benchmark with the sizes of the command line."""
    interactions, users = (int(word) for word in (sys.argv[1:] + ["1000000", "16000"][len(sys.argv) - 1 :])[:2])
    tables = _timed("frames", lambda: large_run(interactions, users))
    summary = _timed("summary", lambda: summarize(tables))
    text = _timed("text", lambda: render(summary, tables, "text", width=100))
    html = _timed("html", lambda: render(summary, tables, "html"))
    print(f"{len(tables.interactions):,} interactions, {users:,} users, on {platform.node()}, {platform.processor()}")
    print(f"text {len(text):,} characters, html {len(html):,} characters")


if __name__ == "__main__":
    main()
