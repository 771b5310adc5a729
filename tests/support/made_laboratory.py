"""Folders of made runs, as a laboratory has after months: one run each few hours, with known response times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from loadgo.records.tables import COLUMNS_BY_TABLE

S = 1_000_000_000
COMMANDS = ("edit", "compile", "print")
FIRST_START = datetime(2026, 1, 5, 8, tzinfo=UTC)
SCRIPT = 'name = "day"\nlogin = "sh"\nlines = ["edit", "compile", "print"]\n'
RUN_TOML = """format = 1
loadgo = "{version}"
id = {id}
kind = "run"
name = {script}
script = "day"
started = {started}
finished = true
outcome = "{outcome}"
[load]
model = "closed"
users = {users}
think = "fixed(1s)"
seed = 1
[system]
kind = "host"
name = "here"
hostname = "{host}"
kernel = "{kernel}"
login = "{login}"
[usage]
every = 1
"""
PLAIN: Mapping[str, str] = {
    "version": "0.1.0",
    "script": "day",
    "outcome": "done",
    "users": "4",
    "host": "vm",
    "kernel": "6.1.0",
    "login": "sh",
}


def made_run(folder: Path, started: datetime, compile_s: float, *, passes: int = 12, **described: str) -> Path:
    """A run whose users' compilations all took about `compile_s`; `described` replaces values of `run.toml`."""
    values = {**PLAIN, **described}
    folder.mkdir(parents=True)
    values |= {"id": json.dumps(folder.name), "started": started.isoformat(), "script": json.dumps(values["script"])}
    (folder / "run.toml").write_text(RUN_TOML.format(**values), encoding="utf-8")
    (folder / "script.toml").write_text(SCRIPT, encoding="utf-8")
    for name, frame in _tables(int(values["users"]), passes, compile_s).items():
        frame.write_parquet(folder / f"{name}.parquet")
    return folder


def made_runs(root: Path, compile_s: Sequence[float], *, hours: float = 6.0, **described: str) -> list[Path]:
    """A run for each of the times, `hours` after each other. Those of `described` are the same in all."""
    return [
        made_run(root / f"{number:04}", FIRST_START + timedelta(hours=hours * number), seconds, **described)
        for number, seconds in enumerate(compile_s)
    ]


def scattered(levels: Sequence[tuple[int, float]], seed: int = 1, share: float = 0.03) -> list[float]:
    """Times with a lognormal scatter about levels, each given by its number of runs and its seconds."""
    random = np.random.default_rng(seed)
    return [float(level * np.exp(share * random.standard_normal())) for count, level in levels for _ in range(count)]


def _tables(users: int, passes: int, compile_s: float) -> dict[str, pl.DataFrame]:
    lines = passes * len(COMMANDS)
    user, turn = (part.ravel() for part in np.meshgrid(np.arange(users), np.arange(lines), indexing="ij"))
    command = turn % len(COMMANDS)
    means = np.array([0.1, compile_s, 0.2])[command]
    response = (means * (0.9 + 0.2 * ((turn * 7 + user * 3) % 11) / 10) * S).astype(np.int64)
    ready = (response + S).reshape(users, lines).cumsum(axis=1).ravel()
    sent = ready - response
    rows = {
        "user": user + 1,
        "pass": turn // len(COMMANDS) + 1,
        "line": command + 1,
        "command": np.array(COMMANDS)[command],
        "planned_ns": sent,
        "sent_ns": sent,
        "first_output_ns": sent,
        "ready_ns": ready,
        "typing_ns": 0 * sent,
        "think_ns": 0 * sent + S,
        "cpu_user_ns": response // 2,
        "cpu_system_ns": response // 8,
        "outcome": np.full(len(sent), "ok"),
        "phase": np.full(len(sent), "steady"),
    }
    last = int(ready.max())
    ends = ready.reshape(users, lines).max(axis=1)
    at_once = np.zeros(users, np.int64)
    sessions = {
        "user": np.arange(users) + 1,
        "planned_ns": at_once,
        "started_ns": at_once,
        "ready_ns": at_once,
        "ended_ns": ends,
        "outcome": np.full(users, "done"),
    }
    phases = {"at_ns": [0, 0, int(ends.min()), last], "phase": ["warm-up", "steady", "ramp-down", "end"]}
    columns: dict[str, Mapping[str, object]] = {"interactions": rows, "sessions": sessions, "phases": phases}
    return {
        name: pl.DataFrame(dict(values)).select(
            pl.col(column).cast(kind) for column, kind in COLUMNS_BY_TABLE[name].items() if column in values
        )
        for name, values in columns.items()
    }
