"""A ready message as a document: the message in a line, a table of its figures, and remarks on them."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING

from loadgo.documents.document import Document, Remarks
from loadgo.documents.table import Column, Table
from loadgo.hosts.address import HERE_NAME
from loadgo.measures.trust import WIDE_SHARE, Evidence, trust_in_words
from loadgo.notation.figures import NOT_MEASURED, digits, duration, joined, money, number, size
from loadgo.ready_message.ready import FEWEST_INTERVAL_RUNS, ONLY_STAGE, READY_FIGURES, FigureSpread, Ready
from loadgo.ready_message.remarks import (
    FIGURE_LABELS,
    all_failed,
    end_of,
    ready_warnings,
    remarks,
    short_command,
    waiting_warnings,
)

if TYPE_CHECKING:
    from loadgo.running.command_run import CommandRun, Stage

TEXT_CHARS = 80
"""Width of a ready message as text."""
_LABEL_CHARS = 23


def ready_text(ready: Ready, *, width: int | None = None, color: bool = False) -> str:
    """The ready message as text, by default as wide as its message in a line needs, but no wider than the terminal."""
    from loadgo.documents.as_text import text_document

    return text_document(ready_document(ready), width=width or _text_chars(ready), color=color)


def _text_chars(ready: Ready) -> int:
    from rich.cells import cell_len

    needed = max(map(cell_len, _message(ready)))
    return max(TEXT_CHARS, min(needed, get_terminal_size((needed, 24)).columns))


def ready_document(ready: Ready) -> Document:
    """The ready message of a command as a document."""
    answer, *further = _message(ready)
    beside = remarks(ready)
    return Document(
        title=f"ready message of {short_command(ready)}{_place(ready)}",
        answer=answer,
        further_answers=tuple(further),
        trust=_trust(ready),
        warnings=tuple(ready_warnings(ready)),
        sections=(*(_tables(ready) if ready.runs else ()), *([Remarks(tuple(beside))] if beside else [])),
    )


def _trust(ready: Ready) -> str:
    """The line on whether to believe the times; empty without a run."""
    if not ready.runs:
        return ""
    fewest = min(len(ready.counted(stage)) for stage in ready.stages)
    against = []
    if fewest < FEWEST_INTERVAL_RUNS:
        runs = "one run" if fewest == 1 else f"{fewest} runs"
        against.append(f"{runs} cannot give an interval (`-n {FEWEST_INTERVAL_RUNS}` does)")
    elif spread := _wide_real(ready):
        against.append(f"the median real time is known only as {spread}")
    if any(run.ready_wait_ns is None for run in ready.runs):
        against.append("it is not known whether it waited for a processor")
    grounds = [] if waiting_warnings(ready) or all_failed(ready) else ["it did not wait for a processor for long"]
    grounds = grounds if all(run.ready_wait_ns is not None for run in ready.runs) else []
    return trust_in_words(Evidence(tuple(against), tuple(grounds)), is_warned=bool(ready_warnings(ready)))


def _wide_real(ready: Ready) -> str:
    """The interval of the real time if it is wide in one of the stages; else empty."""
    for stage in ready.stages:
        real = ready.spread("real_ns", stage)
        if real.median and real.low is not None and (real.high or 0) - real.low > 2 * WIDE_SHARE * real.median:
            return _interval(ready, "real_ns", real)
    return ""


def _message(ready: Ready) -> list[str]:
    """A line for each stage."""
    if not ready.runs:
        return [f"{short_command(ready)}{_place(ready)}: interrupted before a run"]
    return [_stage_message(ready, stage) for stage in ready.stages]


def _stage_message(ready: Ready, stage: Stage) -> str:
    def median(figure: str) -> float | None:
        return ready.spread(figure, stage).median

    runs = ready.counted(stage)
    real, cpu = median("real_ns"), median("cpu_ns")
    share = f" ({digits(100 * cpu / real)} %)" if cpu is not None and real else ""
    phrases = [
        f"real {duration(real)}",
        f"CPU {duration(cpu)}{share}",
        f"faults {number(median('faults_minor'))} minor, {number(median('faults_major'))} major",
        f"{len(runs)} runs" if len(runs) > 1 else "",
        _first_failure(runs),
    ]
    what = "" if stage == ONLY_STAGE else f", {stage}"
    return f"{short_command(ready)}{_place(ready)}{what}: {', '.join(filter(None, phrases))}"


def _place(ready: Ready) -> str:
    """The host, if it is another one than this."""
    return "" if ready.host == HERE_NAME else f" on {ready.host}"


def _first_failure(runs: tuple[CommandRun, ...]) -> str:
    """The end of the first run that failed: its exit status or signal. Empty if all succeeded.

    Of several runs it says how many failed.
    """
    failures = [run for run in runs if run.status]
    if not failures:
        return ""
    end = end_of(failures[0])
    if len(runs) == 1:
        return end
    count = "all" if len(failures) == len(runs) else f"{len(failures)} of them"
    return f"{count} failed ({end})"


def _tables(ready: Ready) -> list[Table]:
    """The figures of each stage: side by side if each has one run, else a table for each stage."""
    if any(len(ready.counted(stage)) > 1 for stage in ready.stages):
        return [_spread_table(ready, stage) for stage in ready.stages]
    if ready.stages == (ONLY_STAGE,):
        columns = (_labels(ready), _medians(ready, ONLY_STAGE, "", chars=11))
        return [Table("", columns, as_printed=True, in_halves=True)]
    medians = (_medians(ready, stage, stage, chars=14) for stage in ready.stages)
    return [Table("", (_labels(ready), *medians), as_printed=True)]


def _spread_table(ready: Ready, stage: Stage) -> Table:
    """Several runs of one stage: each figure's median with its interval, and its extremes."""
    spreads = [(figure, ready.spread(figure, stage)) for figure in _figures(ready)]
    intervals = Column("95 % interval", tuple(_interval(ready, *spread) for spread in spreads), chars=23)
    columns = (
        _labels(ready),
        _medians(ready, stage, "median", chars=10),
        *([intervals] if len(ready.counted(stage)) >= FEWEST_INTERVAL_RUNS else []),
        Column("least", tuple(_shown(ready, figure, spread.least) for figure, spread in spreads), chars=10),
        Column("most", tuple(_shown(ready, figure, spread.most) for figure, spread in spreads), chars=10),
    )
    return Table(f"{stage}:" if stage != ONLY_STAGE else "", columns, as_printed=True)


