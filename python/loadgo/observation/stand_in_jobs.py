"""The synthetic jobs that stand for the runs of a command: few rows of the joint distribution of what it used.

Up to 40 runs stand for themselves. Of more, those with and those without processor time are ordered apart. Both are
divided in equal parts, and one run of each part stands for it. Where the runs of a part are ordered by their faults,
these runs are spread evenly over the places. So both distributions keep their quantiles, and what a run used stays
together. Processor times, faults, waits and bytes are then scaled to the means of all runs. Source of the method:
Sreenivasan and Kleinman, CACM 17 (3), 1974, who made 88 jobs of 6000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from loadgo.notation.laws import number
from loadgo.observation.sessions import CommandUse
from loadgo.stats.resample import Floats

MOST_JOBS = 40
SHORTEST_PYTHON_NS = 12_000_000
"""A job of less processor time is done by short processes: Python alone takes about this long to start."""
_SHELL_NS, _SLEEP_NS, _SHORT_PROCESS_NS = 780_000, 1_100_000, 620_000
"""Processor time of `sh` with the stand-in, of `sleep` and of `/bin/true`, measured on an AMD EPYC (Zen 5)."""
_SHORT_STORAGE_NS_PER_BYTE = 0.5
"""Processor time of `dd` beyond that of `/bin/true`, for each byte from storage or to it, on the same host."""
_SHORT_BLOCK_BYTES = 65536
"""A short job moves bytes that are not storage's in blocks of this size. It reads a part of one anyway."""
READ_FILE_BYTES = 1 << 24
"""The largest size of the file that stand-ins read from storage. A larger job reads it more than once."""

_FAULTS_COLUMN = 2
_WAITS_COLUMN = 5
_SCALED_COLUMNS = ([0, 1], [_FAULTS_COLUMN], [_WAITS_COLUMN], [6], [7], [8], [9])
"""Columns whose sums keep their means: processor time, faults, waits, and each count of bytes."""
_SHORT_RUN_NS = 200_000_000
"""Runs of less processor time show nothing of this kind: accounting rounds times to 10 ms."""
_SPARE_PROCESSORS = 0.1
"""A run that used a tenth of a processor more than one has used one."""
_MOST_PROCESSORS = 1024
_GOLDEN_RATIO = (5**0.5 - 1) / 2
"""Multiples of it, without their whole parts, are spread evenly, however many there are."""


@dataclass(frozen=True)
class StandInJob:
    """The use of one synthetic job."""

    user_ns: float
    system_ns: float
    faults: float
    held_pages: float
    processes: float
    waiting_ns: float
    """Elapsed time without the processor time, and without the wait for a processor where that is known."""
    read_bytes: float = 0.0
    """Bytes read by calls; 0 where they are not known."""
    written_bytes: float = 0.0
    storage_read_bytes: float = 0.0
    storage_written_bytes: float = 0.0
    processors: float = 1.0
    """Number of processors that it used or wanted at once; 1 where its times do not show more."""

    @property
    def cpu_ns(self) -> float:
        """Processor time, of the user and of the system."""
        return self.user_ns + self.system_ns

    def in_words(self) -> str:
        """The arguments of the stand-in: seconds and counts, then bytes and processors if there are any to use."""
        is_short = self.cpu_ns < SHORTEST_PYTHON_NS and self.storage_read_bytes <= READ_FILE_BYTES
        times = ["0", "0"] if is_short else [_seconds(self.user_ns), _seconds(self.system_ns)]
        processes = self._short_processes() if self.cpu_ns > 0 and is_short else self.processes
        pages = [str(round(self.faults)), str(round(self.held_pages)), str(max(round(processes), 1))]
        return " ".join([*times, *pages, _seconds(self.waiting_ns), *self._further_words(is_short)])

    @property
    def uses_storage(self) -> bool:
        """Whether it reads from storage or writes to it."""
        return round(self.storage_read_bytes) > 0 or round(self.storage_written_bytes) > 0

    def _further_words(self, is_short: bool) -> list[str]:
        """The last arguments of the stand-in: bytes, then processors; none for a job that needs neither."""
        moved = self._byte_words(is_short)
        if is_short or self.processors == 1:
            return moved
        return [*(moved or ["0"] * 4), str(round(self.processors))]

    def _byte_words(self, is_short: bool) -> list[str]:
        """The bytes; none for a short job that would move less than a block."""
        counts = [self.read_bytes, self.written_bytes, self.storage_read_bytes, self.storage_written_bytes]
        most_moved = max(counts) if not is_short or self.uses_storage else max(counts) - _SHORT_BLOCK_BYTES
        return [str(round(count)) for count in counts] if round(most_moved) > 0 else []

    def _short_processes(self) -> float:
        """Number of short processes, the shell among them, that use about as much."""
        moving_ns = (self.storage_read_bytes + self.storage_written_bytes) * _SHORT_STORAGE_NS_PER_BYTE
        rest_ns = self.cpu_ns - _SHELL_NS - (_SLEEP_NS if self.waiting_ns else 0) - moving_ns
        return 1 + rest_ns / _SHORT_PROCESS_NS


