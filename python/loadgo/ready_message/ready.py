"""One command's ready message: what its runs used, as Multics and CTSS printed it after each command.

A command is metered like an interaction of a user. Several runs give a median with an interval from order statistics,
which assumes nothing about the distribution (W. J. Conover, Practical Nonparametric Statistics, 3.2).
A cold round has three runs: *cold first* after the command's pages were dropped, *warm first* right after it, and
*following*. The desk calculator of CTSS took 600, 260 and 145 ms in such a round.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import TYPE_CHECKING

from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.hosts.address import HERE_NAME, parse_host
from loadgo.running.command_run import CommandRun, Stage

if TYPE_CHECKING:
    from loadgo.measures.tariff import Tariff
    from loadgo.running.command_meter import CommandOrder, MeteredRuns

MEDIAN_CONFIDENCE = 0.95
FEWEST_INTERVAL_RUNS = 6
"""Fewer runs give no interval of a median at this confidence."""
ONLY_STAGE: Stage = "as it is"
"""The only stage without `cold`. A stage is the state of memory in which a run begins."""
COLD_STAGES: tuple[Stage, ...] = ("cold first", "warm first", "following")


@dataclass(frozen=True)
class FigureSpread:
    """A figure over the runs in which it was measured."""

    runs: int
    median: float | None
    """None if no run measured it."""
    low: float | None
    """The lower end of the median's 95 % interval; None for too few runs."""
    high: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, repr=False)
