"""The cost of comparing two large runs: seconds and peak memory of `loadgo compare`, from start to end.

python bench/bench_compare.py [INTERACTIONS] [USERS] [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from command import CommandCost, command_cost
from figures import Figure, figure, finish
from machine import machine


def main() -> None:
    """Makes two runs in a process of its own, so that this one stays small, and compares them as text and as HTML."""
    interactions, users, rounds = [*map(int, sys.argv[1:4]), *[1_000_000, 1_000, 3][len(sys.argv) - 1 :]]
    here, figures = machine(), list[Figure]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        pair = Path(__file__).parent / "large_pair.py"
        subprocess.run([sys.executable, pair, place, str(interactions), str(users)], check=True)
        for form in ("text", "html"):
            costs = [_comparison(Path(place), form) for _ in range(rounds)]
            name = f"comparison as {form}"
            figures.append(figure(name, "s", [cost.seconds for cost in costs], "< 20"))
            figures.append(figure(f"{name}, processor time", "s", [cost.processor_s for cost in costs]))
            figures.append(figure(f"{name}, peak memory", "MB", [cost.peak_mb for cost in costs], "< 2000"))
    finish("compare", here, figures, [f"two runs of {interactions:,} interactions of {users:,} users"], {})


def _comparison(place: Path, form: str) -> CommandCost:
    """The cost of one comparison."""
    return command_cost(["compare", place / "a", place / "b", "--format", form, "--output", "-"], place / "output")


if __name__ == "__main__":
    main()
