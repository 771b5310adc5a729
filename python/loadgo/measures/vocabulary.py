"""Total time in the words of two documents: "Multics Performance" (March 1969) and CSR RFC 20 (May 1973).

The same word meant different things: 1969's *multiprogramming idle* is 1973's *NMP* (all who were let run wait), and
1973's *MP* is time in which somebody was not let run. Each line says which of today's categories it is made of; a
category that has no line there is told too, so that the lines and these are all of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loadgo.errors import BadArgument
from loadgo.measures.total_time import Category, TotalTime
from loadgo.notation.figures import duration

if TYPE_CHECKING:
    from loadgo.measures.meters import Meters

Year = Literal["today", "1969", "1973"]
YEARS = ("today", "1969", "1973")
"""Today's words, and those of the two documents."""

_NMP = ("idle page wait", "idle disk wait", "idle dispatch")
_OTHER = ("user", "nice", "primitive", "terminal", "wall crossing", "network", "process creation", "kernel thread")
_IDLE = ("idle zero", "idle loading", "idle not eligible", *_NMP, "idle", "iowait")
_INTERRUPTS = ("interrupt", "soft interrupt", "irq", "softirq")

_LINES_1973: Mapping[str, tuple[str, ...]] = {
    "Page Faults": ("page fault",),
    "Drum Interrupts": (),
    "Getwork": ("getwork",),
    "Seg Faults": ("segment fault",),
    "Bound Faults": ("bound fault",),
    "Interrupts": _INTERRUPTS,
    "Idle, zero": ("idle zero",),
    "Idle, loading": ("idle loading",),
    "Idle, MP": ("idle not eligible",),
    "Idle, NMP": _NMP,
    "Idle, total": _IDLE,
    "Other": _OTHER,
}
_LINES_1969: Mapping[str, tuple[str, ...]] = {
    "missing-page": ("page fault",),
    "missing-segment": ("segment fault",),
    "linkage": (),
    "wall crossing": ("wall crossing",),
    "interrupts": _INTERRUPTS,
    "per-primitive meters": ("primitive", "terminal", "network", "process creation"),
    "time charged to each process": ("user", "nice", "kernel thread"),
    "true idle": ("idle zero",),
    "multiprogramming idle": _NMP,
}
_SUMS = frozenset(("Idle, total",))
"""Lines that are sums of others."""


@dataclass(frozen=True)
class Line:
    """A line as the document names it; None is not measured, or not a time."""

    name: str
    time_ns: int | None
    non_idle: float | None
    """Of the non-idle time; None of what is not in that base."""
    count: int | None
    each_ns: float | None
    """The processor time of one."""
    means: str
    """Which of today's categories it is made of, or how it was come by."""
    sum: bool
    """Whether it is a sum of other lines."""


@dataclass(frozen=True)
class Words:
    """Total time in the words of one document."""

    year: Year
    title: str
    lines: tuple[Line, ...]
    homeless: tuple[Line, ...]
    """Today's categories that have no line there: with them, the lines are all of the time."""
    remarks: tuple[str, ...]
    """What must be known when they are put beside the printed ones."""


def in_words_of(year: Year, total: TotalTime, meters: Meters) -> Words:
    """The processors' time in the words of 1969 or 1973; raises `ValueError` for another year."""
    if year == "1973":
        return _words_of_1973(total, meters)
    if year == "1969":
        return _words_of_1969(total, meters)
    raise BadArgument(f"vocabulary {year!r} is none of {', '.join(YEARS)}")


def _words_of_1973(total: TotalTime, meters: Meters) -> Words:
    drum = _drum_part(meters)
    lines = {name: _line(name, of, total) for name, of in _LINES_1973.items()}
    if drum is not None:
        lines |= _divided(lines["Interrupts"], drum)
    return Words(
        year="1973",
        title="Total time meters in the words of 1973 (CSR RFC 20)",
        lines=tuple(lines.values()),
        homeless=_homeless(total, _LINES_1973),
        remarks=(
            "MP is idle time in which somebody was not let run (not eligible), NMP idle time in which all who were let "
            "run waited: 1969 called the latter multiprogramming idle, and so do not compare the two by their names.",
            "Percent of non-idle leaves zero and NMP idle out of its base.",
            *(() if drum is not None else ("The interrupts of a paging drum are not told apart here.",)),
            *_ticks(total),
            *_results_of_1973(total, lines),
        ),
    )


def _words_of_1969(total: TotalTime, meters: Meters) -> Words:
    lines = [_line(name, of, total) for name, of in _LINES_1969.items()]
    ready = meters.ready
    interruptions = None if ready is None else ready.interruptions
    lines.append(Line("# of interruptions", None, None, interruptions, None, "interrupts, by their handlers", False))
    return Words(
        year="1969",
        title='Total time in the words of 1969 ("Multics Performance")',
        lines=tuple(lines),
        homeless=_homeless(total, _LINES_1969),
        remarks=(
            "Multiprogramming idle is idle time in which all who were let run waited for a page or the disk: 1973 "
            "called it NMP, and something else MP.",
            "The scan of 1969 has linkage faults as leakage, and wall crossings as wait coming. There is no linkage "
            "fault here: programs link themselves, in their own time.",
            _average_queue(meters, total),
            *_ticks(total),
        ),
    )


