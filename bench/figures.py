"""Figures beside their targets: what a benchmark prints, and what it keeps under bench/results/."""

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
    """What a figure should be: at most, or at least, `bound`."""

    sense: str
    """`<=`, `<` or `>=`."""
    bound: float

    def reached(self, value: float) -> bool:
        """Whether `value` is good enough."""
        if self.sense == ">=":
            return value >= self.bound
        return value < self.bound if self.sense == "<" else value <= self.bound

    def __str__(self) -> str:
        return f"{self.sense} {_number(self.bound)}"


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark: what was measured, each time, and what it should be."""

    name: str
    unit: str
    """Empty for a share or a ratio."""
    values: tuple[float, ...]
    """One for each repetition; the median counts."""
    target: Target | None = None
    """None: told for the record."""

    @property
    def median(self) -> float:
        """What counts."""
        return median(self.values)

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None when there is none."""
        return None if self.target is None else self.target.reached(self.median)

    def told(self) -> dict[str, object]:
        """As it is recorded."""
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
    """Prints the figures of benchmark `name`, and records them with the machine and what they were made from.

    Only what ran with its usual sizes, without arguments, is recorded.
    """
    told, said = list(figures), list(dict.fromkeys(notes))
    print(table(told))
    for note in said:
        print(f"note: {note}")
    busy = f"{here.busy_before:.0%} busy with other things before"
    print(f"on {here.name}, {busy}; loadgo {here.loadgo}")
    if sys.argv[1:]:
        print("a trial, with sizes of its own: not recorded\n")
        return
    record = {
        "benchmark": name,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": here.told(),
        "figures": [one.told() for one in told],
        "notes": said,
        "runs": raw,
    }
    path = RESULTS / f"{name}.{here.slug}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"recorded in {path.relative_to(Path(__file__).parent.parent)}\n")


def table(figures: Iterable[Figure]) -> str:
    """The figures in columns: name, median, spread, target, verdict."""
    rows = [("", "median", "spread", "target", ""), *(_row(one) for one in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(_aligned(row, widths) for row in rows)


def _row(one: Figure) -> tuple[str, str, str, str, str]:
    low, high = min(one.values), max(one.values)
    spread = f"{_number(low)} .. {_number(high)}" if len(one.values) > 1 else ""
    verdict = {True: "reached", False: "NOT REACHED", None: ""}[one.reached]
    return one.name, f"{_number(one.median)} {one.unit}".strip(), spread, str(one.target or ""), verdict


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    name, value, spread, target, verdict = row
    return f"{name:{widths[0]}}  {value:>{widths[1]}}  {spread:>{widths[2]}}  {target:>{widths[3]}}  {verdict}".rstrip()


def _number(value: float) -> str:
    """Three digits, or all of a large number's."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
