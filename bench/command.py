"""What one command of loadgo takes from its start to its end: seconds, processor time, and memory at the most."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LOADGO = Path(sysconfig.get_path("scripts")) / "loadgo"


class Taken(NamedTuple):
    """What a command took."""

    seconds: float
    processor_s: float
    peak_mb: float
    """Of the whole process, which counts its parent's until it is executed: that is far below what is measured here."""


def taken_by(arguments: Sequence[str | Path], said: Path, good: Sequence[int] = (0,)) -> Taken:
    """Runs `loadgo ARGUMENTS`, which writes into the file `said`; ends the program for a status that is not good."""
    command = [str(LOADGO), *map(str, arguments)]
    with said.open("wb") as output:
        began = time.monotonic()
        started = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(started.pid, 0)
        seconds = time.monotonic() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode not in good:
        raise SystemExit(f"{' '.join(command)} ended with status {started.returncode}: {said.read_text()}")
    return Taken(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)
