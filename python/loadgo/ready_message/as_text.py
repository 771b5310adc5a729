"""A ready message as a person reads it: the message in a line, a table, and what stands beside the figures."""

from __future__ import annotations

import shlex
import signal
import textwrap
from itertools import zip_longest

from loadgo.notation.figures import NOT_MEASURED, digits, duration, joined, money, money_scale, number, plain, size
from loadgo.ready_message.ready import ALONE, FIGURES, Ready, Spread
from loadgo.running.command_run import Cold, CommandRun, Stage

WIDTH = 80
_LABELS = {
    "real_ns": "real",
    "cpu_ns": "CPU",
    "cpu_user_ns": "CPU, user",
    "cpu_system_ns": "CPU, system",
    "ready_wait_ns": "ready-queue wait",
    "paging_wait_ns": "paging wait",
    "io_wait_ns": "I/O wait",
    "faults_minor": "page faults, minor",
    "faults_major": "page faults, major",
    "max_resident_bytes": "memory, most",
    "switches_voluntary": "switches, voluntary",
    "switches_involuntary": "switches, involuntary",
}
_LABEL_WIDTH = 23
_MANY_TICKS_NS = 400_000_000


def ready_text(ready: Ready) -> str:
    """The whole message, 80 columns wide; every line ends with a newline."""
    lines = _message(ready)
    if ready.runs:
        lines += ["", *_tables(ready)]
    beside = _beside(ready)
    if beside:
        lines += ["", *(line for text in beside for line in textwrap.wrap(plain(text), WIDTH, subsequent_indent="  "))]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _message(ready: Ready) -> list[str]:
    """The ready message: a line for each kind of run."""
    if not ready.runs:
        return [f"r {_name(ready)}: interrupted before a run"]
    return [_line(ready, stage) for stage in ready.stages]


def _line(ready: Ready, stage: Stage) -> str:
    def told(figure: str) -> float | None:
        return ready.spread(figure, stage).median

    rows = ready.counted(stage)
    real, cpu = told("real_ns"), told("cpu_ns")
    share = f" ({digits(100 * cpu / real)} %)" if cpu is not None and real else ""
    what = _name(ready) if stage == ALONE else stage
    parts = [
        f"real {duration(real)}",
        f"CPU {duration(cpu)}{share}",
        f"faults {number(told('faults_minor'))} + {number(told('faults_major'))} major",
        f"{len(rows)} runs" if len(rows) > 1 else "",
        _ending(rows),
    ]
    return f"r {what}: {', '.join(part for part in parts if part)}"


def _name(ready: Ready) -> str:
    return plain(textwrap.shorten(shlex.join(ready.command), 24, placeholder="…") or "…")


def _ending(rows: tuple[CommandRun, ...]) -> str:
    """How the first run that did not end well has ended; empty when all did."""
    bad = next((run for run in rows if run.status), None)
    if bad is None:
        return ""
    if bad.signal is None:
        return f"exit {bad.exit_status}"
    known = {each.value: each.name for each in signal.Signals}
    return f"killed by {known.get(bad.signal, f'signal {bad.signal}')}"


def _tables(ready: Ready) -> list[str]:
    many = any(len(ready.counted(stage)) > 1 for stage in ready.stages)
    if not many:
        return _pairs(ready) if ready.stages == (ALONE,) else _stages(ready)
    blocks = [([f"{stage}:"] if stage != ALONE else []) + _spreads(ready, stage) for stage in ready.stages]
    return [line for block in blocks for line in ["", *block]][1:]


def _pairs(ready: Ready) -> list[str]:
    """One run: two figures to a line."""
    cells = [f"{_label(ready, name):<{_LABEL_WIDTH}}{_median(ready, name, ALONE):>11}" for name in FIGURES]
    half = (len(cells) + 1) // 2
    return [f"  {left}    {right}" for left, right in zip_longest(cells[:half], cells[half:], fillvalue="")]


def _stages(ready: Ready) -> list[str]:
    """One run of each kind: a column each."""
    head = "".join(f"{stage:>14}" for stage in ready.stages)
    rows = [(_label(ready, name), [_median(ready, name, stage) for stage in ready.stages]) for name in FIGURES]
    body = [f"  {label:<{_LABEL_WIDTH}}" + "".join(f"{cell:>14}" for cell in cells) for label, cells in rows]
    return [f"  {'':<{_LABEL_WIDTH}}{head}", *body]


def _spreads(ready: Ready, stage: Stage) -> list[str]:
    """Several runs of one kind: a row for each figure."""
    lines = [f"  {'':<{_LABEL_WIDTH}}{'median':>10}{'95 % interval':>23}{'least':>10}{'most':>10}"]
    for name in FIGURES:
        spread = ready.spread(name, stage)
        told = [_figure(ready, name, value) for value in (spread.median, spread.least, spread.most)]
        between = _interval(ready, name, spread)
        lines.append(f"  {_label(ready, name):<{_LABEL_WIDTH}}{told[0]:>10}{between:>23}{told[1]:>10}{told[2]:>10}")
    return lines


