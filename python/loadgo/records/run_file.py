"""Reading of the small files of a run's folder, above all `run.toml`, whatever is in their place."""

from __future__ import annotations

import os
import stat
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from loadgo.errors import BadRun
from loadgo.notation.toml_text import toml_table

RUN_FILE = "run.toml"
MOST_DESCRIPTION_BYTES = 4_000_000
"""Largest `run.toml` that is read. The largest real ones have some kilobytes."""
_MOST_AHEAD_NS = 10_000_000_000
"""Largest time by which a row may be later than now: the clock of the date may have been set since the run began."""

LAST_INSTANT_NS = 1 << 62
"""After 146 years. What another host sends need not be true, and later instants do not fit into signed 64 bits."""

SHARING_VARIABLE = "LOADGO_SHARE"
"""The environment variable by which other users may read the folders that this process and its children make."""


def make_folder(folder: Path) -> None:
    """Makes a folder for this user alone unless folders are shared, and its parents. One that exists stays as it is."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o777 if os.environ.get(SHARING_VARIABLE) else 0o700, exist_ok=True)


def read_small(path: Path, most_bytes: int = MOST_DESCRIPTION_BYTES) -> bytes:
    """The content of a regular file. Raises `OSError` for another kind of file, and for one that is too large."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path.name} is no regular file")
        if status.st_size > most_bytes:
            raise OSError(f"{path.name} has {status.st_size:,} bytes, more than {most_bytes:,}")
        return file.read(most_bytes)


def read_run_file(folder: Path) -> dict[str, Any]:
    """The content of `run.toml` in `folder`. Raises `OSError` or `ValueError` if it cannot be read."""
    return toml_table(read_small(folder / RUN_FILE).decode("utf-8"))


def start_in(run_toml: dict[str, Any]) -> datetime | None:
    """The start of the run. None if `run.toml` has none, or a moment that the clock of this host cannot show."""
    started = run_toml.get("started")
    try:
        return started if isinstance(started, datetime) and started.astimezone() else None
    except (OverflowError, ValueError, OSError):
        return None


def come_by_now_ns(started: datetime | None) -> int | None:
    """The latest instant of a run that can have come by now, in ns since its start; None if that is not known.

    What another host sends need not be true: a row of a later instant is not shown yet.
    """
    elapsed_s = -1.0 if started is None else time.time() - started.timestamp()
    return round(elapsed_s * 1e9) + _MOST_AHEAD_NS if elapsed_s >= 0 else None


def check_regular(*paths: Path) -> None:
    """Raises `BadRun` for a path at which there is something that is no regular file."""
    for path in paths:
        if path.exists() and not path.is_file():
            raise BadRun(f"{path} is not a regular file: take it from a copy")


def check_path(path: Path) -> Path:
    """The resolved path of a table's file. Raises `BadRun` for a path that is not UTF-8, which Polars cannot open."""
    resolved = path.resolve()
    if utf8_text(str(resolved)) != str(resolved):
        raise BadRun(f"the path {utf8_text(str(resolved))} is not UTF-8: rename the folder")
    return resolved


def utf8_text(text: str) -> str:
    """The text with a visible sign in place of each byte of a file's name that is not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