class Ready(Result, presented_by="loadgo.ready_message.presentation:presentation"):
    """The result of `loadgo.ready`: what each run of a command used."""

    command: tuple[str, ...]
    runs: tuple[CommandRun, ...]
    """All runs in order."""
    asked: int
    """Number of runs that were requested, of all stages together."""
    sources: Mapping[str, str | int]
    """The meter behind the figures: cpu, faults, waits, cpu_resolution_ns, split."""
    notes: tuple[str, ...]
    """Figures that could not be measured, each with its reason and remedy."""
    floor_bytes: int
    """Loadgo's own memory in bytes: the least memory of a command that can be measured."""
    tariff: Tariff
    interrupted: int | None
    """The signal that ended the measurement early."""
    left_behind: tuple[str, ...] = ()
    """Things that stay on the command's host, each with its reason and remedy."""
    host: str = HERE_NAME
    """The host on which the command ran: `here`, or `ssh://USER@HOST:PORT`."""

    @property
    def status(self) -> int:
        """The first status of a run that is not 0, or 128 plus the signal that ended the measurement early."""
        if self.interrupted is not None and (len(self.runs) != 1 or self.asked > 1):
            return 128 + self.interrupted
        return next((run.status for run in self.runs if run.status), 0)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the runs, in order."""
        return tuple(dict.fromkeys(run.stage for run in self.runs))

    def counted(self, stage: Stage) -> tuple[CommandRun, ...]:
        """The runs of `stage` that the figures count: those without an interrupt, if there are any."""
        runs = tuple(run for run in self.runs if run.stage == stage)
        return tuple(run for run in runs if not run.interrupted) or runs

    def spread(self, figure: str, stage: Stage = ONLY_STAGE) -> FigureSpread:
        """The spread of one of `READY_FIGURES` over the runs of `stage`."""
        values = [self.value(figure, run) for run in self.counted(stage)]
        return spread_of([value for value in values if value is not None])

    def value(self, figure: str, run: CommandRun) -> float | None:
        """The value of one of `READY_FIGURES` in a run: nanoseconds, counts, bytes, or money at the tariff."""
        if figure == "cost":
            return cost_of_run(run, self.tariff)
        value: int | None = getattr(run.waited if figure.startswith("switches") else run, figure)
        return value


READY_FIGURES = (
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
    on: str = HERE_NAME,
) -> Ready:
    """Runs a command and measures its time, page faults, waits, memory and cost.

    Args:
        command: The command's words, or one text that is split as a shell splits it.
        runs: How many times the command runs. From 6 runs on each median has a 95 % interval.
        cold: Drops the command's pages from memory first, and runs it three times for each of `runs`.
        quiet: Discards the command's output.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.
        on: The host: `here`, or `ssh://USER@HOST:PORT`, to which an agent is brought (see docs/hosts-agent.md). The
            command begins in the account's home there, and reads nothing.

    The command reads this process's input. Several runs need a file there: each reads it from its present position.
    From a terminal or a pipe they read nothing.

    Returns:
        The runs as `Ready.runs`, times in nanoseconds and memory in bytes. `ready.spread("real_ns")` has the median of
        a figure, its interval and its extremes. Its `report("text")` is the message.

    Raises:
        loadgo.running.command_meter.NotRun: There is no such command, or it is not executable.
        loadgo.errors.Refused: The host refused the measurement.
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.hosts.failures.NoAgent: The other host cannot be reached, or runs no agent. Its branches say why.
        loadgo.hosts.failures.AgentLost: The agent was lost before its answer.

    The ready message is that of Multics and CTSS: *The Compatible Time-Sharing System, A Programmer's Guide* (1963).
    """
    from loadgo.running.command_meter import CommandOrder

    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise BadArgument("no command is given: write it after --, as in `loadgo ready -- ls`")
    if runs < 1:
        raise BadArgument(f"{runs} runs are too few: 1 or more")
    price = None if tariff == "default" else _tariff(tariff)
    stages = COLD_STAGES if cold else (ONLY_STAGE,)
    host, measured = _run_on(on, CommandOrder(tuple(words), stages * runs, quiet))
    return Ready(
        command=tuple(words),
        runs=measured.runs,
        asked=runs * len(stages),
        sources={name: value for name, value in measured.sources.items() if name not in ("notes", "groups")},
        notes=tuple(measured.sources["notes"]),
        floor_bytes=measured.floor_bytes,
        tariff=price or _tariff(tariff),
        interrupted=measured.interrupted,
        left_behind=measured.left_behind,
        host=host,
    )


def _run_on(on: str, order: CommandOrder) -> tuple[str, MeteredRuns]:
    """Runs the command on a host. Returns the host's name, and the runs."""
    host = parse_host(on)
    if host is None:
        from loadgo.running.command_meter import run_command

        return HERE_NAME, run_command(order)
    from loadgo.running.elsewhere.command import run_command_there

    return str(host), run_command_there(order, host)


def spread_of(values: Sequence[float]) -> FigureSpread:
    """The median of `values` with its interval, and the least and the greatest value."""
    if not values:
        return FigureSpread(0, None, None, None, None, None)
    ascending = sorted(values)
    rank = interval_rank(len(values))
    low, high = (None, None) if rank is None else (ascending[rank - 1], ascending[-rank])
    return FigureSpread(len(values), float(median(ascending)), low, high, ascending[0], ascending[-1])


def interval_rank(count: int) -> int | None:
    """The rank of the order statistics that bound the median of `count` values with 95 % confidence.

    With rank r, these are the r-th least and the r-th greatest value. None for fewer than 6 values.
    """
    tail, rank = 0.0, 0
    while rank < count:
        tail += comb(count, rank) / 2**count
        if tail > (1 - MEDIAN_CONFIDENCE) / 2:
            break
        rank += 1
    return rank or None


def cost_of_run(run: CommandRun, tariff: Tariff) -> float | None:
    """The cost of a run, or None if its processor time or a wait that the tariff charges was not measured."""
    from loadgo.measures.charges import SharedHoldings, interaction_cost
    from loadgo.measures.usage_figures import Usage

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


def _tariff(name: str) -> Tariff:
    # Imported after the runs: a command with less memory than loadgo cannot be measured.
    from loadgo.measures.tariff import load_tariff

    return load_tariff(name)
