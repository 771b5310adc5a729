"""The cost of one loadgo command from start to end: seconds, processor time, and peak memory."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LOADGO = Path(sysconfig.get_path("scripts")) / "loadgo"


class CommandCost(NamedTuple):
    """The cost of a command."""

    seconds: float
    processor_s: float
    peak_mb: float
    """Peak memory of the process. It includes the parent's before the exec, which is far below the values here."""


def command_cost(
    arguments: Sequence[str | Path], output_file: Path, good: Sequence[int] = (0,), loadgo: Path = LOADGO
) -> CommandCost:
    """Runs `loadgo ARGUMENTS` with its output in a file. An exit status other than `good` ends this program."""
    command = [str(loadgo), *map(str, arguments)]
    with output_file.open("wb") as output:
        began = time.monotonic()
        started = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(started.pid, 0)
        seconds = time.monotonic() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode not in good:
        raise SystemExit(f"{' '.join(command)} ended with status {started.returncode}: {output_file.read_text()}")
    return CommandCost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)