def _line(name: str, of: tuple[str, ...], total: TotalTime) -> Line:
    """The line made of the categories `of`; without figures when none of them could be measured."""
    there = [category for category in total.categories if category.name in of]
    measurable = bool(there) or any(_measurable(category, total) for category in of)
    means = " + ".join(category.name for category in there) or " + ".join(of) or "nothing of today's"
    if not measurable:
        return Line(name, None, None, None, None, means, name in _SUMS)
    time_ns, counts = sum(category.time_ns for category in there), [category.count for category in there]
    count = sum(found) if (found := [part for part in counts if part is not None]) else None
    whole = count is not None and None not in counts
    return Line(
        name=name,
        time_ns=time_ns,
        non_idle=None if name in _SUMS else _of_non_idle(there, total),
        count=count if whole else None,
        each_ns=time_ns / count if whole and count else None,
        means=means,
        sum=name in _SUMS,
    )


def _measurable(category: str, total: TotalTime) -> bool:
    """Whether an account that has no such category means that there was no such time."""
    if total.kind == "kernel's ticks":
        return False
    of_machine = ("terminal", "wall crossing", "network", "process creation")
    of_host = ("primitive", "soft interrupt", "kernel thread")
    return category not in (of_host if total.kind == "machine" else of_machine)


def _of_non_idle(categories: list[Category], total: TotalTime) -> float | None:
    inside = [category.time_ns for category in categories if category.in_non_idle]
    if categories and not inside:
        return None
    return sum(inside) / total.non_idle_ns if total.non_idle_ns else None


def _divided(interrupts: Line, drum: float) -> dict[str, Line]:
    """Interrupts with and without the drum's part of them; together they are as long as before."""
    if interrupts.time_ns is None:
        return {}
    of_drum_ns = round(interrupts.time_ns * drum)
    parts = {
        "Drum Interrupts": (of_drum_ns, drum, "the drum's part of interrupt, by requests"),
        "Interrupts": (interrupts.time_ns - of_drum_ns, 1 - drum, "interrupt, without the drum's"),
    }
    return {
        name: Line(
            name=name,
            time_ns=time_ns,
            non_idle=None if interrupts.non_idle is None else interrupts.non_idle * part,
            count=None if interrupts.count is None else round(interrupts.count * part),
            each_ns=interrupts.each_ns,
            means=means,
            sum=False,
        )
        for name, (time_ns, part, means) in parts.items()
    }


def _results_of_1973(total: TotalTime, lines: Mapping[str, Line]) -> tuple[str, ...]:
    """The document's other results that follow from these, where they are whole."""
    if total.kind == "kernel's ticks":
        return ()
    good = lines["Other"].time_ns or 0
    faults = [lines[name].time_ns for name in ("Seg Faults", "Bound Faults")]
    virtual = good + sum(time or 0 for time in faults)
    return (
        f"Elapsed Time {duration(total.span_ns)}; CPU, total {duration(total.account.busy_ns)} (all that is not idle); "
        f"CPU, virtual {duration(virtual)} (Other, Seg Faults and Bound Faults); CPU, good {duration(good)} (Other).",
    )


def _homeless(total: TotalTime, lines: Mapping[str, tuple[str, ...]]) -> tuple[Line, ...]:
    housed = {category for name, of in lines.items() for category in of if name not in _SUMS}
    summed = {category for name, of in lines.items() for category in of if name in _SUMS}
    kept = [
        category
        for category in total.categories
        if category.name not in housed and category.name not in (summed if total.kind == "kernel's ticks" else ())
    ]
    return tuple(_line(category.name, (category.name,), total) for category in kept)


def _drum_part(meters: Meters) -> float | None:
    """The drum's part of the requests to devices that interrupt when they are done; a bulk store does not."""
    requests = {queue.name: queue.requests or 0 for queue in meters.queues if queue.name not in ("processors", "bulk")}
    asked = sum(requests.values())
    return requests["drum"] / asked if requests.get("drum") else None


def _average_queue(meters: Meters, total: TotalTime) -> str:
    """The average queue length, which then held those who wait for a page too."""
    if meters.eligible is not None and meters.asking is not None:
        length = meters.eligible + meters.asking
        return f"Average queue length {length:.2f}: running, ready, or waiting for a page, as then."
    if meters.ready is None or meters.ready.mean is None:
        return "Average queue length: not measured."
    running = total.busy_share * len(total.processors)
    return (
        f"Average queue length {meters.ready.mean + running:.2f}: running or ready. Then it held those who wait for a "
        "page too, who are not known here."
    )


def _ticks(total: TotalTime) -> tuple[str, ...]:
    if total.kind != "kernel's ticks":
        return ()
    return (
        "The kernel's own account divides neither system into faults, getwork and primitives, nor idle by cause: "
        "those lines are not measured, and the work that is in system is in none of them.",
    )