def _interval(ready: Ready, name: str, spread: Spread) -> str:
    if spread.median is None:
        return NOT_MEASURED
    if spread.low is None:
        return "too few"
    return joined(_figure(ready, name, spread.low), _figure(ready, name, spread.high))


def _median(ready: Ready, name: str, stage: Stage) -> str:
    return _figure(ready, name, ready.spread(name, stage).median)


def _figure(ready: Ready, name: str, value: float | None) -> str:
    if name == "max_resident_bytes":
        return size(value) if value is not None else f"≤ {size(ready.floor_bytes)}"
    if name == "cost":
        return money(value, ready.tariff.currency, _scale(ready))
    return duration(value) if name.endswith("_ns") else number(value)


def _label(ready: Ready, name: str) -> str:
    if name != "cost":
        return _LABELS[name]
    scale = _scale(ready)
    return "cost" if scale == 1 else f"cost of {scale:,}"


def _scale(ready: Ready) -> int:
    return money_scale([ready.value("cost", run) for run in ready.runs])


def _beside(ready: Ready) -> list[str]:
    """What must be known to read the figures, a sentence or two each."""
    return [
        *_interruption(ready),
        *_few(ready),
        *_missing(ready),
        *_split(ready),
        *_left(ready.runs),
        *_lost(ready.runs),
        *_coldness(ready),
    ]


def _interruption(ready: Ready) -> list[str]:
    if ready.interrupted is None:
        return []
    name = signal.Signals(ready.interrupted).name
    cut = sum(run.interrupted for run in ready.runs)
    left_out = " The one that it came in is left out." if cut and cut < len(ready.runs) else ""
    return [f"{name} came: {len(ready.runs)} of {ready.asked} runs were begun.{left_out}"]


def _few(ready: Ready) -> list[str]:
    counts = {len(ready.counted(stage)) for stage in ready.stages}
    return ["too few: an interval needs 6 runs."] if any(1 < count < 6 for count in counts) else []


def _missing(ready: Ready) -> list[str]:
    """Why there is a dash, in the meter's words."""
    names = [n for n in FIGURES if n not in ("cost", "max_resident_bytes")]
    dashes = [_LABELS[n] for n in names if any(ready.spread(n, s).median is None for s in ready.stages)]
    notes = [f"note: {note}" for note in ready.notes]
    if dashes:
        unexplained = "" if notes else " `loadgo doctor` tells what can be measured here."
        notes.insert(0, f"{NOT_MEASURED} not measured: {', '.join(dashes)}.{unexplained}")
    if any(run.max_resident_bytes is None for run in ready.runs):
        notes.append("≤: the command had less memory than loadgo, whose own its account begins with.")
    return notes


def _split(ready: Ready) -> list[str]:
    """Said of short runs: over long ones the ticks are many."""
    shortest = min((run.cpu_ns for run in ready.runs if run.cpu_ns is not None), default=_MANY_TICKS_NS)
    if shortest >= _MANY_TICKS_NS or "ticks" not in str(ready.sources.get("split", "")):
        return []
    return [f"user and system are told apart by {ready.sources['split']}: in a short run only their sum is exact."]


def _left(runs: tuple[CommandRun, ...]) -> list[str]:
    left = sum(run.left_running or 0 for run in runs)
    if not left:
        return []
    ended = left - sum(run.let_go for run in runs)
    fate = "runs on" if not ended else f"was left; {ended} of these could not be let go and had to be killed"
    return [f"{_processes(left)} of the command's {fate}; what is used after its end is not in the figures."]


def _processes(count: int) -> str:
    return f"{count} process{'es' if count != 1 else ''}"


def _lost(runs: tuple[CommandRun, ...]) -> list[str]:
    lost = sum(run.lost for run in runs)
    return [f"{lost} records of usage were lost: faults and waits are at least what is shown."] if lost else []


def _coldness(ready: Ready) -> list[str]:
    cold = next((run.cold for run in ready.runs if run.cold is not None), None)
    return [] if cold is None else [_dropped(cold), _stayed(cold), _names(cold)]


def _dropped(cold: Cold) -> str:
    whole = sum(file.bytes for file in cold.files)
    return (
        f"cold: {len(cold.files)} files of {size(whole)} belong to the command (program, interpreter, libraries, "
        "arguments). What it opens by itself is not known beforehand and stayed."
    )


def _stayed(cold: Cold) -> str:
    untold = sum(file.stayed_bytes is None for file in cold.files)
    stayed = sorted((file for file in cold.files if file.stayed_bytes), key=lambda file: -(file.stayed_bytes or 0))
    told = [f"{file.path.name} {size(file.stayed_bytes)} of {size(file.bytes)}" for file in stayed[:4]]
    more = [f"and {len(stayed) - 4} more"] if len(stayed) > 4 else []
    unknown = f" Of {untold} files the kernel does not tell." if untold else ""
    if not stayed:
        return f"cold: nothing of these stayed in memory.{unknown}"
    return f"cold: could not be dropped, for others use it: {', '.join([*told, *more])}.{unknown}"


def _names(cold: Cold) -> str:
    if cold.names_dropped:
        return "cold: names and attributes of files were dropped, on the whole host."
    return "cold: names and attributes of files were not dropped: only root may, outside of containers."
