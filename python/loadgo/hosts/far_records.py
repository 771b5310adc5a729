"""A run folder here that is written from the frames of an agent on another host."""

from __future__ import annotations

import time
from pathlib import Path

from loadgo import _loadgo
from loadgo.hosts.failures import WrongFrames

_INSTANT_BYTES = 8


def instant_in(body: bytes) -> int | None:
    """The instant in the body of a frame; None if there is none."""
    return int.from_bytes(body, "big") if len(body) == _INSTANT_BYTES else None


class FarRecords:
    """The run folder here, from the agent's first `run.toml` on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records: _loadgo.AgentRecords | None = None
        self._last_toml = b""
        self.began_s = 0.0

    @property
    def begun(self) -> bool:
        """Whether the folder exists: the agent's meters run."""
        return self._records is not None

    def take(self, kind: str, body: bytes) -> None:
        """Takes a frame that the folder is made of. Raises `errors.BadRun`, and `WrongFrames` for a table too early."""
        if kind == "run.toml" and self._records is None:
            self._records, self.began_s = _loadgo.AgentRecords(self._folder, body), time.monotonic()
        elif kind == "run.toml":
            self._last_toml = body
        elif kind == "table":
            if self._records is None:
                raise WrongFrames("rows came before the run.toml of their run")
            self._records.append(body)

    def finish(self) -> None:
        """Completes the folder. Raises `errors.BadRun`."""
        if self._records is None or not self._last_toml:
            raise WrongFrames("the agent has answered without records")
        self._records.finish(self._last_toml)

    def break_off(self, note: str) -> None:
        """Completes the folder with what has come. Raises `errors.BadRun`."""
        if self._records is not None:
            self._records.break_off(note)