def _figures(ready: Ready) -> tuple[str, ...]:
    """The figures that are shown. What a million failures cost nobody wants to know."""
    return tuple(figure for figure in READY_FIGURES if figure != "cost" or not all_failed(ready))


def _labels(ready: Ready) -> Column:
    labels = tuple(_cost_label(ready) if figure == "cost" else FIGURE_LABELS[figure] for figure in _figures(ready))
    return Column("", labels, kind="words", chars=_LABEL_CHARS)


def _medians(ready: Ready, stage: Stage, heading: str, *, chars: int) -> Column:
    medians = (_shown(ready, figure, ready.spread(figure, stage).median) for figure in _figures(ready))
    return Column(heading, tuple(medians), chars=chars)


def _interval(ready: Ready, figure: str, spread: FigureSpread) -> str:
    if spread.median is None:
        return NOT_MEASURED
    if spread.low is None:
        return "too few"
    return joined(_shown(ready, figure, spread.low), _shown(ready, figure, spread.high))


def _shown(ready: Ready, figure: str, value: float | None) -> str:
    """A value of one of `READY_FIGURES` with its unit."""
    if figure == "max_resident_bytes":
        return size(value) if value is not None else f"≤ {size(ready.floor_bytes)}"
    if figure == "cost":
        return money(value, ready.tariff.currency, ready.tariff.counted)
    return duration(value) if figure.endswith("_ns") else number(value)


def _cost_label(ready: Ready) -> str:
    return "cost" if ready.tariff.counted == 1 else f"cost of {ready.tariff.counted:,}"
