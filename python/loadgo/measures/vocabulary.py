"""Total time in the words of two documents: "Multics Performance" (March 1969) and CSR RFC 20 (May 1973).

One word had two meanings: 1969's *multiprogramming idle* is 1973's *NMP*, in which all eligible processes wait. 1973's
*MP* is time in which a process was not eligible. Each line names the categories of today that it consists of. The
categories without a line are listed too, so that all lines together are all of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loadgo.errors import BadArgument
from loadgo.measures.total_time import Category, TotalTime
from loadgo.notation.figures import duration
from loadgo.notation.terms import idle_cause

if TYPE_CHECKING:
    from loadgo.measures.meters import Meters

VocabularyName = Literal["today", "1969", "1973"]
VOCABULARY_NAMES = ("today", "1969", "1973")
"""The vocabularies of a report: today's words, and those of the two documents."""

_NMP_CATEGORIES = ("idle page wait", "idle disk wait", "idle dispatch")
_OTHER_CATEGORIES = (
    "user",
    "nice",
    "primitive",
    "terminal",
    "wall crossing",
    "network",
    "process creation",
    "lock wait",
    "kernel thread",
)
_IDLE_CATEGORIES = ("idle zero", "idle loading", "idle not eligible", *_NMP_CATEGORIES, "idle", "iowait")
_INTERRUPT_CATEGORIES = ("interrupt", "soft interrupt", "irq", "softirq")

_LINES_1973: Mapping[str, tuple[str, ...]] = {
    "Page Faults": ("page fault",),
    "Drum Interrupts": (),
    "Getwork": ("getwork",),
    "Seg Faults": ("segment fault",),
    "Bound Faults": ("bound fault",),
    "Interrupts": _INTERRUPT_CATEGORIES,
    "Idle, zero": ("idle zero",),
    "Idle, loading": ("idle loading",),
    "Idle, MP": ("idle not eligible",),
    "Idle, NMP": _NMP_CATEGORIES,
    "Idle, total": _IDLE_CATEGORIES,
    "Other": _OTHER_CATEGORIES,
}
_LINES_1969: Mapping[str, tuple[str, ...]] = {
    "missing-page": ("page fault",),
    "missing-segment": ("segment fault",),
    "linkage": (),
    "wall crossing": ("wall crossing",),
    "interrupts": _INTERRUPT_CATEGORIES,
    "per-primitive meters": ("primitive", "terminal", "network", "process creation"),
    "time charged to each process": ("user", "nice", "kernel thread"),
    "true idle": ("idle zero",),
    "multiprogramming idle": _NMP_CATEGORIES,
}
_SUM_LINES = frozenset(("Idle, total",))
"""Lines that are sums of other lines."""


@dataclass(frozen=True)
class VocabularyLine:
    """A line of a document's table; None means not measured, or not a time."""

    name: str
    time_ns: int | None
    non_idle: float | None
    """Share of the non-idle time; None for a line that this base leaves out."""
    count: int | None
    each_ns: float | None
    """Mean processor time of one event."""
    means: str
    """The stored names of the categories that the line consists of, or the source of its figure."""
    sum: bool
    """Whether it is a sum of other lines."""

    @property
    def means_today(self) -> str:
        """The categories that the line consists of in today's terms, or the source of its figure."""
        return " + ".join(map(idle_cause, self.means.split(" + ")))


@dataclass(frozen=True)
class DocumentVocabulary:
    """Total time in the words of one document."""

    year: VocabularyName
    title: str
    lines: tuple[VocabularyLine, ...]
    homeless: tuple[VocabularyLine, ...]
    """The categories of today that the document has no line for."""
    remarks: tuple[str, ...]
    """Sentences that a reader needs to compare the lines with the printed ones."""


def in_words_of(year: VocabularyName, total: TotalTime, meters: Meters) -> DocumentVocabulary:
    """The processors' time in the words of 1969 or 1973. Another year raises `ValueError`."""
    if year == "1973":
        return _vocabulary_1973(total, meters)
    if year == "1969":
        return _vocabulary_1969(total, meters)
    raise BadArgument(f"vocabulary {year!r} is none of {', '.join(VOCABULARY_NAMES)}")


def _vocabulary_1973(total: TotalTime, meters: Meters) -> DocumentVocabulary:
    drum_share = _drum_share(meters)
    lines = {name: _line(name, categories, total) for name, categories in _LINES_1973.items()}
    if drum_share is not None:
        lines |= _divide_interrupts(lines["Interrupts"], drum_share)
    return DocumentVocabulary(
        year="1973",
        title="Total time meters in the words of 1973 (CSR RFC 20)",
        lines=tuple(lines.values()),
        homeless=_unnamed_categories(total, _LINES_1973),
        remarks=(
            "MP is idle time in which a process was not eligible, NMP idle time in which all eligible processes "
            "waited. 1969 called the latter multiprogramming idle, so do not compare the two by their names.",
            "Percent of non-idle leaves zero and NMP idle out of its base.",
            *(() if drum_share is not None else ("The interrupts of a paging drum are not distinguished here.",)),
            *_tick_remarks(total),
            *_results_1973(total, lines),
        ),
    )


