"""Writes the folder of a large invented run: `large_run.py FOLDER INTERACTIONS USERS`.

Users think a second and wait some milliseconds. All interactions are in the steady phase, ordered by their ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from loadgo.records.tables import COLUMNS_BY_TABLE

S = 1_000_000_000
COMMANDS = ["edit", "compile", "rename", "print", "run", "list", "delete", "calculate", "search"]
RUN_TOML = """format = 1
id = "large"
name = "large"
started = 2026-11-21T01:37:05Z
finished = true
outcome = "done"
[load]
model = "closed"
users = {users}
think = "exponential(1s)"
[usage]
every = 1
"""


def large_run(interactions: int, users: int) -> dict[str, dict[str, object]]:
    """The columns of the run's tables."""
    random = np.random.default_rng(1)
    per_user = -(-interactions // users)
    response = random.lognormal(16, 1, (users, per_user)).astype(np.int64)
    think = random.exponential(S, (users, per_user)).astype(np.int64)
    ready = np.cumsum(response + think, axis=1)
    order = np.argsort(ready, axis=None)[:interactions]
    user, turn = np.divmod(order, per_user)
    sent = (ready - response).ravel()[order]
    command = turn % len(COMMANDS)
    columns: dict[str, object] = {
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
    usage = {
        name: random.integers(0, 5_000_000, len(sent))
        for name in COLUMNS_BY_TABLE["interactions"]
        if name not in columns
    }
    usage["exit_status"] = np.zeros(len(sent), np.int64)
    last = int(ready.max())
    return {
        "interactions": columns | usage,
        "sessions": _sessions(users, ready[:, -1]),
        "time": _time(last),
        "phases": {"at_ns": [0, last], "phase": ["steady", "ramp-down"]},
    }


def _sessions(users: int, ended: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[str, object]:
    at_once = np.zeros(users, np.int64)
    began = {"planned_ns": at_once, "started_ns": at_once, "ready_ns": at_once}
    return {"user": np.arange(1, users + 1), **began, "ended_ns": ended, "outcome": np.full(users, "done")}


def _time(last: int) -> dict[str, object]:
    at = np.repeat(np.arange(S, last + S, S), 4)
    share = np.tile([S // 2, S // 4, 0, S // 4], len(at) // 4)
    names = np.tile(["user", "system", "iowait", "idle"], len(at) // 4)
    return {"at_ns": at, "span_ns": np.full(len(at), S), "processor": at * 0, "category": names, "time_ns": share}


def main() -> None:
    """Writes the run's folder."""
    folder, (interactions, users) = Path(sys.argv[1]), map(int, sys.argv[2:4])
    folder.mkdir()
    (folder / "run.toml").write_text(RUN_TOML.format(users=users))
    for name, columns in large_run(interactions, users).items():
        kinds = COLUMNS_BY_TABLE[name]
        frame = pl.DataFrame(columns).select(
            pl.col(column).cast(kind) for column, kind in kinds.items() if column in columns
        )
        frame.write_parquet(folder / f"{name}.parquet")


if __name__ == "__main__":
    main()
