"""Tasks for workers in processes of their own, which import this file: numbers, and tasks that end their worker."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

LONGEST_WAIT_S = 900.0


@dataclass(frozen=True)
class Errand:
    """A task: its number, and the folder in which workers leave marks."""

    number: int
    folder: Path
    deadly: int = 0
    """Number of times that the task ends its worker."""
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"errand {self.number}"


def square(errand: Errand) -> int:
    """The square of the number; a deadly errand kills its worker first."""
    tries = len(list(errand.folder.glob(f"{errand.number}-*")))
    (errand.folder / f"{errand.number}-{tries}-{os.getpid()}").touch()
    if tries < errand.deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(errand.seconds)
    return errand.number**2


def refuse(errand: Errand) -> int:
    """Raises an error of the task itself."""
    raise ValueError(f"{errand.name} makes no sense")


def refuse_first(errand: Errand) -> int:
    """Refuses the first errand; the others leave a mark, and wait until the folder has the file `gate`."""
    if errand.number == 0:
        return refuse(errand)
    (errand.folder / f"{errand.number}-begun").touch()
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not (errand.folder / "gate").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return errand.number**2
