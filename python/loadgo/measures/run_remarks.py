"""Remarks beside the figures of a run in a list: the limits of its users, and reasons to doubt the figures.

A report says the same in whole sentences (`run_warnings.py`); a list has room for a few words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loadgo.measures.audit import driver_audit, group_losses
from loadgo.measures.other_work import other_work_of
from loadgo.measures.total_time import total_time_of
from loadgo.notation.figures import NEVER_TEXT, counted, setting, size
from loadgo.records.phases import classified_in, stretch_of
from loadgo.records.tables import Tables

DAMAGED_REMARK = "damaged"
"""The remark on a run whose tables cannot be read."""
OTHER_WORK_REMARK = "other work"
"""The beginning of the remark that other work disturbed a run."""
_MEANINGS = {
    "INVALID": "INVALID: the driver was late, or took too much of the host.",
    OTHER_WORK_REMARK: (
        "Other work: other programs had this share of the processors' time, which lengthens response times."
    ),
    "limit": "Limit: the users were held to it.",
    DAMAGED_REMARK: "Damaged: a table of the run has changed or is gone; `loadgo verify RUN` names it.",
}
"""The meaning of each remark, by the word with which it begins."""


CELL_MEANINGS = {
    "few": "fewer than 10 answers, too few for a p90",
    NEVER_TEXT: "more than a tenth of the lines had no answer, so there is no p90",
    "stopped": "somebody ended it early",
    "killed": "loadgo was killed, such as by SIGKILL, and wrote no end",
    "failed": "an error ended it",
    "broken": "its records cannot be read",
    "unreadable": "its records cannot be read",
}
"""The meanings of words in a list of runs that do not explain themselves: of p90 and of the outcome."""


def words_note(cells: Iterable[str]) -> str:
    """The meaning of the words of `CELL_MEANINGS` that are among these cells; empty if none is."""
    there = set(cells)
    return "; ".join(f"{word}: {meaning}" for word, meaning in CELL_MEANINGS.items() if word in there)


def remarks_note(remarks: Iterable[str]) -> str:
    """The meaning of the remarks that are in a list, for the line below it. A verdict that no run has is not named."""
    words = [remark for of_run in remarks for remark in of_run.split(", ")]
    return " ".join(text for word, text in _MEANINGS.items() if any(remark.startswith(word) for remark in words))


def run_remarks(tables: Tables) -> str:
    """The remarks on a run, such as `other work 95.3 %, limit cpus=0.4`; empty for a run without any.

    The error of a share is in the run's report: a list has no room for it.
    """
    stretch = stretch_of(tables)
    total = total_time_of(tables, stretch)
    driver = driver_audit(classified_in(tables, stretch), total, tables, None)
    work = None if tables.conditions.get("kind") == "meter" else other_work_of(tables, stretch, total)
    lost = sum(loss.count for loss in group_losses(tables.lost, tables.conditions) if loss.what == "record")
    remarks = [
        "" if driver.valid else "INVALID",
        f"{OTHER_WORK_REMARK} {work.share_in_words}" if work is not None and work.level == "busy" else "",
        f"{counted(lost, 'record')} lost" if lost else "",
        *_limits(tables.conditions.get("limit", {})),
    ]
    return ", ".join(filter(None, remarks))


def _limits(limit: Mapping[str, Any]) -> list[str]:
    """The limits of a run's users, as they are set: `limit cpus=0.4`."""
    memory, cpus = limit.get("memory_bytes"), limit.get("cpus")
    return [
        *([] if memory is None else [f"limit memory={size(memory)}"]),
        *([] if cpus is None else [f"limit cpus={setting(cpus)}"]),
    ]