def _seconds(ns: float) -> str:
    """A time in a word of the stand-in: seconds."""
    return number(float(f"{ns / 1e9:.4g}"))


def stand_in_jobs(uses: Sequence[CommandUse]) -> tuple[StandInJob, ...]:
    """The jobs that stand for the runs of one command."""
    runs = np.array([_figures(use) for use in uses], np.float64)
    cpu_ns = runs[:, 0] + runs[:, 1]
    runs = runs[np.lexsort((runs[:, _WAITS_COLUMN], cpu_ns))]
    if len(runs) > MOST_JOBS:
        runs = _representatives(runs, int((cpu_ns == 0).sum()))
    return tuple(StandInJob(*map(float, run)) for run in runs)


def _figures(use: CommandUse) -> tuple[float, ...]:
    """The fields of `StandInJob`, in their order."""
    waiting_ns = max((use.elapsed_ns or 0) - (use.cpu_ns or 0) - (use.queued_ns or 0), 0)
    counts = (use.faults_minor or 0, use.held_pages or 0, use.processes or 1)
    by_calls = (use.read_bytes or 0, use.written_bytes or 0)
    of_storage = (use.storage_read_bytes or 0, use.storage_written_bytes or 0)
    return (use.user_ns or 0, use.system_ns or 0, *counts, waiting_ns, *by_calls, *of_storage, _processors(use))


def _processors(use: CommandUse) -> int:
    """The number of processors that a run used or wanted at once, by Little's law; 1 for a short run."""
    wanted_ns = (use.cpu_ns or 0) + (use.queued_ns or 0)
    if not use.elapsed_ns or wanted_ns < _SHORT_RUN_NS:
        return 1
    return min(max(ceil(wanted_ns / use.elapsed_ns - _SPARE_PROCESSORS), 1), _MOST_PROCESSORS)


def _representatives(ordered: Floats, idle_count: int) -> Floats:
    """Runs that stand for `MOST_JOBS` parts of the runs, the first `idle_count` of which have no processor time."""
    busy_count = len(ordered) - idle_count
    idle_parts = round(MOST_JOBS * idle_count / len(ordered))
    idle_parts = min(max(idle_parts, min(idle_count, 1)), MOST_JOBS - min(busy_count, 1))
    parts = [*_parts(ordered[:idle_count], idle_parts), *_parts(ordered[idle_count:], MOST_JOBS - idle_parts)]
    chosen = np.array([_chosen(part, number) for number, part in enumerate(parts)])
    for columns in _SCALED_COLUMNS:
        if not chosen[
            :, columns
        ].any():  # what few runs did must not be lost: the part that did most of it stands for all
            part = int(np.argmax([rows[:, columns].sum() for rows in parts]))
            chosen[part, columns] = parts[part][:, columns].mean(axis=0)
        kept_mean = float(chosen[:, columns].sum(axis=1).mean())
        if kept_mean:
            chosen[:, columns] *= float(ordered[:, columns].sum(axis=1).mean()) / kept_mean
    return chosen


def _chosen(part: Floats, number: int) -> Floats:
    """The run that stands for part `number`: successive parts have it at other places in the order of faults."""
    place = int(((number + 0.5) * _GOLDEN_RATIO % 1.0) * len(part))
    by_faults: Floats = part[np.argsort(part[:, _FAULTS_COLUMN], kind="stable")]
    chosen: Floats = by_faults[place]
    return chosen


def _parts(ordered: Floats, count: int) -> list[Floats]:
    """The runs in parts of nearly the same size; fewer than `count` where there are fewer runs."""
    count = min(count, len(ordered))
    return np.array_split(ordered, count) if count else []
