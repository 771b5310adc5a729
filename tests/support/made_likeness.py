"""An observation and a run of its script whose laws are known: equal, or with a planted difference."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.observation.live import Watched

from support.run_files import written_run
from support.synthetic import S, interaction, run_of

CPU_S = {"quick": 0.02, "look": 0.05, "build": 0.8, "test": 0.4}
"""The mean processor time of each command."""
CLASSES = {"light": ("quick", "look"), "heavy": ("build", "test")}
COMMANDS_IN_A_SESSION = 25
FAULTS_A_SECOND = 20_000
"""Page faults for each second of processor time, so that both go together."""
READ_A_SECOND = 10_000_000
"""Bytes read by calls for each second of processor time."""
STORED = {"quick": 0, "look": 0, "build": 2_000_000, "test": 4096}
"""Bytes that each command writes to storage."""


@dataclass(frozen=True)
class Planted:
    """The differences of a run from the observation."""

    cpu: float = 1.0
    """The factor of the processor time of `build`."""
    think: float = 1.0
    """The factor of heavy users' think times."""
    first_share: float = 0.6
    """The share of the first command of each class."""


@dataclass(frozen=True)
class _Use:
    command: str
    think_s: float
    cpu_s: float
    wait_s: float


ALIKE = Planted()


def drawn_session(stream: np.random.Generator, user_class: str, planted: Planted) -> list[_Use]:
    """The commands of a session, from laws that are the same for all sessions of the class."""
    uses = []
    for _ in range(COMMANDS_IN_A_SESSION):
        command = CLASSES[user_class][int(stream.random() > planted.first_share)]
        think_s = stream.lognormal(1, 0.3) * (planted.think if user_class == "heavy" else 1.0)
        cpu_s = CPU_S[command] * stream.uniform(0.7, 1.3) * (planted.cpu if command == "build" else 1.0)
        uses.append(_Use(command, think_s, cpu_s, 0.1 * stream.uniform(0.5, 1.5)))
    return uses


def made_observation(
    folder: Path, sessions: int = 40, seed: int = 1, *, has_storage_counts: bool = True, **options: Any
) -> loadgo.Observation:
    """The script `monday.toml` in the folder, and its figures, of a live observation whose lines are drawn."""
    stream = np.random.default_rng(seed)
    lines: list[dict[str, Any]] = []
    for session in range(sessions):
        lines += _lines(session, drawn_session(stream, ("light", "heavy")[session % 2], ALIKE))
    lines = [{**line, "has_storage_counts": has_storage_counts} for line in lines]
    watched = Watched(lines, 1_760_000_000 * S, 600.0, False, 0, 0, ())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loadgo.observation.observe.watch_sessions", lambda *_: watched)
        return loadgo.observe(duration="10min", output=folder / "monday.toml", **options)


def _lines(session: int, uses: list[_Use]) -> list[dict[str, Any]]:
    """The lines of a session, as the kernel's programs have them."""
    lines, now_s = [], 1.0 + session
    for use in uses:
        typed_s = now_s + use.think_s
        ended_s = typed_s + use.cpu_s + use.wait_s
        lines.append(
            {
                "session": session,
                "user": 1000 + session,
                "prompt_ns": round(now_s * S),
                "first_key_ns": round((now_s + use.think_s / 2) * S),
                "typed_ns": round(typed_s * S),
                "ended_ns": round(ended_s * S),
                "name": use.command.encode(),
                "has_shell_within": False,
                "cpu_ns": round(use.cpu_s * S),
                "user_ticks_ns": 3,
                "system_ticks_ns": 1,
                "processes": 3,
                "terminal_waits": 0,
                "faults_minor": round(use.cpu_s * FAULTS_A_SECOND),
                "faults_major": 0,
                "held_pages": 500,
                "queued_ns": 1000,
                "read_bytes": round(use.cpu_s * READ_A_SECOND),
                "written_bytes": 100,
                "storage_read_bytes": 4096,
                "storage_written_bytes": STORED[use.command],
                "storage_cancelled_bytes": 0,
            }
        )
        now_s = ended_s
    return lines


def made_run(
    folder: Path, script: Path, passes: int = 40, seed: int = 2, planted: Planted = ALIKE, **conditions: Any
) -> Path:
    """The folder of a run of the script: each user makes one pass, every second one as a heavy user."""
    stream = np.random.default_rng(seed)
    lines = {name: number for number, name in enumerate(_listed(script), 1)}
    rows = []
    for user in range(1, passes + 1):
        now_s = 0.0
        for use in drawn_session(stream, ("light", "heavy")[user % 2], planted):
            sent_s = now_s + use.think_s
            rows.append(
                interaction(
                    user,
                    sent_s,
                    use.cpu_s + use.wait_s,
                    line=lines[use.command],
                    command=use.command,
                    think_ns=round(use.think_s * S),
                    cpu_user_ns=round(use.cpu_s * S),
                    cpu_system_ns=0,
                    faults_minor=round(use.cpu_s * FAULTS_A_SECOND),
                    faults_major=0,
                    ready_wait_ns=1000,
                )
            )
            now_s = sent_s + use.cpu_s + use.wait_s
    return folder_of_run(folder, script, rows, **conditions)


def folder_of_run(folder: Path, script: Path, rows: list[dict[str, Any]], **conditions: Any) -> Path:
    """The folder of a run of the script with these interactions."""
    system = {"kind": "host", "name": "made", "processors": 2}
    made = run_of(rows, **{"system": system, "load": {"model": "closed", "users": 1}, **conditions})
    ended = made.interactions.group_by("user").agg(ended_ns=pl.col("ready_ns").max())
    sessions = made.sessions.drop("ended_ns").join(ended, on="user").select(made.sessions.columns)
    written_run(folder, made, {"sessions": sessions})
    shutil.copy(script, folder / "script.toml")
    return folder


def _listed(script: Path) -> list[str]:
    """The commands of the script in the order of its lines."""
    from loadgo.observation.figures_file import figures_path, read_figures

    return [name for each in read_figures(figures_path(script)).description.classes for name in each.commands]
