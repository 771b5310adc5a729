"""Made-up runs with known figures, as frames, for the tests of reports."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables

S = 1_000_000_000


class Work(NamedTuple):
    """A line of a synthetic script: its name and the mean of its exponential service time."""

    name: str
    service_s: float


def frame(rows: Sequence[dict[str, Any]], table: str) -> pl.DataFrame:
    """Rows as a frame with the columns of `table`; a value that a row does not have is null."""
    return pl.DataFrame(list(rows), schema=COLUMNS_BY_TABLE[table], orient="row")


@cache
def empty_frames() -> dict[str, pl.DataFrame]:
    """Each table without rows, made once: no test changes a frame in place."""
    return {name: frame([], name) for name in COLUMNS_BY_TABLE}


def empty_run(**conditions: object) -> Tables:
    """A run in which nothing happened."""
    return Tables(**empty_frames(), conditions={"finished": True, "outcome": "done"} | conditions)


def interaction(user: int, sent_s: float, response_s: float | None, **changes: object) -> dict[str, Any]:
    """A row of `interactions`: sent on time, after a second of thinking, in the steady phase.

    `changes` replace values.
    """
    sent = round(sent_s * S)
    row = {
        "user": user,
        "pass": 1,
        "line": 1,
        "command": "edit",
        "planned_ns": sent,
        "sent_ns": sent,
        "ready_ns": None if response_s is None else sent + round(response_s * S),
        "typing_ns": 0,
        "think_ns": S,
        "bytes_out": 10,
        "outcome": "ok" if response_s is not None else "timeout",
        "phase": "steady",
    }
    return row | changes


def run_of(rows: Sequence[dict[str, Any]], **conditions: object) -> Tables:
    """A run of the given interactions, with a session for each of their users."""
    last = max((row["ready_ns"] or row["sent_ns"] for row in rows), default=0)
    users = sorted({row["user"] for row in rows})
    sessions = [
        {"user": user, "planned_ns": 0, "started_ns": 0, "ready_ns": 0, "ended_ns": last, "outcome": "done"}
        for user in users
    ]
    frames = {"interactions": frame(rows, "interactions"), "sessions": frame(sessions, "sessions")}
    return replace(empty_run(**conditions), **frames)


def closed_loop(
    users: int, passes: int, script: Sequence[Work] = (Work("edit", 0.1),), think_s: float = 2.0, seed: int = 1
) -> Tables:
    """A closed loop of one first-come first-served processor with exponential service and think times: M/M/1//N."""
    random = np.random.default_rng(seed)
    waiting = [(float(random.exponential(think_s)), user) for user in range(1, users + 1)]
    heapq.heapify(waiting)
    done = dict.fromkeys(range(1, users + 1), 0)
    prompt = dict.fromkeys(range(1, users + 1), 0.0)
    free, rows = 0.0, []
    while waiting:
        sent, user = heapq.heappop(waiting)
        line = done[user] % len(script)
        service = float(random.exponential(script[line].service_s))
        ready = max(free, sent) + service
        rows.append(
            _row(
                user,
                done[user] // len(script) + 1,
                line,
                script[line].name,
                prompt[user],
                sent,
                max(free, sent),
                service,
            )
        )
        free, prompt[user] = ready, rows[-1]["ready_ns"] / S
        done[user] += 1
        if done[user] < passes * len(script):
            heapq.heappush(waiting, (prompt[user] + float(random.exponential(think_s)), user))
    return _with_phases(rows, users, passes * len(script))


def _row(
    user: int, turn: int, line: int, name: str, prompt: float, sent: float, begun: float, service: float
) -> dict[str, Any]:
    sent_ns, late_ns = round(sent * S), 20_000
    prompt_ns = round(prompt * S)
    service_ns, wait_ns = round(service * S), round((begun - sent) * S)
    return {
        "user": user,
        "pass": turn,
        "line": line + 1,
        "command": name,
        "planned_ns": max(sent_ns - late_ns, 0),
        "sent_ns": sent_ns,
        "first_output_ns": sent_ns + wait_ns,
        "ready_ns": sent_ns + wait_ns + service_ns,
        "typing_ns": 0,
        "think_ns": sent_ns - prompt_ns,
        "cpu_user_ns": service_ns * 3 // 4,
        "cpu_system_ns": service_ns - service_ns * 3 // 4,
        "faults_minor": 100 + line,
        "faults_major": 0,
        "ready_wait_ns": wait_ns,
        "paging_wait_ns": 0,
        "io_wait_ns": 0,
        "bytes_out": 80 * (line + 1),
        "exit_status": 0,
        "outcome": "ok",
    }