def _vocabulary_1969(total: TotalTime, meters: Meters) -> DocumentVocabulary:
    lines = [_line(name, categories, total) for name, categories in _LINES_1969.items()]
    ready = meters.ready
    interruptions = None if ready is None else ready.interruptions
    lines.append(
        VocabularyLine("# of interruptions", None, None, interruptions, None, "interrupts, by their handlers", False)
    )
    return DocumentVocabulary(
        year="1969",
        title='Total time in the words of 1969 ("Multics Performance")',
        lines=tuple(lines),
        homeless=_unnamed_categories(total, _LINES_1969),
        remarks=(
            "Multiprogramming idle is idle time in which all eligible processes waited for a page or the disk: 1973 "
            "called it NMP, and something else MP.",
            "The scan of 1969 has linkage faults as leakage, and wall crossings as wait coming. There is no linkage "
            "fault here: programs link themselves, in their own time.",
            _average_queue(meters, total),
            *_tick_remarks(total),
        ),
    )


def _line(name: str, categories: tuple[str, ...], total: TotalTime) -> VocabularyLine:
    """The line of these categories; without figures when none of them could be measured."""
    present = [category for category in total.categories if category.name in categories]
    measurable = bool(present) or any(_is_measurable(category, total) for category in categories)
    means = " + ".join(category.name for category in present) or " + ".join(categories) or "nothing of today's"
    if not measurable:
        return VocabularyLine(name, None, None, None, None, means, name in _SUM_LINES)
    time_ns, counts = sum(category.time_ns for category in present), [category.count for category in present]
    count = sum(counted) if (counted := [count for count in counts if count is not None]) else None
    is_complete = count is not None and None not in counts
    return VocabularyLine(
        name=name,
        time_ns=time_ns,
        non_idle=None if name in _SUM_LINES else _share_of_non_idle(present, total),
        count=count if is_complete else None,
        each_ns=time_ns / count if is_complete and count else None,
        means=means,
        sum=name in _SUM_LINES,
    )


def _is_measurable(category: str, total: TotalTime) -> bool:
    """Whether `total` would have the category if there had been such time."""
    if total.kind == "kernel's ticks":
        return False
    machine_categories = ("terminal", "wall crossing", "network", "process creation", "lock wait")
    host_categories = ("primitive", "soft interrupt", "kernel thread")
    return category not in (host_categories if total.kind == "machine" else machine_categories)


def _share_of_non_idle(categories: list[Category], total: TotalTime) -> float | None:
    in_base = [category.time_ns for category in categories if category.in_non_idle]
    if categories and not in_base:
        return None
    return sum(in_base) / total.non_idle_ns if total.non_idle_ns else None


def _divide_interrupts(interrupts: VocabularyLine, drum_share: float) -> dict[str, VocabularyLine]:
    """Divides the line of interrupts into the drum's interrupts and all others."""
    if interrupts.time_ns is None:
        return {}
    drum_ns = round(interrupts.time_ns * drum_share)
    parts = {
        "Drum Interrupts": (drum_ns, drum_share, "the drum's part of interrupt, by requests"),
        "Interrupts": (interrupts.time_ns - drum_ns, 1 - drum_share, "interrupt, without the drum's"),
    }
    return {
        name: VocabularyLine(
            name=name,
            time_ns=time_ns,
            non_idle=None if interrupts.non_idle is None else interrupts.non_idle * share,
            count=None if interrupts.count is None else round(interrupts.count * share),
            each_ns=interrupts.each_ns,
            means=means,
            sum=False,
        )
        for name, (time_ns, share, means) in parts.items()
    }


def _results_1973(total: TotalTime, lines: Mapping[str, VocabularyLine]) -> tuple[str, ...]:
    """The other results of the document of 1973, which follow from its lines; none from the kernel's ticks."""
    if total.kind == "kernel's ticks":
        return ()
    good = lines["Other"].time_ns or 0
    faults = [lines[name].time_ns for name in ("Seg Faults", "Bound Faults")]
    virtual = good + sum(time or 0 for time in faults)
    return (
        f"Elapsed Time {duration(total.span_ns)}; CPU, total {duration(total.account.busy_ns)} (all that is not idle); "
        f"CPU, virtual {duration(virtual)} (Other, Seg Faults and Bound Faults); CPU, good {duration(good)} (Other).",
    )


def _unnamed_categories(total: TotalTime, lines: Mapping[str, tuple[str, ...]]) -> tuple[VocabularyLine, ...]:
    named = {category for name, categories in lines.items() for category in categories if name not in _SUM_LINES}
    summed = {category for name, categories in lines.items() for category in categories if name in _SUM_LINES}
    unnamed = [
        category
        for category in total.categories
        if category.name not in named and category.name not in (summed if total.kind == "kernel's ticks" else ())
    ]
    return tuple(_line(category.name, (category.name,), total) for category in unnamed)


def _drum_share(meters: Meters) -> float | None:
    """The drum's share of the requests to devices that interrupt at the end; a bulk store does not interrupt."""
    requests = {queue.name: queue.requests or 0 for queue in meters.queues if queue.name not in ("processors", "bulk")}
    all_requests = sum(requests.values())
    return requests["drum"] / all_requests if requests.get("drum") else None


def _average_queue(meters: Meters, total: TotalTime) -> str:
    """A sentence on the average queue length, which in 1969 counted processes that wait for a page too."""
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


def _tick_remarks(total: TotalTime) -> tuple[str, ...]:
    if total.kind != "kernel's ticks":
        return ()
    return (
        "The kernel's own account divides neither system into faults, context switches and system calls, nor idle by "
        "cause: those lines are not measured, and the work that is in system is in none of them.",
    )
