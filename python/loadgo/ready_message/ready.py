"""One command's ready message: what its run used, as the system told after every command of Multics and CTSS.

The command is run under the meter that an interaction of a user is measured with. Several runs give a median, whose
interval is that of the order statistics: it assumes nothing of the distribution (W. J. Conover, Practical Nonparametric
Statistics, 3.2). Cold, each round is three runs: *cold first* after its pages were dropped, *warm first* right after
it, and *following*; the seed's desk calculator took 600, 260 and 145 ms.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import TYPE_CHECKING

from loadgo.errors import BadArgument
from loadgo.running.command_run import CommandRun, Stage

if TYPE_CHECKING:
    from loadgo.measures.tariff import Tariff

CONFIDENCE = 0.95
ALONE: Stage = "as it is"
COLD_STAGES: tuple[Stage, ...] = ("cold first", "warm first", "following")


@dataclass(frozen=True)
class Spread:
    """A figure over the runs in which it was measured."""

    runs: int
    median: float | None
    """None when it was measured in no run."""
    low: float | None
    """The lower end of the median's 95 % interval; None for too few runs."""
    high: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True)
class Ready:
    """What the runs of a command came to."""

    command: tuple[str, ...]
    runs: tuple[CommandRun, ...]
    """Every run, in order."""
    asked: int
    """How many runs were asked for, for each stage."""
    sources: Mapping[str, str | int]
    """Where the figures come from: cpu, faults, waits, cpu_resolution_ns, split."""
    notes: tuple[str, ...]
    """What could not be measured and why, and the remedy."""
    floor_bytes: int
    """Loadgo's own memory: the most memory of a smaller command is not known."""
    tariff: Tariff
    interrupted: int | None
    """The signal that ended the measurement early."""

    @property
    def status(self) -> int:
        """The first of the runs' statuses that is not 0; 128 and the signal when it was ended early."""
        if self.interrupted is not None and (len(self.runs) != 1 or self.asked > 1):
            return 128 + self.interrupted
        return next((run.status for run in self.runs if run.status), 0)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Which kinds of runs there are, in order."""
        return tuple(dict.fromkeys(run.stage for run in self.runs))

    def counted(self, stage: Stage) -> tuple[CommandRun, ...]:
        """The runs of `stage` that the figures are of: whole ones, if there is any."""
        rows = tuple(run for run in self.runs if run.stage == stage)
        return tuple(run for run in rows if not run.interrupted) or rows

    def spread(self, figure: str, stage: Stage = ALONE) -> Spread:
        """Of one of `FIGURES` over the runs of `stage`."""
        values = [self.value(figure, run) for run in self.counted(stage)]
        return spread_of([value for value in values if value is not None])

    def value(self, figure: str, run: CommandRun) -> float | None:
        """One of `FIGURES` in one run: nanoseconds, counts, bytes, or money at the tariff."""
        if figure == "cost":
            return cost_of_run(run, self.tariff)
        if figure.startswith("switches"):
            found: int = getattr(run.waited, figure)
            return found
        value: int | None = getattr(run, figure)
        return value


FIGURES = (
    "real_ns",
    "cpu_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "ready_wait_ns",
    "paging_wait_ns",
    "io_wait_ns",
    "faults_minor",
    "faults_major",
    "max_resident_bytes",
    "switches_voluntary",
    "switches_involuntary",
    "cost",
)


def ready(
    command: str | Sequence[str],
    *,
    runs: int = 1,
    cold: bool = False,
    quiet: bool = False,
    tariff: str = "default",
) -> Ready:
    """Runs `command` (words; a text is split as a shell would) and tells what it used.

    With `runs` it is run that often; cold, three times as often. With `quiet` its output is lost. Its input is this
    process's; for more than one run that must be a file, which each reads from where it stands, else there is nothing
    to read. Raises `command_meter.NotRun` when there is no such command, `errors.Refused`, `ValueError`.
    """
    from loadgo.running.command_meter import Order, run_command

    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise BadArgument("no command is given: write it after --, as in `loadgo ready -- ls`")
    if runs < 1:
        raise BadArgument(f"{runs} runs cannot be made: 1 or more can be asked for")
    price = None if tariff == "default" else _tariff(tariff)
    stages = COLD_STAGES if cold else (ALONE,)
    done = run_command(Order(tuple(words), stages * runs, quiet))
    return Ready(
        command=tuple(words),
        runs=done.runs,
        asked=runs * len(stages),
        sources={name: value for name, value in done.sources.items() if name not in ("notes", "groups")},
        notes=tuple(done.sources["notes"]),
        floor_bytes=done.floor_bytes,
        tariff=price or _tariff(tariff),
        interrupted=done.interrupted,
    )


def spread_of(values: Sequence[float]) -> Spread:
    """The median of `values` with its interval, the least and the most."""
    if not values:
        return Spread(0, None, None, None, None, None)
    ascending = sorted(values)
    rank = interval_rank(len(values))
    low, high = (None, None) if rank is None else (ascending[rank - 1], ascending[-rank])
    return Spread(len(values), float(median(ascending)), low, high, ascending[0], ascending[-1])


def interval_rank(count: int) -> int | None:
    """The rank r for which the median lies between the r-th least and the r-th most of `count` values with 95 %
    confidence; None when there are too few (under 6).
    """
    tail, rank = 0.0, 0
    while rank < count:
        tail += comb(count, rank) / 2**count
        if tail > (1 - CONFIDENCE) / 2:
            break
        rank += 1
    return rank or None


def cost_of_run(run: CommandRun, tariff: Tariff) -> float | None:
    """The cost of a run; None when its processor time, or a wait that is charged, is not measured."""
    from loadgo.measures.charges import SharedHoldings, interaction_cost
    from loadgo.measures.usage import Usage

    measured = Usage(
        measured=1,
        cpu_user_ns=run.cpu_user_ns,
        cpu_system_ns=run.cpu_system_ns,
        faults_minor=run.faults_minor,
        faults_major=run.faults_major,
        ready_wait_ns=run.ready_wait_ns,
        paging_wait_ns=run.paging_wait_ns,
        io_wait_ns=run.io_wait_ns,
        bytes_out=None,
    )
    alone = SharedHoldings(run.real_ns, run.real_ns, run.real_ns)
    return interaction_cost(measured, tariff, present_ns=run.real_ns, holdings=alone)


def _tariff(asked: str) -> Tariff:
    # Late: what loadgo weighs hides what a smaller command does.
    from loadgo.measures.tariff import load_tariff

    return load_tariff(asked)
