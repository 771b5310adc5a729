"""Remarks on a ready message: sentences that a reader needs to understand its figures."""

from __future__ import annotations

import shlex
import signal
import textwrap
from statistics import median
from typing import TYPE_CHECKING

from loadgo.hosts.address import HERE_NAME
from loadgo.notation.figures import NOT_MEASURED, as_code, plain, share, size
from loadgo.ready_message.ready import FEWEST_INTERVAL_RUNS, ONLY_STAGE, Ready

if TYPE_CHECKING:
    from loadgo.running.command_run import ColdStart, CommandRun, Stage

FIGURE_LABELS = {
    "real_ns": "real",
    "cpu_ns": "CPU",
    "cpu_user_ns": "CPU, user",
    "cpu_system_ns": "CPU, system",
    "ready_wait_ns": "CPU wait",
    "paging_wait_ns": "page wait",
    "io_wait_ns": "disk wait",
    "faults_minor": "page faults, minor",
    "faults_major": "page faults, major",
    "max_resident_bytes": "memory, most",
    "switches_voluntary": "switches, voluntary",
    "switches_involuntary": "switches, involuntary",
}
"""Labels of the figures, by name. The cost's label depends on its scale."""
_SHORT_RUN_NS = 400_000_000
"""Processor time below which the kernel's ticks divide user and system time coarsely."""
_MOST_NAMED_FILES = 4
_MOST_COMMAND_CHARS = 24
_WAITING_SHARE = 0.1
"""Share of the real time from which a wait for a processor is a warning: as of other work in a run's report."""


def remarks(ready: Ready) -> list[str]:
    """The remarks, in the order in which they are printed."""
    return [
        *_interruption(ready),
        *_medians(ready),
        *_too_few_runs(ready),
        *_missing_figures(ready),
        *_coarse_split(ready),
        *_left_running(ready.runs),
        *_lost_records(ready.runs),
        *_cold_start(ready),
        *_prices(ready),
    ]


def ready_warnings(ready: Ready) -> list[str]:
    """The warnings, first that the command failed: its times are then those of a failure."""
    return [*_failures(ready), *waiting_warnings(ready)]


def _failures(ready: Ready) -> list[str]:
    counted_runs = [run for stage in ready.stages for run in ready.counted(stage)]
    failures = [run for run in counted_runs if run.status]
    if not failures:
        return []
    command, end = as_code(short_command(ready)), end_of(failures[0])
    if len(failures) == len(counted_runs):
        return [f"{command} failed ({end}): these times are of the failure."]
    return [f"{command} failed in {len(failures)} of {len(counted_runs)} runs ({end}): the times include these."]


def short_command(ready: Ready) -> str:
    """The beginning of the command."""
    return plain(textwrap.shorten(shlex.join(ready.command), _MOST_COMMAND_CHARS, placeholder="…") or "…")


def end_of(run: CommandRun) -> str:
    """The exit status or the signal with which a run ended, in words."""
    if run.signal is None:
        return f"exit {run.exit_status}"
    names = {known.value: known.name for known in signal.Signals}
    return f"killed by {names.get(run.signal, f'signal {run.signal}')}"


def waiting_warnings(ready: Ready) -> list[str]:
    """A warning for each stage that waited for a processor for much of its real time."""
    return [line for stage in ready.stages for line in _waiting(ready, stage)]


def _waiting(ready: Ready, stage: Stage) -> list[str]:
    waits = [
        run.ready_wait_ns / run.real_ns
        for run in ready.counted(stage)
        if run.ready_wait_ns is not None and run.real_ns and run.cpu_ns is not None
    ]
    part = float(median(waits)) if waits else 0.0
    if part <= _WAITING_SHARE:
        return []
    of_stage = "" if stage == ONLY_STAGE else f"{stage}: "
    how = "In the median run, the" if len(waits) > 1 else "The"
    return [
        f"{of_stage}{how} command's processes waited for a processor for as long as {share(part)} of the real time: "
        "the processors were busy with other things, or with several processes of the command at once. The real time "
        "is longer than on a quiet host."
    ]


def _medians(ready: Ready) -> list[str]:
    """A remark on the first line where it has medians."""
    if not any(len(ready.counted(stage)) > 1 for stage in ready.stages):
        return []
    return ["the first line has medians. Medians of parts do not add up to the median of their sum."]


def _prices(ready: Ready) -> list[str]:
    """The prices of the cost, and the number of runs that it is of."""
    if not ready.runs:
        return []
    tariff = ready.tariff
    runs = "one run" if tariff.counted == 1 else f"{tariff.counted:,} such runs"
    assumed = ", an assumption" if tariff.assumption else ""
    return [f"cost: of {runs} at {tariff.in_words()} ({tariff.label}{assumed})."]