def _with_phases(rows: list[dict[str, Any]], users: int, lines_per_user: int) -> Tables:
    rows.sort(key=lambda row: row["ready_ns"])
    first_sent: dict[int, int] = {}
    ends: dict[int, int] = {}
    for row in rows:
        first_sent.setdefault(row["user"], row["sent_ns"])
        ends[row["user"]] = row["ready_ns"]
    steady = max(first_sent.values())
    ramp_down, end = max(min(ends.values()), steady + 1), max(ends.values())
    for row in rows:
        row["phase"] = "warm-up" if row["sent_ns"] < steady else "steady" if row["sent_ns"] < ramp_down else "ramp-down"
    sessions = [
        {"user": user, "planned_ns": 0, "started_ns": 0, "ready_ns": 0, "ended_ns": ends[user], "outcome": "done"}
        for user in ends
    ]
    phases = [("log-in", 0), ("warm-up", 0), ("steady", steady), ("ramp-down", ramp_down), ("end", end)]
    rows_by_table: dict[str, list[dict[str, Any]]] = {
        "interactions": rows,
        "sessions": sessions,
        "time": _seconds(rows, end, 2),
        "processes": _who(rows, end),
        "phases": [{"at_ns": at, "phase": phase} for phase, at in phases],
    }
    frames = {name: frame(table_rows, name) for name, table_rows in rows_by_table.items()}
    return replace(empty_run(), **frames, conditions=_conditions(users, lines_per_user))


def _cpu_until(rows: list[dict[str, Any]], column: str, edges: np.ndarray) -> np.ndarray:
    """The sum of a column over the interactions that were over by each edge."""
    ready = np.array([row["ready_ns"] for row in rows])
    total = np.concatenate([[0], np.cumsum([row[column] for row in rows])])
    return total[np.searchsorted(ready, edges, side="right")]


def _edges(end: int) -> np.ndarray:
    return np.arange(0, end + S, S, dtype=np.int64)


def _seconds(rows: list[dict[str, Any]], end: int, processors: int) -> list[dict[str, Any]]:
    edges = _edges(end)
    user, system = (np.diff(_cpu_until(rows, name, edges)) for name in ("cpu_user_ns", "cpu_system_ns"))
    found = []
    for i, at in enumerate(edges[1:]):
        for processor in range(processors):
            used = int(min(user[i] // processors, S // 2)), int(min(system[i] // processors + 5_000_000, S // 2))
            parts = {"user": used[0], "system": used[1], "softirq": 0, "iowait": 0, "idle": S - used[0] - used[1]}
            found += [
                {"at_ns": int(at), "span_ns": S, "processor": processor, "category": name, "time_ns": time}
                for name, time in parts.items()
            ]
    return found


def _who(rows: list[dict[str, Any]], end: int) -> list[dict[str, Any]]:
    edges = _edges(end)
    used = np.diff(_cpu_until(rows, "cpu_user_ns", edges) + _cpu_until(rows, "cpu_system_ns", edges))
    found = []
    for at, users in zip(edges[1:], used, strict=True):
        for who, time in (("users", min(int(users), S)), ("driver", 2_000_000), ("meters", 1_000_000)):
            found.append({"at_ns": int(at), "span_ns": S, "who": who, "cpu_ns": time, "memory_bytes": None})
    return found


def _conditions(users: int, passes: int) -> dict[str, Any]:
    return {
        "format": 1,
        "id": "2026-11-21T01-37-05-synthetic",
        "name": "synthetic",
        "script": "synthetic",
        "started": "2026-11-21T01:37:05Z",
        "finished": True,
        "outcome": "done",
        "load": {"model": "closed", "users": users, "passes": passes, "think": "exponential(2s)", "seed": 1},
        "system": {
            "kind": "host",
            "name": "here",
            "hostname": "testhost",
            "kernel": "6.1",
            "processors": 2,
            "login": "sh",
        },
        "usage": {"cpu": "cgroup v2", "faults": "taskstats", "waits": "taskstats", "every": 1, "notes": []},
        "conditions": {"load_average": [0.1, 0.2, 0.3], "load_average_end": [1.1, 0.4, 0.3], "users_logged_in": 1},
        "driver": {"scheduling": "fifo 10", "processor": 1, "proof": "the kernel answered FIFO 10", "notes": []},
    }
