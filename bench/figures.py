"""Figures with their targets, which a benchmark prints and records in bench/results/."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from machine import Machine

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Target:
    """A target for a figure: at most, or at least, `bound`."""

    sense: str
    """`<=`, `<` or `>=`."""
    bound: float

    def reached(self, value: float) -> bool:
        """Whether `value` meets the target."""
        if self.sense == ">=":
            return value >= self.bound
        return value < self.bound if self.sense == "<" else value <= self.bound

    def __str__(self) -> str:
        return f"{self.sense} {_number(self.bound)}"


@dataclass(frozen=True)
class Figure:
    """A line of a benchmark: the values of all repetitions, and their target."""

    name: str
    unit: str
    """The unit; empty for a share or a ratio."""
    values: tuple[float, ...]
    """The value of each repetition. The median counts."""
    target: Target | None = None
    """The target; None for a figure without one."""

    @property
    def median(self) -> float:
        """The median of the values, which is compared with the target."""
        return median(self.values)

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None without a target."""
        return None if self.target is None else self.target.reached(self.median)

    def record(self) -> dict[str, object]:
        """The figure as it is recorded."""
        target = None if self.target is None else str(self.target)
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "values": list(self.values),
            "target": target,
            "reached": self.reached,
        }


def figure(name: str, unit: str, values: Iterable[float], target: str = "") -> Figure:
    """A figure whose target is written as `<= 0.5`, `< 50`, `>= 100000`, or not at all."""
    sense, _, bound = target.partition(" ")
    return Figure(name, unit, tuple(values), Target(sense, float(bound)) if target else None)


def finish(
    name: str, here: Machine, figures: Iterable[Figure], notes: Iterable[str], raw: Mapping[str, object]
) -> None:
    """Prints the figures of benchmark `name`, and records them with the machine and the raw values.

    A benchmark with arguments, which change its sizes, is not recorded.
    """
    rows, unique_notes = list(figures), list(dict.fromkeys(notes))
    print(table(rows))
    for note in unique_notes:
        print(f"note: {note}")
    busy = f"{here.busy_before:.0%} busy with other things before"
    print(f"on {here.name}, {busy}; loadgo {here.loadgo}")
    if sys.argv[1:]:
        print("a trial, with sizes of its own: not recorded\n")
        return
    record = {
        "benchmark": name,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": here.record(),
        "figures": [row.record() for row in rows],
        "notes": unique_notes,
        "runs": raw,
    }
    path = RESULTS / f"{name}.{here.slug}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"recorded in {path.relative_to(Path(__file__).parent.parent)}\n")


def table(figures: Iterable[Figure]) -> str:
    """The figures in columns: name, median, spread, target, verdict."""
    rows = [("", "median", "spread", "target", ""), *map(_row, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(_aligned(row, widths) for row in rows)


def _row(line: Figure) -> tuple[str, str, str, str, str]:
    low, high = min(line.values), max(line.values)
    spread = f"{_number(low)} .. {_number(high)}" if len(line.values) > 1 else ""
    verdict = {True: "reached", False: "NOT REACHED", None: ""}[line.reached]
    return line.name, f"{_number(line.median)} {line.unit}".strip(), spread, str(line.target or ""), verdict


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    name, value, spread, target, verdict = row
    return f"{name:{widths[0]}}  {value:>{widths[1]}}  {spread:>{widths[2]}}  {target:>{widths[3]}}  {verdict}".rstrip()


def _number(value: float) -> str:
    """Three significant digits, or all digits of a large number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
