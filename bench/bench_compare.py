"""What a comparison of two large runs takes: seconds and peak memory of `loadgo compare`, from its start to its end.

python bench/bench_compare.py [INTERACTIONS] [USERS] [ROUNDS]
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
    """Makes two runs in a process of its own, so that this one stays small, and compares them as text and as HTML."""
    interactions, users, rounds = [*map(int, sys.argv[1:4]), *[1_000_000, 1_000, 3][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        pair = Path(__file__).parent / "large_pair.py"
        subprocess.run([sys.executable, pair, place, str(interactions), str(users)], check=True)
        for form in ("text", "html"):
            taken = [_comparison(Path(place), form) for _ in range(rounds)]
            seconds, processor, peak = zip(*taken, strict=True)
            figures.append(figure(f"comparison as {form}", "s", seconds, "< 20"))
            figures.append(figure(f"comparison as {form}, processor time", "s", processor))
            figures.append(figure(f"comparison as {form}, peak memory", "MB", peak, "< 2000"))
    finish("compare", here, figures, [f"two runs of {interactions:,} interactions of {users:,} users"], {})


def _comparison(place: Path, form: str) -> tuple[float, float, float]:
    """Seconds from start to end, of processor time, and MB of memory at the most."""
    command = [str(LOADGO), "compare", str(place / "a"), str(place / "b"), "--format", form, "--output", "-"]
    said = place / "said"
    with said.open("wb") as output:
        began = time.monotonic()
        started = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(started.pid, 0)
        seconds = time.monotonic() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {started.returncode}: {said.read_text()}")
    # Until it is executed the child counts this process's memory, which is far below a comparison's.
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    main()
