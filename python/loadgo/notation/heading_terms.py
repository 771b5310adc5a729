"""The meaning of column headings that need one: the sentences of `docs/glossary.md`, for the pages of reports.

A heading with another meaning in another table has no place here.
"""

from __future__ import annotations

from collections.abc import Mapping

from loadgo.notation.terms import CATEGORY_TERMS, idle_cause

_QUANTILE = "The time that {} of 100 interactions do not exceed. From raw values; a line without an answer ranks last."
_BUCKET = (
    "The lower end of the histogram bucket in which the quantile lies. "
    "A bucket is a quarter of a power of two on a host, an eighth on a simulated machine."
)
_SHARE = "Part of all processors' time, idle time included."
_INTERVAL = "Holds the true value in 95 of 100 such measurements."
_OF_INTERVALS = ("mean", "p50", "p90", "p95", "p99", "ratio", "throughput", "busy")
_EACH = "The processor time, and the wait, of one event on average."
_AMBIGUOUS_CATEGORIES = ("user", "system", "network", "idle", "idle governed")
"""Terms of categories that are headings of other columns too."""

HEADING_MEANINGS: Mapping[str, str] = {
    **{idle_cause(name): term.sentence for name, term in CATEGORY_TERMS.items() if name not in _AMBIGUOUS_CATEGORIES},
    **{f"p{share}": _QUANTILE.format(share) for share in (50, 90, 95, 99)},
    **dict.fromkeys(("p50 ≥", "p90 ≥", "p99 ≥"), _BUCKET),
    **dict.fromkeys(("95 % interval", "95 %", *(f"{name}'s 95 %" for name in _OF_INTERVALS)), _INTERVAL),
    "CPU": (
        "Processor time that the processes took: in their programs (user) and in the kernel for them (system). "
        "A user has all processes that the user started."
    ),
    "CPU wait": "Time in which a process could run and no processor was free.",
    "page wait": "Time in which a process waited for a page of memory, or for memory to be freed for it.",
    "disk wait": "Time in which a process waited for storage otherwise.",
    **dict.fromkeys(("major", "major faults"), "A page fault that waited for a device."),
    "output": "Bytes that the system printed, without echo, prompt and mark.",
    "unconf.": (
        "Only silence, or a screen that stood still, said that the system was ready: there was no mark and no prompt. "
        "The response ends with the last output. Keys that changed nothing on the screen have no response."
    ),
    **dict.fromkeys(("of all time", "of all CPU time"), _SHARE),
    "of non-idle": (
        "The same without the idle time in which nobody who was let run wanted a processor: nothing to run, "
        "waiting for a page, waiting for the disk, wake-up delay."
    ),
    "of their time": "Part of the time of all system calls.",
    **dict.fromkeys(("CPU each", "wait each"), _EACH),
    "corrected": (
        "The mean with the fault's entry and return, which no program in the kernel can clock: by calibration on the "
        "shortest page fault."
    ),
    "faults each": "The page faults within one system call on average.",
    "mean length": "Mean number of requests that wait or are served. Of the run queue: tasks that wait.",
    "tasks that wait": "The tasks that can run and do not, because no processor is free.",
    "CPU between faults": "Processor time of the work between two page faults: the headway.",
    "mapping": (
        "What an address belongs to: a file, or [kernel], [heap], [stack], [anon]. On a simulated machine: a command."
    ),
    "samples": "Samples of what each busy processor was doing, a thousand times a second.",
    "depends on others": "A change that does more when made last than when made first, or less, by over 10 %.",
    "B ÷ A": "The figure of B divided by that of A: above 1, B used more.",
    **dict.fromkeys(
        ("by number", "by time each"),
        "The two parts of a change: the effect of the number of events, and that of the time of one. "
        "They add up to it.",
    ),
    "by the parameters": "The part of an interval that comes from the uncertainty of the fit.",
    "by chance": "The part of an interval that comes from another run of the same machine.",
    "a user's hour": "What one user costs in an hour.",
    "charged to nobody": ("Busy time that no interaction used, at the price of processor time. It is in no cost."),
}
"""The meanings by heading."""
