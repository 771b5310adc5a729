"""What the report of a large run takes: seconds and peak memory of `loadgo report`, from its start to its end.

python bench/bench_report.py [INTERACTIONS] [USERS] [ROUNDS]
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from figures import Figure, figure, finish
from machine import machine

LOADGO = Path(sysconfig.get_path("scripts")) / "loadgo"


def main() -> None:
    """Makes a run in a process of its own, so that this one stays small, and reports on it as text and as HTML."""
    interactions, users, rounds = [*map(int, sys.argv[1:4]), *[1_000_000, 16_000, 3][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        run, write = Path(place) / "large", Path(__file__).parent / "large_run.py"
        subprocess.run([sys.executable, write, run, str(interactions), str(users)], check=True)
        for form in ("text", "html"):
            taken = [_report(run, form) for _ in range(rounds)]
            figures.append(figure(f"report as {form}", "s", [seconds for seconds, _ in taken], "< 10"))
            figures.append(figure(f"report as {form}, peak memory", "MB", [peak for _, peak in taken], "< 1000"))
    finish("report", here, figures, [f"{interactions:,} interactions of {users:,} users"], {})


def _report(run: Path, form: str) -> tuple[float, float]:
    """Seconds from start to end, and MB of memory at the most."""
    command = [str(LOADGO), "report", str(run), "--format", form]
    said = run.with_name("said")
    with said.open("wb") as output:
        began = time.monotonic()
        started = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(started.pid, 0)
        seconds = time.monotonic() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {started.returncode}: {said.read_text()}")
    # Until it is executed the child counts this process's memory, which is far below a report's.
    return seconds, usage.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main()
