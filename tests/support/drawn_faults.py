"""Runs with a fault that a seed draws: what is asked of loadgo, which fault comes, and at which moment."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass

STAGES = ("start", "run", "conversion", "report")
"""The stages of a run: from the start of the process until the folder is there, and so on to the printed report."""
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
START_S = 1.2
"""About how long the start takes: faults of this stage come within this time."""
REPORT_S = 0.8
"""About how long the report takes."""
CONVERSION_S = 0.03
"""About how long the conversion takes from its first file on."""
ANYWHERE = STAGES
KINDS: dict[str, tuple[str, ...]] = {
    "full disk of the run": ANYWHERE,
    "small disk of the run": ("start",),
    "full disk of the homes": ANYWHERE,
    "read-only run folder": ANYWHERE,
    "read-only homes": ANYWHERE,
    "removed run folder": ANYWHERE,
    "removed homes": ANYWHERE,
    "unmounted run folder": ANYWHERE,
    "unmounted homes": ANYWHERE,
    "truncated file": ANYWHERE,
    "kill -9": ANYWHERE,
    "kill -9 early": ("start",),
    "kill -9 while converting": ("conversion",),
    "signal": ANYWHERE,
    "two signals": ANYWHERE,
    "stop and continue": ANYWHERE,
    "few descriptors at the start": ("start",),
    "few descriptors midway": ANYWHERE,
    "few processes at the start": ("start",),
    "few processes midway": ANYWHERE,
    "short files at the start": ("start",),
    "short files midway": ANYWHERE,
    "little memory at the start": ("start",),
    "little memory midway": ANYWHERE,
    "users' shells killed": ("run",),
}
"""The kinds of faults, each with the stages in which it comes."""


@dataclass(frozen=True)
class Plan:
    """One run with one fault, as a seed has drawn it."""

    seed: int
    kind: str
    stage: str
    place: float
    """How far the stage has come when the fault does, from 0 to 1."""
    users: int
    duration_ms: int
    think_ms: int
    options: tuple[str, ...]
    """The options of `loadgo run` beside users and duration."""
    report_format: str
    """The format of the report on the standard output; none if there is none."""

    @property
    def delay_s(self) -> float:
        """How long after the beginning of its stage the fault comes."""
        lengths = {"start": START_S, "conversion": CONVERSION_S, "report": REPORT_S}
        return self.place * lengths.get(self.stage, self.duration_ms / 1000 + 0.3)

    def draws(self) -> random.Random:
        """A stream of numbers for what else the fault draws, the same for each run of this seed."""
        return random.Random(f"{self.seed} fault")

    def __str__(self) -> str:
        words = f"--users {self.users} --for {self.duration_ms}ms {' '.join(self.options)}"
        return f"seed {self.seed}: {self.kind}, {self.place:.2f} into the {self.stage}, run {words}"


def plan_of(seed: int) -> Plan:
    """The run and the fault of this seed."""
    stream = random.Random(seed)
    kind = stream.choice(list(KINDS))
    report_format = stream.choice(("text", "text", "json", "json", "csv", "md", "html"))
    meters = stream.choice(("none", "cheap", "exact"))
    more = ("--quiet",) if stream.random() < 0.15 else ()
    return Plan(
        seed=seed,
        kind=kind,
        stage=stream.choice(KINDS[kind]),
        place=stream.random(),
        users=stream.randint(1, 8),
        duration_ms=500 + int(1500 * stream.random() ** 2),
        think_ms=stream.choice((5, 20, 50)),
        options=("--meters", meters, "--format", report_format, "--seed", str(seed), *more),
        report_format="none" if more else report_format,
    )