def _interruption(ready: Ready) -> list[str]:
    if ready.interrupted is None:
        return []
    name = signal.Signals(ready.interrupted).name
    interrupted_runs = sum(run.interrupted for run in ready.runs)
    has_left_out = 0 < interrupted_runs < len(ready.runs)
    left_out = " The interrupted run is left out." if has_left_out else ""
    return [f"{name} came: {len(ready.runs)} of {ready.asked} runs were started.{left_out}"]


def _too_few_runs(ready: Ready) -> list[str]:
    counts = {len(ready.counted(stage)) for stage in ready.stages}
    too_few = any(1 < count < FEWEST_INTERVAL_RUNS for count in counts)
    return [f"too few: an interval needs {FEWEST_INTERVAL_RUNS} runs."] if too_few else []


def _missing_figures(ready: Ready) -> list[str]:
    """The figures with a dash, and the meter's notes on them."""
    labels = [label for figure, label in FIGURE_LABELS.items() if _has_dash(ready, figure)]
    lines = [f"note: {note}" for note in ready.notes]
    if labels:
        doctor = "`loadgo doctor`" if ready.host == HERE_NAME else f"`loadgo doctor --on {ready.host}`"
        unexplained = "" if lines else f" {doctor} lists what can be measured."
        lines.insert(0, f"{NOT_MEASURED} not measured: {', '.join(labels)}.{unexplained}")
    if any(run.max_resident_bytes is None for run in ready.runs):
        floor = size(ready.floor_bytes)
        lines.append(
            f"≤: less than {floor} cannot be told: the kernel's account of a command begins at loadgo's own memory."
        )
    return lines


def _has_dash(ready: Ready, figure: str) -> bool:
    """Whether a figure is missing for some kind of run. Memory that is not measured has a bound instead of a dash."""
    is_missing = any(ready.spread(figure, stage).median is None for stage in ready.stages)
    return is_missing and figure != "max_resident_bytes"


def _coarse_split(ready: Ready) -> list[str]:
    """A remark on short runs, in which the kernel counts few ticks."""
    shortest_ns = min((run.cpu_ns for run in ready.runs if run.cpu_ns is not None), default=_SHORT_RUN_NS)
    if shortest_ns >= _SHORT_RUN_NS or "ticks" not in str(ready.sources.get("split", "")):
        return []
    return [f"user and system are split by {ready.sources['split']}: in a short run only their sum is exact."]


def _left_running(runs: tuple[CommandRun, ...]) -> list[str]:
    count = sum(run.left_running or 0 for run in runs)
    if not count:
        return []
    killed = count - sum(run.let_go for run in runs)
    fate = "runs on" if not killed else f"was left running; {killed} of these could not be released and were killed"
    processes = f"{count} process{'es' if count != 1 else ''}"
    return [f"{processes} of the command's {fate}; the figures end with the command."]


def _lost_records(runs: tuple[CommandRun, ...]) -> list[str]:
    lost = sum(run.lost for run in runs)
    return [f"{lost} records of usage were lost: faults and waits are lower bounds."] if lost else []


def _cold_start(ready: Ready) -> list[str]:
    cold = next((run.cold for run in ready.runs if run.cold is not None), None)
    return [] if cold is None else [_dropped_files(cold), _files_in_memory(cold), _dropped_names(cold)]


def _dropped_files(cold: ColdStart) -> str:
    return (
        f"cold: {len(cold.files)} files of {size(sum(file.bytes for file in cold.files))} belong to the command "
        "(program, interpreter, libraries, arguments). Others that it opens are not known beforehand and stayed."
    )


def _files_in_memory(cold: ColdStart) -> str:
    unknown_count = sum(file.stayed_bytes is None for file in cold.files)
    unknown = f" The kernel does not tell for {unknown_count} files." if unknown_count else ""
    stayed = sorted((file for file in cold.files if file.stayed_bytes), key=lambda file: -(file.stayed_bytes or 0))
    if not stayed:
        return f"cold: none of their pages stayed in memory.{unknown}"
    named = [f"{file.path.name} {size(file.stayed_bytes)} of {size(file.bytes)}" for file in stayed[:_MOST_NAMED_FILES]]
    further = [f"and {len(stayed) - len(named)} more"] if len(stayed) > len(named) else []
    return f"cold: could not be dropped, since other processes use them: {', '.join([*named, *further])}.{unknown}"


def _dropped_names(cold: ColdStart) -> str:
    if cold.names_dropped:
        return "cold: names and attributes of files were dropped, on the whole host."
    return "cold: names and attributes of files were not dropped: only root may, outside of containers."
