"""The answer of a watched window: how the users are served, why, and how busy the processors are."""

from __future__ import annotations

import math

from loadgo.measures.total_time import HELD_UP_CATEGORIES
from loadgo.notation.figures import counted, duration, number, plain, remaining_share, share
from loadgo.notation.terms import category_name
from loadgo.watching.host_rows import busiest_first, lost_in_words, slowest_first
from loadgo.watching.hosts import FEWEST_P90_ANSWERS, SILENT_NS
from loadgo.watching.window import WatchWindow

_FULL_BUSY_SHARE = 0.9
_HELD_UP_WAIT_SHARE = 0.4
_TOLD_WAIT_SHARE = 0.25
"""The longest wait is named from this part of the response times on, and holds users up from the one above."""
_IDLE_CAUSE_SHARE = 0.1
_SILENT_GAPS = 5
"""The answers have stopped when none came for this many of the mean times between them. Chosen by hand."""

_NO_VERDICT = "Response"
"""The first word of an answer where no target is set and nothing is full."""
_KINDS = {"Fine": "good answer", "Not full": "plain answer", "": "plain answer"}
"""How an answer is painted, by its verdict. Any other is bad."""


def answer(window: WatchWindow, target_ns: float | None = None) -> str:
    """The sentences: how the users are served and which wait is longest, how busy the processors are, and for whom.

    The verdict is `Fine` only where a target is met: without one nobody knows which response times are good.
    """
    lost = lost_in_words(window)
    busy, work = _busy_in_words(window), _other_work_in_words(window)
    if not window.bands:
        cause = _idle_cause(window)
        return f"{lost}{_host_verdict(window)}: {busy}{f'; {cause}' if cause else ''}{work}."
    if window.answered == 0:
        return f"{lost}Nobody was answered in the last {duration(window.width_ns)}. {_capital(busy)}{work}."
    served, verdict = _served_in_words(window, target_ns), _verdict(window, target_ns)
    if verdict == "Full":
        said = f"Full: {busy}{work}. {_NO_VERDICT} {served}."
    elif verdict:
        said = f"{verdict}: {served}. {_capital(busy)}{work}."
    else:
        said = f"{_NO_VERDICT} {served}. {_room_in_words(window, busy)}{work}."
    return f"{lost}{said}{_unsteady_in_words(window)}"


def answer_kind(window: WatchWindow, target_ns: float | None = None) -> str:
    """The kind of line that the answer is: good where a target is met, plain where nothing is known to be wrong."""
    if lost_in_words(window) or (window.bands and not window.answered):
        return "answer"
    return _KINDS.get(_verdict(window, target_ns) if window.bands else _host_verdict(window), "answer")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _busiest_share(window: WatchWindow) -> float:
    metered = busiest_first(window.hosts)
    return metered[0].busy_share if metered else window.busy_share


def _host_verdict(window: WatchWindow) -> str:
    """The verdict where nobody types."""
    busy = _busiest_share(window)
    return "Full" if busy >= _FULL_BUSY_SHARE else "Load not known" if math.isnan(busy) else "Not full"


def _verdict(window: WatchWindow, target_ns: float | None) -> str:
    """The verdict for users; empty where no target is set and nothing is full."""
    p90_ns = window.response_ns.get(0.9)
    is_met = None if target_ns is None or p90_ns is None else p90_ns <= target_ns
    if is_met is False:
        return "Too slow"
    if _busiest_share(window) >= _FULL_BUSY_SHARE:
        return "Full"
    if _longest_wait(window, _HELD_UP_WAIT_SHARE):
        return "Held up"
    return "Fine" if is_met else ""


def _room_in_words(window: WatchWindow, busy: str) -> str:
    """The sentence that the processors are not full, from the words on their busy share."""
    if math.isnan(_busiest_share(window)):
        return _capital(busy)
    owned = busy.removeprefix("processors ")
    return f"The processors are not full: {'those ' if owned.startswith('of ') else ''}{owned}"


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
        words = f"processors {share(window.busy_share)} busy{_until_in_words(window)}"
    return words + _parts_in_words(window)


def _until_in_words(window: WatchWindow) -> str:
    """The moment at which the meters of a host ended; empty where they cover the window."""
    if window.end_ns - window.metered_until_ns <= SILENT_NS:
        return ""
    return f" until {window.metered_until_ns / 1e9:.1f} s, when the meters ended"


def _parts_in_words(window: WatchWindow) -> str:
    """The owners of the busy time, in brackets; the shares, as they are printed, add up to the busy share."""
    if not window.bands or math.isnan(window.users_share):
        return ""
    users = f"{share(window.users_share)} for users"
    if math.isnan(window.busy_share):
        return f" ({users})"
    work = window.other_work if window.other_work is not None and window.other_work.level != "quiet" else None
    others = [] if work is None else [f"{share(work.share)} for other programs"]
    rest = remaining_share(window.busy_share, window.users_share, None if work is None else work.share)
    whose = "the supervisor" if window.has_supervisor else "loadgo and the kernel" if work else _REST
    rests = [f"{share(rest)} for {whose}"] if rest > 0 else []
    return f" ({', '.join([users, *others, *rests])})"


_REST = "loadgo, the kernel and other programs"


def _served_in_words(window: WatchWindow, target_ns: float | None) -> str:
    """The p90 with the target, the slowest host and the longest wait; where answers have stopped, since when."""
    p90_ns = window.response_ns.get(0.9)
    told = f"p90 unknown ({counted(window.answered, 'answer')}, it needs {FEWEST_P90_ANSWERS})"
    told = told if p90_ns is None else f"p90 {duration(p90_ns)}"
    told += "; no target is set" if target_ns is None else f", target {duration(target_ns)}"
    told += _slowest_in_words(window)
    if cause := _longest_wait(window):
        told += f"; {cause}"
    if has_stopped(window):
        told += f"; no answer in the last {duration(window.silent_ns)}, so that this is of the time before"
    return told


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
    busy = "" if math.isnan(slowest.busy_share) else f", processors {share(slowest.busy_share)} busy"
    return f"; slowest on {plain(slowest.name)} (p90 {duration(told[0].p90_ns)}{busy})"


def _longest_wait(window: WatchWindow, least: float = _TOLD_WAIT_SHARE) -> str:
    """The longest wait in words, if it has this part or more of the response times; else empty."""
    # Where usage is not known yet, all of a response is in the waits that no meter names.
    is_known = window.charged is None or window.charged >= window.answered
    waits = ((state, part) for state, part in window.waiting.items() if is_known or state != "other wait")
    state, part = max(waits, key=_share_of_pair, default=("", 0.0))
    if state == "running" or part < least:
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
    """The sentence that a report of the run has fewer answers; empty where all are of the steady phase."""
    if not window.unsteady:
        return ""
    are, count = ("is", "it counts") if window.unsteady == 1 else ("are", "they count")
    return (
        f" Of the {counted(window.answered, 'answer')}, {number(window.unsteady)} {are} of the warm-up or the "
        f"ramp-down: {count} here, and not in the report."
    )


def _other_work_in_words(window: WatchWindow) -> str:
    """The clause that says that the host is busy with other things than the users; empty for a quiet host."""
    work = window.other_work
    if work is None or work.level == "quiet":
        return ""
    said = f"; the host is {work.level} with other things"
    return said if "for other programs" in _parts_in_words(window) else f"{said}: {share(work.share)} of its processors"


def _share_of_pair(pair: tuple[str, float]) -> float:
    return pair[1]
