"""The answer of a watched window in one sentence: is it full, who waits for what, and how old are the figures."""

from __future__ import annotations

import math

from loadgo.measures.other_work import OtherWork
from loadgo.measures.total_time import HELD_UP_CATEGORIES
from loadgo.notation.figures import counted, duration, number, plain, share
from loadgo.notation.terms import category_name
from loadgo.watching.host_rows import busiest_first, lost_in_words, slowest_first
from loadgo.watching.hosts import SILENT_NS
from loadgo.watching.window import WatchWindow

_FULL_BUSY_SHARE = 0.9
_HELD_UP_WAIT_SHARE = 0.4
_IDLE_CAUSE_SHARE = 0.1
_SILENT_GAPS = 5
"""The answers have stopped when none came for this many of the mean times between them. Chosen by hand."""

_KINDS = {"Fine": "good answer", "Not full": "plain answer"}
"""How a verdict is painted. Any other is bad."""


def answer(window: WatchWindow, target_ns: float | None = None) -> str:
    """One sentence: whether the system is saturated, which wait is longest, and where users wait longest.

    The verdict is `Fine` only where a target is met: without one nobody knows which response times are good.
    """
    lost, others = lost_in_words(window.hosts), _other_work_in_words(window.other_work)
    busy = _busy_in_words(window)
    if window.bands and window.answered == 0:
        return f"{lost}Nobody was answered in the last {duration(window.width_ns)}; {busy}{others}."
    p90 = _p90_in_words(window)
    cause = _longest_wait(window) if window.bands else _idle_cause(window)
    why = f"; {cause}" if cause else ""
    return f"{lost}{_verdict(window, target_ns)}: {busy}{p90}{why}{others}."


def answer_kind(sentence: str) -> str:
    """The kind of line that the answer is, by its verdict: good where a target is met, plain where nothing is full."""
    return next((kind for verdict, kind in _KINDS.items() if sentence.startswith(f"{verdict}:")), "answer")


def _verdict(window: WatchWindow, target_ns: float | None) -> str:
    p90_ns, metered = window.response_ns.get(0.9), busiest_first(window.hosts)
    busy = metered[0].busy_share if metered else window.busy_share
    is_met = None if target_ns is None or p90_ns is None else p90_ns <= target_ns
    if is_met is False:
        return "Too slow"
    if busy >= _FULL_BUSY_SHARE:
        return "Full"
    if window.bands and _longest_wait(window):
        return "Held up"
    return "Fine" if is_met else "Load not known" if math.isnan(busy) else "Not full"


def _busy_in_words(window: WatchWindow) -> str:
    """The busy share of the processors: of the busiest host first, since one full host makes its users wait."""
    if math.isnan(window.busy_share):
        words = "processors not measured"
    elif metered := busiest_first(window.hosts):
        busiest = metered[0]
        late = f" (no meters for {duration(busiest.silent_ns)})" if busiest.is_late else ""
        words = f"processors of {plain(busiest.name)} {share(busiest.busy_share)} busy{late}"
        words += f", of all hosts {share(window.busy_share)}"
    else:
        words = f"processors {share(window.busy_share)} busy"
    if window.bands and not math.isnan(window.users_share):
        words += f", {share(window.users_share)} for users"
    return words


def _p90_in_words(window: WatchWindow) -> str:
    """The p90 after a comma, with the slowest host; where answers have stopped, since when. Empty without a p90."""
    p90_ns = window.response_ns.get(0.9)
    told = "" if p90_ns is None else f"p90 {duration(p90_ns)}{_unsteady_in_words(window)}{_slowest_in_words(window)}"
    if has_stopped(window):
        silence = f", no answer in the last {duration(window.silent_ns)}"
        return f"{silence}; before that {told}" if told else silence
    return f", {told}" if told else ""


def has_stopped(window: WatchWindow) -> bool:
    """Whether the last answer is so long ago that the response times are not those of the window's end."""
    if not window.answered:
        return False
    gap_ns = (window.width_ns - window.silent_ns) / window.answered
    return window.silent_ns > max(SILENT_NS, _SILENT_GAPS * gap_ns)


def _slowest_in_words(window: WatchWindow) -> str:
    """The host whose users wait longest, which need not be the busiest; empty where only one host has a p90."""
    told = [host for host in slowest_first(window.hosts) if host.p90_ns is not None]
    if len(told) < 2 or told[0].p90_ns is None:
        return ""
    slowest = told[0]
    busy = "" if math.isnan(slowest.busy_share) else f", {share(slowest.busy_share)} busy"
    return f", slowest on {plain(slowest.name)} ({duration(told[0].p90_ns)}{busy})"


def _longest_wait(window: WatchWindow) -> str:
    """The wait that has two fifths or more of the response times, in words; empty without one."""
    state, part = max(window.waiting.items(), key=_share_of_pair, default=("", 0.0))
    if state == "running" or part < _HELD_UP_WAIT_SHARE:
        return ""
    return f"{share(part)} of the response time is {_WAITS_IN_WORDS[state]}"


_WAITS_IN_WORDS = {
    "CPU wait": "waiting for a processor",
    "page wait": "waiting for pages",
    "disk wait": "waiting for the disk",
    "other wait": "waiting for something that is not metered",
}


def _idle_cause(window: WatchWindow) -> str:
    """The reason why processors idled, where nobody types; empty where it was less than a tenth of their time."""
    idle = ((name, part) for name, part in window.time.items() if name in HELD_UP_CATEGORIES)
    category, part = max(idle, key=_share_of_pair, default=("", 0.0))
    if part <= _IDLE_CAUSE_SHARE:
        return ""
    return f"{share(part)} of the processors' time they were {category_name(category).replace(':', ',')}"


def _unsteady_in_words(window: WatchWindow) -> str:
    """The remark that a report of the run has fewer answers; empty where all are of the steady phase."""
    if not window.unsteady:
        return ""
    return f" (with {number(window.unsteady)} of {counted(window.answered, 'answer')} outside the steady phase)"


def _other_work_in_words(work: OtherWork | None) -> str:
    """The clause that says that the host is busy with other things than the users; empty for a quiet host."""
    if work is None or work.level == "quiet":
        return ""
    return f"; the host is {work.level} with other things: {share(work.share)} of the processors' time"


def _share_of_pair(pair: tuple[str, float]) -> float:
    return pair[1]
