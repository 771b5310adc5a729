"""The cost of a large run's report: seconds and peak memory of `loadgo report`, from start to end.

python bench/bench_report.py [INTERACTIONS] [USERS] [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from command import command_cost
from figures import Figure, figure, finish
from machine import machine


def main() -> None:
    """Makes a run in a process of its own, so that this one stays small, and reports on it as text and as HTML."""
    interactions, users, rounds = [*map(int, sys.argv[1:4]), *[1_000_000, 16_000, 3][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        run, write = Path(place) / "large", Path(__file__).parent / "large_run.py"
        subprocess.run([sys.executable, write, run, str(interactions), str(users)], check=True)
        for form in ("text", "html"):
            output = run.with_name("output")
            costs = [command_cost(["report", run, "--format", form], output, good=(0, 1)) for _ in range(rounds)]
            figures.append(figure(f"report as {form}", "s", [cost.seconds for cost in costs], "< 10"))
            figures.append(figure(f"report as {form}, peak memory", "MB", [cost.peak_mb for cost in costs], "< 1000"))
    finish("report", here, figures, [f"{interactions:,} interactions of {users:,} users"], {})


if __name__ == "__main__":
    main()
