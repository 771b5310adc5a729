"""The summary as JSON, in full precision: every figure under the name that it has in `loadgo.measures.summary`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgo.documents.as_json import json_document, members_of
from loadgo.measures.json_keys import JSON_KEYS
from loadgo.measures.summary import Summary
from loadgo.measures.vocabulary import in_words_of
from loadgo.reporting.chart_frames import frame_of
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.view import View

if TYPE_CHECKING:
    from loadgo.records.tables import Tables

OVER_TIME = ("time", "faults", "interrupts", "queue", "lengths")
"""The charts of the meters whose data are in the JSON: what the tables do not hold."""


def json_report(summary: Summary, tables: Tables, view: View | None = None) -> str:
    """One JSON object; times in nanoseconds end in `_ns`, in seconds in `_s`; null is not measured, or without end
    where `state` says `never`. `over_time` has the columns behind the charts of the meters.
    """
    members = members_of(summary, JSON_KEYS)
    vocabulary = (view or View()).vocabulary
    if summary.total_time is not None and vocabulary != "today":
        members["vocabulary"] = in_words_of(vocabulary, summary.total_time, summary.meters)
    return json_document(members, JSON_KEYS, {"over_time": _over_time(summary, tables)})


def _over_time(summary: Summary, tables: Tables) -> dict[str, Any]:
    """By chart: its caption, and its columns; those without rows left out."""
    if not (summary.everything.response.count or without_load(summary)):
        return {}
    plotted = {name: frame_of(name, summary, tables) for name in OVER_TIME}
    return {
        name: {"caption": found.caption, "columns": found.frame.to_dict(as_series=False)}
        for name, found in plotted.items()
        if not found.frame.is_empty()
    }
